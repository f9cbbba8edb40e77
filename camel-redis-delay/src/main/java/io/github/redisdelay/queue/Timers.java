// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** The local clock and what is to be done later: everything that waits goes through here, so that tests decide the time. */
interface Timers {

    /** A monotonic clock in nanoseconds, as {@link System#nanoTime()}. */
    long nanoTime();

    /** Runs a task once after a delay, on a thread that must not be blocked. */
    Timer schedule(long delayNanos, Runnable task);

    /** A task that has not run yet. */
    interface Timer {
        void cancel();
    }
}
