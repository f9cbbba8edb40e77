// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Duration;

/** The clock and the timer of what a consumer does by itself: everything that waits goes through here, so that tests decide the time. */
interface ConsumerTimers {

    /** A monotonic clock in nanoseconds, as {@link System#nanoTime()}. */
    long nanoTime();

    /**
     * Runs a task once after a delay, on a thread that may be blocked.
     *
     * @return cancels it if it has not run yet
     */
    Runnable schedule(Duration delay, Runnable task);
}
