// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A message held under a lease. The first call of {@link #settle} finishes it. A later call changes nothing, and answers what
 * the first has left: {@link SettleResult#STALE_HELD} if that keeps the message in its queue, {@link SettleResult#STALE_GONE}
 * if it has removed it, else the same as the first, or its failure. It needs only the client, not the consumer that
 * received the message, and is sent until Redis answers.
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

    /** The message's group; null if it has none. Of a dead letter, the one it had. */
    default String group() {
        return null;
    }

    /** The time when the message was scheduled, in microseconds since the epoch by the Redis server's clock. */
    long scheduledMicros();

    /** The time when this delivery was due, in microseconds since the epoch by the Redis server's clock. */
    long dueMicros();

    /** The time when the first delivery was due, in microseconds since the epoch by the Redis server's clock. */
    long firstDueMicros();

    /**
     * The rule of a recurring schedule, of which this is a run, for {@link Schedule#parse}; of a dead letter, that of the run that
     * was given up; null if it is none. The first due time is the run's own; the next one follows it or the time of its end.
     */
    default String rule() {
        return null;
    }

    /**
     * The time of the rule that a run of a recurring schedule is for, in microseconds since the epoch; also of its dead letter, and
     * after a redrive. 0 of what is no run.
     */
    default long runMicros() {
        return 0;
    }

    /**
     * The time of the next run of a recurring schedule if this one ends now, in microseconds since the epoch by the Redis server's
     * clock. Of what is no run, a dead letter as well, {@link Long#MAX_VALUE}.
     */
    default long nextRunMicros() {
        return Long.MAX_VALUE;
    }

    /** The time when it was claimed, in microseconds since the epoch by the Redis server's clock. */
    long claimedMicros();

    /** The lateness by now: from the due time to the claim, plus the time since then on this machine. */
    Duration lateness();

    /** Returns whether its queue had a rate or another limit when it was claimed, which may be why it is late. */
    default boolean isLimited() {
        return false;
    }

    /**
     * The failure that the last failed delivery left with {@link Settlement.Retry}; empty if there was none. Not a
     * copy.
     */
    byte[] lastFailure();

    /**
     * Ends the delivery.
     *
     * @throws IllegalStateException if it is the delivery of a dead letter, and is to become one or to be dropped
     */
    Submission<SettleResult> settle(Settlement settlement);

    /**
     * Under which id {@link Settlement.DeadLetter} has put the message among the dead letters.
     *
     * @return null before Redis has answered, and where nothing was put there
     */
    DeadLetterId deadLetterId();

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
}
