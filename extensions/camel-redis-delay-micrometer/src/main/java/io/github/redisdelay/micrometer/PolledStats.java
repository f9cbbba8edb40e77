// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.micrometer;

import io.github.redisdelay.queue.Timers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The figures of a queue for readers that must not wait for Redis. It is asked in the background, as long as they are read.
 * Thread-safe.
 *
 * @param <T> the figures
 */
final class PolledStats<T> {

    /** The time between an answer of Redis and the next question: a figure is that old at the most. */
    static final Duration INTERVAL = Duration.ofSeconds(5);

    /** Polling stops this long after the last read. */
    static final Duration IDLE_AFTER = Duration.ofMinutes(6);

    private final Supplier<CompletableFuture<T>> ask;
    private final Timers timers;

    /** Null before the first answer, after a failure, and while Redis is not asked. Written under this. */
    private volatile T latest;
    /** The {@link Timers#nanoTime} of the last reading. Written by any reader: one of several will do. */
    private volatile long readNanos;
    /** True while nobody reads. Written under this. */
    private volatile boolean resting;

    // Guarded by this.
    private Timers.Timer next = () -> {};
    private boolean stopped;

    /** @param ask asks Redis, and does not wait for the answer */
    PolledStats(Supplier<CompletableFuture<T>> ask, Timers timers) {
        this.ask = ask;
        this.timers = timers;
    }

    synchronized void start() {
        readNanos = timers.nanoTime();
        lookAfter(Duration.ZERO);
    }

    /** The latest figures; null if none are known. */
    T get() {
        readNanos = timers.nanoTime();
        if (resting) {
            wake();
        }
        return latest;
    }

    private synchronized void wake() {
        if (resting) {
            resting = false;
            lookAfter(Duration.ZERO);
        }
    }

    /** Looks on another thread. */
    private synchronized void lookAfter(Duration delay) {
        if (!stopped) {
            next = timers.schedule(delay.toNanos(), this::look);
        }
    }

    private synchronized void look() {
        if (stopped) {
            return;
        }
        if (timers.nanoTime() - readNanos > IDLE_AFTER.toNanos()) {
            resting = true;
            latest = null;
            return;
        }
        ask.get().whenComplete(this::answered);
    }

    private synchronized void answered(T stats, Throwable error) {
        latest = error == null ? stats : null;
        lookAfter(INTERVAL);
    }

    synchronized void stop() {
        stopped = true;
        next.cancel();
    }
}
