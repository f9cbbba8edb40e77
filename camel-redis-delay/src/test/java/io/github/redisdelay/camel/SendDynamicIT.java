// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;

/** {@code toD} with options that differ for each message. */
class SendDynamicIT extends CamelRedisIT {

    private void startWith(String options) throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").toD("redis-delay:" + queue + "-${header.tenant}?" + options);
            }
        });
    }

    private List<String> endpoints() {
        return context.getEndpoints().stream()
                .filter(RedisDelayEndpoint.class::isInstance)
                .map(Endpoint::getEndpointUri)
                .toList();
    }

    private static Duration delay(Exchange sent) {
        assertThat(sent.getException()).isNull();
        return Duration.ofMillis(sent.getMessage().getHeader(RedisDelayConstants.DUE_TIME, long.class)
                - sent.getMessage().getHeader(RedisDelayConstants.SCHEDULED_TIME, long.class));
    }

    @Test
    void should_make_one_endpoint_for_a_queue_and_not_one_for_each_delay() throws Exception {
        startWith("delay=${header.wait}m&maximumQueueLength=5000");
        for (int i = 1; i <= 1000; i++) {
            Exchange sent = send("direct:in", "x", Map.of("tenant", i % 10, "wait", i));
            assertThat(delay(sent)).isEqualTo(Duration.ofMinutes(i));
            assertThat(sent.getMessage().getHeaders()).doesNotContainKey(RedisDelayConstants.DELAY);
        }
        assertThat(endpoints()).hasSize(10).allMatch(made -> made.endsWith("?maximumQueueLength=5000"));
    }

    @Test
    void should_take_all_that_is_of_the_message_as_its_headers() throws Exception {
        startWith("deliverAt=2100-01-31T10:15:00+01:00&priority=${header.p}&timeToLive=1h&deduplicationPeriod=2h");
        Exchange sent = send("direct:in", "x", Map.of("tenant", 1, "p", 7, "CamelRedisDelayScheduleId", "a"));
        assertThat(sent.getException()).isNull();
        var stored = outside.queue(queue + "-1").get("a").join().orElseThrow();
        assertThat(stored.info().dueMicros()).isEqualTo(4_105_070_100_000_000L);
        assertThat(stored.info().priority()).isEqualTo(7);
        assertThat(io.github.redisdelay.queue.envelope.Envelope.decode(stored.body())
                        .settings())
                .isEqualTo(new io.github.redisdelay.queue.envelope.Envelope.Settings(
                        Duration.ofHours(2), Duration.ofHours(1), null));
        assertThat(endpoints()).containsExactly("redis-delay://" + queue + "-1");
    }

    @Test
    void should_let_a_header_of_the_message_win() throws Exception {
        startWith("delay=1h&priority=3");
        assertThat(delay(send("direct:in", "x", Map.of("tenant", 1, "camelRedisDelayDelay", "5m"))))
                .isEqualTo(Duration.ofMinutes(5));
        Exchange sent = send("direct:in", "x", Map.of("tenant", 1, "CamelRedisDelayDeliverAt", "2100-01-31T10:15:00Z"));
        assertThat(sent.getMessage().getHeader(RedisDelayConstants.DUE_TIME)).isEqualTo(4_105_073_700_000L);
    }

    @Test
    void should_name_the_header_of_an_option_that_is_wrong_and_leave_none_behind() throws Exception {
        startWith("delay=${header.wait}");
        Exchange sent = send("direct:in", "x", Map.of("tenant", 1, "wait", "soon"));
        assertThat(sent.getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("header 'CamelRedisDelayDelay' 'soon' is no duration");
        assertThat(sent.getMessage().getHeaders()).containsOnlyKeys("tenant", "wait");
    }

    @Test
    void should_leave_no_header_behind_where_the_step_has_failed() throws Exception {
        startWith("delay=1h&maximumQueueLength=1");
        assertThat(delay(send("direct:in", "x", Map.of("tenant", 1)))).isEqualTo(Duration.ofHours(1));
        Exchange full = send("direct:in", "x", Map.of("tenant", 1));
        assertThat(full.getException()).isNotNull();
        assertThat(full.getMessage().getHeaders()).containsOnlyKeys("tenant");
    }

    @Test
    void should_use_a_raw_uri_as_it_is() throws Exception {
        startWith("delay=RAW(1h)");
        assertThat(delay(send("direct:in", "x", Map.of("tenant", 1)))).isEqualTo(Duration.ofHours(1));
        assertThat(endpoints()).hasSize(1);
    }

    @Test
    void should_keep_the_delay_for_its_own_queue_where_an_interceptor_sends_the_message_to_others_first()
            throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                interceptSendToEndpoint("redis-delay:" + queue + "-1*")
                        .to("redis-delay:" + queue + "-audit")
                        .toD("redis-delay:" + queue + "-later?delay=${header.wait}0");
                from("direct:in").toD("redis-delay:" + queue + "-1?delay=${header.wait}");
            }
        });
        Exchange sent = send("direct:in", "x", Map.of("wait", "1000000", "CamelRedisDelayScheduleId", "a"));
        assertThat(delay(sent)).isEqualTo(Duration.ofMillis(1_000_000));
        assertThat(sent.getProperties()).doesNotContainKey("CamelRedisDelayStepOptions");
        assertThat(storedDelay("audit")).isZero();
        assertThat(storedDelay("later")).isEqualTo(Duration.ofMillis(10_000_000));
        assertThat(storedDelay("1")).isEqualTo(Duration.ofMillis(1_000_000));
    }

    private Duration storedDelay(String kind) {
        var stored = outside.queue(queue + "-" + kind).get("a").join().orElseThrow();
        return Duration.of(stored.info().dueMicros() - stored.scheduledMicros(), ChronoUnit.MICROS);
    }
}
