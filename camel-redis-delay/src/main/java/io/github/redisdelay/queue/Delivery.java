// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A message held under a lease. Exactly one of {@link #acknowledge()}, {@link #negativeAcknowledge}, {@link
 * #release()}, {@link #bury} and {@link #discard()} finishes it: the first. A later call changes nothing, and answers
 * what the first has left: {@link Settlement#STALE_HELD} if that has returned the message, {@link
 * Settlement#STALE_GONE} if it has removed it from the queue, else the same as the first, or its failure. They need
 * only the client, not the consumer that received the message, and are sent until Redis answers.
 */
public interface Delivery {

    /** The queue's name. */
    String queue();

    /** Returns whether the message came from this queue, through the same connection. */
    boolean isFrom(DelayQueue queue);

    /** The message's id. */
    String id();

    /** The bytes that were scheduled. Not a copy. */
    byte[] body();

    /** The token of this delivery. */
    ClaimId claimId();

    /**
     * The number of this delivery among those of the message: 1 for the first. More than 2 000 000 000 if nobody knows,
     * because the message's state record is of another version.
     */
    int attempt();

    /** The number of deliveries in a row before this one that ended by a lost lease. */
    int lostLeases();

    /** The reason of this delivery; {@link RedeliveryReason#NONE} if it is the first. */
    RedeliveryReason redeliveryReason();

    /** The message's priority, 0 to {@value ScheduleRequest#MAX_PRIORITY}; of a dead letter, the one it had. */
    int priority();

    /** The time when the message was scheduled, in microseconds since the epoch by the Redis server's clock. */
    long scheduledMicros();

    /** The time when this delivery was due, in microseconds since the epoch by the Redis server's clock. */
    long dueMicros();

    /** The time when the first delivery was due, in microseconds since the epoch by the Redis server's clock. */
    long firstDueMicros();

    /** The time when it was claimed, in microseconds since the epoch by the Redis server's clock. */
    long claimedMicros();

    /** The lateness by now: from the due time to the claim, plus the time since then on this machine. */
    Duration lateness();

    /**
     * The failure that the last failed delivery left with {@link #negativeAcknowledge}; empty if there was none. Not a
     * copy.
     */
    byte[] lastFailure();

    /** Finished successfully: removes the message, and its id is free. */
    default Submission<Settlement> acknowledge() {
        return acknowledge(Duration.ZERO);
    }

    /**
     * Finished successfully: removes the message.
     *
     * @param remember for how long the id stays a duplicate; zero for not at all
     */
    Submission<Settlement> acknowledge(Duration remember);

    /**
     * Failed: the message is due again after a delay.
     *
     * @param failure what to keep about the failure, for {@link #lastFailure()}; at most {@link #MAX_FAILURE_BYTES}
     *     are kept
     */
    Submission<Settlement> negativeAcknowledge(Duration delay, byte[] failure);

    /** Not begun: the message is due again at its old due time and this attempt does not count. */
    Submission<Settlement> release();

    /** Given up: moves the message to the dead letters, with the failure; its id is free. */
    default Submission<Settlement> bury(byte[] failure) {
        return bury(failure, Duration.ZERO);
    }

    /**
     * Given up: moves the message to the dead letters.
     *
     * @param failure what to keep about the failure; at most {@link #MAX_FAILURE_BYTES} are kept
     * @param remember for how long the id stays a duplicate; zero for not at all
     * @throws IllegalStateException if this is the delivery of a dead letter, which can only be acknowledged or
     *     returned
     */
    Submission<Settlement> bury(byte[] failure, Duration remember);

    /**
     * Under which id {@link #bury} has put the message among the dead letters.
     *
     * @return null before Redis has answered, and where nothing was put there
     */
    DeadLetterId deadLetterId();

    /** Given up, and not kept: removes the message, and its id is free. */
    default Submission<Settlement> discard() {
        return discard(Duration.ZERO);
    }

    /**
     * Given up, and not kept: removes the message.
     *
     * @param remember for how long the id stays a duplicate; zero for not at all
     */
    Submission<Settlement> discard(Duration remember);

    /**
     * The caller replaced this message by a schedule that named its claim id: there is nothing left to finish. Frees
     * the slot and ends the extension; sends nothing.
     */
    void superseded();

    /**
     * Asks whether this message was replaced by another one of the same id since it was claimed. Also true if nothing has
     * the id any more: what has replaced it may be finished by then.
     */
    CompletableFuture<Boolean> isReplaced();

    /** Returns whether the lease is known to be lost: cancelled, or expired and claimed by another consumer. */
    boolean isLeaseLost();

    /** The most bytes that are kept of a failure. */
    int MAX_FAILURE_BYTES = 4096;
}
