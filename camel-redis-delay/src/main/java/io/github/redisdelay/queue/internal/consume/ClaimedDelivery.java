// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ShownId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.RunTimes;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A message that a claim has leased. The first call that finishes it is sent to Redis, and tells the owner that its
 * slot is free. Thread-safe.
 */
public final class ClaimedDelivery implements Delivery {

    private final DeliverySettler queue;
    private final ClaimReply.ClaimedMessage message;
    private final ClaimId claimId;
    private final long claimedMicros;
    /** The time when the claim was sent, by the local clock. The lease expires no earlier than one lease after it. */
    private final long claimSentNanos;

    private final long answeredNanos;
    private final Timers timers;
    private final Owner owner;
    private final AtomicBoolean finished = new AtomicBoolean();

    /**
     * The time when it was begun, by the local clock. Written once, before the extender of leases and the handler see
     * the delivery.
     */
    private volatile long begunNanos;

    private volatile boolean leaseLost;
    /** The extension that was sent last. Written by the timer of the {@link LeaseExtender} only. */
    private volatile Submission<SettleResult> extension;
    /** The call that finished the delivery. Written by the one caller that won {@link #finished}. */
    private volatile Submission<SettleResult> settlement;
    /** The outcome that later calls get if that call took effect. Written before {@link #settlement}. */
    private volatile SettleResult afterwards;
    /** Written when the message has become a dead letter. */
    private volatile DeadLetterId deadLetterId;

    /** The consumer loop, which gave the delivery its slot. */
    public interface Owner {
        /**
         * The delivery was finished. Its slot is free, and its lease is extended no more.
         *
         * @param worked whether it was worked on, as opposed to released
         */
        void finished(ClaimedDelivery delivery, boolean worked);

        /** Redis has said that the delivery has lost its lease. */
        default void leaseLost() {}
    }

    public ClaimedDelivery(
            DeliverySettler queue,
            ClaimReply.ClaimedMessage message,
            ClaimId claimId,
            long claimedMicros,
            long claimSentNanos,
            long answeredNanos,
            Timers timers,
            Owner owner) {
        this.queue = queue;
        this.message = message;
        this.claimId = claimId;
        this.claimedMicros = claimedMicros;
        this.claimSentNanos = claimSentNanos;
        this.answeredNanos = answeredNanos;
        this.timers = timers;
        this.owner = owner;
    }

    @Override
    public String queue() {
        return queue.name();
    }

    @Override
    public boolean isFrom(DelayQueue other) {
        return queue.isPartOf(other);
    }

    @Override
    public String id() {
        return message.id();
    }

    @Override
    public byte[] body() {
        return message.stored().body();
    }

    @Override
    public ClaimId claimId() {
        return claimId;
    }

    @Override
    public int attempt() {
        return message.attempt();
    }

    @Override
    public int lostLeases() {
        return message.state().lostLeases();
    }

    @Override
    public RedeliveryReason redeliveryReason() {
        return message.state().redeliveryReason();
    }

    @Override
    public int priority() {
        return message.state().priority();
    }

    @Override
    public String group() {
        return message.stored().group();
    }

    @Override
    public long scheduledMicros() {
        return message.stored().scheduledMicros();
    }

    @Override
    public long dueMicros() {
        return message.state().dueMicros();
    }

    @Override
    public long firstDueMicros() {
        return message.state().firstDueMicros();
    }

    @Override
    public long claimedMicros() {
        return claimedMicros;
    }

    @Override
    public Duration lateness() {
        long here = TimeUnit.NANOSECONDS.toMicros(timers.nanoTime() - answeredNanos);
        return Duration.of(
                Math.max(0, claimedMicros - message.state().dueMicros()) + Math.max(0, here),
                java.time.temporal.ChronoUnit.MICROS);
    }

    @Override
    public boolean isLimited() {
        return message.limited();
    }

    @Override
    public byte[] lastFailure() {
        return message.state().lastFailure();
    }

    @Override
    public String rule() {
        return message.state().rule();
    }

    @Override
    public long runMicros() {
        return isRun() ? firstDueMicros() : message.state().lastRunMicros();
    }

