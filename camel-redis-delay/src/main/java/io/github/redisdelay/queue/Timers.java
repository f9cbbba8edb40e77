// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** The local clock and the tasks for later: everything that waits uses it, so that tests decide the time. */
public interface Timers {

    /** A monotonic clock in nanoseconds, as {@link System#nanoTime()}. */
    default long nanoTime() {
        return System.nanoTime();
    }

    /** Runs a task once after a delay. */
    Timer schedule(long delayNanos, Runnable task);

    /** A task that has not run yet. */
    interface Timer {
        void cancel();
    }

    /**
     * Timers on the clock of an executor. After that was shut down, tasks are dropped.
     *
     * @param threads runs the tasks that are due; must not block
     */
    static Timers on(ScheduledExecutorService clock, Executor threads) {
        return (delayNanos, task) -> {
            try {
                ScheduledFuture<?> due = clock.schedule(() -> threads.execute(task), delayNanos, TimeUnit.NANOSECONDS);
                return () -> due.cancel(false);
            } catch (RejectedExecutionException closed) {
                return () -> {};
            }
        };
    }
}
