// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.QueueFullException;
import io.github.redisdelay.queue.exception.StaleDeliveryException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * A queue of delayed messages on Redis. A handle: it holds no thread, timer or connection, and handles of the same name
 * are interchangeable. Thread-safe.
 *
 * <p>Concurrent calls are sent together (group commit); two calls for the same id are executed in the order in which
 * they were made. When too many requests wait, a call blocks for up to the client's request timeout.
 */
public interface DelayQueue {

    /** The queue's name. */
    String name();

    /** The server that holds the queue, for errors, such as {@code Redis at redis://localhost:6379}. */
    String server();

    /**
     * Schedules a message.
     *
     * @return fails with a {@link DuplicateMessageException} (see {@link DuplicatePolicy}), a {@link
     *     QueueFullException}, a {@link StaleDeliveryException} (see {@link ScheduleRequest#supersedes()}), an {@link
     *     IllegalArgumentException} if the due time is beyond the exact range by the Redis server's clock, or a {@link
     *     DelayQueueException}
     */
    Submission<ScheduleResult> schedule(ScheduleRequest request);

    /**
     * Sends the requests that are made on this thread by {@code requests} in as few calls as they fit into: when they
     * fill one, and the rest at the end. A batch is cheaper so than one by one, of which the first goes alone. It must
     * not wait for their answers.
     *
     * @param requests calls {@link #schedule}, {@link #cancel} and the like, of this and other queues of the same
     *     client
     * @return what it returns
     */
    <T> T together(Supplier<T> requests);

    /**
     * Removes a message in any state. A delivery under way becomes stale: its acknowledgement has no effect and no
     * redelivery follows. For a dead message the result is {@link MessageState#DEAD}; its dead letter is not
     * removed.
     */
    Submission<ChangeResult> cancel(String id);

    /** Changes the due time of a delayed message, later or earlier. A leased message is left alone. */
    Submission<ChangeResult> reschedule(String id, DueTime due);

    /**
     * Makes a delayed message due now, unless it is due already. A leased message is left alone.
     *
     * @return its due time is 0 if no delayed message was found
     */
    Submission<ChangeResult> promote(String id);

    /** Reads a message, without disturbing it. Empty if it is not in the queue. */
    CompletableFuture<Optional<StoredMessage>> get(String id);

    /**
     * The dead letters, as a queue of their own: what was given up is there, due since it was given up, and can be
     * listed, consumed, and removed by {@link #cancel}. Their ids are those of the messages with {@code @} and the
     * time in microseconds. A delivery of one can only be acknowledged, which removes it, or released.
     *
     * @throws IllegalStateException if this queue is one of dead letters itself
     */
    DelayQueue deadLetters();

    /**
     * Moves a dead letter of this queue back into it, due now, its attempts forgotten.
     *
     * @param deadLetterId its id among the {@link #deadLetters()}
     * @param claim the claim id of the caller's own delivery of the dead letter, which then moves although it is leased, and
     *     there is nothing left to finish (see {@link Delivery#superseded()}); null if the caller has none. One that holds no
     *     lease any more grants nothing: then only a dead letter that is not leased is moved
     * @return with a claim id it fails with a {@link StaleDeliveryException} if there is no such dead letter, or another
     *     consumer has it, and with a {@link DuplicateMessageException} if its id is in use: the delivery's owner must not take
     *     it for moved
     */
    Submission<RedriveOutcome> redrive(String deadLetterId, ClaimId claim);

    /**
     * Starts a consumer.
     *
     * @param executor runs the handler; it must not block or reject as long as there are no more than
     *     {@code concurrentConsumers} messages under way
     */
    DelayQueueConsumer consume(ConsumerOptions options, Executor executor, DeliveryHandler handler);

    /**
     * Makes a receiver for single messages; {@code concurrentConsumers} and {@code maxMessagesPerPoll} do not matter.
     */
    DelayQueueReceiver receiver(ConsumerOptions options, DeliveryHandler listener);

    /**
     * The messages of a group.
     *
     * @param name 1 to {@value ScheduleRequest#MAX_GROUP_BYTES} bytes of UTF-8 without control characters
     */
    MessageGroup group(String name);

    /** The operations on all messages of the queue, and its figures. */
    QueueAdmin admin();
}
