// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.request.CallGate;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * The state of one partition (or of a whole queue without partitions) as a {@link ConsumerLoop} knows it: the claim
 * under way, the next events, the promise to Redis and the errors. From these follows when the loop claims next.
 *
 * <p>Guarded by the loop's lock. Times are readings of the local clock.
 */
public final class PartitionState {

    /** Of the consumers that wait for a queue, one claims in each such interval: a lost wake-up costs no more. */
    static final long SAFETY_NANOS = TimeUnit.MILLISECONDS.toNanos(1_900);

    /** A full consumer waits for a free slot for so long before it takes back its promise to come. */
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** A claim that was not answered within this time takes no capacity from other partitions any more. */
    public static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** So long after it was told that its batch is not complete a consumer asks again: each schedule may wake it. */
    static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** A consumer that never has a free slot asks for an expired lease so often: each makes a claim dearer. */
    static final long EXPIRED_LEASE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Finishes the deliveries of this partition. */
    final DeliverySettler queue;

    final ClaimCalls claims;
    final CallGate gate;

    private boolean claiming;
    /** The number of messages that the claim under way asks for; 0 if it has given up its capacity. */
    private int asked;
    /** The time when that claim was sent. */
    private long askedNanos;
    /** The number of the latest claim. The partition that was not claimed for the longest time has the lowest. */
    private long claimNumber;
    /** The number of the latest claim that was answered. */
    private long answeredNumber;
    /** The number of the latest claim that was answered or refused. */
    private long endedNumber;
    /** The time to claim for the next message that is due. */
    private long nextDueNanos;
    /** The time to claim for the next lease that expires. */
    private long nextExpiryNanos;
    /** The time from when on a claim may ask for an expired lease though no slot is free. */
    private long expiredAheadNanos;
    /**
     * The time when the next message is due, as far as this consumer knows. Another consumer may have to come for it.
     */
    private long headNanos;
    /**
     * True if the consumer is among the waiters in Redis, as far as it knows: Redis counts on it by the earlier of
     * {@link #nextDueNanos} and {@link #nextExpiryNanos}.
     */
    private boolean waiter;
    /** The earliest event of the wake-ups that came since the claim under way was sent. */
    private long wokenNanos = Long.MAX_VALUE;

    /** True if the last claim that was answered found the queue paused. */
    private boolean paused;

    private int refusals;
    /** The number of claims in a row whose answer came when half of the lease was over. */
    private int lateAnswers;
    /** The end of the back-off after an error: no claim is sent before, whatever wakes the loop. */
    private long notBeforeNanos;

    private long failingSinceNanos;
    private Throwable lastError;

    /** @param gate lets the claims pass */
    public PartitionState(DeliverySettler queue, ClaimCalls claims, CallGate gate, long now) {
        this.queue = queue;
        this.claims = claims;
        this.gate = gate;
        this.nextDueNanos = now;
        this.nextExpiryNanos = now;
        this.expiredAheadNanos = now;
        this.headNanos = now;
        this.notBeforeNanos = now;
    }

    // Events.

    /** A wake-up says that something is due at that time. */
    void woken(long at) {
        if (claiming) {
            // Redis may have executed the claim before the message was there.
            wokenNanos = Math.min(wokenNanos, at);
        }
        nextDueNanos = Math.min(nextDueNanos, at);
        headNanos = Math.min(headNanos, at);
    }

    /** Wake-ups may have been missed. */
    void lookAgain(long now) {
        lookForExpired(now);
        woken(now);
    }

    /** The loop claims for due messages at that time at the latest. */
    void lookForDue(long at) {
        nextDueNanos = Math.min(nextDueNanos, at);
    }

    /** The loop claims for expired leases at that time at the latest. */
    void lookForExpired(long at) {
        nextExpiryNanos = Math.min(nextExpiryNanos, at);
    }

    /** The loop sends a claim, which asks for so many messages, of which so many may be ones whose lease has expired. */
    void claimSent(int messages, int expired, long number, long now) {
        claiming = true;
        if (expired > 0) {
            expiredAheadNanos = now + EXPIRED_LEASE_NANOS;
        }
        wokenNanos = Long.MAX_VALUE;
        asked = messages;
        askedNanos = now;
        claimNumber = number;
    }

    /** A sending of the claim got no answer and is repeated, or the claim was refused. */
    void attemptFailed(Throwable error, long now) {
        if (lastError == null) {
            failingSinceNanos = now;
        }
        lastError = error;
        asked = 0;
    }

    /** Redis has refused the claim. */
    void refused(long now, RandomGenerator random) {
        claiming = false;
        refusals++;
        notBeforeNanos = now + Backoff.nanos(refusals, random);
        nextDueNanos = notBeforeNanos;
        nextExpiryNanos = notBeforeNanos;
        headNanos = notBeforeNanos;
    }

