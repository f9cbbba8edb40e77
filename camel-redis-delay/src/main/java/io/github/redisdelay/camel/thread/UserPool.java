// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread pool of the user's, on which the exchanges of a consumer are routed. It may have too few threads. What it does not
 * take is refused here, in whatever way it refuses, so that the message goes back to Redis: an exchange is neither lost
 * nor routed on the thread that has claimed it.
 */
final class UserPool implements Executor {

    private static final Logger LOG = LoggerFactory.getLogger(UserPool.class);

    /** The least time between two warnings. */
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final ExecutorService pool;
    private final String name;
    private final LongSupplier nanoTime;
    /** The time from which on another refusal is worth a warning. */
    private final AtomicLong warnNanos;

    /**
     * @param name of the pool, and whose it is, in a sentence
     * @throws IllegalArgumentException if the pool silently discards rejected tasks
     */
    UserPool(ExecutorService pool, String name, LongSupplier nanoTime) {
        if (pool instanceof ThreadPoolExecutor known
                && (known.getRejectedExecutionHandler() instanceof ThreadPoolExecutor.DiscardPolicy
                        || known.getRejectedExecutionHandler() instanceof ThreadPoolExecutor.DiscardOldestPolicy)) {
            throw new IllegalArgumentException(name + " silently drops tasks beyond its capacity ("
                    + known.getRejectedExecutionHandler().getClass().getSimpleName()
                    + "): a message would stay leased, and never be routed. Give it the policy Abort or CallerRuns");
        }
        this.pool = pool;
        this.name = name;
        this.nanoTime = nanoTime;
        this.warnNanos = new AtomicLong(nanoTime.getAsLong());
    }

    /**
     * Runs a task on a thread of the pool.
     *
     * @throws RejectedExecutionException if the pool takes no more; then the task does not run. The caller releases its messages and
     *     claims nothing for a moment: {@code DeliveryHandOver.begin}
     */
    @Override
    public void execute(Runnable task) {
        Handed handed = new Handed(task);
        try {
            pool.execute(handed);
        } catch (Throwable e) {
            // Also if there is no memory for a thread: the pool may have queued it before.
            if (handed.taken.compareAndSet(false, true)) {
                throw refused(e);
            }
        }
        handed.caller = null;
        // A pool that was shut down may drop it without a word.
        if (handed.refused || (pool.isShutdown() && handed.taken.compareAndSet(false, true))) {
            throw refused(null);
        }
    }

    private RejectedExecutionException refused(Throwable cause) {
        long now = nanoTime.getAsLong();
        long from = warnNanos.get();
        if (now - from >= 0 && warnNanos.compareAndSet(from, now + QUIET_NANOS)) {
            LOG.warn(
                    "{} {}: messages go back to Redis, and wait there for a moment. It needs as many threads, or places in its"
                            + " queue, as its consumers may work on exchanges at a time (option 'concurrentConsumers')",
                    name,
                    pool.isShutdown()
                            ? "was shut down"
                            : cause instanceof Error ? "takes no more (" + cause + ")" : "is full");
        }
        return new RejectedExecutionException(name + " takes no more", cause);
    }

    /** A task that runs at most once, and not on the thread that hands it over. */
    private static final class Handed implements Runnable {

        private final Runnable task;
        /** True once it runs or is refused. */
        private final AtomicBoolean taken = new AtomicBoolean();
        /** The thread that is handing it over. Only that thread finds itself here, so others may read an old value. */
        private Thread caller = Thread.currentThread();

        private boolean refused; // used by the caller only

        Handed(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (caller == Thread.currentThread()) {
                refused = true; // as CallerRunsPolicy does
            } else if (taken.compareAndSet(false, true)) {
                task.run();
            }
        }
    }
}
