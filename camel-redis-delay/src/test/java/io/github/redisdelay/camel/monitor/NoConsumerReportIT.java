// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RealQueueIT;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.testkit.LogLines;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Messages that are overdue and that nobody receives, on a real Redis and a virtual clock. */
class NoConsumerReportIT extends RealQueueIT {

    private final LogLines log = new LogLines(NoConsumerReport.class);
    private final FakeTimers timers = new FakeTimers();
    private final NoConsumerReport report = new NoConsumerReport(() -> timers);

    @AfterEach
    void closeLog() {
        log.close();
    }

    /** The looks that have ended. */
    private final AtomicInteger looks = new AtomicInteger();
    /** The look under way, as Redis has answered it. */
    private volatile CompletableFuture<QueueStats> answer;
    /** Each look waits for it. */
    private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);

    private NoConsumerReport.Watch watch() {
        QueueAdmin admin = (QueueAdmin) intercepted(QueueAdmin.class, "stats", this::look);
        DelayQueue watched = (DelayQueue) intercepted(DelayQueue.class, "admin", () -> admin);
        return report.of(watched, "redis://h:6379", "delay");
    }

    private CompletableFuture<QueueStats> look() {
        answer = queue.admin().stats();
        CompletableFuture<QueueStats> told = new CompletableFuture<>();
        answer.thenCombine(gate, (stats, open) -> stats).whenComplete((stats, error) -> {
            told.complete(stats);
            looks.incrementAndGet();
        });
        return told;
    }

    /** The queue, with another answer of one method. */
    private Object intercepted(Class<?> type, String method, Supplier<Object> other) {
        return Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, called, arguments) ->
                        called.getName().equals(method) ? other.get() : called.invoke(queue, arguments));
    }

    private List<String> warnings() {
        return log.of(Level.WARN);
    }

    /** Waits for the end of a look: then the next message makes another one, if nothing else has. */
    private void awaitLook(int number, ScheduleResult next) {
        await().until(() -> looks.get() == number);
        watch().scheduled(next);
        assertThat(timers.waiting()).isOne();
    }

    @Test
    void should_warn_a_minute_after_the_due_time_and_again_after_an_hour() {
        ScheduleResult overdue = schedule("a", LONG_AGO);
        watch().scheduled(overdue);
        timers.advance(Duration.ofSeconds(59));
        assertThat(timers.waiting()).isOne();
        timers.advance(Duration.ofSeconds(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
        assertThat(warnings().get(0))
                .startsWith("queue '" + queue.name() + "' on redis://h:6379, key prefix 'delay': 1 overdue (oldest ")
                .contains(
                        "), and no consumer is known. Start a consumer, or compare its queue name, keyPrefix, database");
        await().until(() -> timers.waiting() == 1);
        watch().scheduled(schedule("b", LONG_AGO));
        timers.advance(Duration.ofMinutes(59));
        assertThat(timers.waiting()).as("nobody asks within the hour").isOne();
        timers.advance(Duration.ofMinutes(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(2));
        assertThat(warnings().get(1)).contains(": 2 overdue (");
    }

    @Test
    void should_say_nothing_where_a_consumer_is_known_or_nothing_is_overdue_for_a_minute() {
        ScheduleResult due = schedule("a", DueTime.now());
        watch().scheduled(due);
        timers.advance(Duration.ofMinutes(1));
        awaitLook(1, due);
        var consumer = queue.consume(named("c"), executor, delivery -> {});
        await().until(() -> get(queue.admin().stats()).consumers() == 1);
        consumer.suspend();
        schedule("b", LONG_AGO);
        timers.advance(Duration.ofMinutes(1));
        awaitLook(2, due);
        assertThat(warnings()).isEmpty();
        get(consumer.stop(false));
        timers.advance(Duration.ofMinutes(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
    }

    @Test
    void should_look_once_for_many_messages_a_minute_after_the_earliest_is_due() {
        schedule("overdue", LONG_AGO);
        for (int seconds : new int[] {100, 200, 50, 300, 20, 21}) {
            watch().scheduled(schedule("in " + seconds, DueTime.after(Duration.ofSeconds(seconds))));
        }
        assertThat(timers.waiting()).isOne();
        timers.advance(Duration.ofSeconds(79));
        assertThat(timers.waiting()).isOne();
        timers.advance(Duration.ofSeconds(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
    }

    @Test
    void should_have_one_timer_also_where_a_message_comes_during_a_look() {
        watch().scheduled(schedule("a", DueTime.now()));
        gate = new CompletableFuture<>();
        timers.advance(Duration.ofMinutes(1));
        watch().scheduled(schedule("b", LONG_AGO));
        await().until(() -> answer.isDone());
        gate.complete(null); // the look goes on, and ends, in this thread
        assertThat(looks).hasValue(1);
        assertThat(timers.waiting()).isOne();
    }

    @Test
    void should_look_for_a_message_that_came_during_a_look() {
        ScheduleResult first = schedule("a", DueTime.now());
        watch().scheduled(first);
        get(queue.cancel("a"));
        gate = new CompletableFuture<>();
        timers.advance(Duration.ofMinutes(1));
        await().until(() -> answer.isDone());
        watch().scheduled(schedule("b", LONG_AGO));
        gate.complete(null);
        timers.advance(Duration.ofMinutes(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
    }

    @Test
    void should_look_again_after_a_look_that_failed() {
        DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        report.of(other.queue(queue.name()), "redis://h:6379", "delay").scheduled(schedule("a", LONG_AGO));
        other.close();
        timers.advance(Duration.ofMinutes(1));
        await().until(() -> timers.waiting() == 1);
        assertThat(warnings()).isEmpty();
        watch();
        timers.advance(Duration.ofMinutes(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
    }

    @Test
    void should_look_again_where_the_clock_of_redis_is_behind() {
        watch().scheduled(schedule("a", DueTime.now()));
        timers.advance(Duration.ofMinutes(1)); // here, not there
        await().until(() -> timers.waiting() == 1);
        assertThat(warnings()).isEmpty();
        schedule("overdue", LONG_AGO);
        timers.advance(Duration.ofMinutes(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
    }

    @Test
    void should_watch_what_is_due_after_the_consumer_has_gone() {
        var consumer = queue.consume(named("c"), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        await().until(() -> get(queue.admin().stats()).consumers() == 1);
        watch().scheduled(schedule("now", DueTime.now()));
        watch().scheduled(schedule("later", DueTime.after(Duration.ofHours(2))));
        await().until(() -> get(queue.admin().stats()).stored() == 1);
        timers.advance(Duration.ofMinutes(1));
        await().until(() -> timers.waiting() == 1);
        get(consumer.stop(false));
        schedule("overdue", LONG_AGO);
        timers.advance(Duration.ofMinutes(119));
        assertThat(warnings()).isEmpty();
        timers.advance(Duration.ofMinutes(2));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
    }

    /** Receivers that poll are not among the consumers of a queue. */
    @Test
    void should_warn_again_only_of_what_is_overdue_for_an_hour() {
        watch().scheduled(schedule("a", LONG_AGO));
        timers.advance(Duration.ofMinutes(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(1));
        await().until(() -> timers.waiting() == 1);
        get(queue.cancel("a"));
        long twoMinutes = System.currentTimeMillis() - Duration.ofMinutes(2).toMillis();
        schedule("b", new DueTime(false, twoMinutes * 1_000));
        timers.advance(Duration.ofHours(1));
        await().until(() -> timers.waiting() == 1);
        assertThat(warnings()).hasSize(1);
        schedule("c", LONG_AGO);
        timers.advance(Duration.ofMinutes(1));
        await().untilAsserted(() -> assertThat(warnings()).hasSize(2));
    }

    @Test
    void should_keep_no_timer_of_each_queue_that_ever_was() {
        ScheduleResult later = schedule("a", DueTime.after(Duration.ofDays(1)));
        for (int i = 0; i < 10_001; i++) {
            report.of(queue, "redis://h:6379", "delay" + i).scheduled(later);
        }
        assertThat(timers.waiting()).isOne();
    }
}
