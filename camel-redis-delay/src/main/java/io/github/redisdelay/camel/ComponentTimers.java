// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Timers on one thread, which hands what is due to other threads. */
final class ComponentTimers implements ConsumerTimers {

    private final ScheduledExecutorService clock;
    private final Executor threads;

    /**
     * @param threads run the tasks; must not block
     */
    ComponentTimers(ScheduledExecutorService clock, Executor threads) {
        this.clock = clock;
        this.threads = threads;
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Runnable schedule(Duration delay, Runnable task) {
        try {
            ScheduledFuture<?> due = clock.schedule(() -> threads.execute(task), delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> due.cancel(false);
        } catch (RejectedExecutionException stopped) {
            return () -> {};
        }
    }
}
