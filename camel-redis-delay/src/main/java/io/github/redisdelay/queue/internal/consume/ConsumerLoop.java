// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.consume.ConsumerState.Mode;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The loop of one consumer. It waits for the earliest of the next due time, a wake-up, free capacity and its turn, and
 * then claims as many messages as there is capacity for. It claims from each partition of a queue
 * separately.
 *
 * <p>Every event (a claim's answer, a wake-up, a timer, a finished message) ends in a step ({@link #change}). The
 * {@link ConsumerState} decides under the lock, and the loop acts after it has let go of the lock. Nothing here blocks.
 *
 * <p>Redis knows which consumers wait, and counts on one of them for each event (see {@code wakeup.lua}). The answer to
 * a claim says when this one comes: by the event, or at its turn. A wake-up says that it comes earlier. A consumer that
 * cannot keep its promise, because it is full or stops, leaves the waiters.
 */
public final class ConsumerLoop implements DelayQueueConsumer, ClaimedDelivery.Owner {

    private final String queue;
    private final ConsumerHost host;
    private final Timers timers;
    private final DeliveryHandOver handOver;
    private final ConsumerReports reports;

    private final Object lock = new Object();
    /** Guarded by lock. */
    private final ConsumerState state;

    /** Completes when the loop has stopped and Redis does not know the consumer any more. */
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

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
        this.host = host;
        this.timers = timers;
        this.reports = new ConsumerReports(queue, handler);
        this.handOver = new DeliveryHandOver(options, leases, executor, handler, reports, timers, random);
        this.state =
                new ConsumerState(new PartitionStates(partitions), options, host, timers, random, this::timerFired);
    }

    // Events.

    /** A message of a partition is due in this many microseconds, or 0: check the queue now. */
    public void wakeUp(int partition, long waitMicros) {
        change(() ->
                state.partitions.get(partition).woken(timers.nanoTime() + PartitionState.saturatedNanos(waitMicros)));
    }

    /** Wake-ups for a partition may have been missed. */
    void checkNow(int partition) {
        change(() -> state.partitions.get(partition).lookAgain(timers.nanoTime()));
    }

    /** The subscription to wake-ups stands. The loop begins to claim, unless the consumer was suspended meanwhile. */
    public void start() {
        change(() -> {
            state.runIf(Mode.NEW);
            state.lookAgain(); // it may have been resumed before
        });
    }

    @Override
    public void resume() {
        change(() -> state.runIf(Mode.SUSPENDED, Mode.NEW));
    }

    @Override
    public void suspend() {
        change(state::suspend);
    }

    @Override
    public CompletableFuture<Void> stop(boolean extendLeases) {
        boolean first = read(state::stop); // from here on none is begun
        if (!extendLeases) {
            handOver.letLeasesRunOut(read(state.inFlight::all));
        }
        step();
        if (first) {
            CompletableFuture<Void> left = CompletableFuture.allOf(
                    state.partitions.stream().map(each -> each.claims.close()).toArray(CompletableFuture<?>[]::new));
            host.stopped(left).thenAccept(gone::complete);
        }
        return gone;
    }

    @Override
    public void setConcurrentConsumers(int concurrentConsumers) {
        ConsumerOptions.checkConcurrentConsumers(concurrentConsumers);
        change(() -> state.inFlight.setSlots(concurrentConsumers));
    }

    @Override
    public void finished(ClaimedDelivery delivery, boolean worked) {
        handOver.finished(delivery);
        change(() -> state.finished(delivery, worked));
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
            state.setCallers(callers);
            if (look) {
                state.lookAgain();
            }
            return state.capacity.claimed();
        });
        step();
        return before;
    }

    /** A caller has taken a message with it. The message occupies no slot any more. */
    void handedOver(ClaimedDelivery delivery) {
        change(() -> {
            if (state.inFlight.finished(delivery, false, timers.nanoTime())) {
                state.inFlight.setSlots(state.inFlight.slots() - 1);
            }
        });
    }

    @Override
    public void leaseLost() {
        step(); // nothing could be begun beside a suspicious message
    }

    /** A sending of a claim got no answer; it is repeated. */
    public void attemptFailed(int partition, Throwable error) {
        attemptFailed(state.partitions.get(partition), error);
        if (state.partitions.count() > 1) {
            step(); // others may have the capacity that it had asked for
        }
    }

    private void attemptFailed(PartitionState partition, Throwable error) {
        if (read(() -> state.attemptFailed(partition, error))) {
            reports.claimsFailing(error);
        }
    }

    private void answered(CapacityShare.Claim claim, long sentNanos, ClaimReply reply, Throwable error) {
        if (error != null) {
            refused(claim, ErrorText.unwrap(error));
            return;
        }
        read(() -> state.answered(claim, sentNanos, reply, this)).forEach(news -> news.accept(reports));
        step();
        ended(claim, null);
    }

    private void refused(CapacityShare.Claim claim, Throwable error) {
        attemptFailed(claim.partition(), error);
        change(() -> state.refused(claim.partition()));
        ended(claim, error);
    }

    /** The messages of a claim were handed over, if there were any. */
    private void ended(CapacityShare.Claim claim, Throwable refusal) {
        locked(() -> claim.partition().ended(claim.number(), refusal == null));
        host.claimEnded(refusal);
    }

    // The step.

    private void step() {
        change(() -> {});
    }

    /** Changes the state, then decides what is to be done now, and does it. The change holds the lock. */
    private void change(Runnable change) {
        ConsumerState.Step step;
        synchronized (lock) {
            change.run();
            step = state.decide(handOver.notBeforeNanos());
        }
        step.leaves().forEach(Runnable::run);
        // With several deliveries, the next claim goes first, so that Redis works in parallel. Not for receivers: they
        // must see found messages before "none".
        boolean ahead = step.begin().size() > 1 && host.prefetches();
        try {
            if (ahead) {
                send(step);
            }
        } finally {
            handOver.begin(step.begin(), this::rejected);
        }
        step.release().forEach(delivery -> delivery.settle(Settlement.RELEASE));
        if (!ahead) {
            send(step);
        }
    }

    /** The executor has rejected a delivery. */
    private void rejected(ClaimedDelivery delivery) {
        long at = handOver.notBeforeNanos();
        locked(() -> state.partitions.forEach(partition -> partition.lookForDue(at)));
        delivery.settle(Settlement.RELEASE);
    }

    private void send(ConsumerState.Step step) {
        step.claims().forEach(claim -> send(claim, step.nanos()));
    }

    private void send(CapacityShare.Claim claim, long now) {
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
        } catch (Throwable e) {
            refused(claim, e);
        }
    }

    private void timerFired(Object firing) {
        if (!read(() -> state.timer.isLatest(firing))) {
            return;
        }
        boolean ask = read(state::asksForOverdue);
        step();
        if (ask) {
            // Another consumer may have taken what was due, so it asks before it warns.
            host.stats().whenComplete((figures, error) -> reportOverdue(error == null ? figures : null));
        }
    }

    private void reportOverdue(QueueStats figures) {
        Duration age = read(() -> state.overdue.answered(figures, timers.nanoTime()));
        ClaimedDelivery longest = read(() -> state.isRunning() ? state.inFlight.longestRunning() : null);
        if (age != null && longest != null) {
            reports.overdue(age, longest);
        }
        step();
    }

    private <T> T read(Supplier<T> read) {
        synchronized (lock) {
            return read.get();
        }
    }

    private void locked(Runnable change) {
        synchronized (lock) {
            change.run();
        }
    }

    // Questions.

    String queue() {
        return queue;
    }

    /** Returns whether a claim after the one of that number was answered. */
    boolean hasAnswered(long since) {
        return read(() -> state.partitions.hasAnswered(since));
    }

    /** Returns whether each partition has ended a claim after the one of that number, or hangs beside others. */
    boolean hasLooked(long since) {
        return read(() -> state.partitions.hasLooked(since, timers.nanoTime()));
    }

    @Override
    public int underWay() {
        return read(state.inFlight::count);
    }

    @Override
    public Duration failingFor() {
        return read(() -> state.partitions
                .failingLongest()
                .map(partition -> Duration.ofNanos(timers.nanoTime() - partition.failingSinceNanos()))
                .orElse(Duration.ZERO));
    }

    @Override
    public Throwable lastError() {
        return read(() ->
                state.partitions.failingLongest().map(PartitionState::lastError).orElse(null));
    }
}
