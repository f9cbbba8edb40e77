// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.OptionReader;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.fake.RecordingDelivery;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.Meters.Event;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.TestSubmissions;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultExchange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DeliveryCompletionTest {

    private final DefaultCamelContext context = new DefaultCamelContext();
    private final Exchange exchange = new DefaultExchange(context);
    private final AtomicInteger finished = new AtomicInteger();
    private final AtomicInteger burials = new AtomicInteger();
    private final DeliveryReport failures =
            new DeliveryReport(new LongAdder(), burials::incrementAndGet, Meters.Consuming.NONE);
    private DeliveryPolicy policy = policy(true, true);

    private static DeliveryPolicy policy(boolean deadLetter, boolean keepExpired) {
        RedisDelayConfiguration options = new RedisDelayConfiguration();
        options.setMaximumRedeliveries(2);
        options.setRedeliveryJitter(0);
        options.setDeadLetter(deadLetter);
        options.setOnExpiry(keepExpired ? "dead" : "drop");
        return new DeliveryPolicy(
                new OptionReader(options).consumer("orders", Set.of()),
                "host",
                InstantSource.fixed(Instant.EPOCH),
                () -> 0L);
    }

    private DeliveryCompletion admit(RecordingDelivery delivery) {
        return DeliveryCompletion.admit(delivery, policy, failures, "route", finished::incrementAndGet);
    }

    private ExchangeCompletion completion(RecordingDelivery delivery) {
        return new ExchangeCompletion(admit(delivery));
    }

    private static RecordingDelivery delivery(int attempt, Envelope.Settings settings) {
        RecordingDelivery delivery = new RecordingDelivery(attempt);
        delivery.body = Envelope.of("x", null, Map.of(), settings).encode();
        return delivery;
    }

    @Test
    void should_acknowledge_what_succeeded() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("acknowledge");
        assertThat(finished).hasValue(1);
    }

    @Test
    void should_return_what_failed_with_the_exception_and_no_stack_trace() {
        RecordingDelivery delivery = new RecordingDelivery(2);
        exchange.setException(new IllegalStateException("partner is down"));
        completion(delivery).onFailure(exchange);
        assertThat(delivery.calls).containsExactly("retry in PT20S");
        assertThat(delivery.failure)
                .contains("\"exception\":\"java.lang.IllegalStateException\"", "\"message\":\"partner is down\"")
                .contains("\"routeId\":\"route\"", "\"attempt\":2")
                .doesNotContain("DeliveryCompletionTest");
    }

    @Test
    void should_bury_what_failed_for_the_last_time() {
        RecordingDelivery delivery = new RecordingDelivery(3);
        exchange.setException(new IllegalStateException("partner is down"));
        completion(delivery).onFailure(exchange);
        assertThat(delivery.calls).containsExactly("dead-letter");
        assertThat(delivery.failure).contains("partner is down");
        assertThat(failures.count(Event.DEAD_LETTERED)).isOne();
    }

    @Test
    void should_drop_and_count_what_failed_for_the_last_time_without_dead_letters() {
        policy = policy(false, true);
        RecordingDelivery delivery = new RecordingDelivery(3);
        exchange.setException(new IllegalStateException());
        completion(delivery).onFailure(exchange);
        assertThat(delivery.calls).containsExactly("drop");
        assertThat(failures.count(Event.DROPPED)).isOne();
    }

    @Test
    void should_return_what_completes_but_is_marked_rollback_only() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        exchange.setRollbackOnly(true);
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("retry in PT10S");
        assertThat(delivery.failure).contains("rollback-only").doesNotContain("exception\"");
    }

    @Test
    void should_return_what_completes_but_is_marked_rollback_only_last_and_keep_the_caught_exception() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        exchange.setRollbackOnlyLast(true);
        exchange.setProperty(ExchangePropertyKey.EXCEPTION_CAUGHT, new IllegalStateException("caught"));
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("retry in PT10S");
        assertThat(delivery.failure).contains("caught");
    }

    @Test
    void should_finish_once_however_often_it_is_called() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        DeliveryCompletion message = admit(delivery);
        ExchangeCompletion completion = new ExchangeCompletion(message);
        completion.onComplete(exchange);
        completion.onFailure(exchange);
        message.superseded();
        message.release();
        assertThat(delivery.calls).containsExactly("acknowledge");
        assertThat(finished).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({
        "true, 1, true, acknowledge",
        "true, 1, false, retry",
        "true, 3, false, dead-letter",
        "true, 4, false, dead-letter",
        "false, 3, false, drop",
        "false, 4, false, drop"
    })
    void should_name_the_end_that_could_not_be_sent(boolean deadLetter, int attempt, boolean success, String name) {
        policy = policy(deadLetter, true);
        RecordingDelivery delivery = new RecordingDelivery(attempt);
        delivery.answer = TestSubmissions.failed(new IllegalStateException("down"));
        try (LogLines lines = new LogLines(DeliveryCompletion.class)) {
            DeliveryCompletion message = admit(delivery);
            if (message != null) {
                message.ended(
                        success ? RouteOutcome.SUCCEEDED : RouteOutcome.failed(new IllegalStateException()), null);
            }
            assertThat(lines.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("The settlement of message 'order-1' of queue 'orders', attempt " + attempt + " (" + name
                            + ") could not be sent; it may be delivered again: down");
        }
        assertThat(finished).hasValue(1);
        assertNothingCounted();
    }

    private void assertNothingCounted() {
        assertThat(burials).as("dead letters to trim").hasValue(0);
        assertThat(List.of(
                        failures.count(Event.RETRIED),
                        failures.count(Event.DEAD_LETTERED),
                        failures.count(Event.DROPPED),
                        failures.count(Event.EXPIRED)))
                .containsOnly(0L);
    }

    @ParameterizedTest
    @EnumSource(
            value = SettleResult.class,
            names = {"STALE_GONE", "STALE_HELD"})
    void should_count_and_log_only_what_Redis_has_carried_out(SettleResult stale) {
        try (LogLines lines = new LogLines(DeliveryReport.class)) {
            for (boolean deadLetter : new boolean[] {true, false}) {
                policy = policy(deadLetter, true);
                for (int attempt : new int[] {1, 3, 4}) {
                    RecordingDelivery delivery = new RecordingDelivery(attempt);
                    delivery.answer = TestSubmissions.answered(stale);
                    DeliveryCompletion message = admit(delivery);
                    if (message != null) {
                        message.ended(RouteOutcome.failed(new IllegalStateException()), null);
                    }
                }
            }
            assertThat(lines.of(Level.WARN)).noneMatch(line -> line.contains("given up"));
        }
        assertThat(finished).hasValue(6);
        assertNothingCounted();
    }

    @Test
    void should_send_nothing_after_the_delivery_was_superseded() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        DeliveryCompletion message = admit(delivery);
        message.superseded();
        new ExchangeCompletion(message).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("superseded");
        assertThat(finished).hasValue(1);
    }

    @Test
    void should_keep_the_last_failure_of_what_used_up_its_attempts() {
        RecordingDelivery delivery = new RecordingDelivery(4);
        delivery.lastFailure = new FailureRecord("E", "known", "r", "h", 1, Instant.EPOCH, null).encode();
        assertThat(admit(delivery)).isNull();
        assertThat(delivery.calls).containsExactly("dead-letter");
        assertThat(delivery.failure).contains("\"message\":\"known\"", "\"attempt\":1", "\"reason\":\"leaseExpired\"");

        RecordingDelivery crashed = new RecordingDelivery(4);
        assertThat(admit(crashed)).isNull();
        assertThat(crashed.calls).containsExactly("dead-letter");
        assertThat(crashed.failure)
                .contains("3 deliveries ended without an acknowledgement", "\"reason\":\"leaseExpired\"");
        assertThat(finished).hasValue(2);
        assertThat(burials).hasValue(2);
    }

    @Test
    void should_say_why_it_was_given_up() {
        RecordingDelivery delivery = new RecordingDelivery(3);
        exchange.setException(new IllegalStateException("partner is down"));
        completion(delivery).onFailure(exchange);
        assertThat(delivery.failure).contains("\"reason\":\"failed\"");
        assertThat(burials).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({"header", "property"})
    void should_deliver_again_after_the_delay_that_the_route_asked_for(String where) {
        for (boolean failed : new boolean[] {true, false}) {
            RecordingDelivery delivery = new RecordingDelivery(1);
            ask(where, RedisDelayConstants.RETRY_AFTER, "90s");
            if (failed) {
                exchange.setException(new IllegalStateException("429"));
                completion(delivery).onFailure(exchange);
                assertThat(delivery.failure).contains("\"message\":\"429\"");
                exchange.setException(null);
            } else {
                completion(delivery).onComplete(exchange);
                assertThat(delivery.failure).contains("asked for another delivery in PT1M30S");
            }
            assertThat(delivery.calls).containsExactly("retry in PT1M30S");
        }
        assertThat(failures.count(Event.RETRIED)).isEqualTo(2);
    }

    private void ask(String where, String name, Object value) {
        if (where.equals("header")) {
            exchange.getMessage().setHeader(name, value);
        } else {
            exchange.setProperty(name, value);
        }
    }

    @Test
    void should_take_the_property_if_there_is_a_header_too() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        ask("header", RedisDelayConstants.RETRY_AFTER, 1000);
        ask("property", RedisDelayConstants.RETRY_AFTER, Duration.ofSeconds(2));
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("retry in PT2S");
    }

    @Test
    void should_give_up_after_the_last_attempt_whatever_the_route_asks_for() {
        RecordingDelivery delivery = new RecordingDelivery(3);
        ask("header", RedisDelayConstants.RETRY_AFTER, "1m");
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("dead-letter");
        assertThat(delivery.failure).contains("\"reason\":\"retryAfter\"", "another delivery in PT1M");
    }

    @Test
    void should_follow_the_policy_and_warn_when_it_cannot_read_what_the_route_asks_for() {
        try (LogLines lines = new LogLines(DeliveryReport.class)) {
            RecordingDelivery delivery = new RecordingDelivery(1);
            ask("header", RedisDelayConstants.RETRY_AFTER, "soon");
            completion(delivery).onComplete(exchange);
            assertThat(delivery.calls).containsExactly("retry in PT10S");
            assertThat(delivery.failure).contains("soon");
            assertThat(lines.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("header 'CamelRedisDelayRetryAfter'", "'soon'", "PT30M");

            RecordingDelivery failing = new RecordingDelivery(2);
            ask("property", RedisDelayConstants.RETRY_AFTER, -5);
            exchange.setException(new IllegalStateException("429"));
            completion(failing).onFailure(exchange);
            assertThat(failing.calls).containsExactly("retry in PT20S");
            assertThat(failing.failure).contains("429");
            assertThat(lines.of(Level.WARN)).hasSize(2);

            RecordingDelivery last = new RecordingDelivery(3);
            exchange.setException(null);
            completion(last).onComplete(exchange);
            assertThat(last.calls).containsExactly("dead-letter");
        }
    }

    @ParameterizedTest
    @CsvSource({"header", "property"})
    void should_give_up_at_once_when_the_route_says_so(String where) {
        RecordingDelivery delivery = new RecordingDelivery(1);
        ask(where, RedisDelayConstants.DEAD_LETTER_REASON, "no such account");
        ask(where, RedisDelayConstants.RETRY_AFTER, "1m");
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("dead-letter");
        assertThat(delivery.failure).contains("\"reason\":\"no such account\"");

        RecordingDelivery failing = new RecordingDelivery(1);
        exchange.setException(new IllegalStateException("404"));
        completion(failing).onFailure(exchange);
        assertThat(failing.calls).containsExactly("dead-letter");
        assertThat(failing.failure)
                .contains("\"reason\":\"no such account\"", "\"message\":\"404\"", "IllegalStateException");
    }

    @Test
    void should_give_up_without_a_reason() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        ask("header", RedisDelayConstants.DEAD_LETTER_REASON, " ");
        completion(delivery).onComplete(exchange);
        assertThat(delivery.failure).contains("\"reason\":\"no reason was given\"");
    }

    @Test
    void should_not_lose_a_message_whose_reason_cannot_be_said() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        ask("property", RedisDelayConstants.DEAD_LETTER_REASON, new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("no");
            }
        });
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("retry in PT10S");
    }

    @Test
    void should_follow_the_policy_of_the_message() {
        Envelope.Settings own = new Envelope.Settings(null, null, "maximumRedeliveries=5;redeliveryDelay=1000");
        exchange.setException(new IllegalStateException());
        RecordingDelivery third = delivery(3, own);
        completion(third).onFailure(exchange);
        assertThat(third.calls).containsExactly("retry in PT4S");
        RecordingDelivery last = delivery(6, own);
        completion(last).onFailure(exchange);
        assertThat(last.calls).containsExactly("dead-letter");
        RecordingDelivery beyond = delivery(7, own);
        assertThat(admit(beyond)).isNull();
        assertThat(beyond.calls).containsExactly("dead-letter");
    }

    @Test
    void should_bury_a_message_whose_policy_cannot_be_read() {
        RecordingDelivery delivery = delivery(1, new Envelope.Settings(null, null, "patience=5"));
        assertThat(admit(delivery)).isNull();
        assertThat(delivery.calls).containsExactly("dead-letter");
        assertThat(delivery.failure).contains("\"reason\":\"unreadable\"", "patience");
    }

    @Test
    void should_remember_the_id_of_what_succeeded() {
        RecordingDelivery delivery = delivery(1, new Envelope.Settings(Duration.ofHours(1), null, null));
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("acknowledge, remember PT1H");
    }

    @Test
    void should_not_remember_the_id_of_what_was_given_up() {
        RecordingDelivery delivery = delivery(3, new Envelope.Settings(Duration.ofHours(1), null, null));
        exchange.setException(new IllegalStateException());
        completion(delivery).onFailure(exchange);
        assertThat(delivery.calls).containsExactly("dead-letter");
    }

    @Test
    void should_not_begin_what_is_expired_by_the_clock_of_the_server() {
        Envelope.Settings own = new Envelope.Settings(Duration.ofHours(1), Duration.ofSeconds(10), null);
        RecordingDelivery inTime = delivery(1, own);
        inTime.firstDueMicros = 5_000_000;
        inTime.claimedMicros = 15_000_000;
        assertThat(admit(inTime)).isNotNull();

        RecordingDelivery late = delivery(2, own);
        late.firstDueMicros = 5_000_000;
        late.claimedMicros = 15_000_001;
        assertThat(admit(late)).isNull();
        assertThat(late.calls).containsExactly("dead-letter, remember PT1H");
        assertThat(late.failure).contains("\"reason\":\"expired\"");

        policy = policy(true, false);
        RecordingDelivery dropped = delivery(7, own);
        dropped.claimedMicros = 15_000_001;
        assertThat(admit(dropped)).as("expired, and only then exceeded").isNull();
        assertThat(dropped.calls).containsExactly("drop, remember PT1H");
        assertThat(failures.count(Event.EXPIRED)).isEqualTo(2);
        assertThat(failures.count(Event.DROPPED)).isOne();
        assertThat(failures.count(Event.DEAD_LETTERED)).isOne();
    }

    @Test
    void should_keep_nothing_that_is_expired_without_dead_letters() {
        policy = policy(false, true);
        RecordingDelivery late = delivery(1, new Envelope.Settings(null, Duration.ofMillis(1), null));
        late.claimedMicros = 2_000;
        assertThat(admit(late)).isNull();
        assertThat(late.calls).containsExactly("drop");
    }

    @Test
    void should_live_as_long_as_somebody_else_wrote() {
        Duration forever = Duration.ofMillis(Long.MAX_VALUE);
        RecordingDelivery delivery = delivery(1, new Envelope.Settings(forever, forever, null));
        delivery.claimedMicros = 1L << 52;
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("acknowledge, remember " + Durations.MAX);
    }

    @Test
    void should_bury_what_cannot_be_read_before_anything_else() {
        RecordingDelivery delivery = new RecordingDelivery(7);
        delivery.body = new byte[] {1, 2};
        assertThat(admit(delivery)).isNull();
        assertThat(delivery.failure).contains("\"reason\":\"unreadable\"", "EnvelopeFormatException");
    }

    @Test
    void should_finish_all_messages_of_a_batch_alike() {
        List<RecordingDelivery> batch = List.of(new RecordingDelivery(1), new RecordingDelivery(3));
        exchange.setException(new IllegalStateException());
        ExchangeCompletion completion = new ExchangeCompletion(
                batch.stream().map(delivery -> admit(delivery)).toList());
        completion.onFailure(exchange);
        completion.onComplete(exchange);
        assertThat(batch.get(0).calls).containsExactly("retry in PT10S");
        assertThat(batch.get(1).calls).containsExactly("dead-letter");
        assertThat(finished).hasValue(2);
    }
}
