// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import io.github.redisdelay.queue.Timers;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.camel.spi.ExecutorServiceManager;

/**
 * The threads of a component from its start to its stop: a pool on which exchanges are routed, and one thread that waits for
 * timers. Each is made at its first use. Thread-safe.
 */
public final class ComponentThreads {

    private final Object owner;
    private final ExecutorServiceManager manager;
    private final Executor closer;

    private final ReentrantLock lock = new ReentrantLock();
    private volatile Executor exchanges; // written under lock; runs on the pool
    private ExecutorService pool; // guarded by lock
    private ScheduledExecutorService clock; // guarded by lock
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
    public Executor executor() {
        if (exchanges == null) {
            lock.lock();
            try {
                if (exchanges == null) {
                    pool = manager.newCachedThreadPool(owner, "RedisDelay");
                    exchanges = new ExchangeThreads(pool);
                }
            } finally {
                lock.unlock();
            }
        }
        return exchanges;
    }

    /** Timers whose tasks run on the pool. */
    public Timers timers() {
        lock.lock();
        try {
            if (clock == null) {
                clock = manager.newSingleThreadScheduledExecutor(owner, "RedisDelayTimer");
            }
            return Timers.on(clock, this::goOn);
        } finally {
            lock.unlock();
        }
    }

    /** Goes on with a task on a thread of the pool; on this one if the pool has been stopped already. */
    public void goOn(Runnable task) {
        Executor running = stopping ? exchanges : executor();
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
        lock.lock();
        try {
            routing = pool;
            timers = clock;
        } finally {
            lock.unlock();
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
