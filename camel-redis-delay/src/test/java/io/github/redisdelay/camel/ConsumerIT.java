// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.DeliveriesOfExchange;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.testkit.LogLines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePattern;
import org.apache.camel.Message;
import org.apache.camel.ServiceStatus;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.engine.PooledExchangeFactory;
import org.apache.camel.spi.ExceptionHandler;
import org.apache.camel.support.DefaultHeaderFilterStrategy;
import org.junit.jupiter.api.Test;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.CompositeCodec;

class ConsumerIT extends CamelRedisIT {

    private static final String FAST = "?redeliveryDelay=20ms&redeliveryJitter=0&backOffMultiplier=1";

    private final BlockingQueue<Message> received = new LinkedBlockingQueue<>();
    private final CountDownLatch go = new CountDownLatch(1);

    private Message next() throws InterruptedException {
        Message message = received.poll(10, TimeUnit.SECONDS);
        assertThat(message).as("a message within 10 s").isNotNull();
        return message;
    }

    private void take(Exchange exchange) {
        received.add(exchange.getMessage().copy());
    }

    private void assertEmpty() {
        await().untilAsserted(() -> {
            assertThat(stats().delayed()).as("waiting").isZero();
            assertThat(stats().leased()).as("leased").isZero();
        });
    }

    private RedisDelayConsumer consumer() {
        return (RedisDelayConsumer) context.getRoute("consumer").getConsumer();
    }

    @Test
    void should_give_up_messages_whose_state_record_is_of_another_version_and_deliver_the_others() throws Exception {
        String keys = "redis-delay:{" + queue + "}:";
        context.start();
        for (String id : List.of("waits", "leased", "plain")) {
            send(uri, id, Map.of(RedisDelayConstants.SCHEDULE_ID, id));
        }
        byte[] record = new byte[40];
        record[0] = 2; // the version
        for (String id : List.of("waits", "leased")) {
            redis.client()
                    .<String, byte[]>getMap(
                            keys + "state", new CompositeCodec(StringCodec.INSTANCE, ByteArrayCodec.INSTANCE))
                    .fastPut(id, record);
        }
        redis.client()
                .getScoredSortedSet(keys + "delayed", StringCodec.INSTANCE)
                .remove("leased");
        redis.client().getScoredSortedSet(keys + "leased", StringCodec.INSTANCE).add(1, "leased");
        start(consume("?maximumRedeliveries=-1", this::take));
        assertThat(next().getBody()).isEqualTo("plain");
        await().untilAsserted(() -> assertThat(stats().dead()).isEqualTo(2));
        assertEmpty();
        assertThat(received).isEmpty();
        Exchange letters = send(uri + "?operation=list&state=dead", "", Map.of());
        assertThat(letters.getMessage().getBody(List.class)).hasSize(2).allSatisfy(letter -> assertThat(
                        ((Map<?, ?>) letter).get("deadLetterReason"))
                .isEqualTo("unreadable"));
        Exchange waits = send(uri + "?operation=get&state=dead", "", Map.of(RedisDelayConstants.SCHEDULE_ID, "waits"));
        assertThat(waits.getMessage().getHeaders())
                .as("nobody knows how many attempts it had")
                .containsKey(RedisDelayConstants.FAILURE_TIME)
                .doesNotContainKey(RedisDelayConstants.FAILURE_ATTEMPTS);
    }

