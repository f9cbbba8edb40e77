// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.spi.ThreadPoolProfile;
import org.apache.camel.support.DefaultThreadPoolFactory;

/** A clock of the threads of a Camel context on which a minute takes 600 ms. */
final class FastClock extends DefaultThreadPoolFactory {

    private static final int TIMES = 100;

    /** Gives it to the threads that a context makes from now on. */
    static void of(CamelContext context) {
        context.getExecutorServiceManager().setThreadPoolFactory(new FastClock());
    }

    @Override
    public ScheduledExecutorService newScheduledThreadPool(ThreadPoolProfile profile, ThreadFactory threadFactory) {
        return new ScheduledThreadPoolExecutor(profile.getPoolSize(), threadFactory) {
            @Override
            public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                return super.schedule(task, unit.toNanos(delay) / TIMES, TimeUnit.NANOSECONDS);
            }
        };
    }
}
