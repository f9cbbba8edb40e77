// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultExchange;
import org.junit.jupiter.api.Test;

class DeliveryCompletionTest {

    private final DefaultCamelContext context = new DefaultCamelContext();
    private final Exchange exchange = new DefaultExchange(context);
    private final AtomicInteger finished = new AtomicInteger();
    private FailureHandler failures = failures(true);

    private static FailureHandler failures(boolean deadLetter) {
        RedisDelayConfiguration options = new RedisDelayConfiguration();
        options.setMaximumRedeliveries(2);
        options.setRedeliveryJitter(0);
        return new FailureHandler(
                options.retryPolicy(), deadLetter, "host", InstantSource.fixed(Instant.EPOCH), () -> 0L);
    }

    private DeliveryCompletion completion(RecordingDelivery delivery) {
        return new DeliveryCompletion(delivery, failures, "route", finished::incrementAndGet);
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
        assertThat(delivery.calls).containsExactly("again in PT20S");
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
        assertThat(delivery.calls).containsExactly("bury");
        assertThat(delivery.failure).contains("partner is down");
        assertThat(failures.buried()).isOne();
    }

    @Test
    void should_drop_and_count_what_failed_for_the_last_time_without_dead_letters() {
        failures = failures(false);
        RecordingDelivery delivery = new RecordingDelivery(3);
        exchange.setException(new IllegalStateException());
        completion(delivery).onFailure(exchange);
        assertThat(delivery.calls).containsExactly("discard");
        assertThat(failures.discarded()).isOne();
    }

    @Test
    void should_return_what_completes_but_is_marked_rollback_only() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        exchange.setRollbackOnly(true);
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("again in PT10S");
        assertThat(delivery.failure).contains("rollback-only").doesNotContain("exception\"");
    }

    @Test
    void should_return_what_completes_but_is_marked_rollback_only_last_and_keep_the_caught_exception() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        exchange.setRollbackOnlyLast(true);
        exchange.setProperty(ExchangePropertyKey.EXCEPTION_CAUGHT, new IllegalStateException("caught"));
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("again in PT10S");
        assertThat(delivery.failure).contains("caught");
    }

    @Test
    void should_finish_once_however_often_it_is_called() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        DeliveryCompletion completion = completion(delivery);
        completion.onComplete(exchange);
        completion.onFailure(exchange);
        completion.superseded();
        assertThat(delivery.calls).containsExactly("acknowledge");
        assertThat(finished).hasValue(1);
    }

    @Test
    void should_send_nothing_after_the_delivery_was_superseded() {
        RecordingDelivery delivery = new RecordingDelivery(1);
        DeliveryCompletion completion = completion(delivery);
        completion.superseded();
        completion.onComplete(exchange);
        assertThat(delivery.calls).containsExactly("superseded");
        assertThat(finished).hasValue(1);
    }

    @Test
    void should_keep_the_last_failure_of_what_used_up_its_attempts() {
        RecordingDelivery delivery = new RecordingDelivery(4);
        delivery.lastFailure = "known".getBytes(StandardCharsets.UTF_8);
        assertThat(failures.isExceeded(delivery)).isTrue();
        completion(delivery).exceeded();
        assertThat(delivery.failure).isEqualTo("known");

        RecordingDelivery crashed = new RecordingDelivery(4);
        completion(crashed).exceeded();
        assertThat(crashed.calls).containsExactly("bury");
        assertThat(crashed.failure).contains("3 deliveries ended without an acknowledgement");
    }
}
