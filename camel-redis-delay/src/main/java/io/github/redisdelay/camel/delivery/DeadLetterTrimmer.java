// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cleaner of a queue's dead letters. It drops those that are too old or too many: when a consumer starts, soon after the
 * consumer has buried some, and at intervals. At most one call is under way at a time. Thread-safe.
 */
public final class DeadLetterTrimmer {

    private static final Logger LOG = LoggerFactory.getLogger(DeadLetterTrimmer.class);

    /** The time for which burials are collected before one call looks at them. */
    static final Duration AFTER_BURIAL = Duration.ofSeconds(1);

    static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(1);
    static final Duration LONGEST_INTERVAL = Duration.ofMinutes(10);

    private final String queue;
    private final Limits limits;
    private final Supplier<CompletableFuture<Long>> trim;
    private final Timers timers;
    private final LongAdder dropped = new LongAdder();

    // All below are guarded by this.
    private boolean stopped;
    private boolean underWay;
    private boolean failing;
    private Timers.Timer timer = () -> {};
    private long timerNanos;
    private boolean armed;

    /**
     * The limits beyond which dead letters are dropped.
     *
     * @param retention the time for which a dead letter is kept; zero for ever
     * @param maximum the number of dead letters that are kept; 0 for any number
     */
    public record Limits(Duration retention, long maximum) {

        boolean isNone() {
            return retention.isZero() && maximum == 0;
        }

        /** The time between two looks that nothing else asks for. */
        Duration interval() {
            Duration part = retention.isZero() ? LONGEST_INTERVAL : retention.dividedBy(10);
            return Collections.max(List.of(SHORTEST_INTERVAL, Collections.min(List.of(LONGEST_INTERVAL, part))));
        }

        /** The limits as options. */
        @Override
        public String toString() {
            if (maximum == 0) {
                return "deadLetterRetention=" + retention;
            }
            String most = "maximumDeadLetters=" + maximum;
            return retention.isZero() ? most : "deadLetterRetention=" + retention + " and " + most;
        }
    }

    /**
     * @param trim drops what is beyond the limits, and tells how many
     */
    public DeadLetterTrimmer(String queue, Limits limits, Supplier<CompletableFuture<Long>> trim, Timers timers) {
        this.queue = queue;
        this.limits = limits;
        this.trim = trim;
        this.timers = timers;
    }

    /** Looks for the first time. */
    public void start() {
        if (!limits.isNone()) {
            arm(Duration.ZERO);
        }
    }

    /** A message was moved to the dead letters. */
    public void deadLettered() {
        if (limits.maximum() > 0) { // it cannot be too old
            arm(AFTER_BURIAL);
        }
    }

    public synchronized void stop() {
        stopped = true;
        timer.cancel();
    }

    /** The number of dead letters that were dropped. */
    public long dropped() {
        return dropped.sum();
    }

    /** Looks after this time, or earlier if that was planned. */
    private synchronized void arm(Duration delay) {
        long at = timers.nanoTime() + delay.toNanos();
        if (stopped || (armed && timerNanos - at <= 0)) {
            return;
        }
        timer.cancel();
        armed = true;
        timerNanos = at;
        timer = timers.schedule(delay.toNanos(), this::look);
    }

    private void look() {
        synchronized (this) {
            armed = false;
            if (stopped || underWay) {
                arm(AFTER_BURIAL);
                return;
            }
            underWay = true;
        }
        CompletableFuture.completedFuture(null).thenCompose(none -> trim.get()).whenComplete(this::answered);
    }

    private void answered(Long count, Throwable error) {
        boolean report;
        synchronized (this) {
            underWay = false;
            report = error != null && !failing && !stopped;
            failing = error != null;
        }
        if (error == null && count > 0) {
            dropped.add(count);
            LOG.warn("queue '{}': {} dead letters were dropped, as {} says", queue, count, limits);
        } else if (report) {
            LOG.warn(
                    "queue '{}': its dead letters could not be read for those beyond {}, trying again: {}",
                    queue,
                    limits,
                    ErrorText.of(error));
        }
        arm(limits.interval());
    }
}
