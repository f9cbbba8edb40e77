// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.redis.EarliestTimer;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Extends the leases of the deliveries in flight at a third of their length, until they are finished or have been
 * worked on for too long. A client has one, with one timer, as a delivery may outlive its consumer. Extensions that are
 * due together go in one script call, as the request batcher groups them. Thread-safe.
 */
public final class LeaseExtender {

    private final Timers timers;
    private final Map<ClaimedDelivery, Held> held = new ConcurrentHashMap<>();

    private final Object lock = new Object();
    /** Guarded by lock. Read without it in keep(): a stale value costs a look under the lock. */
    private final EarliestTimer tick;

    /** A lease that is kept. Only the timer's thread changes it. */
    private static final class Held {
        final long leaseNanos;
        final long maximumNanos;
        final ConsumerReports reports;
        volatile long nextNanos;
        Submission<SettleResult> extension;

        Held(long leaseNanos, long maximumNanos, ConsumerReports reports, long nextNanos) {
            this.leaseNanos = leaseNanos;
            this.maximumNanos = maximumNanos;
            this.reports = reports;
            this.nextNanos = nextNanos;
        }
    }

    public LeaseExtender(Timers timers) {
        this.timers = timers;
        this.tick = new EarliestTimer(timers, this::tick);
    }

    /** Extends the lease of a delivery that has just been begun. */
    void keep(ClaimedDelivery delivery, ConsumerOptions options, ConsumerReports reports) {
        if (options.maximumVisibilityExtension().isZero()) {
            return;
        }
        long lease = options.visibilityTimeout().toNanos();
        // The lease runs since the claim was sent: a message may have waited for its slot.
        long next = Math.max(timers.nanoTime(), delivery.claimSentNanos() + lease / 3);
        held.put(
                delivery,
                new Held(lease, TimeUnit.NANOSECONDS.convert(options.maximumVisibilityExtension()), reports, next));
        if (!tick.comesBy(next)) {
            synchronized (lock) {
                tick.arm(next);
            }
        }
    }

    void remove(ClaimedDelivery delivery) {
        held.remove(delivery);
    }

    /** The number of leases that it extends. */
    public int size() {
        return held.size();
    }

    /** Drops the timer if there is nothing to do for it. */
    void trim() {
        synchronized (lock) {
            if (held.isEmpty() && tick.isSet()) {
                tick.cancel();
                if (!held.isEmpty()) {
                    tick.arm(timers.nanoTime()); // a delivery that came meanwhile may have seen the timer
                }
            }
        }
    }

    private void tick() {
        synchronized (lock) {
            tick.fired();
        }
        long now = timers.nanoTime();
        long next = Long.MAX_VALUE;
        for (Iterator<Map.Entry<ClaimedDelivery, Held>> i = held.entrySet().iterator(); i.hasNext(); ) {
            Map.Entry<ClaimedDelivery, Held> entry = i.next();
            ClaimedDelivery delivery = entry.getKey();
            Held lease = entry.getValue();
            long age = now - delivery.begunNanos();
            if (delivery.isFinished() || delivery.isLeaseLost()) {
                i.remove();
            } else if (age >= lease.maximumNanos) {
                i.remove();
                lease.reports.extensionLimitReached(delivery, Duration.ofNanos(age));
            } else {
                // A lease that would be due soon goes along.
                if (lease.nextNanos - now <= lease.leaseNanos / 12) {
                    extend(delivery, lease);
                    lease.nextNanos = now + lease.leaseNanos / 3;
                }
                next = Math.min(next, Math.min(lease.nextNanos - now, lease.maximumNanos - age));
            }
        }
        if (next != Long.MAX_VALUE) {
            synchronized (lock) {
                tick.arm(now + next);
            }
        } else if (!held.isEmpty()) {
            // A delivery that came meanwhile may have seen the timer as it was being dropped.
            synchronized (lock) {
                tick.arm(now + TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
    }

    private void extend(ClaimedDelivery delivery, Held lease) {
        if (lease.extension != null && !lease.extension.result().isDone()) {
            return; // the batcher repeats it until Redis answers
        }
        lease.extension = delivery.extend(TimeUnit.NANOSECONDS.toMicros(lease.leaseNanos));
        lease.extension.result().whenComplete((settlement, error) -> {
            if (settlement == SettleResult.STALE_GONE || settlement == SettleResult.STALE_HELD) {
                delivery.leaseLost();
            }
        });
    }
}
