// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.DelayQueueException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * The administration of a {@link DelayQueue}: its pages and figures, the changes of all of its messages, and its pause. Of the
 * {@link DelayQueue#deadLetters()} it has an own one. A handle, as the queue. Thread-safe.
 */
public interface QueueAdmin {

    /**
     * Pauses the queue for all consumers everywhere: from then on no claim gives a message. What was claimed before
     * goes on and can be acknowledged. A consumer goes on claiming once in its safety interval and is given nothing; nobody
     * is woken for what becomes due; what is released waits for {@link #resume}.
     *
     * @return whether it was not paused before
     */
    Submission<Boolean> pause();

    /**
     * Ends a pause and wakes the consumers.
     *
     * @return whether it was paused before
     */
    Submission<Boolean> resume();

    /**
     * Finds the dead letters that an id means, in O(log N): the dead letter with this very id, or else those of the
     * message with this id.
     *
     * @return the newest first, at most 100
     * @throws IllegalStateException if this queue is one of dead letters itself
     */
    CompletableFuture<List<DeadLetterId>> deadLettersOf(String id);

    /**
     * Lists some messages, without disturbing them, in O(log N) for each: at delayed ones in the order of their due times,
     * at leased ones in the order in which their leases end, and at those of the same microsecond in the order of the bytes of
     * their ids; or all in the opposite order.
     *
     * @param state {@link MessageState#DELAYED}, which has parked ones, too; {@link MessageState#PARKED} for these only, due or not;
     *     or {@link MessageState#LEASED}
     * @param from where the page begins, and in which direction it goes on
     * @param limit how many at the most, 1 to {@value #MAX_PAGE}
     * @throws IllegalArgumentException if one of these is not possible, such as a cursor of another list
     */
    CompletableFuture<MessagePage> list(MessageState state, PageStart from, int limit);

    /** The most messages on a page. */
    int MAX_PAGE = 256;

    /** Makes all delayed messages but recurring schedules due now, as {@link #promoteAll(Predicate, long, boolean)}. */
    default CompletableFuture<Long> promoteAll(Predicate<MessageInfo> which, long limit) {
        return promoteAll(which, limit, false);
    }

    /**
     * Makes all delayed messages due now that are not due yet, in slices, up to the due time that is the last one when
     * it begins. Those that become leased meanwhile are left alone.
     *
     * @param which decides for each; ends the change by a {@link java.util.concurrent.CancellationException}: what was changed until
     *     then stays changed, and counts
     * @param limit how many at the most: those that are due first, of a queue with partitions in one partition after
     *     the other
     * @param schedules whether recurring schedules run now, too; otherwise they are spared
     * @return how many
     */
    CompletableFuture<Long> promoteAll(Predicate<MessageInfo> which, long limit, boolean schedules);

    /** Removes all delayed messages but recurring schedules, in slices, as {@link #promoteAll(Predicate, long, boolean)}. */
    default CompletableFuture<Long> cancelAll(Predicate<MessageInfo> which, long limit) {
        return cancelAll(which, limit, false);
    }

    /**
     * Removes all delayed messages, in slices, as {@link #promoteAll(Predicate, long, boolean)}.
     *
     * @param schedules whether recurring schedules are removed, too; otherwise they are spared
     */
    CompletableFuture<Long> cancelAll(Predicate<MessageInfo> which, long limit, boolean schedules);

    /**
     * Moves all dead letters that are not leased of this queue back into it, in slices, as {@link #promoteAll(Predicate, long,
     * boolean)}.
     */
    CompletableFuture<Long> redriveAll(Predicate<MessageInfo> which, long limit);

    /**
     * Drops the dead letters of this queue that are too old or too many, the oldest first; those that a consumer of
     * dead letters holds are left alone.
     *
     * @param retention for how long they are kept after they were given up, or after a consumer of dead letters
     *     released them; zero for ever
     * @param maximum how many are kept; 0 for any number
     * @return how many were dropped
     */
    CompletableFuture<Long> trimDeadLetters(Duration retention, long maximum);

    /**
     * Searches all messages for those that are neither delayed nor leased, as an evicted or deleted key
     * leaves them behind, and makes them delayed again: due when they were if that is still known, else now. In slices,
     * while others go on: what is leased or was just finished is left alone. Logs what was amiss. {@link
     * DelayQueue#deadLetters()} are checked by a call of their own.
     *
     * @return what was found; it may be asked for again after a failure, which leaves the queue partly checked
     */
    CompletableFuture<CheckResult> check();

    /** Reads the queue's figures. */
    CompletableFuture<QueueStats> stats();

    /**
     * Counts how many delayed messages become due in each of several steps of time, without disturbing them, in O(log N) for each
     * step and each priority in use. Of dead letters, how many were given up in each step.
     *
     * <p>To find the densest second, split the fullest step that was counted by another outlook of that step alone, until the
     * fullest one is a second: no step with fewer messages can hold a denser one. Bound the calls, because messages may be
     * spread evenly.
     *
     * @param boundsMicros the bounds of the steps, in microseconds since the epoch by the Redis server's clock: 2 to 241, from 0
     *     to {@link DueTime#MAX_MICROS}, each later than the one before; {@link Outlook#bounds} makes those of equal steps
     * @return of a queue with partitions the sums of all of them, which are asked one by one: a message that is moved meanwhile
     *     counts where each of them had it
     * @throws IllegalArgumentException if the bounds are no such ones
     */
    CompletableFuture<Outlook> outlook(List<Long> boundsMicros);

    /**
     * Sets the limits of the queue. A lower one holds for what is claimed from then on. It holds also if replicas or disk are not reached in time.
     *
     * @return the limits before; if they are the same, nothing was changed
     * @throws IllegalArgumentException if a queue with several partitions is to have a rate; its groups may
     */
    CompletableFuture<QueueLimits> limit(QueueLimits limits);

    /**
     * Shows groups with due parked messages, at most ten, the one with the most of them first. A sample decides, of {@value #MAX_PAGE}
     * such messages: a group with few among many may not be in it.
     */
    CompletableFuture<List<GroupInfo>> groups();

    /**
     * Lists the consumers that were seen in the last day, also those that are suspended or full, and those that were killed. One
     * that was stopped is not listed, nor is a receiver of single messages. Of dead letters it lists their own.
     *
     * @return the last seen first, each once, also where the queue has partitions; at most 10 000. Fails with a {@link
     *     DelayQueueException}
     */
    CompletableFuture<List<ConsumerInfo>> consumers();

    /** The Redis server's version, eviction policy and persistence, as far as it reports them. */
    CompletableFuture<ServerInfo> serverInfo();
}
