// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.DeliveryReport;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Body;
import org.apache.camel.Consume;
import org.apache.camel.Consumer;
import org.apache.camel.Exchange;
import org.apache.camel.Header;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.engine.PooledExchangeFactory;
import org.apache.camel.support.AsyncProcessorSupport;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.Test;

/** Consumers without a route: a processor, and a method with {@code @Consume}. */
class PlainConsumersIT extends ConsumerSideIT {

    private final CountDownLatch go = new CountDownLatch(1);

    private Consumer consumeBy(String options, Processor processor) throws Exception {
        if (!context.isStarted()) {
            context.start();
        }
        Consumer consumer = context.getEndpoint(uri + options).createConsumer(processor);
        context.addService(consumer, true);
        return consumer;
    }

    private void assertBodies(Object... bodies) throws InterruptedException {
        for (Object body : bodies) {
            assertThat(next().getBody()).isEqualTo(body);
        }
    }

    @Test
    void should_acknowledge_what_a_processor_took() throws Exception {
        consumeBy("", this::take);
        for (int i = 0; i < 4; i++) {
            schedule("m" + i, "m" + i);
        }
        assertBodies("m0", "m1", "m2", "m3");
        assertEmpty();
    }

    @Test
    void should_acknowledge_with_pooled_exchanges_too() throws Exception {
        context.getCamelContextExtension().setExchangeFactory(new PooledExchangeFactory());
        consumeBy("?concurrentConsumers=3", this::take);
        for (int i = 0; i < 100; i++) {
            schedule("m" + i, "m" + i);
        }
        for (int i = 0; i < 100; i++) {
            var message = next();
            assertThat(message.getBody()).isEqualTo(message.getHeader(RedisDelayConstants.MESSAGE_ID));
        }
        assertEmpty();
    }

