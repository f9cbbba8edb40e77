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

    /** The id of a thread pool profile for the exchanges of consumers. */
    public static final String PROFILE = "redis-delay";

    private final Object owner;
    private final ExecutorServiceManager manager;
    private final Executor closer;
    private final CallerThreads callers = new CallerThreads();

    private volatile Executor exchanges; // written under this; runs on the pool
    private ExecutorService pool; // guarded by this
    private ExecutorService profilePool; // guarded by this
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

    /**
     * The threads on which the exchanges of a consumer are routed: those of its own pool, else those of a pool after the
     * profile {@link #PROFILE}, which is one for all, else as {@link #executor()}.
     *
     * @param own the consumer's; null if it has none
     * @param consumer whose pool it is, in a sentence
     * @return rejects what its pool does not take
     * @throws IllegalArgumentException if the pool forgets what it has no room for
     */
    public synchronized Executor executor(ExecutorService own, String consumer) {
        if (own != null) {
            return new UserPool(own, consumer + ": the pool of option 'executorService'", System::nanoTime);
        }
        if (profilePool == null) {
            profilePool = manager.newThreadPool(owner, "RedisDelay", PROFILE);
        }
        return profilePool == null
                ? executor()
                : new UserPool(profilePool, consumer + ": the pool of profile '" + PROFILE + "'", System::nanoTime);
    }

    /** Timers whose tasks run on the pool. */
    public synchronized Timers timers() {
        if (clock == null) {
            clock = manager.newSingleThreadScheduledExecutor(owner, "RedisDelayTimer");
        }
        return Timers.on(clock, this::goOn);
    }

    /** The threads that call producers. */
    public CallerThreads callers() {
        return callers;
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
        ExecutorService profile;
        ScheduledExecutorService timers;
        synchronized (this) {
            routing = pool;
            profile = profilePool;
            timers = clock;
        }
        if (timers != null) {
            manager.shutdownNow(timers);
        }
        users.run();
        if (profile != null) {
            manager.shutdownGraceful(profile);
        }
        if (routing != null) {
            manager.shutdownGraceful(routing);
        }
    }
}
