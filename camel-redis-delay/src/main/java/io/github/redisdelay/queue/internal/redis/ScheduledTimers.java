// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Timers;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Timers on one thread of their own, which tasks must not block. A ScheduledThreadPoolExecutor wakes within a fraction of a
 * millisecond; a timer wheel does not.
 */
public final class ScheduledTimers implements Timers, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ScheduledTimers.class);

    private final ScheduledThreadPoolExecutor executor;
    private final Timers timers;

    public ScheduledTimers() {
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
        timers = Timers.on(executor, ScheduledTimers::run);
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        return timers.schedule(delayNanos, task);
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("A task of the delay queue failed; it is a bug worth reporting", e);
        }
    }

    /** The number of tasks that wait. */
    public int waiting() {
        return executor.getQueue().size();
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