    @Test
    void should_return_what_a_processor_failed_with() throws Exception {
        consumeBy(FAST + "&maximumRedeliveries=1", exchange -> {
            take(exchange);
            throw new IllegalStateException("not today");
        });
        schedule("x", "x");
        assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(1);
        assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(2);
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter()).contains("java.lang.IllegalStateException", "not today", "\"failed\"");
    }

    @Test
    void should_return_what_a_processor_ended_with_an_Error() throws Exception {
        consumeBy(FAST + "&maximumRedeliveries=1", exchange -> {
            take(exchange);
            throw new AssertionError("not today");
        });
        schedule("x", "x");
        next();
        next();
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter()).contains("java.lang.AssertionError", "not today", "\"failed\"");
        assertEmpty();
    }

    @Test
    void should_not_acknowledge_before_an_asynchronous_processor_is_done() throws Exception {
        consumeBy("", new AsyncProcessorSupport() {
            @Override
            public boolean process(Exchange exchange, AsyncCallback callback) {
                new Thread(() -> {
                            take(exchange);
                            try {
                                go.await(20, TimeUnit.SECONDS);
                            } catch (InterruptedException e) {
                                exchange.setException(e);
                            }
                            callback.done(false);
                        })
                        .start();
                return false;
            }
        });
        schedule("x", "x");
        assertBodies("x");
        assertThat(stats().leased()).isOne();
        go.countDown();
        assertEmpty();
    }

    @Test
    void should_return_a_message_whose_processor_fails_after_it_has_sent_it_elsewhere() throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:first").process(PlainConsumersIT.this::take);
            }
        });
        context.start();
        consumeBy("?redeliveryDelay=1h", exchange -> {
            template.send("direct:first", exchange);
            assertThat(stats().leased()).as("leased after the first of two").isOne();
            throw new IllegalStateException("the second");
        });
        schedule("x", "x");
        assertBodies("x");
        await().untilAsserted(() -> assertThat(stats().leased()).isZero());
        assertThat(stats().delayed()).isOne();
    }

    @Test
    void should_finish_a_batch() throws Exception {
        consumeBy("?batching=true&batchSize=3&batchTimeout=1s", this::take);
        for (int i = 0; i < 6; i++) {
            schedule("m" + i, "m" + i);
        }
        next();
        next();
        assertEmpty();
    }

    /** Its methods are named by what they do with a message. */
    public final class Receiver {

        private final String uri;

        Receiver(String uri) {
            this.uri = uri;
        }

        public String getQueue() {
            return uri;
        }

        @Consume(property = "queue", predicate = "${body} != 'nobody'")
        public void work(@Body String body, @Header(RedisDelayConstants.ATTEMPT) int attempt) {
            var message = new DefaultMessage(context);
            message.setBody(body + attempt);
            received.add(message);
            if (body.equals("broken")) {
                throw new IllegalStateException("not today");
            }
            if (body.equals("slow")) {
                try {
                    go.await(20, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private void bind(String options) throws Exception {
        var receiver = new Receiver(uri + options);
        context.getRegistry().bind("receiver", receiver);
        context.getCamelContextExtension();
        org.apache.camel.support.PluginHelper.getBeanPostProcessor(context)
                .postProcessBeforeInitialization(receiver, "receiver");
        context.start();
    }

    @Test
    void a_method_with_Consume_acknowledges_what_it_took() throws Exception {
        bind("");
        send(uri, "a", Map.of());
        send(uri, "b", Map.of());
        assertBodies("a1", "b1");
        assertEmpty();
    }

    @Test
    void a_method_with_Consume_that_throws_is_asked_again_by_the_redelivery_policy() throws Exception {
        bind(FAST + "&maximumRedeliveries=1");
        send(uri, "broken", Map.of());
        assertBodies("broken1", "broken2");
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter()).contains("java.lang.IllegalStateException", "not today", "\"failed\"");
        assertEmpty();
    }

    @Test
    void what_no_predicate_takes_is_acknowledged() throws Exception {
        bind("");
        send(uri, "a", Map.of());
        send(uri, "nobody", Map.of());
        send(uri, "b", Map.of());
        assertBodies("a1", "b1");
        assertEmpty();
    }

    @Test
    void a_stop_of_the_context_waits_for_a_method_with_Consume() throws Exception {
        bind("");
        send(uri, "slow", Map.of());
        assertBodies("slow1");
        Thread stopping = new Thread(context::stop);
        stopping.start();
        await().until(() -> context.isStopping());
        go.countDown();
        stopping.join(20_000);
        assertThat(stopping.isAlive()).isFalse();
        assertThat(stats().leased()).isZero();
        assertThat(stats().delayed()).isZero();
    }

    private RedisDelayConsumer consumerOf(String id) {
        return context.hasServices(RedisDelayConsumer.class).stream()
                .filter(consumer -> consumer.getHealthCheck().getId().equals("redis-delay-consumer:" + id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_method_with_Consume_goes_by_the_name_of_its_queue() throws Exception {
        try (LogLines log = new LogLines(DeliveryReport.class)) {
            bind(FAST + "&maximumRedeliveries=0");
            send(uri, "slow", Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
            assertBodies("slow1");
            // Its name comes by another connection than its claim.
            await().untilAsserted(() -> assertThat(
                            stored().get("a").join().orElseThrow().info().leaseOwner())
                    .matches(".+/" + queue + "/\\d+"));
            go.countDown();
            send(uri, "broken", Map.of());
            await().untilAsserted(() -> assertThat(stats().dead()).isOne());
            assertThat(failureOfDeadLetter()).doesNotContain("null");
            await().untilAsserted(() -> assertThat(log.of(Level.WARN)).hasSize(1));
            assertThat(log.of(Level.WARN).get(0))
                    .contains("is given up and kept among the dead letters")
                    .doesNotContain("null");
        }
    }

    @Test
    void processors_go_by_the_queue_and_a_number() throws Exception {
        consumeBy("", this::take);
        consumeBy("", this::take);
        assertThat(consumerOf(queue).shown()).isEqualTo("consumer '" + queue + "'");
        assertThat(consumerOf(queue + "-2").shown()).isEqualTo("consumer '" + queue + "-2'");
    }

    @Test
    void a_processor_can_stop_its_own_consumer() throws Exception {
        AtomicReference<Consumer> own = new AtomicReference<>();
        own.set(context.getEndpoint(uri).createConsumer(exchange -> {
            own.get().stop();
            take(exchange);
        }));
        context.start();
        own.get().start();
        long before = System.nanoTime();
        schedule("x", "x");
        assertBodies("x");
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .as("less than the shutdown timeout")
                .isLessThan(Duration.ofSeconds(8));
        assertEmpty();
    }

    @Test
    void a_stop_does_not_wait_for_a_batch_that_was_not_begun() throws Exception {
        Consumer consumer = consumeBy("?batching=true&batchSize=3&batchTimeout=30s", this::take);
        schedule("x", "x");
        long before = System.nanoTime();
        consumer.stop();
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .as("less than the shutdown timeout")
                .isLessThan(Duration.ofSeconds(8));
        assertThat(stats().delayed()).isOne();
        assertThat(received).isEmpty();
    }

    @Test
    void an_interrupted_stop_closes_what_is_open() throws Exception {
        Consumer consumer = consumeBy("?requestTimeout=7s", exchange -> {
            take(exchange);
            go.await(20, TimeUnit.SECONDS);
        });
        schedule("x", "x");
        next();
        Thread.currentThread().interrupt();
        consumer.stop();
        assertThat(Thread.interrupted()).isTrue();
        await().until(() -> stats().consumers() == 0);
        go.countDown();
        assertEmpty();
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        await().until(() -> component.clients().size() == 0);
    }
}
