// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.redis.Backoff;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the deliveries of one consumer to its handler, on the threads of an executor, and has their leases extended.
 */
final class DeliveryHandOver {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryHandOver.class);

    private static final Settlement AFTER_HANDLER_ERROR = new Settlement.Retry(Duration.ofSeconds(1), new byte[0]);

    private final ConsumerOptions options;
    private final LeaseExtender leases;
    private final Executor executor;
    private final DeliveryHandler handler;
    private final ConsumerReports reports;
    private final Timers timers;
    private final RandomGenerator random;
    /** The deliveries that this thread has still to hand over; null while it does not. */
    private final ThreadLocal<Queue<ClaimedDelivery>> beginning = new ThreadLocal<>();

    /** True if leases are not extended any more. Set before those under way are let go. */
    private volatile boolean letLeasesRunOut;
    /**
     * The number of deliveries in a row that the executor rejected. Counted by those that hold this object's monitor.
     */
    private volatile int rejections;
    /** The end of the back-off after a rejection. Written with this object's monitor held. */
    private volatile long notBeforeNanos;

    DeliveryHandOver(
            ConsumerOptions options,
            LeaseExtender leases,
            Executor executor,
            DeliveryHandler handler,
            ConsumerReports reports,
            Timers timers,
            RandomGenerator random) {
        this.options = options;
        this.leases = leases;
        this.executor = executor;
        this.handler = handler;
        this.reports = reports;
        this.timers = timers;
        this.random = random;
        this.notBeforeNanos = timers.nanoTime();
    }

    /** No message is claimed before. */
    long notBeforeNanos() {
        return notBeforeNanos;
    }

    /**
     * Hands over deliveries. A same-thread executor re-enters this method; nested deliveries are queued, to keep the stack flat.
     *
     * @param rejected gets what the executor does not take
     */
    void begin(List<ClaimedDelivery> deliveries, Consumer<ClaimedDelivery> rejected) {
        Queue<ClaimedDelivery> outer = beginning.get();
        if (outer != null) {
            outer.addAll(deliveries);
        } else if (!deliveries.isEmpty()) {
            Queue<ClaimedDelivery> all = new ArrayDeque<>(deliveries);
            beginning.set(all);
            try {
                for (ClaimedDelivery next = all.poll(); next != null; next = all.poll()) {
                    List<ClaimedDelivery> batch = List.of(next);
                    if (options.batch() != null) {
                        batch = new ArrayList<>(batch);
                        while (!all.isEmpty() && all.peek().claimId().equals(next.claimId())) {
                            batch.add(all.poll());
                        }
                    }
                    if (!begin(batch)) {
                        batch.forEach(rejected);
                    }
                }
            } finally {
                beginning.remove();
            }
        }
    }

    /** Hands over a batch; false if the executor rejects it. */
    private boolean begin(List<ClaimedDelivery> batch) {
        batch.forEach(delivery -> leases.keep(delivery, options, reports));
        if (letLeasesRunOut) {
            batch.forEach(leases::remove); // the consumer was stopped in between
        }
        try {
            executor.execute(() -> work(batch));
            rejections = 0;
            return true;
        } catch (Throwable e) { // also an Error: there is no memory for another thread
            LOG.debug("{} could not be begun", batch, e);
            rejected();
            return false;
        }
    }

    /** The executor is full or being shut down. A released message comes back at once, so claims have to wait. */
    private synchronized void rejected() {
        long now = timers.nanoTime();
        if (now - notBeforeNanos >= 0) { // else it is one of several that were rejected together
            int count = rejections + 1;
            rejections = count;
            notBeforeNanos = now + Backoff.nanos(count, random);
        }
    }

    private void work(List<ClaimedDelivery> batch) {
        try {
            handler.handle(batch);
        } catch (Throwable e) {
            LOG.warn("the handler of {} failed", batch, e);
            batch.forEach(delivery -> delivery.settle(AFTER_HANDLER_ERROR));
        }
    }

    void finished(ClaimedDelivery delivery) {
        leases.remove(delivery);
    }

    /**
     * No lease is extended from now on.
     *
     * @param inFlight what was begun, or is just being begun
     */
    void letLeasesRunOut(List<ClaimedDelivery> inFlight) {
        letLeasesRunOut = true;
        inFlight.forEach(leases::remove);
    }
}