    /**
     * Redis has answered the claim.
     *
     * @param late whether half of the lease is over, so all messages are released. Without a pause that would go on
     *     and on
     * @return whether claims had been failing
     */
    boolean answered(ClaimReply reply, boolean late, long now, RandomGenerator random) {
        claiming = false;
        asked = 0;
        refusals = 0;
        paused = reply.isPaused();
        boolean failing = lastError != null;
        lastError = null;
        if (late) {
            lateAnswers++;
            notBeforeNanos = now + Backoff.nanos(lateAnswers, random);
        } else {
            lateAnswers = 0;
        }
        expect(reply, failing, now);
        return failing;
    }

    /** Its batch is not complete, or there is none. */
    void rest(long now) {
        notBeforeNanos = now + REST_NANOS;
    }

    /** The loop has dealt with the answer or the refusal of a claim. */
    void ended(long number, boolean answered) {
        endedNumber = Math.max(endedNumber, number);
        if (answered) {
            answeredNumber = endedNumber;
        }
    }

    /**
     * Sets the next claim: by the answer, or by an earlier wake-up that came since the claim was sent.
     *
     * @param repeated whether the claim was sent several times: the first copy may have made the consumer a waiter
     */
    private void expect(ClaimReply reply, boolean repeated, long now) {
        boolean left = reply.againMicros() < 0;
        waiter = !left || repeated;
        long again = left ? now : after(now, reply.againMicros());
        long due = after(now, reply.nextDueMicros());
        long expiry = after(now, reply.nextExpiryMicros());
        // It may not hear of what is due after it has left, or after its turn.
        headNanos = Math.min(wokenNanos, Math.min(again, due));
        // Comes for a lease that expires, only if a slot is free.
        nextDueNanos = Math.min(wokenNanos, left || expiry > again ? again : Math.max(again, due));
        nextExpiryNanos = left ? again : Math.max(again, expiry);
    }

    private static long after(long now, long micros) {
        return now + saturatedNanos(micros < 0 ? Long.MAX_VALUE : micros);
    }

    /** A safety interval. It is up to a twentieth shorter than the longest one, so that not all queues are claimed at once. */
    static long safetyMicros(RandomGenerator random) {
        return TimeUnit.NANOSECONDS.toMicros(SAFETY_NANOS - random.nextLong(SAFETY_NANOS / 20));
    }

    /** A wait in nanoseconds, of ten years at the most: sums with a clock reading stay comparable. */
    static long saturatedNanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(Math.min(micros, TimeUnit.DAYS.toMicros(3650)));
    }

    /**
     * Leaves the waiters. Returns what sends that, to be run without the lock; it counts as earlier than any claim that
     * follows.
     */
    Runnable leave(ClaimId claimId) {
        waiter = false;
        return claims.leave(claimId);
    }

    // The state.

    boolean claiming() {
        return claiming;
    }

    /** The number of messages that the claim under way may still bring. */
    int asked(long now) {
        return claiming && now - askedNanos < ANSWER_NANOS ? asked : 0;
    }

    /** The time until the claim under way gives up its capacity; {@link Long#MAX_VALUE} if it does not. */
    long nextReturn(long now) {
        long left = askedNanos + ANSWER_NANOS - now;
        return claiming && asked > 0 && left > 0 ? left : Long.MAX_VALUE;
    }

    /** Returns whether the claim under way has given up its capacity. */
    boolean hangs(long now) {
        return claiming && asked(now) == 0;
    }

    /** Returns whether a claim after the one of that number was answered. */
    boolean hasAnswered(long number) {
        return answeredNumber > number;
    }

    /** Returns whether a claim after the one of that number was answered or refused. */
    boolean hasEnded(long number) {
        return endedNumber > number;
    }

    long claimNumber() {
        return claimNumber;
    }

    boolean isWaiter() {
        return waiter;
    }

    /** Returns whether the consumer has promised to come, and has not yet claimed. */
    boolean promised() {
        return waiter && !claiming;
    }

    /** The time when a consumer without capacity takes back its promise. */
    long leavesAt() {
        return Math.min(nextDueNanos, nextExpiryNanos) + PATIENCE_NANOS;
    }

    /** Returns whether the consumer has promised to come for a due message, as opposed to an expired lease. */
    boolean dueComesFirst() {
        return nextDueNanos <= nextExpiryNanos;
    }

    /** Returns whether no claim may be sent: one is under way, or was refused a moment ago. */
    boolean mustWait(long now) {
        return claiming || now - notBeforeNanos < 0;
    }

    boolean isDue(long now) {
        return now - nextDueNanos >= 0;
    }

    boolean leaseExpired(long now) {
        return now - nextExpiryNanos >= 0;
    }

    /** Returns whether a claim for due messages is to ask for one whose lease has expired, though no slot is free. */
    boolean takesExpiredAhead(long now) {
        return leaseExpired(now) && now - expiredAheadNanos >= 0;
    }

    long nextDueNanos() {
        return nextDueNanos;
    }

    long nextExpiryNanos() {
        return nextExpiryNanos;
    }

    long headNanos() {
        return headNanos;
    }

    long notBeforeNanos() {
        return notBeforeNanos;
    }

    boolean isPaused() {
        return paused;
    }

    int lateAnswers() {
        return lateAnswers;
    }

    /** The error by which claims fail, or null. */
    Throwable lastError() {
        return lastError;
    }

    long failingSinceNanos() {
        return failingSinceNanos;
    }
}
