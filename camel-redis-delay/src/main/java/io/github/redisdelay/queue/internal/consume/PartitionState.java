// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.WakeupDuty;
import io.github.redisdelay.queue.internal.redis.Backoff;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Where the messages of a {@link ConsumerLoop} come from, the whole queue or one of its partitions: what is known of it, and so when
 * to claim from it next.
 *
 * <p>All of it is guarded by the task's lock. Times are readings of the local clock.
 */
public final class PartitionState {

    /** How long a consumer goes without a claim at the most, so that a lost wake-up costs no more than this. */
    static final long SAFETY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** By how much later than the first consumer the second one comes for an event; {@code SECOND} in {@code wakeup.lua}. */
    static final long SECOND_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** How long a full consumer that has promised to come waits for a free slot before it says that it cannot. */
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** A claim that was not answered within this time takes no room from other partitions any more. */
    public static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Its deliveries are finished there. */
    final DeliverySettler queue;

    final ClaimCalls claims;

    private boolean claiming;
    /** How many messages the claim under way takes room for, and since when. */
    private int asked;

    private long askedNanos;
    /** The number of its latest claim: who waits for the longest time has the lowest. */
    private long claimNumber;
    /** The numbers of the latest claim that was answered, and of the latest that was answered or refused. */
    private long answeredNumber;

    private long endedNumber;
    /** When to claim for the next message that is due. */
    private long nextDueNanos;
    /** When to claim for the next lease that ends; such messages are claimed only into free slots. */
    private long nextEndNanos;
    /** When the next message is due, as far as this consumer knows, whoever is to come for it. */
    private long headNanos;
    /** Whether the consumer is in the waiting room, as far as it knows. */
    private boolean inRoom;
    /** Whether it is counted on by then: the earlier of {@link #nextDueNanos} and {@link #nextEndNanos}. */
    private boolean promised;
    /** The earliest event that wake-ups told of since the claim under way was sent. */
    private long wokenNanos = Long.MAX_VALUE;

    private int refusals;
    /** How many claims in a row were answered when half of the lease was over. */
    private int lateAnswers;
    /** No claim is sent before, whatever wakes the task: the back-off after an error. */
    private long notBeforeNanos;

    private long failingSinceNanos;
    private Throwable lastError;

    public PartitionState(DeliverySettler queue, ClaimCalls claims, long now) {
        this.queue = queue;
        this.claims = claims;
        this.nextDueNanos = now;
        this.nextEndNanos = now;
        this.headNanos = now;
        this.notBeforeNanos = now;
    }

    // What happens.

    /** Something is due then. */
    void woken(long at) {
        if (claiming) {
            // The claim may have looked before the message was there.
            wokenNanos = Math.min(wokenNanos, at);
        }
        nextDueNanos = Math.min(nextDueNanos, at);
        headNanos = Math.min(headNanos, at);
        promised = inRoom;
    }

    /** It is to be claimed from then, whatever is known. */
    void look(long at) {
        nextDueNanos = at;
        nextEndNanos = at;
    }

    /** A claim for due messages is to be sent then at the latest. */
    void lookForDue(long at) {
        nextDueNanos = Math.min(nextDueNanos, at);
    }

    /** A claim for expired leases is to be sent then at the latest. */
    void lookForEnded(long at) {
        nextEndNanos = Math.min(nextEndNanos, at);
    }

    /** A claim is sent. */
    void claims(int messages, long number, long now) {
        claiming = true;
        wokenNanos = Long.MAX_VALUE;
        asked = messages;
        askedNanos = now;
        claimNumber = number;
    }

    /** The claim's sending got no answer, it is repeated, or it was refused. */
    void attemptFailed(Throwable error, long now) {
        if (lastError == null) {
            failingSinceNanos = now;
        }
        lastError = error;
        asked = 0;
    }

    /** The claim was refused. */
    void refused(long now, RandomGenerator random) {
        claiming = false;
        refusals++;
        notBeforeNanos = now + Backoff.nanos(refusals, random);
        nextDueNanos = notBeforeNanos;
        nextEndNanos = notBeforeNanos;
        headNanos = notBeforeNanos;
    }

    /**
     * The claim was answered.
     *
     * @param tooLate whether all that it gave goes back, because half of the lease is over. Without a pause that would go on and on
     * @return whether claims had been failing
     */
    boolean answered(ClaimReply reply, boolean tooLate, long now, RandomGenerator random) {
        claiming = false;
        asked = 0;
        refusals = 0;
        boolean failing = lastError != null;
        lastError = null;
        if (tooLate) {
            lateAnswers++;
            notBeforeNanos = now + Backoff.nanos(lateAnswers, random);
        } else {
            lateAnswers = 0;
        }
        expect(reply, now);
        return failing;
    }

