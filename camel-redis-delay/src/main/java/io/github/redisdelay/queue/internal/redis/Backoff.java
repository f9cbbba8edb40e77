// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Timers;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * The wait before another try: 50 ms, doubling to 2 s, each with up to a quarter of jitter either way.
 *
 * @param random makes the jitter
 */
public record Backoff(Timers timers, RandomGenerator random) {

    private static final long FIRST = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LAST = TimeUnit.SECONDS.toNanos(2);

    /** Runs an action after the wait that follows so many failures in a row, 1 or more. */
    Timers.Timer schedule(int failures, Runnable action) {
        return timers.schedule(nanos(failures, random), action);
    }

    /**
     * The wait in nanoseconds.
     *
     * @param failures the number of tries that have failed in a row, 1 or more
     */
    public static long nanos(int failures, RandomGenerator random) {
        long base = failures > 6 ? LAST : Math.min(LAST, FIRST << (failures - 1));
        return base - base / 4 + random.nextLong(base / 2);
    }
}
