// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import io.github.redisdelay.queue.Timers;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on the threads of a pool without waking one for each of them. Answers and claims come in groups, and to wake a
 * thread costs several times as much as to route an exchange through a short route.
 *
 * <p>A thread that has been woken goes on until no task is left. If more than one is there, it wakes another one before it begins
 * its own; only one is being woken at a time. So short tasks share a few threads, and tasks that block get one each, up to a
 * limit. Without a limit no task waits for another one to end, and tasks that wait for one another cannot lock each other up
 * (as long as the pool is not being stopped: then what is left runs one after the other). With a limit they can. So
 * if none has begun for 10 s, one thread more begins with the latest task, the most likely one that others wait for, and goes on
 * until no task is left.
 *
 * <p>To the pool, and to a thread pool factory that wraps its tasks, all that a thread does until nothing is left is one task.
 */
final class ExchangeThreads implements Executor {

    private static final Logger LOG = LoggerFactory.getLogger(ExchangeThreads.class);

    /** If no task has begun for this time while some wait, all threads may wait for these. */
    static final long STANDSTILL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ExecutorService pool;
    private final Timers timers;
    private final Queue<Runnable> tasks;

    /** True from when all threads were busy until no task waits any more: a timer looks for a standstill. */
    private final AtomicBoolean watched = new AtomicBoolean();

    /** True if a task has begun since the last look. Written only where it changes: all threads read it. */
    private volatile boolean begun;

    /** True while a thread is being woken that will look for tasks. */
    private final AtomicBoolean waking = new AtomicBoolean();

    /** A permit for each thread that may still be woken. A thread that gives one back looks for tasks once more. */
    private final Semaphore free;

    /**
     * @param pool has a thread for every task that it is given, or rejects it
     * @param limit the most threads that it takes at a time, except in a standstill
     * @param timers their tasks may block
     */
    ExchangeThreads(ExecutorService pool, int limit, Timers timers) {
        this(pool, new ConcurrentLinkedQueue<>(), new Semaphore(limit), timers);
    }

    /** With parts in which a test can choose what happens at the same time. */
    ExchangeThreads(ExecutorService pool, Queue<Runnable> tasks, Semaphore free, Timers timers) {
        this.pool = pool;
        this.timers = timers;
        this.tasks = tasks;
        this.free = free;
    }

    /**
     * Runs a task soon.
     *
     * @throws RejectedExecutionException if the pool takes no more
     */
    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        try {
            wake();
        } catch (RejectedExecutionException e) {
            // Unless a thread that is still running has taken it.
            boolean refused = tasks.remove(task);
            // Tasks that came while this call tried to wake a thread rely on it.
            runAll(tasks::poll);
            if (refused) {
                throw e;
            }
        }
    }

    private void wake() {
        // The permit comes first: who finds none free leaves the task to a thread that has one and will look again.
        while (!waking.get()) {
            if (!free.tryAcquire()) {
                if (!watched.get() && watched.compareAndSet(false, true)) {
                    watch(false);
                }
                return;
            }
            if (waking.compareAndSet(false, true)) {
                wakeOne();
                return;
            }
            // Another call may have found no permit while this one had it. So this one looks again for both.
            free.release();
        }
    }

    private void wakeOne() {
        try {
            pool.execute(this::work);
        } catch (Throwable e) {
            // For example, there is no memory for a thread. The tasks that come later must run nevertheless.
            waking.set(false);
            free.release();
            throw e instanceof RejectedExecutionException rejected
                    ? rejected
                    : new RejectedExecutionException("no thread could be woken", e);
        }
    }

    /** Looks every 10 s whether none has begun while some wait, until none waits. */
    private void watch(boolean warned) {
        begun = false;
        timers.schedule(STANDSTILL_NANOS, () -> {
            if (tasks.isEmpty()) {
                watched.set(false);
                // A task that came before that has not begun to watch.
                if (!tasks.isEmpty() && watched.compareAndSet(false, true)) {
                    watch(false);
                }
                return;
            }
            boolean standstill = !begun;
            if (standstill && !warned) {
                LOG.warn(
                        "No exchange behind asynchronous producers has gone on for 10 s: all threads for these are busy, or"
                                + " wait for such exchanges. One thread more goes on now, and whenever that happens. Remove synchronous=false, or"
                                + " put threads() or seda: before the step that waits");
            }
            watch(standstill || warned);
            if (standstill) {
                runAll(this::latest);
            }
        });
    }

    /** Takes the latest task; null if there is none. Walks through all, for the queue that is fast in all other cases has one end. */
    private Runnable latest() {
        Runnable latest;
        do {
            latest = null;
            for (Runnable each : tasks) {
                latest = each;
            }
        } while (latest != null && !tasks.remove(latest)); // another thread may have taken it
        return latest;
    }

    private void work() {
        // Before the first look: a task that comes from now on is seen, or wakes another thread.
        waking.set(false);
        try {
            runAll(tasks::poll);
        } finally {
            free.release();
            // Tasks that came while no permit was free, and after this thread had looked for the last time.
            if (!tasks.isEmpty() && !wakeIfPossible()) {
                runAll(tasks::poll);
            }
        }
    }

    private void runAll(Supplier<Runnable> next) {
        Runnable task;
        while ((task = next.get()) != null) {
            if (!tasks.isEmpty()) {
                wakeIfPossible();
            }
            if (!begun) {
                begun = true;
            }
            run(task);
        }
    }

    /** Returns false if no thread could be woken, so that this one has to go on with what is left. */
    private boolean wakeIfPossible() {
        try {
            wake();
            return true;
        } catch (RejectedExecutionException e) {
            if (!pool.isShutdown()) {
                LOG.warn("One thread has to route exchanges that two could: {}", e.toString(), e.getCause());
            }
            return false;
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            LOG.error("An exchange could not go on", e);
        }
        // One task's interruption must not reach the next one; that of a pool that is being stopped must.
        if (Thread.interrupted() && pool.isShutdown()) {
            Thread.currentThread().interrupt();
        }
    }
}
