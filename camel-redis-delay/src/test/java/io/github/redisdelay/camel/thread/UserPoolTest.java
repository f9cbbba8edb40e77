// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UserPoolTest {

    private final List<ThreadPoolExecutor> pools = new ArrayList<>();
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5); // nanoTime may overflow
    private final AtomicInteger ran = new AtomicInteger();
    private final CountDownLatch busy = new CountDownLatch(1);

    @AfterEach
    void stop() {
        busy.countDown();
        pools.forEach(ThreadPoolExecutor::shutdownNow);
    }

    private ThreadPoolExecutor oneThread(RejectedExecutionHandler handler) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new SynchronousQueue<>(), handler);
        pools.add(pool);
        return pool;
    }

    private UserPool of(ThreadPoolExecutor pool) {
        return new UserPool(pool, "queue 'orders': the pool", now::get);
    }

    private void block() {
        try {
            busy.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void assertRefuses(UserPool threads) {
        assertThatThrownBy(() -> threads.execute(ran::incrementAndGet)).isInstanceOf(RejectedExecutionException.class);
        assertThat(ran).hasValue(0);
    }

    @Test
    void aFullPoolRefusesWhateverItsPolicy() {
        for (RejectedExecutionHandler policy :
                List.of(new ThreadPoolExecutor.AbortPolicy(), new ThreadPoolExecutor.CallerRunsPolicy())) {
            UserPool threads = of(oneThread(policy));
            threads.execute(this::block);
            assertRefuses(threads);
        }
    }

    @Test
    void aPoolThatWasShutDownRefusesWhateverItsPolicy() {
        for (RejectedExecutionHandler policy :
                List.of(new ThreadPoolExecutor.AbortPolicy(), new ThreadPoolExecutor.CallerRunsPolicy())) {
            ThreadPoolExecutor pool = oneThread(policy);
            pool.shutdown();
            assertRefuses(of(pool));
        }
    }

    @Test
    void whatWasRefusedNeverRuns() throws Exception {
        LinkedBlockingQueue<Runnable> kept = new LinkedBlockingQueue<>();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>()) {
            @Override
            public void execute(Runnable task) {
                kept.add(task);
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
        pools.add(pool);
        assertRefuses(of(pool));
        kept.take().run();
        assertThat(ran).hasValue(0);
    }

    @Test
    void aThreadOfThePoolMayHandOverToItsOwnPool() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        pools.add(pool);
        UserPool threads = of(pool);
        CountDownLatch done = new CountDownLatch(1);
        threads.execute(() -> threads.execute(done::countDown));
        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aPoolThatForgetsTasksIsNotTaken() {
        assertThatThrownBy(() -> of(oneThread(new ThreadPoolExecutor.DiscardOldestPolicy())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("queue 'orders': the pool silently drops tasks")
                .hasMessageContaining("DiscardOldestPolicy");
        assertThatThrownBy(() -> of(oneThread(new ThreadPoolExecutor.DiscardPolicy())))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theWarningComesOnceAMinute() {
        UserPool threads = of(oneThread(new ThreadPoolExecutor.AbortPolicy()));
        threads.execute(this::block);
        try (LogLines log = new LogLines(UserPool.class)) {
            assertRefuses(threads);
            assertRefuses(threads);
            now.addAndGet(Duration.ofSeconds(59).toNanos());
            assertRefuses(threads);
            assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .startsWith("queue 'orders': the pool is full: messages go back to Redis")
                    .contains("'concurrentConsumers'");
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            assertRefuses(threads);
            assertThat(log.of(Level.WARN)).hasSize(2);
        }
    }
}
