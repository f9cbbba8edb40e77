// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;

/**
 * The state of one consumer, and what it decides to do. It sends and tells nothing itself.
 *
 * <p>Guarded by the lock of the {@link ConsumerLoop} that owns it. Times are readings of the local clock.
 */
final class ConsumerState {

    enum Mode {
        NEW,
        RUNNING,
        SUSPENDED,
        STOPPED
    }

    final PartitionStates partitions;
    final InFlightDeliveries inFlight;
    final CapacityShare capacity;
    final OverdueReport overdue;
    final Prefetch prefetch;
    final Timers timers;
    final StepTimer timer;

    private final ConsumerOptions options;
    private final ConsumerHost host;
    private final RandomGenerator random;
    private final long leaseNanos;

    private Mode mode = Mode.NEW;

    /**
     * The work to do without the lock.
     *
     * @param leaves send that the consumer leaves the waiters
     * @param nanos the time of the decision
     */
    record Step(
            List<ClaimedDelivery> release,
            List<ClaimedDelivery> begin,
            List<Runnable> leaves,
            List<CapacityShare.Claim> claims,
            long nanos) {}

    /** @param timerFired called without the lock when the timer has fired */
    ConsumerState(
            PartitionStates partitions,
            ConsumerOptions options,
            ConsumerHost host,
            Timers timers,
            RandomGenerator random,
            Consumer<Object> timerFired) {
        this.partitions = partitions;
        this.options = options;
        this.host = host;
        this.timers = timers;
        this.random = random;
        this.leaseNanos = options.visibilityTimeout().toNanos();
        long now = timers.nanoTime();
        this.inFlight = new InFlightDeliveries(options);
        this.prefetch = new Prefetch(inFlight, options, now);
        this.capacity = new CapacityShare(partitions, inFlight, prefetch, options, host::nextClaimId, random);
        this.overdue = new OverdueReport(now, options.batch());
        this.timer = new StepTimer(this, timerFired);
    }

    // Events.

    /** Begins to claim if it is in one of these modes. */
    void runIf(Mode... modes) {
        if (List.of(modes).contains(mode)) {
            mode = Mode.RUNNING;
            lookAgain();
        }
    }

    void suspend() {
        if (mode == Mode.RUNNING || mode == Mode.NEW) {
            mode = Mode.SUSPENDED;
        }
    }

    /** Stops for good; false if it had stopped before. */
    boolean stop() {
        boolean first = mode != Mode.STOPPED;
        mode = Mode.STOPPED;
        return first;
    }

    /** Sets how many callers wait. Each is a slot. It is suspended while there is none. */
    void setCallers(IntSupplier callers) {
        if (mode != Mode.STOPPED) {
            int slots = callers.getAsInt();
            inFlight.setSlots(slots);
            mode = slots > 0 ? Mode.RUNNING : Mode.SUSPENDED;
        }
    }

    /** Wake-ups may have been missed. */
    void lookAgain() {
        long now = timers.nanoTime();
        partitions.forEach(partition -> partition.lookAgain(now));
    }

    void finished(ClaimedDelivery delivery, boolean worked) {
        long now = timers.nanoTime();
        if (inFlight.finished(delivery, worked, now) && worked) {
            prefetch.worked(now);
        }
    }

    /** A claim has failed; returns whether to report it: one Redis may have all partitions, and is reported once. */
    boolean attemptFailed(PartitionState partition, Throwable error) {
        boolean first = partitions.failingLongest().isEmpty();
        partition.attemptFailed(error, timers.nanoTime());
        return first && mode != Mode.STOPPED;
    }

    void refused(PartitionState partition) {
        partition.refused(timers.nanoTime(), random);
    }

    /** Takes the answer to a claim. Returns what there is to report of it. */
    List<Consumer<ConsumerReports>> answered(
            CapacityShare.Claim claim, long sentNanos, ClaimReply reply, ClaimedDelivery.Owner owner) {
        List<Consumer<ConsumerReports>> news = new ArrayList<>(0);
        PartitionState partition = claim.partition();
        boolean pausedBefore = partitions.isPaused();
        long now = timers.nanoTime();
        boolean late = now - sentNanos > leaseNanos / 2 && !reply.messages().isEmpty();
        boolean failed = partition.answered(reply, late, now, random);
        if (options.batch() != null && reply.messages().isEmpty()) {
            partition.rest(now);
        }
        if (failed && partitions.failingLongest().isEmpty() && mode != Mode.STOPPED) {
            news.add(reports -> reports.claimsFailing(null));
        }
        boolean paused = partitions.isPaused();
        if (paused != pausedBefore) {
            news.add(reports -> reports.paused(paused));
        }
        if (partition.lateAnswers() == 3) {
            news.add(reports -> reports.answersTooLate(options.visibilityTimeout()));
        }
        if (!reply.dropped().isEmpty()) {
            news.add(reports -> reports.bodiesMissing(reply.dropped()));
        }
        overdue.claimAnswered();
        prefetch.turnOff(reply.limited());
        for (ClaimReply.ClaimedMessage message : reply.messages()) {
            prefetch.add(new ClaimedDelivery(
                    partition.queue,
                    message,
                    claim.request().claimId(),
                    reply.timeMicros(),
                    sentNanos,
                    now,
                    timers,
                    owner));
        }
        return news;
    }

    // Decisions.

    /** @param notBeforeNanos no claim is sent before */
    Step decide(long notBeforeNanos) {
        long now = timers.nanoTime();
        Step step = new Step(new ArrayList<>(0), new ArrayList<>(0), new ArrayList<>(0), new ArrayList<>(0), now);
        if (mode != Mode.RUNNING) {
            prefetch.releaseAll(step.release());
            timer.cancel();
            for (PartitionState partition : partitions) {
                if (partition.isWaiter() && !partition.claiming()) {
                    step.leaves().add(partition.leave(host.nextClaimId()));
                }
            }
            return step;
        }
        prefetch.releaseOld(now, step.release());
        prefetch.begin(now, step.begin(), step.release());
        if (!host.prefetches()) {
            prefetch.releaseAll(step.release());
        }
        if (now - notBeforeNanos >= 0) {
            step.claims().addAll(capacity.claims(now));
        }
        for (PartitionState partition : partitions) {
            if (capacity.isToLeave(partition, now)) {
                step.leaves().add(partition.leave(host.nextClaimId()));
                if (capacity.capacity(now) == 0) {
                    partition.lookForDue(now); // as soon as there is capacity
                }
                partition.lookForExpired(now);
            }
        }
        timer.arm(now, notBeforeNanos);
        return step;
    }

    /** Returns whether to ask now if a message is overdue; it asks once. */
    boolean asksForOverdue() {
        return isRunning() && timer.isTimeToAsk(timers.nanoTime()) && overdue.begin();
    }

    boolean isRunning() {
        return mode == Mode.RUNNING;
    }
}
