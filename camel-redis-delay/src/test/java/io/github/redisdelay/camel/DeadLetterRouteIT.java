// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.DeadLetterTrimmer;
import io.github.redisdelay.camel.delivery.DeliveryReport;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.testkit.LogLines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadLetterRouteIT extends ConsumerSideIT {

    private RouteBuilder consumeDead(String options, Processor processor) {
        return consume("?state=dead" + options, processor);
    }

    private DelayQueue dead() {
        return stored().deadLetters();
    }

    private void assertNoDeadLetters() {
        await().untilAsserted(() -> {
            assertThat(dead().admin().stats().join().delayed()).as("waiting").isZero();
            assertThat(dead().admin().stats().join().leased()).as("leased").isZero();
        });
    }

    private void assertReturnedForAnHour() {
        await().untilAsserted(() -> {
            assertThat(dead().admin().stats().join().leased()).as("leased").isZero();
            assertThat(dead().admin().stats().join().nextDueMicros()).isGreaterThan(3_500_000_000L);
        });
    }

    @Test
    void should_receive_what_was_given_up_and_remove_it() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?maximumRedeliveries=0").routeId("notify").process(exchange -> {
                    throw new IllegalStateException("partner is down");
                });
                from(uri + "?state=dead").routeId("consumer").process(DeadLetterRouteIT.this::take);
            }
        });
        send(uri, "x", Map.of("a", "b", RedisDelayConstants.SCHEDULE_ID, "order@7"));
        Message message = next();
        assertThat(message.getBody()).isEqualTo("x");
        assertThat(message.getHeaders())
                .containsEntry("a", "b")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "order@7")
                .containsEntry(RedisDelayConstants.QUEUE, queue)
                .containsEntry(RedisDelayConstants.ATTEMPT, 1)
                .containsEntry(RedisDelayConstants.DEAD_LETTER_REASON, "failed")
                .containsEntry(RedisDelayConstants.FAILURE_EXCEPTION, "java.lang.IllegalStateException")
                .containsEntry(RedisDelayConstants.FAILURE_MESSAGE, "partner is down")
                .containsEntry(RedisDelayConstants.FAILURE_ROUTE_ID, "notify")
                .containsEntry(RedisDelayConstants.FAILURE_ATTEMPTS, 1)
                .containsKeys(RedisDelayConstants.FAILURE_HOST, RedisDelayConstants.FAILURE_TIME)
                .doesNotContainKey(RedisDelayConstants.REDELIVERY_REASON);
        assertThat(message.getHeader(RedisDelayConstants.DEAD_LETTER_ID, String.class))
                .matches("order@7@[0-9]{16}");
        assertNoDeadLetters();
    }

    @ParameterizedTest
    @ValueSource(strings = {"WARN", "INFO"})
    void should_name_the_dead_letter_where_it_says_that_a_message_is_one(String level) throws Exception {
        boolean expires = level.equals("INFO");
        try (LogLines log = new LogLines(DeliveryReport.class)) {
            start(consume("?maximumRedeliveries=0", exchange -> {
                throw new IllegalStateException("partner is down");
            }));
            send(
                    uri,
                    "x",
                    expires
                            ? Map.of(
                                    RedisDelayConstants.SCHEDULE_ID, "P-1",
                                    RedisDelayConstants.DELIVER_AT,
                                            Instant.now().minusSeconds(60),
                                    RedisDelayConstants.TIME_TO_LIVE, "1s")
                            : Map.of(RedisDelayConstants.SCHEDULE_ID, "P-1"));
            await().until(() -> stats().dead() == 1);
            String letter = dead().admin()
                    .list(MessageState.DELAYED, PageStart.first(), 1)
                    .join()
                    .messages()
                    .get(0)
                    .id();
            await().untilAsserted(() -> assertThat(log.of(Level.valueOf(level)))
                    .singleElement()
                    .asString()
                    .contains("message 'P-1' of queue '" + queue + "'", "'" + letter + "'"));
        }
    }

    @Test
    void should_return_it_for_ever_when_its_route_fails() throws Exception {
        bury("a", "x");
        AtomicInteger deliveries = new AtomicInteger();
        start(consumeDead("&redeliveryDelay=5ms&backOffMultiplier=1&redeliveryJitter=0", exchange -> {
            if (deliveries.incrementAndGet() <= 15) {
                throw new IllegalStateException("store is down");
            }
            take(exchange);
        }));
        assertThat(next().getHeaders())
                .containsEntry(RedisDelayConstants.ATTEMPT, 16)
                .containsEntry(RedisDelayConstants.REDELIVERY_REASON, "failed")
                .containsEntry(RedisDelayConstants.FAILURE_MESSAGE, "partner is down")
                .containsEntry(RedisDelayConstants.FAILURE_ATTEMPTS, 3)
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a");
        assertNoDeadLetters();
        await().untilAsserted(() -> assertThat(consumer().getRetried()).isEqualTo(15));
        assertThat(stats().delayed()).as("never among the ordinary messages").isZero();
    }

    @Test
    void should_deliver_again_what_a_route_held_that_was_stopped_by_force() throws Exception {
        bury("a", "x");
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        context.getShutdownStrategy().setTimeout(1);
        start(consumeDead("&visibilityTimeout=500ms", exchange -> {
            begun.countDown();
            try {
                go.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                // Busy work does not end by an interrupt.
                go.await(30, TimeUnit.SECONDS);
            }
        }));
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        context.getRouteController().stopRoute("consumer", 1, TimeUnit.SECONDS);
        try (var other = newContext()) {
            other.getRegistry().bind("redisson", redis.client());
            other.addRoutes(consumeDead("", this::take));
            other.start();
            assertThat(next().getHeaders())
                    .containsEntry(RedisDelayConstants.REDELIVERY_REASON, "leaseExpired")
                    .containsEntry(RedisDelayConstants.FAILURE_MESSAGE, "partner is down");
            assertNoDeadLetters();
        } finally {
            go.countDown();
        }
    }

    @Test
    void should_put_off_one_that_ended_two_consumers() throws Exception {
        bury("killer", "x");
        claim(dead(), Duration.ofMillis(100));
        claim(dead(), Duration.ofMillis(100));
        start(consumeDead("&maximumRedeliveryDelay=1h", this::take));
        assertReturnedForAnHour();
        assertThat(received).isEmpty();
        assertThat(FailureRecords.ofDeadLetter(redis.client(), queue)).contains("partner is down");
    }

    @Test
    void should_hand_over_the_bytes_of_one_that_cannot_be_read() throws Exception {
        byte[] bytes = "plain text".getBytes(StandardCharsets.UTF_8);
        stored().schedule(ScheduleRequest.of("bad", bytes, DueTime.now()))
                .result()
                .join();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).routeId("ordinary").process(DeadLetterRouteIT.this::take);
                from(uri + "?state=dead").routeId("consumer").process(DeadLetterRouteIT.this::take);
            }
        });
        Message message = next();
        assertThat(message.getBody()).isEqualTo(bytes);
        assertThat(message.getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "bad")
                .containsEntry(RedisDelayConstants.DEAD_LETTER_REASON, "unreadable");
        assertNoDeadLetters();
    }

    @Test
    void should_not_apply_the_terms_of_the_message() throws Exception {
        Envelope.Settings terms = new Envelope.Settings(null, Duration.ofMillis(1), "maximumRedeliveries=0");
        schedule("a", "x", terms, DueTime.at(Instant.now().minusSeconds(60)));
        claim(stored()).settle(new Settlement.DeadLetter(new byte[0])).result().join();
        start(consumeDead("&redeliveryDelay=5ms", exchange -> {
            take(exchange);
            if (received.size() == 1) {
                throw new IllegalStateException("no");
            }
        }));
        await().until(() -> received.size() == 2);
        assertNoDeadLetters();
    }

    @Test
    void should_return_it_after_the_delay_that_its_route_asks_for() throws Exception {
        bury("a", "x");
        start(consumeDead("", exchange -> exchange.setProperty(RedisDelayConstants.RETRY_AFTER, "1h")));
        assertReturnedForAnHour();
        // A second one is not in its way.
        bury("b", "y");
        await().untilAsserted(() ->
                assertThat(dead().admin().stats().join().delayed()).isEqualTo(2));
    }

    @Test
    void should_schedule_it_again_under_its_own_id() throws Exception {
        bury("a", "x");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?state=dead")
                        .routeId("consumer")
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, header(RedisDelayConstants.MESSAGE_ID))
                        .to(uri + "?delay=1h");
            }
        });
        assertNoDeadLetters();
        assertThat(stats().delayed()).isOne();
        assertThat(stored().get("a").join()).isPresent();
    }

    @Test
    void should_not_give_up_a_message_that_was_enriched_with_a_dead_letter() throws Exception {
        String other = redis.uniqueQueue();
        bury("a", "dead");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:" + other)
                        .routeId("consumer")
                        .pollEnrich(uri + "?state=dead", 20_000)
                        .process(DeadLetterRouteIT.this::take);
            }
        });
        send("redis-delay:" + other, "ordinary", Map.of());
        assertThat(next().getHeaders()).containsEntry(RedisDelayConstants.DEAD_LETTER_REASON, "failed");
        assertNoDeadLetters();
        await().untilAsserted(() ->
                assertThat(outside.queue(other).admin().stats().join().leased()).isZero());
        assertThat(outside.queue(other).admin().stats().join().dead()).isZero();
    }

    @Test
    void should_be_polled() {
        bury("a", "x");
        context.start();
        ConsumerTemplate polling = context.createConsumerTemplate();
        Exchange exchange = polling.receive(uri + "?state=dead", 20_000);
        assertThat(exchange.getMessage().getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.FAILURE_MESSAGE, "partner is down");
        exchange.setException(new IllegalStateException("no"));
        polling.doneUoW(exchange);
        await().untilAsserted(() ->
                assertThat(dead().admin().stats().join().delayed()).isOne());
        assertThat(polling.receive(uri, 100)).isNull();
    }

    @Test
    void should_refuse_to_poll_batches() {
        context.start();
        ConsumerTemplate polling = context.createConsumerTemplate();
        assertThatThrownBy(() -> polling.receive(uri + "?batching=true", 100))
                .hasStackTraceContaining("option 'batching' is set on an endpoint that is polled");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "maximumRedeliveries=3",
                "deadLetter=true",
                "onExpiry=drop",
                "deadLetterRetention=1h",
                "maximumDeadLetters=5"
            })
    void should_refuse_options_that_have_no_meaning_for_dead_letters(String option) {
        assertThatThrownBy(() -> start(consumeDead("&" + option, this::take)))
                .hasStackTraceContaining("option '" + option.substring(0, option.indexOf('='))
                        + "' is set on a consumer of dead letters");
    }

    @Test
    void should_not_mind_those_options_on_the_component() throws Exception {
        RedisDelayConfiguration options =
                context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
        options.setMaximumRedeliveries(0);
        options.setDeadLetter(false);
        options.setMaximumDeadLetters(1);
        bury("a", "x");
        bury("b", "y");
        start(consumeDead("&redeliveryDelay=5ms", exchange -> {
            take(exchange);
            if (received.size() < 3) {
                throw new IllegalStateException("no");
            }
        }));
        await().until(() -> received.size() == 4);
        assertNoDeadLetters();
    }

    @Test
    void should_refuse_to_consume_what_is_leased() {
        assertThatThrownBy(() -> start(consume("?state=leased", this::take)))
                .hasStackTraceContaining("option 'state' is 'leased'");
    }

    @Test
    void should_drop_dead_letters_beyond_their_maximum_the_oldest_first() throws Exception {
        try (LogLines lines = new LogLines(DeadLetterTrimmer.class)) {
            bury("old", "x");
            start(consume("?maximumRedeliveries=0&maximumDeadLetters=2", exchange -> {
                throw new IllegalStateException("no");
            }));
            for (int i = 0; i < 4; i++) {
                schedule("m" + i, "x");
                assertEmpty(); // two that are given up at the same time may come in any order
            }
            await().until(() -> consumer().getDeadLettersDropped() == 3);
            assertThat(stats().dead()).isEqualTo(2);
            assertThat(dead().admin()
                            .list(io.github.redisdelay.queue.MessageState.DELAYED, PageStart.first(), 10)
                            .join()
                            .messages())
                    .extracting(message -> message.id().substring(0, 2))
                    .containsExactly("m2", "m3");
            assertThat(lines.of(Level.WARN))
                    .allSatisfy(line -> assertThat(line).contains("maximumDeadLetters=2", queue));
        }
    }

    @Test
    void should_drop_dead_letters_after_their_retention() throws Exception {
        bury("old", "x");
        start(consume("?deadLetterRetention=300ms", this::take));
        await().until(() -> consumer().getDeadLettersDropped() == 1);
        assertThat(stats().dead()).isZero();
        context.getRouteController().suspendRoute("consumer");
        bury("later", "x");
        await().until(() -> consumer().getDeadLettersDropped() == 2);
    }
}
