// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.monitor.NoConsumerReport;
import io.github.redisdelay.camel.monitor.StartupLog;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.testkit.LogLines;
import java.util.List;
import java.util.Map;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;

/** The log of an application that only schedules. */
class ProducerLogIT extends CamelRedisIT {

    @Test
    void should_log_a_line_for_each_queue_that_is_produced_to() throws Exception {
        try (LogLines log = new LogLines(StartupLog.class)) {
            start(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:one").to(uri);
                    from("direct:two").to(uri + "?delay=5s");
                    from("direct:three").to(uri + "-cancelled?operation=cancel");
                }
            });
            await().untilAsserted(() -> assertThat(log.of(Level.INFO)).hasSize(1));
            assertThat(log.of(Level.INFO).get(0))
                    .startsWith("producer of " + queue + " on ")
                    .endsWith("): 0 delayed, 0 overdue, 0 dead");
            template.sendBody(uri + "-other", "x");
            await().untilAsserted(() -> assertThat(log.of(Level.INFO)).hasSize(2));
            assertThat(log.of(Level.INFO).get(1)).startsWith("producer of " + queue + "-other on ");
        }
    }

    @Test
    void should_log_the_line_of_a_producer_whatever_was_warned_of_before() {
        StartupLog lines = new StartupLog();
        for (int i = 0; i < 100; i++) {
            lines.warn("redis://h" + i + ":6379", new ServerInfo("Redis", "8.0.0", "allkeys-lru", true));
        }
        try (LogLines log = new LogLines(StartupLog.class)) {
            lines.logProducer(stored(), "redis://h:6379", "redis-delay");
            await().untilAsserted(() -> assertThat(log.of(Level.INFO)).hasSize(1));
        }
    }

    @Test
    void should_warn_when_what_it_schedules_is_overdue_for_a_minute_and_no_consumer_is_known() throws Exception {
        try (LogLines log = new LogLines(NoConsumerReport.class)) {
            FastClock.of(context);
            context.start();
            Map<String, Object> overdue = Map.of(RedisDelayConstants.DELIVER_AT, System.currentTimeMillis() - 61_000);
            assertThat(send(uri, "x", overdue).getException()).isNull();
            assertThat(send(uri + "-batch?batching=true", List.of("x", "y"), overdue)
                            .getException())
                    .isNull();
            await().untilAsserted(() -> assertThat(log.of(Level.WARN))
                    .anyMatch(line -> line.startsWith("queue '" + queue + "' on ")
                            && line.contains(", key prefix 'redis-delay': 1 overdue (oldest "))
                    .anyMatch(line ->
                            line.startsWith("queue '" + queue + "-batch' on ") && line.contains(": 2 overdue (")));
        }
    }
}
