// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ExchangeThreadsTest {

    private final AtomicInteger woken = new AtomicInteger();
    private final AtomicBoolean noThread = new AtomicBoolean();
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final FakeTimers timers = new FakeTimers();

    /** Counts the threads that are woken. */
    private final ExecutorService counting = new ForwardingPool(pool) {
        @Override
        public void execute(Runnable task) {
            if (noThread.getAndSet(false)) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            pool.execute(task);
            woken.incrementAndGet();
        }
    };

    /** A pool in front of another one. */
    private abstract static class ForwardingPool extends AbstractExecutorService {

        private final ExecutorService pool;

        ForwardingPool(ExecutorService pool) {
            this.pool = pool;
        }

        @Override
        public void shutdown() {
            pool.shutdown();
        }

        @Override
        public List<Runnable> shutdownNow() {
            return pool.shutdownNow();
        }

        @Override
        public boolean isShutdown() {
            return pool.isShutdown();
        }

        @Override
        public boolean isTerminated() {
            return pool.isTerminated();
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
            return pool.awaitTermination(timeout, unit);
        }
    }

    private final ExchangeThreads threads = new ExchangeThreads(counting, Integer.MAX_VALUE, timers);

    @Test
    void aThreadThatCannotBeStartedStopsNothingThatComesAfterIt() throws Exception {
        noThread.set(true);
        assertThatThrownBy(() -> threads.execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class)
                .hasCauseInstanceOf(OutOfMemoryError.class);
        CountDownLatch done = new CountDownLatch(1);
        threads.execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @AfterEach
    void stop() throws InterruptedException {
        pool.shutdownNow();
        assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void tasksThatWaitForOneAnotherAllGetAThread() throws Exception {
        int count = 200;
        CyclicBarrier meeting = new CyclicBarrier(count);
        CountDownLatch met = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            threads.execute(() -> {
                await(meeting);
                met.countDown();
            });
        }

        assertThat(met.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aTaskThatWaitsForOneThatItGaveIsNotLockedUp() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        threads.execute(() -> nested(100, done));

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }

    private void nested(int depth, CountDownLatch done) {
        CountDownLatch inner = new CountDownLatch(1);
        if (depth == 0) {
            inner.countDown();
        } else {
            threads.execute(() -> nested(depth - 1, inner));
        }
        await(inner);
        done.countDown();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, Integer.MAX_VALUE})
    void everyTaskRunsOnce(int limit) throws Exception {
        ExchangeThreads threads = new ExchangeThreads(counting, limit, timers);
        int givers = 4;
        int each = 50_000;
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(givers * each);
        for (int g = 0; g < givers; g++) {
            new Thread(() -> {
                        for (int i = 0; i < each; i++) {
                            threads.execute(() -> {
                                ran.incrementAndGet();
                                done.countDown();
                            });
                        }
                    })
                    .start();
        }

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).hasValue(givers * each);
    }

    @Test
    void tasksBeyondTheLimitWaitForAThread() throws Exception {
        int limit = 3;
        ExchangeThreads threads = new ExchangeThreads(counting, limit, timers);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch full = new CountDownLatch(limit);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            threads.execute(() -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                full.countDown();
                await(go);
                running.decrementAndGet();
                done.countDown();
            });
        }
        assertThat(full.await(30, TimeUnit.SECONDS)).isTrue();
        go.countDown();

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(most).hasValue(limit);
    }

    /** The first one is in the way of a task that it waits for. */
    @Test
    void tasksThatWaitForALaterOneGoOnAfterAStandstill() throws Exception {
        ExchangeThreads threads = new ExchangeThreads(counting, 2, timers);
        CountDownLatch running = new CountDownLatch(2);
        CountDownLatch latest = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) {
            threads.execute(() -> {
                running.countDown();
                await(latest);
                done.countDown();
            });
        }
        await(running);
        threads.execute(latest::countDown);
        try (LogLines log = new LogLines(ExchangeThreads.class)) {
            timers.advance(Duration.ofMillis(9_999));
            assertThat(latest.getCount()).isOne();
            timers.advance(Duration.ofMillis(10_001)); // a task may have begun after the timer was set

            assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(log.of(Level.WARN)).singleElement().asString().startsWith("No exchange behind asynchronous");
            timers.advance(Duration.ofMinutes(1));
            assertThat(log.of(Level.WARN)).hasSize(1);
        }
    }

    @Test
    void noTimerIsLeftOnceNoTaskWaitsAndTheNextStandstillIsSeen() throws Exception {
        ExchangeThreads threads = new ExchangeThreads(counting, 1, timers);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            threads.execute(() -> {
                await(go);
                done.countDown();
            });
        }
        Awaitility.await().until(() -> timers.waiting() == 1);
        go.countDown();
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
        timers.advance(Duration.ofMinutes(1));
        assertThat(timers.waiting()).isZero();

        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch latest = new CountDownLatch(1);
        threads.execute(() -> {
            running.countDown();
            await(latest);
        });
        await(running);
        threads.execute(latest::countDown);
        Awaitility.await().until(() -> timers.waiting() == 1);
        timers.advance(Duration.ofSeconds(20));
        assertThat(latest.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void oneThreadMoreComesAtATimeAndEndsWithTheTasks() throws Exception {
        ExchangeThreads threads =
                new ExchangeThreads(counting, 1, (delay, task) -> timers.schedule(delay, () -> pool.execute(task)));
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicReference<CountDownLatch> go = new AtomicReference<>(new CountDownLatch(1));
        CountDownLatch done = new CountDownLatch(40);
        Runnable task = () -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            await(go.get());
            running.decrementAndGet();
            done.countDown();
        };
        threads.execute(task);
        Awaitility.await().until(() -> running.get() == 1);
        for (int i = 1; i < 20; i++) {
            threads.execute(task);
        }
        for (int lent = 0; lent <= 3; lent++) {
            int now = 1 + lent;
            if (lent > 0) {
                Awaitility.await().until(() -> running.get() == now && timers.waiting() == 1);
                timers.advance(Duration.ofSeconds(10)); // one has begun
            }
            Awaitility.await().until(() -> running.get() == now && timers.waiting() == 1);
            timers.advance(Duration.ofSeconds(10));
        }
        Awaitility.await().until(() -> running.get() == 5);
        go.get().countDown();
        Awaitility.await().until(() -> done.getCount() == 20 && running.get() == 0);
        timers.advance(Duration.ofSeconds(20));
        assertThat(most).hasValue(5);

        most.set(0);
        go.set(new CountDownLatch(1));
        for (int i = 0; i < 20; i++) {
            threads.execute(task);
        }
        Awaitility.await().until(() -> running.get() == 1);
        go.get().countDown();
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(most).hasValue(1);
    }

    @Test
    void aThreadThatCannotBeStartedTakesNoneOfTheLimit() throws Exception {
        ExchangeThreads threads = new ExchangeThreads(counting, 1, timers);
        noThread.set(true);
        assertThatThrownBy(() -> threads.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        CountDownLatch done = new CountDownLatch(1);
        threads.execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** The failure has no text that could be logged. */
    @Test
    void aFailureThatCannotBeLoggedTakesNoneOfTheLimit() throws Exception {
        ExchangeThreads threads = new ExchangeThreads(counting, 1, timers);
        threads.execute(() -> {
            throw new IllegalStateException() {
                @Override
                public String getMessage() {
                    throw new UnsupportedOperationException("expected by the test");
                }
            };
        });
        CountDownLatch done = new CountDownLatch(1);
        threads.execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** It comes when the only thread has looked for the last time and has not given back its permit. */
    @Test
    void aTaskThatComesAsTheLastThreadOfAStoppedPoolEndsRuns() throws Exception {
        AtomicReference<Runnable> atTheEnd = new AtomicReference<>();
        Queue<Runnable> tasks = new ConcurrentLinkedQueue<>() {
            @Override
            public Runnable poll() {
                Runnable task = super.poll();
                Runnable meanwhile = task == null ? atTheEnd.getAndSet(null) : null;
                if (meanwhile != null) {
                    meanwhile.run();
                }
                return task;
            }
        };
        ExchangeThreads threads = new ExchangeThreads(pool, tasks, new Semaphore(1), timers);
        CountDownLatch done = new CountDownLatch(1);
        atTheEnd.set(() -> {
            pool.shutdown();
            threads.execute(done::countDown);
        });
        threads.execute(() -> {});
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** A call has the last permit for a moment and does not use it, while a task comes that needs it. */
    @Test
    void aPermitThatIsNotUsedLosesNoTask() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(2);
        Runnable task = () -> {
            running.countDown();
            await(go);
        };
        AtomicReference<Runnable> woken = new AtomicReference<>();
        ExecutorService slow = new ForwardingPool(pool) {
            @Override
            public void execute(Runnable work) {
                if (running.getCount() == 2) {
                    woken.set(work); // its thread starts later
                } else {
                    pool.execute(work);
                }
            }
        };
        AtomicReference<ExchangeThreads> threads = new AtomicReference<>();
        AtomicBoolean first = new AtomicBoolean(true);
        Semaphore free = new Semaphore(2) {
            @Override
            public boolean tryAcquire() {
                boolean acquired = super.tryAcquire();
                if (first.getAndSet(false)) {
                    threads.get().execute(task); // another call, which wakes a thread
                }
                return acquired;
            }

            @Override
            public void release() {
                Runnable work = woken.getAndSet(null);
                if (work != null) {
                    pool.execute(work);
                    while (running.getCount() == 2) {
                        Thread.onSpinWait();
                    }
                }
                super.release();
            }
        };
        threads.set(new ExchangeThreads(slow, new ConcurrentLinkedQueue<>(), free, timers));
        threads.get().execute(task);
        try {
            assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            go.countDown();
        }
    }

    @Test
    void shortTasksShareAThread() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1001);
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        threads.execute(() -> {
            for (int i = 0; i < 1000; i++) {
                threads.execute(() -> {
                    used.add(Thread.currentThread());
                    done.countDown();
                });
            }
            begun.countDown();
            await(busy);
            done.countDown();
        });
        await(begun);
        busy.countDown();

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(woken.get()).as("threads woken for 1001 tasks").isLessThan(501);
    }

    @Test
    void aTaskThatFailsHarmsNoOther() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        threads.execute(() -> {
            throw new IllegalStateException("expected by the test");
        });
        threads.execute(done::countDown);

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anInterruptionDoesNotReachTheNextTask() throws Exception {
        AtomicBoolean interrupted = new AtomicBoolean();
        CountDownLatch done = new CountDownLatch(1000);
        for (int i = 0; i < 1000; i++) {
            threads.execute(() -> {
                if (Thread.currentThread().isInterrupted()) {
                    interrupted.set(true);
                }
                Thread.currentThread().interrupt();
                done.countDown();
            });
        }

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(interrupted).isFalse();
    }

    @Test
    void aStoppedPoolRefuses() {
        pool.shutdown();

        assertThatThrownBy(() -> threads.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> threads.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void whatWasTakenBeforeTheStopIsDone() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            threads.execute(() -> {
                await(go);
                done.countDown();
            });
        }
        pool.shutdown();
        go.countDown();

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
