// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ConsumerDeliveries;
import io.github.redisdelay.camel.monitor.StartupLog;
import io.github.redisdelay.camel.monitor.UnusedQueues;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;

/** The view of operators: log lines and JMX. */
class OperationsIT extends CamelRedisIT {

    @Test
    void should_say_in_one_line_at_the_start_what_is_in_the_queue() throws Exception {
        context.start();
        send(uri + "?delay=1h", "x", Map.of());
        send(uri, "x", Map.of(RedisDelayConstants.DELIVER_AT, System.currentTimeMillis() - 3_600_000));
        try (LogLines log = new LogLines(StartupLog.class)) {
            start(consume("", exchange -> {}));
            assertThat(log.of(Level.INFO))
                    .filteredOn(line -> !line.startsWith("producer of ")) // that of the first message may come late
                    .singleElement()
                    .asString()
                    .startsWith(queue + " on " + redis.address() + " (")
                    .contains("2 delayed, 1 overdue (oldest 60 min), and no consumer until now, 0 dead,"
                            + " next due in 60 min");
        }
    }

    private void cancel(String id) {
        Exchange cancelled = send(uri + "?operation=cancel", "", Map.of(RedisDelayConstants.SCHEDULE_ID, id));
        assertThat(cancelled.getMessage().getHeader(RedisDelayConstants.RESULT)).isEqualTo("none");
    }

    @Test
    void should_warn_once_of_a_cancel_in_a_queue_that_nobody_uses() throws Exception {
        context.start();
        try (LogLines log = new LogLines(UnusedQueues.class)) {
            cancel("a");
            await().untilAsserted(() -> assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .startsWith("queue '" + queue + "' at ")
                    .contains(" had nothing to cancel: it has no message, no dead letter and no consumer. Is that"));
            cancel("b");
            UnusedQueues unused = context.getComponent("redis-delay", RedisDelayComponent.class).unusedQueues;
            unused.foundNothing(
                            context.getEndpoint(uri, RedisDelayEndpoint.class).place() + " with prefix 'redis-delay'",
                            stored())
                    .join();
            assertThat(log.of(Level.WARN)).hasSize(1);
        }
    }

    @Test
    void should_ask_again_whether_a_queue_is_used_after_redis_did_not_say() {
        DelayQueueClient closed = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        DelayQueue away = closed.queue(queue);
        closed.close();
        try (LogLines log = new LogLines(UnusedQueues.class)) {
            UnusedQueues unused = new UnusedQueues();
            assertThat(unused.foundNothing("here", away)).failsWithin(Duration.ofSeconds(5));
            unused.foundNothing("here", stored()).join();
            assertThat(log.of(Level.WARN)).hasSize(1);
        }
    }

    @Test
    void should_not_warn_of_a_cancel_in_a_queue_with_a_message_or_a_consumer() throws Exception {
        context.start();
        try (LogLines log = new LogLines(UnusedQueues.class)) {
            send(uri + "?delay=1h", "x", Map.of());
            new UnusedQueues().foundNothing("here", stored()).join();
            stored().admin().cancelAll(message -> true, Long.MAX_VALUE).join();
            start(consume("", exchange -> {}));
            await().until(() -> stats().consumers() == 1);
            new UnusedQueues().foundNothing("here", stored()).join();
            assertThat(log.of(Level.WARN)).isEmpty();
        }
    }

    @Test
    void should_warn_of_an_eviction_policy_that_throws_messages_away() throws Exception {
        try (RedisServer server = RedisServer.dedicated("maxmemory-policy allkeys-lru");
                LogLines log = new LogLines(StartupLog.class)) {
            start(twoConsumers(server));
            assertThat(log.of(Level.WARN).stream().filter(line -> line.contains("maxmemory")))
                    .as("once for the server")
                    .singleElement()
                    .asString()
                    .contains(server.address(), "maxmemory-policy allkeys-lru", "noeviction");
            context.stop();
        }
    }