    private List<String> warningsOfAStart(String firstOptions, String secondQueue) throws Exception {
        try (LogLines log = new LogLines(RedisDelayConsumer.class)) {
            start(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri + firstOptions).routeId("one").process(ConsumerIT.this::take);
                    from(secondQueue).routeId("two").process(ConsumerIT.this::take);
                }
            });
            return log.of(Level.WARN);
        }
    }

    @Test
    void should_warn_of_two_consumers_of_a_queue_that_decide_otherwise_about_a_message() throws Exception {
        assertThat(warningsOfAStart("?maximumRedeliveries=3&visibilityTimeout=1m", uri))
                .containsExactly("queue '" + queue + "': route 'two' and route 'one' differ in [maximumRedeliveries,"
                        + " visibilityTimeout]: the consumer that receives a message decides about it by its own"
                        + " options. Give both the same, on the component or in both URIs");
    }

    @Test
    void should_warn_of_consumers_of_two_components_that_decide_otherwise() throws Exception {
        RedisDelayComponent second = new RedisDelayComponent();
        second.getConfiguration().setRedisson(redis.client());
        second.getConfiguration().setMaximumRedeliveries(3);
        context.addComponent("second", second);
        assertThat(warningsOfAStart("", uri.replace("redis-delay:", "second:")))
                .singleElement()
                .asString()
                .contains("route 'two' and route 'one' differ in [maximumRedeliveries]");
    }

    @Test
    void should_not_warn_of_consumers_that_decide_the_same_or_have_different_queues() throws Exception {
        assertThat(warningsOfAStart(
                        "?concurrentConsumers=3&visibilityTimeout=30000&batching=true", uri + "?visibilityTimeout=30s"))
                .isEmpty();
        context.getRouteController().stopAllRoutes();
        assertThat(warningsOfAStart("?maximumRedeliveries=3", uri + "-other?maximumRedeliveries=4"))
                .isEmpty();
    }

    @Test
    void should_redeliver_with_the_attempt_and_the_redelivery_trait() throws Exception {
        List<Boolean> redelivered = new ArrayList<>();
        start(consume(FAST, exchange -> {
            redelivered.add(exchange.getExchangeExtension().isExternalRedelivered(exchange.getMessage()));
            take(exchange);
            if (redelivered.size() < 3) {
                throw new IllegalStateException("not yet");
            }
        }));
        send(uri, "x", Map.of());
        for (int attempt = 1; attempt <= 3; attempt++) {
            assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(attempt);
        }
        assertEmpty();
        assertThat(redelivered).containsExactly(false, true, true);
        await().untilAsserted(() -> assertThat(consumer().getRetried()).isEqualTo(2));
        assertThat(consumer().getReceived()).isEqualTo(3);
    }

    @Test
    void should_bury_what_failed_too_often_with_class_and_message_of_the_exception() throws Exception {
        AtomicInteger deliveries = new AtomicInteger();
        start(consume(FAST + "&maximumRedeliveries=2", exchange -> {
            deliveries.incrementAndGet();
            throw new IllegalStateException("partner is down");
        }));
        send(uri, "x", Map.of());
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(deliveries).hasValue(3);
        assertEmpty();
        assertThat(failureOfDeadLetter())
                .contains("java.lang.IllegalStateException", "partner is down", "\"routeId\":\"consumer\"")
                .contains("\"attempt\":3")
                .doesNotContain("ConsumerIT");
        await().untilAsserted(() -> assertThat(consumer().getDeadLettered()).isOne());
    }

    @Test
    void should_drop_and_count_what_failed_too_often_without_dead_letters() throws Exception {
        start(consume(FAST + "&maximumRedeliveries=0&deadLetter=false", exchange -> {
            throw new IllegalStateException("no");
        }));
        send(uri, "x", Map.of());
        await().untilAsserted(() -> assertThat(consumer().getDropped()).isOne());
        assertEmpty();
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_follow_the_steps() throws Exception {
        start(consume("?redeliveryDelays=10ms,60ms&redeliveryJitter=0", exchange -> {
            take(exchange);
            throw new IllegalStateException("no");
        }));
        send(uri, "x", Map.of());
        Message first = next();
        Message second = next();
        Message third = next();
        assertThat(second.getHeader(RedisDelayConstants.DUE_TIME, long.class)
                        - first.getHeader(RedisDelayConstants.DUE_TIME, long.class))
                .isGreaterThanOrEqualTo(10);
        assertThat(third.getHeader(RedisDelayConstants.DUE_TIME, long.class)
                        - second.getHeader(RedisDelayConstants.DUE_TIME, long.class))
                .isGreaterThanOrEqualTo(60);
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
    }

    @Test
    void should_bury_what_cannot_be_read_and_go_on() throws Exception {
        stored().schedule(ScheduleRequest.of("bad", "plain text".getBytes(StandardCharsets.UTF_8), DueTime.now()))
                .result()
                .join();
        start(consume("", this::take));
        send(uri, "good", Map.of());
        assertThat(next().getBody()).isEqualTo("good");
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter()).contains("EnvelopeFormatException");
        assertEmpty();
    }

    @Test
    void should_bury_before_the_route_what_used_up_its_attempts_without_a_word() throws Exception {
        context.start();
        send(uri, "x", Map.of());
        // Two consumers that die with it.
        for (int i = 0; i < 2; i++) {
            var options = io.github.redisdelay.queue.ConsumerOptions.DEFAULTS
                    .withVisibilityTimeout(Duration.ofMillis(100))
                    .withMaximumVisibilityExtension(Duration.ZERO);
            try (var receiver = stored().receiver(options, delivery -> {})) {
                assertThat(receiver.receive(Duration.ofSeconds(10))).isNotNull();
            }
        }
        start(consume(FAST + "&maximumRedeliveries=1", this::take));
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(received).isEmpty();
        assertThat(failureOfDeadLetter()).contains("2 deliveries ended without an acknowledgement");
    }

    @Test
    void should_deliver_what_was_scheduled_before_it_started_without_any_producer() throws Exception {
        context.start();
        send(uri, "before", Map.of());
        try (var other = newContext()) {
            other.getRegistry().bind("redisson", redis.client());
            other.addRoutes(consume("", this::take));
            other.start();
            assertThat(next().getBody()).isEqualTo("before");
        }
    }

    @Test
    void should_not_exceed_concurrentConsumers() throws Exception {
        AtomicInteger busy = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        context.start();
        for (int i = 0; i < 60; i++) {
            send(uri, "x", Map.of());
        }
        CountDownLatch three = new CountDownLatch(3);
        start(consume("?concurrentConsumers=3", exchange -> {
            most.accumulateAndGet(busy.incrementAndGet(), Math::max);
            three.countDown();
            three.await(10, TimeUnit.SECONDS);
            busy.decrementAndGet();
            take(exchange);
        }));
        for (int i = 0; i < 60; i++) {
            next();
        }
        assertThat(most).hasValue(3);
        assertEmpty();
    }

    @Test
    void should_claim_nothing_while_suspended() throws Exception {
        start(consume("", this::take));
        context.getRouteController().suspendRoute("consumer");
        assertThat(context.getRouteController().getRouteStatus("consumer")).isEqualTo(ServiceStatus.Suspended);
        send(uri, "x", Map.of());
        await().during(Duration.ofMillis(300)).atMost(Duration.ofSeconds(5)).until(received::isEmpty);
        assertThat(stats().overdue()).isOne();
        context.getRouteController().resumeRoute("consumer");
        assertThat(next().getBody()).isEqualTo("x");
    }

    @Test
    void should_finish_and_acknowledge_the_work_under_way_when_it_is_stopped() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        start(consume("", exchange -> {
            begun.countDown();
            go.await(10, TimeUnit.SECONDS);
            take(exchange);
        }));
        send(uri, "first", Map.of());
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        send(uri, "second", Map.of());
        Thread stopping = new Thread(context::stop);
        stopping.start();
        await().until(() -> consumer().isSuspended() || consumer().isStopped());
        go.countDown();
        stopping.join(20_000);
        assertThat(received).hasSize(1);
        assertThat(stats().leased()).isZero();
        assertThat(stats().overdue()).as("the second waits for somebody else").isOne();
    }

    @Test
    void should_leave_the_leases_alone_after_a_forced_stop() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        context.getShutdownStrategy().setTimeout(1);
        start(consume("?visibilityTimeout=5s", exchange -> {
            begun.countDown();
            try {
                go.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                // Busy work does not end by an interrupt.
                go.await(20, TimeUnit.SECONDS);
            }
        }));
        send(uri, "x", Map.of());
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        context.getRouteController().stopRoute("consumer", 1, TimeUnit.SECONDS);
        assertThat(stats().leased()).as("neither released nor acknowledged").isOne();
        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            // Ended by itself: another consumer can have it.
            try (var receiver =
                    stored().receiver(io.github.redisdelay.queue.ConsumerOptions.DEFAULTS, delivery -> {})) {
                var delivery = receiver.receive(Duration.ZERO);
                assertThat(delivery).isNotNull();
                delivery.settle(Settlement.ACKNOWLEDGE).result().join();
            }
        });
        go.countDown();
    }

    @Test
    void should_start_again_after_it_was_stopped() throws Exception {
        start(consume("", this::take));
        for (int i = 0; i < 3; i++) {
            context.getRouteController().stopRoute("consumer");
            send(uri, "m" + i, Map.of());
            context.getRouteController().startRoute("consumer");
            assertThat(next().getBody()).isEqualTo("m" + i);
        }
    }

    @Test
    void should_receive_again_after_the_context_was_restarted() throws Exception {
        context.getShutdownStrategy().setTimeout(2);
        start(consume("", this::take));
        for (int i = 0; i < 2; i++) {
            assertThat(send(uri, "m" + i, Map.of()).getException()).isNull();
            assertThat(next().getBody()).isEqualTo("m" + i);
            context.stop();
            context.getRegistry().bind("redisson", redis.client());
            context.start();
            template = context.createProducerTemplate();
        }
    }

    @Test
    void should_share_the_work_among_several_consumers_of_one_context() throws Exception {
        Set<String> working = ConcurrentHashMap.newKeySet();
        CountDownLatch allWork = new CountDownLatch(1);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).routeId("one").process(this::takeWhenAllWork);
                from(uri + "?concurrentConsumers=2").routeId("two").process(this::takeWhenAllWork);
                from(uri).routeId("three").process(this::takeWhenAllWork);
            }

            private void takeWhenAllWork(Exchange exchange) throws Exception {
                working.add(exchange.getFromRouteId());
                if (working.size() == 3) {
                    allWork.countDown();
                }
                assertThat(allWork.await(20, TimeUnit.SECONDS))
                        .as("all routes work, not only " + working)
                        .isTrue();
                take(exchange);
            }
        });
        for (int i = 0; i < 100; i++) {
            send(uri, i, Map.of());
        }
        List<Object> bodies = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            bodies.add(next().getBody());
        }
        assertThat(bodies).doesNotHaveDuplicates();
        assertEmpty();
    }

    @Test
    void should_not_deliver_into_routes_that_have_not_been_started() throws Exception {
        context.start();
        send(uri, "x", Map.of());
        context.stop();
        try (var other = newContext()) {
            other.getRegistry().bind("redisson", redis.client());
            other.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri).startupOrder(1).to("direct:late");
                    from("direct:slow").startupOrder(2).process(exchange -> {});
                    from("direct:late").startupOrder(3).process(exchange -> {
                        assertThat(exchange.getContext().isStarted()).isTrue();
                        take(exchange);
                    });
                }
            });
            other.start();
            assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(1);
        }
    }

    @Test
    void should_receive_in_a_route_that_is_added_later() throws Exception {
        context.start();
        send(uri, "x", Map.of());
        context.addRoutes(consume("", this::take));
        assertThat(next().getBody()).isEqualTo("x");
    }

    @Test
    void should_work_with_pooled_exchanges() throws Exception {
        context.getCamelContextExtension().setExchangeFactory(new PooledExchangeFactory());
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?concurrentConsumers=4").to("seda:later");
                from("seda:later?concurrentConsumers=4").process(ConsumerIT.this::take);
            }
        });
        for (int i = 0; i < 200; i++) {
            send(uri, "m" + i, Map.of("n", i));
        }
        for (int i = 0; i < 200; i++) {
            Message message = next();
            assertThat(message.getBody()).isEqualTo("m" + message.getHeader("n"));
        }
        assertEmpty();
    }

    @Test
    void should_return_a_message_whose_exchange_cannot_be_made() throws Exception {
        List<Throwable> handled = new CopyOnWriteArrayList<>();
        context.getRegistry().bind("filter", new DefaultHeaderFilterStrategy() {
            @Override
            public boolean applyFilterToExternalHeaders(String name, Object value, Exchange exchange) {
                throw new IllegalStateException("broken filter");
            }
        });
        context.getRegistry().bind("handler", new ExceptionHandler() {
            @Override
            public void handleException(Throwable exception) {
                handled.add(exception);
            }

            @Override
            public void handleException(String message, Throwable exception) {
                handled.add(exception);
            }

            @Override
            public void handleException(String message, Exchange exchange, Throwable exception) {
                handled.add(exception);
            }
        });
        start(consume(
                FAST + "&maximumRedeliveries=1&headerFilterStrategy=#filter&exceptionHandler=#handler", this::take));
        send(uri, "x", Map.of("a", "b"));
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        // The handler is told when the end of the delivery was sent.
        await().untilAsserted(() ->
                assertThat(handled).hasSize(2).allMatch(e -> e.getMessage().equals("broken filter")));
        assertThat(received).isEmpty();
    }

    @Test
    void should_keep_the_lease_of_long_work() throws Exception {
        start(consume("?visibilityTimeout=6s", exchange -> {
            take(exchange);
            go.await(30, TimeUnit.SECONDS);
        }));
        send(uri, "x", Map.of());
        next();
        try (var receiver = stored().receiver(io.github.redisdelay.queue.ConsumerOptions.DEFAULTS, delivery -> {})) {
            assertThat(receiver.receive(Duration.ofSeconds(8)))
                    .as("it is still ours")
                    .isNull();
        }
        go.countDown();
        assertEmpty();
        assertThat(received).isEmpty();
    }

    @Test
    void should_let_a_route_schedule_its_own_message_again() throws Exception {
        start(consume("", exchange -> {
            take(exchange);
            if (received.size() < 3) {
                Exchange copy = exchange.copy();
                copy.getMessage().setBody("again " + received.size());
                copy.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, "mine");
                Exchange sent = template.send(uri + "?delay=50ms", copy);
                assertThat(sent.getException()).isNull();
            }
        }));
        send(uri, "first", Map.of(RedisDelayConstants.SCHEDULE_ID, "mine"));
        await().until(() -> received.size() == 3);
        assertThat(received.stream().map(Message::getBody)).containsExactly("first", "again 1", "again 2");
        // Each is a new message.
        assertThat(received.stream().map(message -> message.getHeader(RedisDelayConstants.ATTEMPT)))
                .containsOnly(1);
        assertEmpty();
    }

    @Test
    void should_not_let_another_exchange_replace_a_message_being_delivered() throws Exception {
        start(consume("", exchange -> {
            take(exchange);
            go.await(10, TimeUnit.SECONDS);
        }));
        send(uri, "first", Map.of(RedisDelayConstants.SCHEDULE_ID, "mine"));
        next();
        Exchange stranger = send(
                uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "mine", DeliveriesOfExchange.PROPERTY, "forged"));
        assertThat(stranger.getException()).hasMessageContaining("already leased");
        go.countDown();
        assertEmpty();
    }

    @Test
    void should_make_exchanges_of_the_pattern_that_is_asked_for() throws Exception {
        BlockingQueue<ExchangePattern> patterns = new LinkedBlockingQueue<>();
        for (String options : List.of("", "?exchangePattern=InOut")) {
            start(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri + options).routeId("pattern").process(exchange -> patterns.add(exchange.getPattern()));
                }
            });
            send(uri, "x", Map.of());
            assertThat(patterns.poll(20, TimeUnit.SECONDS))
                    .isEqualTo(options.isEmpty() ? ExchangePattern.InOnly : ExchangePattern.InOut);
            context.getRouteController().stopRoute("pattern");
            context.removeRoute("pattern");
        }
    }

    @Test
    void should_deliver_again_while_the_work_goes_on_if_leases_are_not_extended() throws Exception {
        CountDownLatch again = new CountDownLatch(1);
        start(consume("?concurrentConsumers=2&visibilityTimeout=2s&maximumVisibilityExtension=0", exchange -> {
            take(exchange);
            if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1) {
                assertThat(again.await(20, TimeUnit.SECONDS)).isTrue();
            } else {
                again.countDown();
            }
        }));
        send(uri, "x", Map.of());
        assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(1);
        Message second = next();
        assertThat(second.getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(2);
        assertThat(second.getHeader(RedisDelayConstants.REDELIVERY_REASON)).isEqualTo("leaseExpired");
        assertEmpty();
    }
}
