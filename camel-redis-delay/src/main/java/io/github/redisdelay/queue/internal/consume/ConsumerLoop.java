// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.ShownId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loop of one consumer: it waits for the earliest of the next due time, a wake-up, free capacity and the safety interval, and
 * then claims as many messages as there is capacity for. It claims from each partition of a queue by itself.
 *
 * <p>Every event (a claim's answer, a wake-up, a timer, a finished message) ends in {@link #step()}, which looks at the
 * state under the lock, decides, and acts after it has let go of the lock. Nothing here blocks.
 *
 * <p>Redis knows which consumers wait, and counts on two of them for each event (see {@code wakeup.lua}). Each claim
 * says whether this one is counted on, and so does a wake-up; otherwise it sleeps for the safety interval. A consumer that
 * cannot keep its promise, as it is full or stops, says so.
 */
public final class ConsumerLoop implements DelayQueueConsumer, ClaimedDelivery.Owner {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerLoop.class);

    /** How long to wait at the most without a claim, so that a lost wake-up costs no more than this. */
    static final long SAFETY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final Duration RETURN_AFTER_HANDLER_ERROR = Duration.ofSeconds(1);

    private final String queue;
    private final PartitionState[] partitions;
    private final ConsumerOptions options;
    private final Host host;
    private final Timers timers;
    private final RandomGenerator random;
    private final LeaseExtender leases;
    private final Executor executor;
    private final DeliveryHandler handler;
    private final long leaseNanos;

    private final ReentrantLock lock = new ReentrantLock();

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

    private Timers.Timer timer;
    private long timerNanos;
    /** No claim is sent before: the back-off after the executor has rejected a message. */
    private long rejectedUntilNanos;
    /** The number of the latest claim. */
    private long claimed;

    // Read without the lock.
    /** Whether leases are not extended any more. Set under lock, before those under way are let go. */
    private volatile boolean letLeasesRunOut;
    /** How often in a row the executor rejected a message. */
    private volatile int rejections;

    /**
     * A source of messages: the whole queue, or one of its partitions.
     *
     * @param queue its deliveries are finished there
     */
    public record Partition(DeliverySettler queue, ClaimCalls claims) {}

    /** The surroundings of a loop. */
    public interface Host {

        ClaimId nextClaimId();

        /** Reads the figures of the queue. */
        CompletableFuture<QueueStats> stats();

        /** The loop has stopped. */
        void stopped();

        /** Whether messages may be claimed for which there is no free slot. Asked with the loop's lock held. */
        default boolean prefetches() {
            return true;
        }

        /** A claim was answered, or refused with this error, and its messages were handed over. */
        default void claimEnded(Throwable refusal) {}
    }

    /** A claim that is to be sent. */
    private record Sending(PartitionState partition, ClaimRequest request) {}

    /** @param partitions all of the queue, at least one */
    public ConsumerLoop(
            List<Partition> partitions,
            ConsumerOptions options,
            Host host,
            Timers timers,
            RandomGenerator random,
            LeaseExtender leases,
            Executor executor,
            DeliveryHandler handler) {
        this.queue = partitions.get(0).queue().name();
        this.options = options;
        this.host = host;
        this.timers = timers;
        this.random = random;
        this.leases = leases;
        this.executor = executor;
        this.handler = handler;
        this.leaseNanos = options.visibilityTimeout().toNanos();
        long now = timers.nanoTime();
        this.partitions = partitions.stream()
                .map(partition -> new PartitionState(partition.queue(), partition.claims(), now))
                .toArray(PartitionState[]::new);
        this.inFlight = new InFlightDeliveries(options.concurrentConsumers(), leaseNanos);
        this.prefetch = new Prefetch(inFlight, options.maxMessagesPerPoll(), leaseNanos, now);
        this.capacity = new CapacityShare(this.partitions, inFlight, prefetch, options.maxMessagesPerPoll());
        this.overdue = new OverdueReport(now);
        this.rejectedUntilNanos = now;
        this.timerNanos = now;
    }

    // Events.

    /** A message of a partition is due in this many microseconds, or something is worth a look now (0). */
    public void wakeUp(int partition, long waitMicros) {
        change(() -> partitions[partition].woken(timers.nanoTime() + PartitionState.saturatedNanos(waitMicros)));
    }

    /** Wake-ups for a partition may have been missed: looks at everything now. */
    void makePass(int partition) {
        change(() -> lookAgain(partitions[partition]));
    }

    /** Holds the lock. */
    private void lookAgain(PartitionState partition) {
        long now = timers.nanoTime();
        partition.lookForEnded(now);
        partition.woken(now);
    }

    /** The subscription to wake-ups stands: begins to claim, unless the consumer was suspended meanwhile. */
    public void start() {
        change(() -> {
            if (mode == Mode.NEW) {
                run();
            } else {
                for (PartitionState partition : partitions) {
                    lookAgain(partition); // it may have been resumed before
                }
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
    public void stop(boolean extendLeases) {
        List<ClaimedDelivery> letGo = List.of();
        boolean first;
        lock.lock();
        try {
            first = mode != Mode.STOPPED;
            mode = Mode.STOPPED;
            if (!extendLeases) {
                letLeasesRunOut = true;
                letGo = inFlight.all();
            }
        } finally {
            lock.unlock();
        }
        letGo.forEach(leases::remove);
        step();
        if (first) {
            for (PartitionState partition : partitions) {
                partition.claims.close();
            }
            host.stopped();
        }
    }

    @Override
    public void setConcurrentConsumers(int concurrentConsumers) {
        ConsumerOptions.checkConcurrentConsumers(concurrentConsumers);
        change(() -> inFlight.setSlots(concurrentConsumers));
    }

    @Override
    public void finished(ClaimedDelivery delivery, boolean worked) {
        leases.remove(delivery);
        change(() -> {
            long now = timers.nanoTime();
            if (inFlight.finished(delivery, worked, now) && worked) {
                prefetch.worked(now);
            }
        });
    }

    @Override
    public void leaseLost() {
        step(); // it may have been the one that is alone
    }

    /** A sending of a partition's claim got no answer; it is repeated. */
    public void attemptFailed(int partition, Throwable error) {
        attemptFailed(partitions[partition], error);
        if (partitions.length > 1) {
            step(); // others may have the capacity that it had asked for
        }
    }

    private void attemptFailed(PartitionState partition, Throwable error) {
        boolean first;
        lock.lock();
        try {
            // One Redis may have all the partitions: it is told once, not once for each.
            first = failingLongest() == null && mode != Mode.STOPPED;
            partition.attemptFailed(error, timers.nanoTime());
        } finally {
            lock.unlock();
        }
        if (first) {
            tell(() -> handler.claimsFailing(error));
        }
    }

    private void answered(
            PartitionState partition, ClaimRequest request, long sentNanos, ClaimReply reply, Throwable error) {
        if (error != null) {
            refused(partition, RedisErrors.unwrap(error));
            return;
        }
        boolean recovered;
        boolean tooLate;
        lock.lock();
        try {
            long now = timers.nanoTime();
            tooLate = now - sentNanos > leaseNanos / 2 && !reply.messages().isEmpty();
            recovered =
                    partition.answered(reply, tooLate, now, random) && failingLongest() == null && mode != Mode.STOPPED;
            overdue.claimAnswered();
            tooLate = partition.lateAnswers() == 3;
            for (ClaimReply.ClaimedMessage message : reply.messages()) {
                prefetch.add(new ClaimedDelivery(
                        partition.queue,
                        message,
                        request.claimId(),
                        reply.timeMicros(),
                        sentNanos,
                        now,
                        timers,
                        this));
            }
        } finally {
            lock.unlock();
        }
        if (recovered) {
            tell(() -> handler.claimsFailing(null));
        }
        if (tooLate) {
            LOG.warn(
                    "queue '{}': Redis answers claims so late that half of the lease ({}) is over, so nothing is begun."
                            + " Make the visibility timeout longer",
                    queue,
                    options.visibilityTimeout());
        }
        for (String id : reply.dropped()) {
            LOG.warn("queue '{}': message '{}' had no body and was dropped", queue, ShownId.of(id));
            tell(() -> handler.bodyMissing(id));
        }
        step();
        host.claimEnded(null);
    }

    private void refused(PartitionState partition, Throwable refusal) {
        Throwable error = RedisErrors.explained(queue, refusal);
        attemptFailed(partition, error);
        change(() -> partition.refused(timers.nanoTime(), random));
        host.claimEnded(error);
    }

    /** Changes the state under the lock, then makes a step. */
    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
        step();
    }

    // The step.

    /** Decides what is to be done now, and does it. */
    private void step() {
        List<ClaimedDelivery> release = new ArrayList<>(0);
        List<ClaimedDelivery> begin = new ArrayList<>(0);
        List<Sending> claims = List.of();
        long now;
        lock.lock();
        try {
            now = timers.nanoTime();
            if (mode != Mode.RUNNING) {
                prefetch.releaseAll(release);
                cancelTimer();
                for (PartitionState partition : partitions) {
                    if (partition.inRoom() && !partition.claiming()) {
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
                armTimer(now);
            }
        } finally {
            lock.unlock();
        }
        begin.forEach(this::hand);
        release.forEach(ClaimedDelivery::release);
        claims.forEach(claim -> send(claim, now));
    }

    private void send(Sending claim, long now) {
        PartitionState partition = claim.partition();
        ClaimRequest request = claim.request();
        try {
            partition
                    .claims
                    .claim(request)
                    .whenComplete((reply, error) -> answered(partition, request, now, reply, error));
        } catch (RuntimeException e) {
            refused(partition, e);
        }
    }

    /** The claims to send now. Holds the lock. */
    private List<Sending> nextClaims(long now) {
        if (now - rejectedUntilNanos < 0) {
            return List.of();
        }
        List<Sending> claims = new ArrayList<>(0);
        for (CapacityShare.Share share : capacity.divide(now)) {
            share.partition().claims(share.messages(), ++claimed, now);
            claims.add(new Sending(
                    share.partition(),
                    new ClaimRequest(
                            host.nextClaimId(),
                            TimeUnit.NANOSECONDS.toMicros(leaseNanos),
                            share.messages(),
                            share.expired(),
                            afterwards(share.moreCapacity()),
                            TimeUnit.NANOSECONDS.toMicros(SAFETY_NANOS - random.nextLong(SAFETY_NANOS / 10)))));
        }
        return claims;
    }

    /** Holds the lock. */
    private ClaimRequest.Afterwards afterwards(boolean moreCapacity) {
        if (inFlight.isQuick()) {
            return ClaimRequest.Afterwards.QUICK;
        }
        return moreCapacity ? ClaimRequest.Afterwards.KEEPS_WAITING : ClaimRequest.Afterwards.WAITS_IF_GIVEN_LESS;
    }

    /** Says so if this consumer cannot come as it has promised. Holds the lock. */
    private void leaveIfItCannotCome(PartitionState partition, long now) {
        if (!partition.promised() || !cannotCome(partition, now) || now - partition.leavesAt() < 0) {
            return;
        }
        partition.leave(host.nextClaimId());
        if (capacity.capacity(now) == 0) {
            partition.lookForDue(now); // as soon as there is capacity
        }
        partition.lookForEnded(now);
    }

    /** Whether it could not claim now for what it has promised to come for. Holds the lock. */
    private boolean cannotCome(PartitionState partition, long now) {
        return partition.dueComesFirst() ? !capacity.isWorthAClaim(now) : capacity.expiredLeaseCapacity(now) == 0;
    }

    /** Sets the timer to the next thing that this loop has to do by itself. Holds the lock. */
    private void armTimer(long now) {
        long next = inFlight.isOneAlone(now) ? inFlight.aloneFor(now) : Long.MAX_VALUE;
        next = Math.min(next, prefetch.nextWait(now));
        boolean waitsForCapacity = false;
        for (PartitionState partition : partitions) {
            if (!partition.claiming()) {
                next = Math.min(next, nextWait(partition, now));
                waitsForCapacity |= partition.isDue(now) || partition.leaseEnded(now);
            }
        }
        if (waitsForCapacity) {
            next = Math.min(next, capacity.nextReturn(now));
        }
        if (next == Long.MAX_VALUE) {
            cancelTimer();
            return;
        }
        next = Math.max(0, next);
        if (timer != null) {
            if (timerNanos == now + next) {
                return;
            }
            timer.cancel();
        }
        timerNanos = now + next;
        Timers.Timer[] self = new Timers.Timer[1];
        self[0] = timers.schedule(next, () -> timerFired(self));
        timer = self[0];
    }

    /** How long until a partition needs a step; {@link Long#MAX_VALUE} if it needs none. Holds the lock. */
    private long nextWait(PartitionState partition, long now) {
        int free = capacity.capacity(now);
        long next = Long.MAX_VALUE;
        if (capacity.isWorthAClaim(now)) {
            next = partition.nextDueNanos() - now;
        } else if (free == 0) {
            long ask = overdue.nextAsk(headNanos());
            next = ask == Long.MAX_VALUE ? ask : ask - now;
        }
        if (partition.promised() && cannotCome(partition, now)) {
            next = Math.min(next, partition.leavesAt() - now);
        }
        if (capacity.expiredLeaseCapacity(now) > 0) {
            next = Math.min(next, partition.nextEndNanos() - now);
        }
        if (free > 0 && next != Long.MAX_VALUE) {
            next = Math.max(next, Math.max(partition.notBeforeNanos(), rejectedUntilNanos) - now);
        }
        return next;
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    private void timerFired(Timers.Timer[] fired) {
        boolean ask;
        lock.lock();
        try {
            if (timer != fired[0]) {
                return; // an older timer that could not be cancelled any more
            }
            timer = null;
            long now = timers.nanoTime();
            long askAt = overdue.nextAsk(headNanos());
            ask = mode == Mode.RUNNING
                    && askAt != Long.MAX_VALUE
                    && now - askAt >= 0
                    && capacity.capacity(now) == 0;
            if (ask) {
                overdue.asks();
            }
        } finally {
            lock.unlock();
        }
        step();
        if (ask) {
            // Other consumers may have taken what was due: asks before it warns.
            host.stats().whenComplete((figures, error) -> reportOverdue(error == null ? figures : null));
        }
    }

    /** When the next message is due; the answers of claims under way tell more. Holds the lock. */
    private long headNanos() {
        long head = Long.MAX_VALUE;
        for (PartitionState partition : partitions) {
            if (!partition.claiming()) {
                head = Math.min(head, partition.headNanos());
            }
        }
        return head;
    }

    private void reportOverdue(QueueStats figures) {
        Duration age;
        ClaimedDelivery longest;
        lock.lock();
        try {
            age = overdue.answered(figures, timers.nanoTime());
            longest = mode == Mode.RUNNING ? inFlight.longestRunning() : null;
        } finally {
            lock.unlock();
        }
        if (age != null && longest != null) {
            tell(() -> handler.overdueWhileFull(age, longest));
        }
        step();
    }

    // A delivery.

    private void hand(ClaimedDelivery delivery) {
        leases.keep(delivery, options, handler);
        if (letLeasesRunOut) {
            leases.remove(delivery); // it was stopped in between
        }
        try {
            executor.execute(() -> work(delivery));
        } catch (RuntimeException e) {
            LOG.debug("queue '{}': message '{}' could not be begun", queue, delivery.id(), e);
            rejected();
            delivery.release();
            return;
        }
        rejections = 0;
    }

    /** The executor is full or being shut down: what is released comes back at once, so that claims have to wait. */
    private void rejected() {
        lock.lock();
        try {
            long now = timers.nanoTime();
            if (now - rejectedUntilNanos >= 0) { // else it is one of several that were rejected together
                int count = rejections + 1;
                rejections = count;
                rejectedUntilNanos = now + Backoff.nanos(count, random);
                for (PartitionState partition : partitions) {
                    partition.lookForDue(rejectedUntilNanos);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void work(ClaimedDelivery delivery) {
        try {
            handler.handle(delivery);
        } catch (Throwable e) {
            LOG.warn("queue '{}': the handler of message '{}' failed", queue, ShownId.of(delivery.id()), e);
            delivery.negativeAcknowledge(RETURN_AFTER_HANDLER_ERROR, new byte[0]);
        }
    }

    /** Tells the handler something; what it throws must not stop the loop. */
    private void tell(Runnable report) {
        try {
            report.run();
        } catch (Throwable e) {
            LOG.warn("queue '{}': a listener failed", queue, e);
        }
    }

    // What others ask.

    @Override
    public int underWay() {
        lock.lock();
        try {
            return inFlight.count();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Duration failingFor() {
        lock.lock();
        try {
            PartitionState partition = failingLongest();
            return partition == null
                    ? Duration.ZERO
                    : Duration.ofNanos(timers.nanoTime() - partition.failingSinceNanos());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Throwable lastError() {
        lock.lock();
        try {
            PartitionState partition = failingLongest();
            return partition == null ? null : partition.lastError();
        } finally {
            lock.unlock();
        }
    }

    /** The partition whose claims have been failing for the longest time, or null. Holds the lock. */
    private PartitionState failingLongest() {
        PartitionState longest = null;
        for (PartitionState partition : partitions) {
            if (partition.lastError() != null
                    && (longest == null || partition.failingSinceNanos() - longest.failingSinceNanos() < 0)) {
                longest = partition;
            }
        }
        return longest;
    }
}
