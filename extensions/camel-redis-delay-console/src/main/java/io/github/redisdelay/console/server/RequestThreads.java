// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of a server's requests, of which there is a bounded number, each for a bounded time. The JDK's server
 * reads a request on such a thread and has no time limit: a client that sends a byte now and then would keep it for
 * ever. So a thread whose time is over is interrupted, which closes its connection.
 */
final class RequestThreads implements Executor {

    private static final int MAX_THREADS = 48;
    private static final long WATCH_MILLIS = 250;

    private final long readNanos;
    private final long answerNanos;
    private final ThreadPoolExecutor pool;
    private final ScheduledThreadPoolExecutor watch;
    private final Map<Thread, Work> working = new ConcurrentHashMap<>();

    /** A request that is being read or answered. */
    private static final class Work {
        private final Thread thread;
        private long deadline; // guarded by this
        private boolean done; // guarded by this

        Work(Thread thread, long deadline) {
            this.thread = thread;
            this.deadline = deadline;
        }

        synchronized void interruptIfLate(long now) {
            if (!done && now - deadline > 0) {
                thread.interrupt();
            }
        }

        synchronized void until(long newDeadline) {
            deadline = newDeadline;
        }

        synchronized void done() {
            done = true;
        }
    }

    /**
     * @param readMillis within which a request has to be here with all of its headers and its body
     * @param answerMillis within which it has then to be answered, and the answer be taken
     */
    RequestThreads(String name, long readMillis, long answerMillis) {
        readNanos = TimeUnit.MILLISECONDS.toNanos(readMillis);
        answerNanos = TimeUnit.MILLISECONDS.toNanos(answerMillis);
        AtomicInteger number = new AtomicInteger();
        ThreadFactory threads = task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
        pool = new ThreadPoolExecutor(0, MAX_THREADS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), threads);
        watch = new ScheduledThreadPoolExecutor(1, threads);
        watch.scheduleWithFixedDelay(this::interruptLate, WATCH_MILLIS, WATCH_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void interruptLate() {
        long now = System.nanoTime();
        working.values().forEach(work -> work.interruptIfLate(now));
    }

    /** @throws RejectedExecutionException if all threads are busy, whereupon the server closes the connection */
    @Override
    public void execute(Runnable request) {
        pool.execute(() -> {
            Thread thread = Thread.currentThread();
            Work work = new Work(thread, System.nanoTime() + readNanos);
            working.put(thread, work);
            try {
                request.run();
            } finally {
                work.done();
                working.remove(thread);
                Thread.interrupted(); // of the next request's time
            }
        });
    }

    /** Notes that the request of this thread is here. */
    void received() {
        Work work = working.get(Thread.currentThread());
        if (work != null) {
            work.until(System.nanoTime() + answerNanos);
        }
    }

    /** Ends the threads, and what they do. */
    void close() {
        watch.shutdownNow();
        pool.shutdownNow();
    }
}
