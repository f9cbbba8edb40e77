// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The loop of one consumer. It waits for the earliest of the next due time, a wake-up, free capacity and its turn, and
 * then claims as many messages as there is capacity for. It claims from each partition of a queue
 * separately.
 *
 * <p>Every event (a claim's answer, a wake-up, a timer, a finished message) ends in a step ({@link #change}). A step decides
 * under the lock, and acts after it has let go of the lock. Nothing here blocks.
 *
 * <p>Redis knows which consumers wait, and counts on one of them for each event (see {@code wakeup.lua}). The answer to
 * a claim says when this one comes: by the event, or at its turn. A wake-up says that it comes earlier. A consumer that
 * cannot keep its promise, because it is full or stops, leaves the waiters.
 */
public final class ConsumerLoop implements DelayQueueConsumer, ClaimedDelivery.Owner {

    private final String queue;
    private final PartitionState[] partitions;
    private final ConsumerOptions options;
    private final ConsumerHost host;
    private final Timers timers;
    private final RandomGenerator random;
    private final DeliveryHandOver handOver;
    private final ConsumerReports reports;
    private final long leaseNanos;

    private final Object lock = new Object();

    // All below are guarded by lock.
    private enum Mode {
        NEW,
        RUNNING,
        SUSPENDED,
        STOPPED
    }

    private Mode mode = Mode.NEW;
    private final InFlightDeliveries inFlight;
    private final Prefetch prefetch;
    private final CapacityShare capacity;
    private final OverdueReport overdue;

    private final StepTimer timer;
    /** The number of the latest claim. */
    private long claimed;

    /** Completes when the loop has stopped and Redis does not know the consumer any more. */
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    /** A claim that is to be sent. */
    private record Sending(PartitionState partition, long number, ClaimRequest request) {}

    /** @param partitions all of the queue, at least one */
    public ConsumerLoop(
            List<PartitionState> partitions,
            ConsumerOptions options,
            ConsumerHost host,
            Timers timers,
            RandomGenerator random,
            LeaseExtender leases,
            Executor executor,
            DeliveryHandler handler) {
        this.queue = partitions.get(0).queue.name();
        this.options = options;
        this.host = host;
        this.timers = timers;
        this.random = random;
        this.reports = new ConsumerReports(queue, handler);
        this.handOver = new DeliveryHandOver(options, leases, executor, handler, reports, timers, random);
        this.leaseNanos = options.visibilityTimeout().toNanos();
        this.partitions = partitions.toArray(PartitionState[]::new);
        long now = timers.nanoTime();
        this.inFlight = new InFlightDeliveries(options.concurrentConsumers(), leaseNanos);
        this.prefetch = new Prefetch(inFlight, options.maxMessagesPerPoll(), leaseNanos, now);
        this.capacity = new CapacityShare(this.partitions, inFlight, prefetch, options.maxMessagesPerPoll());
        this.overdue = new OverdueReport(now);
        this.timer = new StepTimer(this.partitions, inFlight, prefetch, capacity, overdue, timers, this::timerFired);
    }

    // Events.

    /** A message of a partition is due in this many microseconds, or 0: check the queue now. */
    public void wakeUp(int partition, long waitMicros) {
        change(() -> partitions[partition].woken(timers.nanoTime() + PartitionState.saturatedNanos(waitMicros)));
    }

    /** Wake-ups for a partition may have been missed. */
    void checkNow(int partition) {
        change(() -> lookAgain(partitions[partition]));
    }

    /** Holds the lock. */
    private void lookAgain(PartitionState partition) {
        long now = timers.nanoTime();
        partition.lookForExpired(now);
        partition.woken(now);
    }

    /** The subscription to wake-ups stands. The loop begins to claim, unless the consumer was suspended meanwhile. */
    public void start() {
        change(() -> {
            if (mode == Mode.NEW) {
                run();
            } else {
                List.of(partitions).forEach(this::lookAgain); // it may have been resumed before
            }
        });
    }

    @Override
    public void resume() {
        change(() -> {
            if (mode == Mode.SUSPENDED || mode == Mode.NEW) {
                run();
            }
        });
    }

    /** Holds the lock. */
    private void run() {
        mode = Mode.RUNNING;
        long now = timers.nanoTime();
        for (PartitionState partition : partitions) {
            partition.look(now);
        }
    }

    @Override
    public void suspend() {
        change(() -> {
            if (mode == Mode.RUNNING || mode == Mode.NEW) {
                mode = Mode.SUSPENDED;
            }
        });
    }

    @Override
    public CompletableFuture<Void> stop(boolean extendLeases) {
        boolean first = read(() -> {
            boolean running = mode != Mode.STOPPED;
            mode = Mode.STOPPED; // from here on none is begun
            return running;
        });
        if (!extendLeases) {
            handOver.letLeasesRunOut(read(inFlight::all));
        }
        step();
        if (first) {
            CompletableFuture<Void> left = CompletableFuture.allOf(
                    Arrays.stream(partitions).map(each -> each.claims.close()).toArray(CompletableFuture<?>[]::new));
            host.stopped(left).thenAccept(gone::complete);
        }
        return gone;
    }

    @Override
    public void setConcurrentConsumers(int concurrentConsumers) {
        ConsumerOptions.checkConcurrentConsumers(concurrentConsumers);
        change(() -> inFlight.setSlots(concurrentConsumers));
    }

    @Override
    public void finished(ClaimedDelivery delivery, boolean worked) {
        handOver.finished(delivery);
        change(() -> {
            long now = timers.nanoTime();
            if (inFlight.finished(delivery, worked, now) && worked) {
                prefetch.worked(now);
            }
        });
    }

    /**
     * Callers that wait for a message have come or gone. Each is a slot. The loop is suspended while there is none.
     *
     * @param callers how many wait now
     * @param look whether to look at everything now, for a caller that has come
     * @return the number of the latest claim before that look
     */
    long callersChanged(IntSupplier callers, boolean look) {
        long before = read(() -> {
            if (mode != Mode.STOPPED) {
                int slots = callers.getAsInt();
                inFlight.setSlots(slots);
                mode = slots > 0 ? Mode.RUNNING : Mode.SUSPENDED;
            }
            if (look) {
                List.of(partitions).forEach(this::lookAgain);
            }
            return claimed;
        });
        step();
        return before;
    }

    /** A caller has taken a message with it. The message occupies no slot any more. */
    void handedOver(ClaimedDelivery delivery) {
        change(() -> {
            if (inFlight.finished(delivery, false, timers.nanoTime())) {
                inFlight.setSlots(inFlight.slots() - 1);
            }
        });
    }

    @Override
    public void leaseLost() {
        step(); // nothing could be begun beside a suspicious message
    }

    /** A sending of a claim got no answer; it is repeated. */
    public void attemptFailed(int partition, Throwable error) {
        attemptFailed(partitions[partition], error);
        if (partitions.length > 1) {
            step(); // others may have the capacity that it had asked for
        }
    }

    private void attemptFailed(PartitionState partition, Throwable error) {
        // One Redis may have all the partitions: the handler is told once, not once for each.
        boolean first = read(() -> {
            boolean none = failingLongest().isEmpty();
            partition.attemptFailed(error, timers.nanoTime());
            return none && mode != Mode.STOPPED;
        });
        if (first) {
            reports.claimsFailing(error);
        }
    }

    private void answered(Sending claim, long sentNanos, ClaimReply reply, Throwable error) {
        if (error != null) {
            refused(claim, ErrorText.unwrap(error));
            return;
        }
        PartitionState partition = claim.partition();
        boolean recovered;
        boolean tooLate;
        boolean pausedBefore;
        boolean paused;
        synchronized (lock) {
            pausedBefore = isPaused();
            long now = timers.nanoTime();
            tooLate = now - sentNanos > leaseNanos / 2 && !reply.messages().isEmpty();
            recovered = partition.answered(reply, tooLate, now, random)
                    && failingLongest().isEmpty()
                    && mode != Mode.STOPPED;
            paused = isPaused();
            overdue.claimAnswered();
            tooLate = partition.lateAnswers() == 3;
            for (ClaimReply.ClaimedMessage message : reply.messages()) {
                prefetch.add(new ClaimedDelivery(
                        partition.queue,
                        message,
                        claim.request().claimId(),
                        reply.timeMicros(),
                        sentNanos,
                        now,
                        timers,
                        this));
            }
        }
        if (recovered) {
            reports.claimsFailing(null);
        }
        if (paused != pausedBefore) {
            reports.paused(paused);
        }
        if (tooLate) {
            reports.answersTooLate(options.visibilityTimeout());
        }
        reports.bodiesMissing(reply.dropped());
        step();
        ended(claim, null);
    }

    private void refused(Sending claim, Throwable error) {
        PartitionState partition = claim.partition();
        attemptFailed(partition, error);
        change(() -> partition.refused(timers.nanoTime(), random));
        ended(claim, error);
    }

    /** The messages of a claim were handed over, if there were any. */
    private void ended(Sending claim, Throwable refusal) {
        locked(() -> claim.partition().ended(claim.number(), refusal == null));
        host.claimEnded(refusal);
    }

    private void locked(Runnable change) {
        read(() -> {
            change.run();
            return null;
        });
    }

    // The step.

    private void step() {
        change(() -> {});
    }

    /** Changes the state, then decides what is to be done now, and does it. The change holds the lock. */
    private void change(Runnable change) {
        List<ClaimedDelivery> release = new ArrayList<>(0);
        List<ClaimedDelivery> begin = new ArrayList<>(0);
        List<Sending> claims = List.of();
        long now;
        synchronized (lock) {
            change.run();
            now = timers.nanoTime();
            if (mode != Mode.RUNNING) {
                prefetch.releaseAll(release);
                timer.cancel();
                for (PartitionState partition : partitions) {
                    if (partition.isWaiter() && !partition.claiming()) {
                        partition.leave(host.nextClaimId());
                    }
                }
            } else {
                prefetch.releaseOld(now, release);
                prefetch.begin(now, begin, release);
                if (!host.prefetches()) {
                    prefetch.releaseAll(release);
                }
                claims = nextClaims(now);
                for (PartitionState partition : partitions) {
                    leaveIfItCannotCome(partition, now);
                }
                timer.arm(now, handOver.notBeforeNanos());
            }
        }
        // With several deliveries, the next claim goes first, so that Redis works in parallel. Not for receivers: they
        // must see found messages before "none".
        boolean ahead = begin.size() > 1 && host.prefetches();
        try {
            if (ahead) {
                send(claims, now);
            }
        } finally {
            handOver.begin(begin, this::rejected);
        }
        release.forEach(delivery -> delivery.settle(Settlement.RELEASE));
        if (!ahead) {
            send(claims, now);
        }
    }

    /** The executor has rejected a delivery. */
    private void rejected(ClaimedDelivery delivery) {
        long at = handOver.notBeforeNanos();
        locked(() -> List.of(partitions).forEach(partition -> partition.lookForDue(at)));
        delivery.settle(Settlement.RELEASE);
    }

    private void send(List<Sending> claims, long now) {
        claims.forEach(claim -> send(claim, now));
    }

    private void send(Sending claim, long now) {
        try {
            PartitionState partition = claim.partition();
            CompletableFuture<ClaimReply> answer = new CompletableFuture<>();
            // Before the call: a consumer that stops as the answer comes leaves the waiters before it gives its session
            // back.
            answer.whenComplete((reply, error) -> answered(claim, now, reply, error));
            partition
                    .gate
                    .ask(() -> partition.claims.claim(claim.request(), answer))
                    // It could not pass the gate.
                    .handle((reply, error) -> error != null && answer.completeExceptionally(error));
        } catch (RuntimeException e) {
            refused(claim, e);
        }
    }

    /** The claims to send now. Holds the lock. */
    private List<Sending> nextClaims(long now) {
        if (now - handOver.notBeforeNanos() < 0) {
            return List.of();
        }
        List<Sending> claims = new ArrayList<>(0);
        for (CapacityShare.Share share : capacity.divide(now)) {
            share.partition().claimSent(share.messages(), share.expired(), ++claimed, now);
            claims.add(new Sending(
                    share.partition(),
                    claimed,
                    new ClaimRequest(
                            host.nextClaimId(),
                            TimeUnit.NANOSECONDS.toMicros(leaseNanos),
                            share.messages(),
                            share.expired(),
                            inFlight.isQuick(),
                            PartitionState.safetyMicros(random))));
        }
        return claims;
    }

    /** Takes back the promise to come if there is no capacity for that. Holds the lock. */
    private void leaveIfItCannotCome(PartitionState partition, long now) {
        if (partition.promised() && now - partition.leavesAt() >= 0 && capacity.lacksForPromise(partition, now)) {
            partition.leave(host.nextClaimId());
            if (capacity.capacity(now) == 0) {
                partition.lookForDue(now); // as soon as there is capacity
            }
            partition.lookForExpired(now);
        }
    }

    private void timerFired(Object firing) {
        if (!read(() -> timer.isLatest(firing))) {
            return;
        }
        boolean ask = read(() -> mode == Mode.RUNNING && timer.isTimeToAsk(timers.nanoTime()) && overdue.begin());
        step();
        if (ask) {
            // Another consumer may have taken what was due, so it asks before it warns.
            host.stats().whenComplete((figures, error) -> reportOverdue(error == null ? figures : null));
        }
    }

    private void reportOverdue(QueueStats figures) {
        Duration age = read(() -> overdue.answered(figures, timers.nanoTime()));
        ClaimedDelivery longest = read(() -> mode == Mode.RUNNING ? inFlight.longestRunning() : null);
        if (age != null && longest != null) {
            reports.overdue(age, longest);
        }
        step();
    }

    // Questions.

    /** Returns whether a partition was paused at its last claim. Holds the lock. */
    private boolean isPaused() {
        return Arrays.stream(partitions).anyMatch(PartitionState::isPaused);
    }

    String queue() {
        return queue;
    }

    private <T> T read(Supplier<T> read) {
        synchronized (lock) {
            return read.get();
        }
    }

    /** Returns whether a claim after the one of that number was answered. */
    boolean hasAnswered(long since) {
        return read(() -> Arrays.stream(partitions).anyMatch(partition -> partition.hasAnswered(since)));
    }

    /** Returns whether each partition has ended a claim after the one of that number, or hangs beside others. */
    boolean hasLooked(long since) {
        return read(() -> Arrays.stream(partitions)
                .allMatch(partition ->
                        partition.hasEnded(since) || (partitions.length > 1 && partition.hangs(timers.nanoTime()))));
    }

    @Override
    public int underWay() {
        return read(inFlight::count);
    }

    @Override
    public Duration failingFor() {
        return read(() -> failingLongest()
                .map(partition -> Duration.ofNanos(timers.nanoTime() - partition.failingSinceNanos()))
                .orElse(Duration.ZERO));
    }

    @Override
    public Throwable lastError() {
        return read(() -> failingLongest().map(PartitionState::lastError).orElse(null));
    }

    /** The partition whose claims have been failing for the longest time. Holds the lock. */
    private Optional<PartitionState> failingLongest() {
        return Arrays.stream(partitions)
                .filter(partition -> partition.lastError() != null)
                .min((one, other) -> Long.signum(one.failingSinceNanos() - other.failingSinceNanos()));
    }
}
