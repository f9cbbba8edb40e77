// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ConsumerNames;
import io.github.redisdelay.camel.option.OwnHeaders;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.testkit.LogLines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ConcurrentModificationException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The decisions of a route about its message, and the headers about the deliveries before. */
class RouteDecisionIT extends ConsumerSideIT {

    private static final String AN_HOUR = "?redeliveryDelay=1h&redeliveryJitter=0";

    private static void ask(Exchange exchange, boolean header, String name, Object value) {
        if (header) {
            exchange.getMessage().setHeader(name, value);
        } else {
            exchange.setProperty(name, value);
        }
    }

    private void assertWaitsFor(Duration delay) {
        await().untilAsserted(() -> {
            assertThat(stats().leased()).as("leased").isZero();
            assertThat(stats().nextDueMicros())
                    .isBetween(delay.minusSeconds(30).toMillis() * 1000, delay.toMillis() * 1000);
        });
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void should_deliver_again_after_the_delay_that_the_route_asks_for(boolean fails, boolean header) throws Exception {
        start(consume(AN_HOUR, exchange -> {
            take(exchange);
            if (received.size() < 3) {
                ask(exchange, header, RedisDelayConstants.RETRY_AFTER, "50ms");
                if (fails) {
                    throw new IllegalStateException("429");
                }
            }
        }));
        schedule("a", "x");
        await().atMost(Duration.ofSeconds(20)).until(() -> received.size() == 3);
        assertEmpty();
        Message first = next();
        Message second = next();
        assertThat(first.getHeaders()).doesNotContainKey(RedisDelayConstants.REDELIVERY_REASON);
        assertThat(second.getHeader(RedisDelayConstants.REDELIVERY_REASON)).isEqualTo("failed");
        assertThat(second.getHeaders()).doesNotContainKey(RedisDelayConstants.RETRY_AFTER);
        assertThat(second.getHeader(RedisDelayConstants.DUE_TIME, long.class)
                        - first.getHeader(RedisDelayConstants.DUE_TIME, long.class))
                .isBetween(50L, 20_000L);
        assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(3);
        await().untilAsserted(() -> assertThat(consumer().getRetried()).isEqualTo(2));
    }

    @ParameterizedTest
    @CsvSource({
        "true, CamelRedisDelayRetryAfer",
        "false, CamelRedisDelayDeadLeterReason",
        "false, CamelRedisDelayRedeliver",
        "false, camelRedisDelayRetryAfter"
    })
    void should_warn_once_of_a_wish_that_is_misspelt(boolean header, String name) throws Exception {
        try (LogLines log = new LogLines(OwnHeaders.class)) {
            start(consume("", exchange -> ask(exchange, header, name, "50ms")));
            schedule("a", "x");
            schedule("b", "x");
            await().until(() -> consumer().getReceived() == 2);
            assertEmpty();
            assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains(
                            "route 'consumer'",
                            (header ? "header '" : "exchange property '") + name + "' is unknown",
                            RedisDelayConstants.RETRY_AFTER,
                            RedisDelayConstants.DEAD_LETTER_REASON);
        }
    }

    @Test
    void should_warn_of_no_header_or_property_that_is_known() throws Exception {
        try (LogLines log = new LogLines(OwnHeaders.class)) {
            start(consume(AN_HOUR, exchange -> {
                exchange.getMessage().setHeader("camelredisdelayretryafter", "1h");
                exchange.getMessage().setHeader("CamelRedis", "x");
                throw new IllegalStateException("for headers about a failure");
            }));
            schedule("a", "x");
            assertWaitsFor(Duration.ofHours(1));
            assertThat(log.of(Level.WARN)).isEmpty();
        }
    }

    @Test
    void should_finish_a_message_whose_headers_cannot_be_looked_through() throws Exception {
        start(consume(
                "?redeliveryDelay=10ms",
                exchange -> exchange.setMessage(new DefaultMessage(context) {
                    @Override
                    public boolean hasHeaders() {
                        return true;
                    }

                    @Override
                    public Map<String, Object> getHeaders() {
                        throw new ConcurrentModificationException("another thread goes on with them");
                    }
                })));
        schedule("a", "x");
        await().until(() -> consumer().getReceived() == 1);
        assertEmpty();
        await().until(() -> consumer().getProcessing() == 0); // Redis has answered
        assertThat(consumer().getRetried()).isZero();
    }

    @Test
    void should_count_the_attempts_and_give_up_after_the_last() throws Exception {
        start(consume("?maximumRedeliveries=2", exchange -> {
            take(exchange);
            exchange.setProperty(RedisDelayConstants.RETRY_AFTER, 10);
        }));
        schedule("a", "x");
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(received).hasSize(3);
        assertThat(failureOfDeadLetter()).contains("\"reason\":\"retryAfter\"", "\"attempt\":3");
    }

    @Test
    void should_wait_for_as_long_as_asked_when_the_exchange_went_through_seda() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri)
                        .routeId("consumer")
                        .setHeader(RedisDelayConstants.RETRY_AFTER, constant("1h"))
                        .to("seda:later");
                from("seda:later").process(exchange -> {
                    take(exchange);
                    go.await(20, TimeUnit.SECONDS);
                    exchange.setProperty(RedisDelayConstants.RETRY_AFTER, Duration.ofHours(2));
                });
            }
        });
        schedule("a", "x");
        next();
        await().until(() -> context.getInflightRepository().size("consumer") == 0);
        assertThat(stats().leased()).as("held until the last route is done").isOne();
        go.countDown();
        assertWaitsFor(Duration.ofHours(2));
    }

    @Test
    void should_give_up_where_an_error_handler_says_so() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                onException(IllegalArgumentException.class)
                        .handled(true)
                        .setProperty(RedisDelayConstants.DEAD_LETTER_REASON, simple("${exception.message}"));
                from(uri).routeId("consumer").process(exchange -> {
                    throw new IllegalArgumentException("no such account");
                });
            }
        });
        schedule("a", "x");
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter()).contains("\"reason\":\"no such account\"", "\"attempt\":1");
        await().untilAsserted(() -> assertThat(consumer().getDeadLettered()).isOne());
    }

    @Test
    void should_drop_what_the_route_gives_up_without_dead_letters() throws Exception {
        start(consume("?deadLetter=false", exchange -> exchange.getMessage()
                .setHeader(RedisDelayConstants.DEAD_LETTER_REASON, "no")));
        schedule("a", "x");
        await().until(() -> consumer().getDropped() == 1);
        assertEmpty();
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_not_take_a_decision_from_a_stored_message() throws Exception {
        byte[] bytes = Envelope.of(
                        "x",
                        null,
                        Map.of(
                                RedisDelayConstants.RETRY_AFTER,
                                "1h",
                                "camelredisdelaydeadletterreason",
                                "forged",
                                "a",
                                "b"))
                .encode();
        stored().schedule(ScheduleRequest.of("forged", bytes, DueTime.now()))
                .result()
                .join();
        start(consume("", this::take));
        assertThat(next().getHeaders())
                .containsEntry("a", "b")
                .doesNotContainKeys(RedisDelayConstants.RETRY_AFTER, RedisDelayConstants.DEAD_LETTER_REASON);
        assertEmpty();
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_apply_to_a_polled_message_what_the_enriched_exchange_asks_for() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").pollEnrich(uri, 20_000).setProperty(RedisDelayConstants.RETRY_AFTER, constant("1h"));
            }
        });
        schedule("a", "x");
        assertThat(send("direct:in", "y", Map.of()).getException()).isNull();
        assertWaitsFor(Duration.ofHours(1));
    }

    @Test
    void should_tell_a_route_how_the_delivery_before_failed() throws Exception {
        start(consume(FAST, exchange -> {
            take(exchange);
            if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1) {
                throw new IllegalStateException("partner is down");
            }
        }));
        long before = System.currentTimeMillis();
        stored().schedule(ScheduleRequest.of("a", Envelope.of("x").encode(), DueTime.now())
                        .withOnDuplicate(io.github.redisdelay.queue.DuplicatePolicy.REJECT)
                        .withPriority(7))
                .result()
                .join();
        assertThat(next().getHeaders())
                .doesNotContainKeys(
                        RedisDelayConstants.PRIORITY,
                        RedisDelayConstants.FAILURE_EXCEPTION,
                        RedisDelayConstants.FAILURE_ATTEMPTS,
                        RedisDelayConstants.REDELIVERY_REASON);
        Message second = next();
        assertThat(second.getHeaders())
                .containsEntry(RedisDelayConstants.REDELIVERY_REASON, "failed")
                .containsEntry(RedisDelayConstants.FAILURE_EXCEPTION, "java.lang.IllegalStateException")
                .containsEntry(RedisDelayConstants.FAILURE_MESSAGE, "partner is down")
                .containsEntry(RedisDelayConstants.FAILURE_ROUTE_ID, "consumer")
                .containsEntry(RedisDelayConstants.FAILURE_HOST, ConsumerNames.HOST)
                .containsEntry(RedisDelayConstants.FAILURE_ATTEMPTS, 1)
                .doesNotContainKey(RedisDelayConstants.DEAD_LETTER_REASON);
        assertThat((long) second.getHeader(RedisDelayConstants.FAILURE_TIME))
                .isBetween(before, System.currentTimeMillis());
        assertEmpty();
    }

    @Test
    void should_tell_a_route_that_the_lease_before_ended_or_that_it_was_released() throws Exception {
        context.start();
        schedule("lost", "x");
        claim(stored(), Duration.ofMillis(100));
        start(consume("", this::take));
        Message lost = next();
        assertThat(lost.getHeader(RedisDelayConstants.REDELIVERY_REASON)).isEqualTo("leaseExpired");
        assertThat(lost.getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(2);
        assertEmpty();
        context.getRouteController().suspendRoute("consumer");
        schedule("released", "y");
        claim(stored()).settle(Settlement.RELEASE).result().join();
        context.getRouteController().resumeRoute("consumer");
        Message released = next();
        assertThat(released.getHeader(RedisDelayConstants.REDELIVERY_REASON)).isEqualTo("released");
        assertThat(released.getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(1);
    }

    @Test
    void should_leave_out_a_failure_that_somebody_else_wrote() throws Exception {
        schedule("a", "x");
        claim(stored())
                .settle(new Settlement.Retry(Duration.ZERO, "no JSON".getBytes(StandardCharsets.UTF_8)))
                .result()
                .join();
        start(consume("", this::take));
        assertThat(next().getHeaders())
                .containsEntry(RedisDelayConstants.REDELIVERY_REASON, "failed")
                .doesNotContainKeys(RedisDelayConstants.FAILURE_MESSAGE, RedisDelayConstants.FAILURE_TIME);
    }

    @Test
    void should_follow_the_retry_policy_of_the_message() throws Exception {
        start(consume(AN_HOUR, exchange -> {
            take(exchange);
            throw new IllegalStateException("no");
        }));
        schedule("a", "x", new Envelope.Settings(null, null, "redeliveryDelays=10,10"), DueTime.now());
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(received).hasSize(3);
        schedule("b", "y");
        assertWaitsFor(Duration.ofHours(1));
    }

    @ParameterizedTest
    @CsvSource({"dead", "drop"})
    void should_not_route_what_is_expired(String onExpiry) throws Exception {
        Envelope.Settings settings = new Envelope.Settings(Duration.ofHours(1), Duration.ofSeconds(60), null);
        schedule("late", "x", settings, DueTime.at(Instant.now().minusSeconds(120)));
        schedule("inTime", "y", settings, DueTime.at(Instant.now().minusSeconds(20)));
        start(consume("?onExpiry=" + onExpiry, this::take));
        assertThat(next().getBody()).isEqualTo("y");
        await().until(() -> consumer().getExpired() == 1);
        assertEmpty();
        assertThat(received).isEmpty();
        boolean kept = onExpiry.equals("dead");
        assertThat(stats().dead()).isEqualTo(kept ? 1 : 0);
        assertThat(consumer().getDeadLettered()).isEqualTo(kept ? 1 : 0);
        assertThat(consumer().getDropped()).isEqualTo(kept ? 0 : 1);
        if (kept) {
            assertThat(failureOfDeadLetter()).contains("\"reason\":\"expired\"");
        }
        assertThatThrownBy(() -> schedule("late", "again"))
                .hasCauseInstanceOf(DuplicateMessageException.class)
                .hasMessageContaining("late");
    }

    @Test
    void should_expire_between_two_attempts_and_keep_what_failed() throws Exception {
        start(consume("?redeliveryDelay=4s&redeliveryJitter=0", exchange -> {
            take(exchange);
            throw new IllegalStateException("partner is down");
        }));
        schedule("a", "x", new Envelope.Settings(null, Duration.ofSeconds(3), null), DueTime.now());
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(received).hasSize(1);
        assertThat(failureOfDeadLetter()).contains("\"reason\":\"expired\"", "partner is down");
        schedule("a", "the id is free: it was not to be remembered");
    }

    @Test
    void should_remember_the_id_of_a_message_that_asks_for_it_once_it_is_acknowledged() throws Exception {
        start(consume("?maximumRedeliveries=0", exchange -> {
            take(exchange);
            if (exchange.getMessage().getBody().equals("fails")) {
                throw new IllegalStateException();
            }
        }));
        Envelope.Settings settings = new Envelope.Settings(Duration.ofHours(1), null, null);
        schedule("good", "x", settings, DueTime.now());
        schedule("bad", "fails", settings, DueTime.now());
        next();
        next();
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertEmpty();
        assertThatThrownBy(() -> schedule("good", "x")).hasCauseInstanceOf(DuplicateMessageException.class);
        schedule("bad", "given up: its id is free");
    }

    @Test
    void should_keep_what_failed_and_not_what_a_split_put_around_it() throws Exception {
        start(new org.apache.camel.builder.RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?maximumRedeliveries=0")
                        .split(body())
                        .stopOnException()
                        .throwException(new java.net.ConnectException("partner is down"));
            }
        });
        schedule("a", "x");
        await().until(() -> stats().dead() == 1);
        assertThat(failureOfDeadLetter())
                .contains("\"exception\":\"java.net.ConnectException\"", "\"message\":\"partner is down\"");
    }
}
