// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.endpointdsl;

import static io.github.redisdelay.endpointdsl.StaticEndpointBuilders.redisDelay;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.test.RedisExtension;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs routes whose endpoints are made by the builders, on a real Redis. */
class EndpointDslIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final BlockingQueue<Message> closed = new LinkedBlockingQueue<>();
    private final BlockingQueue<Message> reported = new LinkedBlockingQueue<>();

    @Test
    void should_run_routes_beside_camels_own_builders() throws Exception {
        assertDelays(new OrderEndpointRoutes());
    }

    @Test
    void should_run_routes_of_a_plain_route_builder() throws Exception {
        assertDelays(new OrderRoutes());
    }

    @Test
    void should_limit_a_group() throws Exception {
        BlockingQueue<String> begun = new LinkedBlockingQueue<>();
        CountDownLatch go = new CountDownLatch(1);
        try (CamelContext context = newContext()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:in").to(redisDelay("events").group("acme"));
                    from(redisDelay("events").concurrentConsumers(5).groupConcurrency(2))
                            .process(exchange -> {
                                begun.add(exchange.getMessage().getHeader("CamelRedisDelayMessageGroup", String.class));
                                go.await();
                            });
                }
            });
            context.start();
            ProducerTemplate template = context.createProducerTemplate();
            for (int i = 0; i < 3; i++) {
                template.sendBody("direct:in", i);
            }
            for (int i = 0; i < 2; i++) {
                assertThat(begun.poll(10, TimeUnit.SECONDS)).isEqualTo("acme");
            }
            assertThat(template.requestBodyAndHeader(
                            "redis-delay:events", null, "CamelRedisDelayOperation", "stats", Map.class))
                    .containsEntry("leased", 2L)
                    .containsEntry("parked", 1L);
            go.countDown();
            assertThat(begun.poll(10, TimeUnit.SECONDS)).isEqualTo("acme");
        }
    }

    private static CamelContext newContext() {
        CamelContext context = new DefaultCamelContext();
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redis.client());
        component.getConfiguration().setKeyPrefix(redis.keyPrefix());
        context.addComponent("redis-delay", component);
        return context;
    }

    private void assertDelays(RoutesBuilder routes) throws Exception {
        try (CamelContext context = newContext()) {
            context.getPropertiesComponent().addInitialProperty("rank", "3");
            context.getRegistry().bind("closeIfUnpaid", (Processor)
                    exchange -> closed.add(exchange.getMessage().copy()));
            context.getRegistry().bind("reports", (Processor)
                    exchange -> reported.add(exchange.getMessage().copy()));
            context.addRoutes(routes);
            context.start();

            Message later = send(context, Map.of());
            assertThat(later.getHeader("CamelRedisDelayDueTime", Long.class)
                            - later.getHeader("CamelRedisDelayScheduledTime", Long.class))
                    .isEqualTo(30 * 60_000);

            send(context, Map.of("CamelRedisDelayDelay", "0ms", "CamelRedisDelayScheduleId", "A-1"));
            Message received = closed.poll(10, TimeUnit.SECONDS);
            assertThat(received).isNotNull();
            assertThat(received.getHeaders()).containsEntry("CamelRedisDelayMessageId", "A-1");
            assertThat(context.getEndpoints())
                    .filteredOn(RedisDelayEndpoint.class::isInstance)
                    .extracting(made ->
                            ((RedisDelayEndpoint) made).getConfiguration().getPriority())
                    .contains(3);
            if (routes instanceof OrderRoutes) {
                Message run = run(context);
                assertThat(run.getHeaders()).containsEntry("CamelRedisDelayRule", "cron 0 2 * * * Europe/Berlin");
            }
        }
    }

    /** Runs the schedule now. */
    private Message run(CamelContext context) throws InterruptedException {
        Message run;
        int tries = 0;
        do {
            // The route declares it in the background.
            context.createProducerTemplate()
                    .sendBodyAndHeader(
                            "redis-delay:nightly?operation=promote", null, "CamelRedisDelayScheduleId", "nightly");
            run = reported.poll(1, TimeUnit.SECONDS);
        } while (run == null && ++tries < 20);
        assertThat(run).isNotNull();
        return run;
    }

    private static Message send(CamelContext context, Map<String, Object> headers) throws Exception {
        Exchange exchange = context.createProducerTemplate().request("direct:orderPlaced", sent -> {
            sent.getMessage().setBody("order");
            sent.getMessage().getHeaders().putAll(headers);
        });
        if (exchange.getException() != null) {
            throw exchange.getException();
        }
        return exchange.getMessage();
    }
}
