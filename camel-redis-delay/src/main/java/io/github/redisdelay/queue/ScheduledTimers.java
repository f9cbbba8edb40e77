// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Timers on one thread. A ScheduledThreadPoolExecutor wakes within a fraction of a millisecond; a timer wheel does not. */
final class ScheduledTimers implements Timers, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ScheduledTimers.class);

    private final ScheduledThreadPoolExecutor executor;

    ScheduledTimers() {
        executor = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "redis-delay-timer");
            thread.setDaemon(true);
            return thread;
        });
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        // A client without work keeps no thread.
        executor.setKeepAliveTime(10, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        try {
            ScheduledFuture<?> future = executor.schedule(() -> run(task), delayNanos, TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {};
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("A task of the delay queue failed; it is a bug worth reporting", e);
        }
    }

    /** How many tasks wait. */
    int waiting() {
        return executor.getQueue().size();
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