    private static RouteBuilder twoConsumers(RedisServer server) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:orders?address=" + server.address()).process(exchange -> {});
                from("redis-delay:others?address=" + server.address()).process(exchange -> {});
            }
        };
    }

    @Test
    void should_warn_once_of_a_server_whose_append_only_file_is_off() throws Exception {
        try (RedisServer server = RedisServer.dedicated("appendonly no");
                LogLines log = new LogLines(StartupLog.class)) {
            start(twoConsumers(server));
            assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains(server.address(), "append-only file off", "Set appendonly to yes");
            context.stop();
        }
    }

    @Test
    void should_not_warn_of_a_server_that_keeps_all_or_does_not_tell() throws Exception {
        try (RedisServer server = RedisServer.dedicated("appendonly yes", "rename-command INFO \"\"");
                LogLines log = new LogLines(StartupLog.class)) {
            start(twoConsumers(server));
            assertThat(log.of(Level.WARN)).isEmpty();
            context.stop();
        }
        StartupLog report = new StartupLog();
        try (LogLines log = new LogLines(StartupLog.class)) {
            report.warn("redis://h:1", new ServerInfo("Redis", "7.0.15", "noeviction", true));
            report.warn("redis://h:1", new ServerInfo("Redis", "unknown", "unknown", null));
            assertThat(log.of(Level.WARN)).isEmpty();
        }
    }

    @Test
    void should_warn_with_id_route_and_age_when_a_lease_is_not_extended_any_more() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (LogLines log = new LogLines(ConsumerDeliveries.class)) {
            start(consume("?visibilityTimeout=3s&maximumVisibilityExtension=4s", exchange -> {
                go.await(20, TimeUnit.SECONDS);
            }));
            send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "stuck"));
            await().atMost(20, TimeUnit.SECONDS).untilAsserted(() -> assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("message 'stuck' of queue '" + queue + "'", "route 'consumer'", " s by "));
            go.countDown();
        }
    }

    @Test
    void should_name_the_longest_running_exchange_when_a_message_waits_while_all_are_busy() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (LogLines log = new LogLines(ConsumerDeliveries.class)) {
            start(consume("", exchange -> go.await(20, TimeUnit.SECONDS)));
            RedisDelayConsumer consumer =
                    (RedisDelayConsumer) context.getRoute("consumer").getConsumer();
            send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "long"));
            await().until(() -> consumer.getProcessing() == 1);
            send(uri, "x", Map.of(RedisDelayConstants.DELIVER_AT, System.currentTimeMillis() - 60_000));
            await().atMost(30, TimeUnit.SECONDS).untilAsserted(() -> assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("message 'long'", "exchange ", "route 'consumer'"));
            go.countDown();
        }
    }

    @Test
    void should_show_figures_in_jmx() throws Exception {
        try (var managed = newContextWithJmx()) {
            managed.getManagementStrategy();
            managed.getRegistry().bind("redisson", redis.client());
            managed.addRoutes(consume("", exchange -> {}));
            managed.start();
            managed.createProducerTemplate().sendBody(uri, "x");
            MBeanServer server =
                    managed.getManagementStrategy().getManagementAgent().getMBeanServer();
            ObjectName consumers =
                    new ObjectName("org.apache.camel:context=" + managed.getManagementName() + ",type=consumers,*");
            ObjectName consumer = server.queryNames(consumers, null).iterator().next();
            await().untilAsserted(() ->
                    assertThat(server.getAttribute(consumer, "Received")).isEqualTo(1L));
            assertThat(server.getAttribute(consumer, "DeadLettered")).isEqualTo(0L);
            ObjectName endpoints =
                    new ObjectName("org.apache.camel:context=" + managed.getManagementName() + ",type=endpoints,*");
            ObjectName endpoint = server.queryNames(endpoints, null).iterator().next();
            assertThat(server.getAttribute(endpoint, "QueueName")).isEqualTo(queue);
            assertThat(server.getAttribute(endpoint, "ServiceUrl")).isEqualTo(redis.address());
        }
    }
}
