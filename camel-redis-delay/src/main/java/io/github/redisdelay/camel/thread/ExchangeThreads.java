// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on the threads of a pool without waking one for each of them. Answers and claims come in groups, and to wake a
 * thread costs several times as much as to route an exchange through a short route.
 *
 * <p>A thread that has been woken goes on until no task is left. If more than one is there, it wakes another one before it begins
 * its own; only one is being woken at a time. So short tasks share a few threads, and tasks that block get one each, up to a
 * limit. Without a limit no task waits for another one to end, and tasks that wait for one another cannot lock each other up
 * (as long as the pool is not being stopped: then what is left runs one after the other).
 *
 * <p>To the pool, and to a thread pool factory that wraps its tasks, all that a thread does until nothing is left is one task.
 */
final class ExchangeThreads implements Executor {

    private static final Logger LOG = LoggerFactory.getLogger(ExchangeThreads.class);

    private final ExecutorService pool;
    private final Queue<Runnable> tasks;

    /** True while a thread is being woken that will look for tasks. */
    private final AtomicBoolean waking = new AtomicBoolean();

    /** A permit for each thread that may still be woken. A thread that gives one back looks for tasks once more. */
    private final Semaphore free;

    /**
     * @param pool has a thread for every task that it is given, or rejects it
     * @param limit the most threads that it takes at a time
     */
    ExchangeThreads(ExecutorService pool, int limit) {
        this(pool, new ConcurrentLinkedQueue<>(), new Semaphore(limit));
    }

    /** With parts in which a test can choose what happens at the same time. */
    ExchangeThreads(ExecutorService pool, Queue<Runnable> tasks, Semaphore free) {
        this.pool = pool;
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
            runAll();
            if (refused) {
                throw e;
            }
        }
    }

    private void wake() {
        // The permit comes first: who finds none free leaves the task to a thread that has one and will look again.
        while (!waking.get() && free.tryAcquire()) {
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
        } catch (RejectedExecutionException e) {
            notWoken();
            throw e;
        } catch (Throwable e) {
            // For example, there is no memory for a thread. The tasks that come later must run all the same.
            notWoken();
            throw new RejectedExecutionException("no thread could be woken", e);
        }
    }

    private void notWoken() {
        waking.set(false);
        free.release();
    }

    private void work() {
        // Before the first look: a task that comes from now on is seen, or wakes another thread.
        waking.set(false);
        try {
            runAll();
        } finally {
            free.release();
            runLate();
        }
    }

    /** Sees to the tasks that came while no permit was free, and after their thread had looked for the last time. */
    private void runLate() {
        if (!tasks.isEmpty() && !wakeIfPossible()) {
            runAll();
        }
    }

    private void runAll() {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            if (!tasks.isEmpty()) {
                wakeIfPossible();
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
