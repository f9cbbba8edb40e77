// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import io.github.redisdelay.queue.Timers;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.camel.spi.ExecutorServiceManager;

/**
 * The threads of a component from its start to its stop: a pool on which exchanges are routed, and one thread that waits for
 * timers. Each is made at its first use. Thread-safe.
 */
public final class ComponentThreads {

    private final Object owner;
    private final ExecutorServiceManager manager;
    private final Executor closer;

    private volatile Executor exchanges; // written under this; runs on the pool
    private ExecutorService pool; // guarded by this
    private ScheduledExecutorService clock; // guarded by this
    private volatile boolean stopping; // set once

    /**
     * @param owner whose threads they are, for Camel's management
     * @param closer runs what closes a client; must not block
     */
    public ComponentThreads(Object owner, ExecutorServiceManager manager, Executor closer) {
        this.closer = closer;
        this.owner = owner;
        this.manager = manager;
    }

    /** The threads on which exchanges are routed: as many as are busy. */
    public synchronized Executor executor() {
        if (exchanges == null) {
            pool = manager.newCachedThreadPool(owner, "RedisDelay");
            exchanges = new ExchangeThreads(pool);
        }
        return exchanges;
    }

    /** Timers whose tasks run on the pool. */
    public synchronized Timers timers() {
        if (clock == null) {
            clock = manager.newSingleThreadScheduledExecutor(owner, "RedisDelayTimer");
        }
        return Timers.on(clock, this::goOn);
    }

    /** Goes on with a task on a thread of the pool; on this one if the pool has been stopped already. */
    public void goOn(Runnable task) {
        Executor running = stopping || exchanges != null ? exchanges : executor();
        if (running != null) {
            try {
                running.execute(task);
                return;
            } catch (RejectedExecutionException stopped) {
                // Below.
            }
        }
        task.run();
    }

    /** The executor on which a client is closed when its last share is given back; also after the pool has been stopped. */
    public Executor closer() {
        return closer;
    }

    /**
     * Stops the timers, then what uses the threads, then the pool.
     *
     * @param users stops what uses them
     */
    public void stop(Runnable users) {
        stopping = true;
        ExecutorService routing;
        ScheduledExecutorService timers;
        synchronized (this) {
            routing = pool;
            timers = clock;
        }
        if (timers != null) {
            manager.shutdownNow(timers);
        }
        users.run();
        if (routing != null) {
            manager.shutdownGraceful(routing);
        }
    }
}
