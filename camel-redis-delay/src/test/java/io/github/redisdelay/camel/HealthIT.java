// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.health.HealthCheck;
import org.apache.camel.health.HealthCheckHelper;
import org.apache.camel.health.HealthCheckRegistry;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HealthIT {

    private final RedisServer server = RedisServer.dedicated("appendonly yes", "appendfsync always");
    private final DefaultCamelContext context = CamelRedisIT.newContext();
    private final CountDownLatch go = new CountDownLatch(1);
    private final List<String> bridged = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void start() throws Exception {
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        component.getConfiguration().setAddress(server.address());
        component.getConfiguration().setRequestTimeout("3s");
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                onException(Exception.class)
                        .handled(true)
                        .process(exchange -> bridged.add(
                                String.valueOf(exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Exception.class))));
                from("redis-delay:orders?bridgeErrorHandler=true")
                        .routeId("orders")
                        .process(exchange -> go.await());
            }
        });
        // As Camel Main and Spring Boot do.
        HealthCheckRegistry registry = HealthCheckRegistry.get(context);
        registry.register(registry.resolveById("consumers"));
        context.start();
    }

    @AfterEach
    void close() throws Exception {
        go.countDown();
        context.close();
        server.close();
    }

    private RedisDelayConsumer consumer() {
        return (RedisDelayConsumer) context.getRoute("orders").getConsumer();
    }

    private HealthCheck.Result camelsCheck() {
        return HealthCheckHelper.invoke(context).stream()
                .filter(result -> result.getCheck().getId().equals("consumer:orders"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void should_be_up_with_the_age_of_the_oldest_overdue_message() {
        for (int i = 0; i < 2; i++) {
            context.createProducerTemplate()
                    .sendBodyAndHeader(
                            "redis-delay:orders",
                            "x",
                            RedisDelayConstants.DELIVER_AT,
                            System.currentTimeMillis() - 60_000);
        }
        await().until(() -> consumer().getProcessing() == 1);
        // It tells that it is there beside its claims, and a check asks Redis for a second at the most.
        await().untilAsserted(() -> {
            HealthCheck.Result result = camelsCheck();
            assertThat(result.getState()).isEqualTo(HealthCheck.State.UP);
            assertThat(result.getDetails())
                    .containsEntry("redis.queue", "orders")
                    .containsEntry("redis.address", server.address())
                    .containsEntry("redis.overdue", 1L)
                    .containsEntry("redis.consumers", 1)
                    .containsEntry("redis.paused", false);
            assertThat((long) result.getDetails().get("redis.oldestOverdueMillis"))
                    .isGreaterThanOrEqualTo(60_000);
            assertThat(result.getMessage()).isEmpty();
        });
    }

    @Test
    void should_say_in_a_line_that_the_queue_is_paused() {
        consumer().queue().admin().pause().result().join();
        await().untilAsserted(() -> {
            HealthCheck.Result result = camelsCheck();
            assertThat(result.getState()).isEqualTo(HealthCheck.State.UP);
            assertThat(result.getDetails()).containsEntry("redis.paused", true);
            assertThat(result.getMessage()).contains("queue 'orders': paused, 0 overdue");
        });
    }

    @Test
    void should_be_down_with_address_and_cause_while_claims_fail_and_up_again_by_itself() throws Exception {
        HealthCheck check = consumer().healthCheck(Duration.ofMillis(100));
        assertThat(check.call().getState()).isEqualTo(HealthCheck.State.UP);
        server.kill();
        // Something has to make the consumer look.
        consumer().claims().suspend();
        consumer().claims().resume();
        await().atMost(Duration.ofSeconds(30)).until(() -> check.call().getState() == HealthCheck.State.DOWN);
        HealthCheck.Result down = check.call();
        assertThat(down.getMessage().orElseThrow())
                .contains("queue 'orders'", "could be received from " + server.address());
        assertThat(down.getError()).isPresent();
        assertThat(camelsCheck().getState()).as("a short break is tolerated").isEqualTo(HealthCheck.State.UP);
        await().untilAsserted(() -> assertThat(bridged).as("bridgeErrorHandler").hasSize(1));
        server.start();
        await().atMost(Duration.ofSeconds(30)).until(() -> check.call().getState() == HealthCheck.State.UP);
        go.countDown();
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(context.createProducerTemplate()
                        .request("redis-delay:orders", exchange -> exchange.getMessage()
                                .setBody("x"))
                        .getException())
                .isNull());
        await().atMost(Duration.ofSeconds(30)).until(() -> consumer().getReceived() > 0);
    }

    @Test
    void should_be_switched_off_by_the_option_of_the_component() throws Exception {
        assertThat(camelsCheck().getDetails()).containsEntry("redis.queue", "orders");
        context.getComponent("redis-delay", RedisDelayComponent.class).setHealthCheckConsumerEnabled(false);
        context.getRouteController().stopRoute("orders");
        context.removeRoute("orders");
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:orders").routeId("orders").process(exchange -> {});
            }
        });
        assertThat(camelsCheck().getDetails()).doesNotContainKey("redis.queue");
        assertThat(camelsCheck().getState()).isEqualTo(HealthCheck.State.UNKNOWN);
    }

    /** The component has none: a producer fails with an error that says why. */
    @Test
    void should_have_no_check_of_producers() {
        context.getComponent("redis-delay", RedisDelayComponent.class).setHealthCheckProducerEnabled(true);
        HealthCheckRegistry registry = HealthCheckRegistry.get(context);
        registry.register(registry.resolveById("producers"));
        context.createProducerTemplate().sendBody("redis-delay:orders", "x");
        assertThat(HealthCheckHelper.invoke(context))
                .extracting(result -> result.getCheck().getId())
                .contains("consumer:orders")
                .noneMatch(id -> id.startsWith("producer:"));
    }
}