    /** The claim of that number was answered or refused, and what it gave was handed over. */
    void ended(long number, boolean answered) {
        endedNumber = Math.max(endedNumber, number);
        if (answered) {
            answeredNumber = endedNumber;
        }
    }

    /** The next claim: the earliest of the answer, the wake-ups since the claim was sent, and the safety interval. */
    private void expect(ClaimReply reply, long now) {
        long safety = now + TimeUnit.MICROSECONDS.toNanos(reply.safetyMicros());
        long due = Math.min(safety, after(now, reply.nextDueMicros()));
        long end = Math.min(safety, after(now, reply.nextExpiryMicros()));
        headNanos = Math.min(wokenNanos, due);
        inRoom = reply.duty() != WakeupDuty.LEFT;
        promised = inRoom;
        switch (reply.duty()) {
            case FIRST -> {
                nextDueNanos = due;
                nextEndNanos = end;
            }
            case BACKUP -> {
                nextDueNanos = Math.min(safety, due + SECOND_NANOS);
                nextEndNanos = Math.min(safety, end + SECOND_NANOS);
            }
            case NONE -> {
                nextDueNanos = safety;
                nextEndNanos = safety;
                promised = wokenNanos != Long.MAX_VALUE;
            }
            case LEFT -> {
                nextDueNanos = now;
                nextEndNanos = now;
            }
        }
        nextDueNanos = Math.min(nextDueNanos, wokenNanos);
    }

    private static long after(long now, long micros) {
        return micros < 0 ? Long.MAX_VALUE : now + saturatedNanos(micros);
    }

    /** A safety interval, up to a tenth shorter, so that consumers do not claim all at once. */
    static long safetyMicros(RandomGenerator random) {
        return TimeUnit.NANOSECONDS.toMicros(SAFETY_NANOS - random.nextLong(SAFETY_NANOS / 10));
    }

    /** Capped at ten years, so that sums with a clock reading stay comparable. */
    static long saturatedNanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(Math.min(micros, TimeUnit.DAYS.toMicros(3650)));
    }

    /**
     * Leaves the waiting room. Called with the lock held, so that this call has its number before any claim that follows: it is not
     * waited for.
     */
    void leave(ClaimId claimId) {
        promised = false;
        inRoom = false;
        claims.leave(claimId);
    }

    // What follows from it.

    boolean claiming() {
        return claiming;
    }

    /** How many messages the claim under way may still bring. */
    int asked(long now) {
        return claiming && now - askedNanos < ANSWER_NANOS ? asked : 0;
    }

    /** How long until a claim that is not answered gives up its room to the other partitions; {@link Long#MAX_VALUE} if none does. */
    long nextRoom(long now) {
        long left = askedNanos + ANSWER_NANOS - now;
        return claiming && asked > 0 && left > 0 ? left : Long.MAX_VALUE;
    }

    /** Whether a claim after the one of that number was answered. */
    boolean hasAnswered(long number) {
        return answeredNumber > number;
    }

    /** Whether a claim after the one of that number was answered or refused. */
    boolean hasEnded(long number) {
        return endedNumber > number;
    }

    /** Whether a claim is under way that has given up its capacity. */
    boolean keepsWaiting(long now) {
        return claiming && asked(now) == 0;
    }

    long claimNumber() {
        return claimNumber;
    }

    boolean inRoom() {
        return inRoom;
    }

    /** Whether the consumer has promised to come, and is not there yet. */
    boolean promised() {
        return promised && !claiming;
    }

    /** Until when a consumer that cannot come as it has promised waits before it says so. */
    long leavesAt() {
        return Math.min(nextDueNanos, nextEndNanos) + PATIENCE_NANOS;
    }

    /** Whether what it has promised to come for is a due message, as opposed to an expired lease. */
    boolean dueComesFirst() {
        return nextDueNanos <= nextEndNanos;
    }

    /** Whether no claim may be sent, as one is under way or was refused a moment ago. */
    boolean mustWait(long now) {
        return claiming || now - notBeforeNanos < 0;
    }

    boolean isDue(long now) {
        return now - nextDueNanos >= 0;
    }

    boolean leaseExpired(long now) {
        return now - nextEndNanos >= 0;
    }

    long nextDueNanos() {
        return nextDueNanos;
    }

    long nextEndNanos() {
        return nextEndNanos;
    }

    long headNanos() {
        return headNanos;
    }

    long notBeforeNanos() {
        return notBeforeNanos;
    }

    int lateAnswers() {
        return lateAnswers;
    }

    /** What its claims fail by, or null. */
    Throwable lastError() {
        return lastError;
    }

    long failingSinceNanos() {
        return failingSinceNanos;
    }
}
