// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stop while Redis says nothing takes no longer than Camel's shutdown timeout, once the routes have ended their work. */
class FrozenRedisIT {

    private static final long SHUTDOWN_SECONDS = 2;

    /** For threads to end, on a busy machine. Whoever waited for Redis would wait for 30 s. */
    private static final long REST_SECONDS = 2;

    private final RedisServer server = RedisServer.dedicated();
    private final DefaultCamelContext context = CamelRedisIT.newContext();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    @BeforeEach
    void start() throws Exception {
        context.getShutdownStrategy().setTimeout(SHUTDOWN_SECONDS);
        RedisDelayConfiguration configuration =
                context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
        configuration.setAddress(server.address());
        configuration.setRequestTimeout("30s");
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:orders").routeId("orders").process(exchange -> {
                    begun.countDown();
                    go.await(20, TimeUnit.SECONDS);
                    exchange.getExchangeExtension()
                            .addOnCompletion(new org.apache.camel.support.SynchronizationAdapter() {
                                @Override
                                public void onDone(org.apache.camel.Exchange exchange) {
                                    done.countDown();
                                }
                            });
                });
                from("redis-delay:other?requestTimeout=31s&keyPrefix=other")
                        .routeId("other")
                        .log("other");
            }
        });
        context.start();
        // A first claim that is not answered would hold up the stop, too.
        try (RedisSocket redis = RedisSocket.open(server.address())) {
            for (String queue : List.of("redis-delay:{orders}", "other:{other}")) {
                await(queue)
                        .until(() -> redis.call("ZCARD " + queue + ":waiters").equals(":1"));
            }
        }
    }

    @AfterEach
    void close() throws Exception {
        go.countDown();
        context.close();
        server.close();
    }

    private void freeze() throws IOException {
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.getOutputStream().write("CLIENT PAUSE 60000 ALL\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().read()).isEqualTo('+');
        }
    }

    private void assertStopsInTime() {
        long before = System.nanoTime();
        context.stop();
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .isLessThan(Duration.ofSeconds(SHUTDOWN_SECONDS + REST_SECONDS));
    }

    @Test
    void should_stop_in_time_when_nothing_is_under_way() throws Exception {
        freeze();
        assertStopsInTime();
    }

    @Test
    void should_stop_in_time_when_an_acknowledgement_is_not_answered() throws Exception {
        context.createProducerTemplate().sendBody("redis-delay:orders", "x");
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        freeze();
        go.countDown();
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
        // From here on the acknowledgement is under way, and Camel has nothing to wait for.
        RedisDelayConsumer consumer =
                (RedisDelayConsumer) context.getRoute("orders").getConsumer();
        await().until(() ->
                consumer.getProcessing() == 0 && context.getInflightRepository().size() == 0);
        assertStopsInTime();
    }

    @Test
    void should_stop_in_time_when_a_message_that_is_sent_is_not_answered() throws Exception {
        freeze();
        var sent = context.createProducerTemplate().asyncSendBody("redis-delay:orders", "x");
        assertStopsInTime();
        assertThat(sent).failsWithin(Duration.ofSeconds(10));
    }
}
