// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.SteppedCaller;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.api.RBucket;
import org.redisson.client.codec.StringCodec;

/** Consumers declare a schedule again each minute: one that is lost comes back, and versions do not fight over its rule. */
class ScheduleDeclarationIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static final Schedule OLD = Schedule.parse("cron 0 2 * * * UTC");
    private static final Schedule NEW = Schedule.parse("cron 0 3 * * * UTC");

    private DelayQueueClient client;
    private DelayQueue queue;
    private final List<Consumer> consumers = new ArrayList<>();

    /** A declaration, and what it does in a minute. */
    private final class Consumer {

        private final BlockingQueue<Runnable> later = new LinkedBlockingQueue<>();
        private final ScheduleDeclaration declaration;

        Consumer(Schedule rule) {
            Timers timers = (delay, task) -> {
                assertThat(delay).isEqualTo(ScheduleDeclaration.INTERVAL.toNanos());
                later.add(task);
                return () -> later.remove(task);
            };
            declaration = new ScheduleDeclaration(
                    queue, new ScheduleDeclaration.Declared("nightly", rule, null, Envelope.Settings.NONE), timers);
            declaration.start();
            await().until(() -> later.size() == 1);
            consumers.add(this);
        }

        void minute() {
            later.remove().run();
            await().until(() -> later.size() == 1);
        }
    }

    @BeforeEach
    void open() {
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        queue = client.queue(redis.uniqueQueue());
    }

    @AfterEach
    void close() {
        client.close();
    }

    private Optional<String> rule() {
        return queue.get("nightly").join().map(StoredMessage::info).map(MessageInfo::rule);
    }

    @Test
    void should_leave_the_rule_of_the_version_that_started_last() {
        new Consumer(OLD);
        new Consumer(OLD);
        assertThat(rule()).contains(OLD.encode());
        new Consumer(NEW);
        for (int minute = 0; minute < 3; minute++) {
            for (Consumer each : consumers) {
                each.minute();
                assertThat(rule()).contains(NEW.encode());
            }
        }
    }

    /** The clock of Redis; a restarted or promoted server has another one. */
    @ParameterizedTest
    @CsvSource({"3600, 0, 3700", "0, 3600, 0"})
    void should_leave_that_rule_also_where_the_clock_was_ahead_once(String before, String then, String atLast) {
        String clock = redis.uniqueQueue() + ":clock";
        RBucket<String> ahead = redis.client().getBucket(clock, StringCodec.INSTANCE);
        client.close();
        client = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, new SteppedCaller(redis.client(), clock));
        queue = client.queue(redis.uniqueQueue());
        ahead.set(before);
        new Consumer(OLD);
        ahead.set(then);
        new Consumer(NEW);
        consumers.get(0).minute();
        assertThat(rule()).contains(NEW.encode());
        ahead.set(atLast);
        for (int minute = 0; minute < 2; minute++) {
            consumers.forEach(Consumer::minute);
        }
        assertThat(rule()).contains(NEW.encode());
        consumers.get(0).minute();
        assertThat(rule()).contains(NEW.encode());
        ahead.delete();
    }

    @Test
    void should_say_the_next_times_of_the_grid_that_is_stored() {
        Schedule daily = Schedule.every(Duration.ofDays(1));
        new Consumer(daily);
        queue.reschedule("nightly", DueTime.after(Duration.ofHours(3)))
                .outcome()
                .join();
        long due = queue.get("nightly").join().orElseThrow().info().dueMicros();
        try (LogLines log = new LogLines(ScheduleDeclaration.class)) {
            new Consumer(daily);
            assertThat(log.of(Level.INFO))
                    .singleElement()
                    .asString()
                    .contains("is every 24h: " + Instant.ofEpochSecond(due / 1_000_000) + ", ");
        }
    }

    @Test
    void should_declare_again_what_redis_has_lost() {
        Consumer consumer = new Consumer(OLD);
        queue.cancel("nightly").outcome().join();
        assertThat(rule()).isEmpty();
        consumer.minute();
        assertThat(rule()).contains(OLD.encode());
    }

    @Test
    void should_say_that_it_has_undone_a_later_time() {
        Consumer consumer = new Consumer(OLD);
        long due = queue.get("nightly").join().orElseThrow().info().dueMicros();
        queue.reschedule("nightly", DueTime.after(Duration.ofDays(7))).outcome().join();
        try (LogLines log = new LogLines(ScheduleDeclaration.class)) {
            consumer.minute();
            String time = Instant.ofEpochSecond(due / 1_000_000).toString();
            assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .startsWith("queue '" + queue.name() + "': schedule 'nightly' is due at " + time + " again:");
            consumer.minute();
            assertThat(log.of(Level.WARN)).as("once").hasSize(1);
        }
        assertThat(queue.get("nightly").join().orElseThrow().info().dueMicros()).isEqualTo(due);
    }

    @Test
    void should_declare_nothing_once_it_has_stopped() {
        Consumer consumer = new Consumer(OLD);
        Runnable next = consumer.later.peek();
        consumer.declaration.stop();
        assertThat(consumer.later).isEmpty();
        queue.cancel("nightly").outcome().join();
        next.run(); // was under way
        assertThat(rule()).isEmpty();
    }
}
