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
 * timers. A thread is made when it is needed. Thread-safe.
 *
 * <p>Behind asynchronous producers at most {@value #BEHIND_PRODUCERS} threads go on with exchanges, and the other exchanges
 * wait for one of these. Such a thread should not wait for an exchange that waits for another one: so it calls no
 * producer asynchronously.
 */
public final class ComponentThreads {

    /** The id of a thread pool profile for the exchanges of consumers. */
    public static final String PROFILE = "redis-delay";

    /** The most threads that go on with exchanges behind asynchronous producers. */
    static final int BEHIND_PRODUCERS = 32;

    /** Set on the threads that go on behind asynchronous producers, of all components, while they do. */
    private static final ThreadLocal<Boolean> BEHIND_PRODUCER = new ThreadLocal<>();

    private final Object owner;
    private final ExecutorServiceManager manager;
    private final Executor closer;

    private final ExecutorService pool;
    private final ScheduledExecutorService clock;
    private final Timers timers;
    private final Executor exchanges;
    private final Executor behindProducers;
    private ExecutorService profilePool; // guarded by this

    /**
     * @param owner whose threads they are, for Camel's management
     * @param closer runs what closes a client; must not block
     */
    public ComponentThreads(Object owner, ExecutorServiceManager manager, Executor closer) {
        this.closer = closer;
        this.owner = owner;
        this.manager = manager;
        pool = manager.newCachedThreadPool(owner, "RedisDelay");
        clock = manager.newSingleThreadScheduledExecutor(owner, "RedisDelayTimer");
        timers = Timers.on(clock, this::goOn);
        exchanges = new ExchangeThreads(pool, Integer.MAX_VALUE, timers);
        behindProducers = new ExchangeThreads(pool, BEHIND_PRODUCERS, timers);
    }

    /** The threads on which exchanges are routed: as many as are busy. */
    public Executor executor() {
        return exchanges;
    }

    /**
     * The threads on which the exchanges of a consumer are routed: those of its own pool, else those of a pool after the
     * profile {@link #PROFILE}, which is one for all, else as {@link #executor()}.
     *
     * @param own the consumer's; null if it has none
     * @param consumer whose pool it is, in a sentence
     * @return rejects what its pool does not take
     * @throws IllegalArgumentException if the pool silently discards rejected tasks
     */
    public synchronized Executor executor(ExecutorService own, String consumer) {
        if (own != null) {
            return new UserPool(own, consumer + ": the pool of option 'executorService'", System::nanoTime);
        }
        if (profilePool == null) {
            profilePool = manager.newThreadPool(owner, "RedisDelay", PROFILE);
        }
        return profilePool == null
                ? exchanges
                : new UserPool(profilePool, consumer + ": the pool of profile '" + PROFILE + "'", System::nanoTime);
    }

    /** Timers whose tasks run on the pool. */
    public Timers timers() {
        return timers;
    }

    /** Goes on with a task on a thread of the pool; on this one if the pool has been stopped already. */
    public void goOn(Runnable task) {
        execute(exchanges, task, task);
    }

    /** Goes on with the exchange of an asynchronous producer, as {@link #goOn} does, on one of a limited number of threads. */
    public void goOnBehindProducer(Runnable exchange) {
        Runnable marked = () -> {
            BEHIND_PRODUCER.set(true);
            try {
                exchange.run();
            } finally {
                // Not removed: each exchange would make a new entry.
                BEHIND_PRODUCER.set(null);
            }
        };
        execute(behindProducers, marked, exchange);
    }

    /** Returns whether this thread goes on behind an asynchronous producer, and has to wait in the next one. */
    public static boolean isBehindProducer() {
        return BEHIND_PRODUCER.get() != null;
    }

    private static void execute(Executor threads, Runnable task, Runnable taskHere) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException stopped) {
            taskHere.run();
        }
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
        manager.shutdownNow(clock);
        users.run();
        ExecutorService profile;
        synchronized (this) {
            profile = profilePool;
        }
        if (profile != null) {
            manager.shutdownGraceful(profile);
        }
        manager.shutdownGraceful(pool);
    }
}
