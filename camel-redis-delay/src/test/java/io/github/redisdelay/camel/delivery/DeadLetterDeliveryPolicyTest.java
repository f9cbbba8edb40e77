// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.OptionReader;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.fake.RecordingDelivery;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.monitor.Meters;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.camel.Exchange;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultExchange;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeadLetterDeliveryPolicyTest {

    private final DefaultCamelContext context = new DefaultCamelContext();
    private final Exchange exchange = new DefaultExchange(context);
    private final AtomicInteger finished = new AtomicInteger();
    private final DeliveryReport report = new DeliveryReport(new LongAdder(), () -> {}, Meters.Consuming.NONE);
    private DeliveryPolicy policy;

    @BeforeEach
    void policy() {
        RedisDelayConfiguration options = new RedisDelayConfiguration();
        options.setRedeliveryJitter(0);
        options.setMaximumRedeliveryDelay("5m");
        options.setState("dead");
        policy = new OptionReader(options).consumer("orders", Set.of()).policy();
    }

    private static RecordingDelivery delivery(int attempt) {
        RecordingDelivery delivery = new RecordingDelivery(attempt);
        delivery.id = "order-1@1700000000000000";
        delivery.lastFailure = new FailureRecord("E", "known", "r", "h", 3, Instant.EPOCH, "failed").encode();
        return delivery;
    }

    private ExchangeCompletion completion(RecordingDelivery delivery) {
        return new ExchangeCompletion(admit(delivery));
    }

    private DeliveryCompletion admit(RecordingDelivery delivery) {
        return DeliveryCompletion.admit(delivery, policy, report, "route", finished::incrementAndGet);
    }

    @Test
    void should_remove_what_succeeded() {
        RecordingDelivery delivery = delivery(1);
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("acknowledge");
    }

    @Test
    void should_return_what_fails_for_ever_and_keep_its_first_failure() {
        exchange.setException(new IllegalStateException("store is down"));
        for (int attempt : new int[] {1, 100, Integer.MAX_VALUE}) {
            RecordingDelivery delivery = delivery(attempt);
            completion(delivery).onFailure(exchange);
            assertThat(delivery.calls).containsExactly(attempt == 1 ? "retry in PT10S" : "retry in PT5M");
            assertThat(delivery.failure).contains("known").doesNotContain("store is down");
        }
        assertThat(report.count(Meters.Event.RETRIED)).isEqualTo(3);
    }

    @Test
    void should_return_it_after_the_delay_that_the_route_asked_for() {
        RecordingDelivery delivery = delivery(50);
        exchange.setProperty(RedisDelayConstants.RETRY_AFTER, "2s");
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("retry in PT2S");
    }

    @Test
    void should_keep_it_when_its_route_gives_up() {
        RecordingDelivery delivery = delivery(1);
        exchange.getMessage().setHeader(RedisDelayConstants.DEAD_LETTER_REASON, "again");
        completion(delivery).onComplete(exchange);
        assertThat(delivery.calls).containsExactly("retry in PT10S");
    }

    @Test
    void should_not_begin_one_that_kills_its_consumers() {
        RecordingDelivery once = delivery(2);
        once.lostLeases = 1;
        assertThat(admit(once)).isNotNull();
        RecordingDelivery twice = delivery(3);
        twice.lostLeases = 2;
        assertThat(admit(twice)).isNull();
        assertThat(twice.calls).containsExactly("retry in PT5M");
        assertThat(twice.failure).contains("known");
        assertThat(finished).hasValue(1);
    }

    @Test
    void should_hand_over_what_cannot_be_read() {
        RecordingDelivery delivery = delivery(1);
        delivery.body = new byte[] {1, 2};
        DeliveryCompletion message = admit(delivery);
        assertThat(message.envelope()).isNull();
        assertThat(message.isOfDeadLetters()).isTrue();
    }
}
