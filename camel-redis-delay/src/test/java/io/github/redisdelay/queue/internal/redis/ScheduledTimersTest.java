// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.Timers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The timers that are not virtual. */
class ScheduledTimersTest {

    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private final ScheduledTimers timers = new ScheduledTimers();

    @AfterEach
    void close() {
        timers.close();
    }

    @Test
    void should_run_a_task_after_its_delay_on_one_daemon_thread() throws Exception {
        long start = timers.nanoTime();
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        timers.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> ran.complete(Thread.currentThread()));
        Thread thread = ran.get(10, TimeUnit.SECONDS);
        assertThat(timers.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
        assertThat(thread.getName()).isEqualTo("redis-delay-timer");
        assertThat(thread.isDaemon()).isTrue();
    }

    @Test
    void should_forget_a_task_that_was_cancelled() {
        List<Timers.Timer> all = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            all.add(timers.schedule(HOUR, () -> {}));
        }
        assertThat(timers.waiting()).isEqualTo(1_000);
        all.forEach(Timers.Timer::cancel);
        all.forEach(Timers.Timer::cancel);
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_go_on_after_a_task_that_fails() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        timers.schedule(0, () -> {
            ran.incrementAndGet();
            throw new AssertionError("an expected failure");
        });
        CompletableFuture<Void> next = new CompletableFuture<>();
        timers.schedule(1, () -> next.complete(null));
        next.get(10, TimeUnit.SECONDS);
        assertThat(ran).hasValue(1);
    }

    @Test
    void should_run_nothing_any_more_and_take_nothing_after_it_was_closed() {
        AtomicInteger ran = new AtomicInteger();
        timers.schedule(TimeUnit.MILLISECONDS.toNanos(500), ran::incrementAndGet);
        timers.close();
        timers.schedule(0, ran::incrementAndGet).cancel();
        assertThat(timers.waiting()).isZero();
        await().during(Duration.ofMillis(700)).until(() -> ran.get() == 0);
    }
}
