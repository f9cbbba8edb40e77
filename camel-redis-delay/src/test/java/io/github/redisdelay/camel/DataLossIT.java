// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.LogLines;
import io.github.redisdelay.testkit.RedisSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redis comes back without what it held: its consumers say so, once, and are there again. */
class DataLossIT {

    private final LogLines log = new LogLines("io.github.redisdelay.queue.internal.consume.DataLossReport");
    private final DefaultCamelContext context = CamelRedisIT.newContext();
    private final AtomicInteger received = new AtomicInteger();
    private RedisServer server;
    private RedissonClient redisson;
    private DelayQueueClient client;

    private void start(String... configLines) throws Exception {
        server = RedisServer.dedicated(configLines);
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        component.getConfiguration().setAddress(server.address());
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:orders").routeId("orders").process(exchange -> received.incrementAndGet());
                from("redis-delay:orders?state=dead").routeId("dead").log("dead");
                from("redis-delay:split?partitions=4").routeId("split").log("split");
            }
        });
        context.start();
        Config config = new Config();
        config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
        redisson = Redisson.create(config);
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
        awaitConsumers();
    }

    @AfterEach
    void close() throws Exception {
        context.close();
        client.close();
        redisson.shutdown();
        server.close();
        log.close();
    }

    private DelayQueue orders() {
        return client.queue("orders");
    }

    private void awaitConsumers() {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(100))
                .ignoreExceptions()
                .until(() -> {
                    for (DelayQueue queue : List.of(orders(), orders().deadLetters(), client.queue("split", 4))) {
                        if (queue.admin().consumers().join().size() != 1) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    private void assertToldOnce() throws Exception {
        await().atMost(Duration.ofSeconds(30)).until(() -> !log.of(Level.WARN).isEmpty());
        assertThat(log.of(Level.WARN))
                .singleElement()
                .satisfies(
                        line -> assertThat(line)
                                .startsWith("Redis at " + server.address() + " has lost data since 2")
                                .contains(
                                        "may be gone in queue 'orders'; queue 'split', partition 1 of 4; queue 'split', partition 2 of 4;"));
        awaitConsumers();
        assertThat(orders().admin().stats().join().lostMicros()).isPositive();
        RedisDelayHealthCheck check =
                ((RedisDelayConsumer) context.getRoute("orders").getConsumer()).healthCheck(Duration.ofSeconds(30));
        assertThat(check.call(Map.of()).getMessage().orElse(""))
                .contains("queue 'orders': Redis has lost data, as was found at 2");
        // The waiters are back as well, so nothing waits for the safety interval.
        long before = System.nanoTime();
        int count = received.get();
        context.createProducerTemplate().sendBody("redis-delay:orders", "x");
        await().until(() -> received.get() == count + 1);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void should_tell_of_a_flush_and_be_listed_again_within_seconds() throws Exception {
        start();
        try (RedisSocket socket = RedisSocket.open(server.address())) {
            socket.call("FLUSHALL");
        }
        long flushed = System.nanoTime();
        awaitConsumers();
        assertThat(Duration.ofNanos(System.nanoTime() - flushed)).isLessThan(Duration.ofSeconds(20));
        assertToldOnce();
    }

    @Test
    void should_tell_of_a_restart_without_persistence() throws Exception {
        start("save ''", "appendonly no");
        server.kill();
        server.start();
        assertToldOnce();
    }

    @Test
    void should_say_nothing_after_a_restart_with_the_data() throws Exception {
        start("appendonly yes", "appendfsync always");
        int registered = log.of(Level.WARN).size();
        server.kill();
        server.start();
        context.createProducerTemplate().sendBody("redis-delay:orders", "x");
        await().atMost(Duration.ofSeconds(30)).until(() -> received.get() == 1);
        // Two looks later.
        await().during(Duration.ofSeconds(12))
                .atMost(Duration.ofSeconds(20))
                .until(() -> log.of(Level.WARN).size() == registered);
        assertThat(orders().admin().stats().join().lostMicros()).isZero();
    }
}
