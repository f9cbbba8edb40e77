// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.Exchange;
import org.apache.camel.PollingConsumer;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.annotations.Component;
import org.junit.jupiter.api.Test;

/**
 * A client that is given back last by one of its own threads, with the answer to the last acknowledgement, is not closed on that
 * thread: to close it means to wait for that thread. A context that was stopped just then did not end.
 */
class ClosingThreadIT extends CamelRedisIT {

    private static final String CLOSER = "RedisDelayClose";

    /** The name of the thread that closed a client last. */
    private final CompletableFuture<String> closer = new CompletableFuture<>();

    private final RedisDelayComponent component = new Observed();

    /** Camel sets the options of its endpoints as those of the component that has this annotation. */
    @Component("redis-delay")
    private final class Observed extends RedisDelayComponent {
        @Override
        void close(Runnable task) {
            super.close(() -> {
                task.run();
                closer.complete(Thread.currentThread().getName());
            });
        }
    }

    /** An endpoint that nothing else shares its connection with. */
    private String own() {
        return uri + "?address=" + redis.address();
    }

    /** Sends by the connection of the component. */
    private void begin() throws Exception {
        context.addComponent("redis-delay", component);
        context.start();
        send(uri, "x", Map.of());
        assertThat(component.clients().size()).isOne();
    }

    private void assertClosedByItsThread() throws Exception {
        assertThat(closer.get(10, TimeUnit.SECONDS)).contains(CLOSER);
        assertThat(component.clients().size()).isOne();
        assertThat(component.clients().connections()).isOne();
        await().untilAsserted(
                        () -> assertThat(stats().delayed() + stats().leased()).isZero());
    }

    @Test
    void should_close_on_a_thread_of_its_own_after_the_last_exchange_of_a_route() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        begin();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(own()).routeId("consumer").to("seda:later");
                from("seda:later").process(exchange -> {
                    arrived.countDown();
                    go.await(20, TimeUnit.SECONDS);
                });
            }
        });
        assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();
        await().until(() -> context.getInflightRepository().size("consumer") == 0);
        context.getRouteController().stopRoute("consumer", 1, TimeUnit.SECONDS);
        assertThat(component.clients().size()).isEqualTo(2);
        assertThat(closer).isNotDone();
        go.countDown();
        assertClosedByItsThread();
    }

    @Test
    void should_close_on_a_thread_of_its_own_after_the_last_exchange_that_was_polled() throws Exception {
        begin();
        PollingConsumer polling = context.getEndpoint(own()).createPollingConsumer();
        polling.start();
        Exchange exchange = polling.receive(10_000);
        assertThat(exchange.getMessage().getBody(String.class)).isEqualTo("x");
        polling.stop();
        assertThat(component.clients().size()).isEqualTo(2);
        assertThat(closer).isNotDone();
        try (ConsumerTemplate consumers = context.createConsumerTemplate()) {
            consumers.doneUoW(exchange);
        }
        assertClosedByItsThread();
    }
}