    @Override
    public long nextRunMicros() {
        return isRun() ? following().first() : Long.MAX_VALUE;
    }

    /** The times of the runs after this one, if it is a run and ends now. */
    public RunTimes following() {
        return RunTimes.following(rule(), firstDueMicros(), message.state().newDueMicros(), nowMicros());
    }

    /** Returns true for a run of a recurring schedule, which goes on after it. */
    public boolean isRun() {
        return rule() != null && !queue.isDeadLetters();
    }

    /** The time by the Redis server's clock, at least. */
    public long nowMicros() {
        return claimedMicros + TimeUnit.NANOSECONDS.toMicros(timers.nanoTime() - answeredNanos);
    }

    @Override
    public Submission<SettleResult> settle(Settlement how) {
        boolean keeps = how.keepsMessage() || isRun();
        if (how instanceof Settlement.PauseGroup && (queue.isDeadLetters() || group() == null)) {
            throw new IllegalArgumentException(this + " has no group to be paused");
        }
        if (queue.isDeadLetters() && !keeps && !(how instanceof Settlement.Acknowledge)) {
            throw new IllegalStateException(this + " is a dead letter: acknowledge it, or retry it");
        }
        if (!finished.compareAndSet(false, true)) {
            return tooLate();
        }
        afterwards = keeps ? SettleResult.STALE_HELD : SettleResult.STALE_GONE;
        Submission<SettleResult> submission;
        try {
            submission = queue.settle(this, how);
        } catch (RuntimeException e) {
            finished.set(false);
            throw e;
        }
        settlement = submission;
        end(!(how.first() instanceof Settlement.Release));
        return submission;
    }

    @Override
    public DeadLetterId deadLetterId() {
        return deadLetterId;
    }

    public void deadLettered(DeadLetterId id) {
        deadLetterId = id;
    }

    @Override
    public void superseded() {
        if (finished.compareAndSet(false, true)) {
            SubmissionPromise<SettleResult> gone = new SubmissionPromise<>();
            gone.succeed(SettleResult.STALE_HELD);
            settlement = gone;
            end(true);
        }
    }

    @Override
    public CompletableFuture<Boolean> isReplaced() {
        return queue.scheduledMicros(id())
                .thenApply(found -> found.map(now -> now != message.stored().scheduledMicros())
                        .orElse(true));
    }

    @Override
    public boolean isLeaseLost() {
        return leaseLost;
    }

    /** The outcome of a call that comes when the delivery was finished before. It sends nothing. */
    private Submission<SettleResult> tooLate() {
        Submission<SettleResult> first = settlement;
        if (first == null) {
            return SubmissionPromise.failed(new DelayQueueException("being finished"));
        }
        SubmissionPromise<SettleResult> answer = new SubmissionPromise<>();
        first.outcome().whenComplete((found, error) -> {
            if (error != null) {
                answer.fail(error);
            } else {
                answer.succeed(found == SettleResult.DONE ? afterwards : found);
            }
        });
        return answer;
    }

    private void end(boolean worked) {
        Submission<SettleResult> waiting = extension;
        if (waiting != null) {
            waiting.result().cancel(false);
        }
        owner.finished(this, worked);
    }

    /** The bytes of the id in Redis, which need not be text. */
    public byte[] idBytes() {
        return message.idBytes();
    }

    boolean isFinished() {
        return finished.get();
    }

    void begun(long nanos) {
        begunNanos = nanos;
    }

    long begunNanos() {
        return begunNanos;
    }

    long claimSentNanos() {
        return claimSentNanos;
    }

    /** The time when the claim was answered, by the local clock. */
    long answeredNanos() {
        return answeredNanos;
    }

    /** Extends the lease from now on. */
    Submission<SettleResult> extend(long leaseMicros) {
        extension = queue.extend(this, leaseMicros);
        return extension;
    }

    void leaseLost() {
        leaseLost = true;
        owner.leaseLost();
    }

    @Override
    public String toString() {
        return "message '" + ShownId.of(id()) + "' of queue '" + queue() + "', attempt " + attempt();
    }
}
