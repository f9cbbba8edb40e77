// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.redelivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.apache.camel.Message;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageRetryPolicyTest {

    private static final RetryPolicy DELAYS =
            new RetryPolicy(9, Duration.ofSeconds(10), 2, Duration.ofHours(1), 0.15, List.of());
    private static final RetryPolicy STEPS = new RetryPolicy(
            2,
            Duration.ofSeconds(10),
            2,
            Duration.ofHours(1),
            0.15,
            List.of(Duration.ofSeconds(1), Duration.ofSeconds(2)));

    private static Message message(Object... headers) {
        Message message = new DefaultMessage(new DefaultCamelContext());
        for (int i = 0; i < headers.length; i += 2) {
            message.setHeader((String) headers[i], headers[i + 1]);
        }
        return message;
    }

    private static String encoded(Object... headers) {
        return MessageRetryPolicy.ofHeaders(message(headers)).encode();
    }

    @Test
    void should_refuse_a_delay_and_steps() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> encoded(
                        RedisDelayConstants.REDELIVERY_DELAY, "2h", RedisDelayConstants.REDELIVERY_DELAYS, "1h,2h"))
                .withMessageContaining("are both set: set one of them");
    }

    @Test
    void should_refuse_a_delay_longer_than_the_longest_one() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> encoded(
                        RedisDelayConstants.REDELIVERY_DELAY, "2h", RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY, "1h"))
                .withMessageContaining("header 'CamelRedisDelayRedeliveryDelay' is PT2H, longer than header"
                        + " 'CamelRedisDelayMaximumRedeliveryDelay', which is PT1H");
    }

    @Test
    void should_be_none_where_no_header_asks_for_one() {
        assertThat(MessageRetryPolicy.ofHeaders(message("other", 1))).isNull();
    }

    @Test
    void should_store_what_the_headers_say_in_milliseconds() {
        assertThat(encoded(
                        RedisDelayConstants.MAXIMUM_REDELIVERIES,
                        5,
                        RedisDelayConstants.REDELIVERY_DELAY,
                        Duration.ofSeconds(90),
                        RedisDelayConstants.BACK_OFF_MULTIPLIER,
                        1.5,
                        RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY,
                        "1h"))
                .isEqualTo("maximumRedeliveries=5;redeliveryDelay=90000;backOffMultiplier=1.5;"
                        + "maximumRedeliveryDelay=3600000");
        assertThat(encoded(RedisDelayConstants.REDELIVERY_DELAYS, "15s, 3m,PT10M,250"))
                .isEqualTo("redeliveryDelays=15000,180000,600000,250");
    }

    @Test
    void should_read_the_types_that_a_route_sets() {
        assertThat(encoded(RedisDelayConstants.MAXIMUM_REDELIVERIES, "-1")).isEqualTo("maximumRedeliveries=-1");
        assertThat(encoded(RedisDelayConstants.MAXIMUM_REDELIVERIES, 3L)).isEqualTo("maximumRedeliveries=3");
        assertThat(encoded(RedisDelayConstants.BACK_OFF_MULTIPLIER, "2")).isEqualTo("backOffMultiplier=2.0");
        assertThat(encoded(RedisDelayConstants.BACK_OFF_MULTIPLIER, 3)).isEqualTo("backOffMultiplier=3.0");
        assertThat(encoded(RedisDelayConstants.REDELIVERY_DELAYS, List.of("1s", 2000, Duration.ofSeconds(3))))
                .isEqualTo("redeliveryDelays=1000,2000,3000");
        assertThat(encoded(RedisDelayConstants.REDELIVERY_DELAYS, Duration.ofSeconds(3)))
                .isEqualTo("redeliveryDelays=3000");
    }

    @Test
    void should_refuse_a_header_by_its_name_and_value() {
        refused(RedisDelayConstants.MAXIMUM_REDELIVERIES, -2, "-2");
        refused(RedisDelayConstants.MAXIMUM_REDELIVERIES, "many", "many");
        refused(RedisDelayConstants.MAXIMUM_REDELIVERIES, 1.5, "1.5");
        refused(RedisDelayConstants.MAXIMUM_REDELIVERIES, 3_000_000_000L, "3000000000");
        refused(RedisDelayConstants.REDELIVERY_DELAY, "-5s", "-5s");
        refused(RedisDelayConstants.REDELIVERY_DELAY, "soon", "soon");
        refused(RedisDelayConstants.BACK_OFF_MULTIPLIER, 0.5, "0.5");
        refused(RedisDelayConstants.BACK_OFF_MULTIPLIER, Double.NaN, "NaN");
        refused(RedisDelayConstants.BACK_OFF_MULTIPLIER, "Infinity", "Infinity");
        refused(RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY, -1, "-1");
        refused(RedisDelayConstants.REDELIVERY_DELAYS, "1s,,2s", "'' is no duration");
        refused(RedisDelayConstants.REDELIVERY_DELAYS, "1s;2s", "1s;2s");
        refused(RedisDelayConstants.REDELIVERY_DELAYS, List.of(), "'' is no duration");
        refused(RedisDelayConstants.REDELIVERY_DELAYS, Arrays.asList("1s", null), "null");
    }

    private static void refused(String header, Object value, String shown) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MessageRetryPolicy.ofHeaders(message(header, value)))
                .withMessageContaining("header '" + header + "'")
                .withMessageContaining(shown);
    }

    @Test
    void should_show_a_value_without_control_characters_and_not_at_any_length() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> encoded(RedisDelayConstants.MAXIMUM_REDELIVERIES, "a\nb" + "x".repeat(1000)))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n").hasSizeLessThan(300));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "maximumRedeliveries=5",
                "maximumRedeliveries=-1;redeliveryDelay=0",
                "redeliveryDelay=90000;backOffMultiplier=1.5;maximumRedeliveryDelay=3600000",
                "maximumRedeliveries=5;redeliveryDelays=15000,180000,600000",
                "backOffMultiplier=1.0E300"
            })
    void should_read_what_is_stored(String text) {
        assertThat(MessageRetryPolicy.parse(text).encode()).isEqualTo(text);
    }

    @Test
    void should_read_the_pairs_in_any_order() {
        assertThat(MessageRetryPolicy.parse("redeliveryDelays=1;maximumRedeliveries=5"))
                .isEqualTo(MessageRetryPolicy.parse("maximumRedeliveries=5;redeliveryDelays=1"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "\"\"                                        | must be name=value pairs",
                "maximumRedeliveries                         | must be name=value pairs",
                "maximumRedeliveries=5;                      | must be name=value pairs",
                "maximumRedeliveries=5;maximumRedeliveries=5 | each name once",
                "jitter=0.5                                  | 'jitter', which is not known",
                "MaximumRedeliveries=5                       | 'MaximumRedeliveries', which is not known",
                "maximumRedeliveries=                        | 'maximumRedeliveries' of the message's retry policy",
                "maximumRedeliveries=-2                      | 'maximumRedeliveries' of the message's retry policy",
                "redeliveryDelay=-1                          | 'redeliveryDelay' of the message's retry policy",
                "backOffMultiplier=0                         | 'backOffMultiplier' of the message's retry policy",
                "backOffMultiplier=NaN                       | 'backOffMultiplier' of the message's retry policy",
                "redeliveryDelays=                           | 'redeliveryDelays' of the message's retry policy",
                "redeliveryDelays=1,,2                       | 'redeliveryDelays' of the message's retry policy",
                "redeliveryDelay=9007199254740992            | 'redeliveryDelay' of the message's retry policy",
            })
    void should_refuse_what_is_not_known(String text, String problem) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MessageRetryPolicy.parse(text))
                .withMessageContaining(problem);
    }

    @Test
    void should_take_the_place_of_the_options_of_the_same_names_and_leave_the_others() {
        assertThat(DELAYS.with("maximumRedeliveries=3"))
                .isEqualTo(new RetryPolicy(3, Duration.ofSeconds(10), 2, Duration.ofHours(1), 0.15, List.of()));
        assertThat(DELAYS.with("redeliveryDelay=5000;backOffMultiplier=1.0;maximumRedeliveryDelay=6000"))
                .isEqualTo(new RetryPolicy(9, Duration.ofSeconds(5), 1, Duration.ofSeconds(6), 0.15, List.of()));
    }

    @Test
    void should_let_the_number_of_its_steps_be_the_maximum_unless_it_has_one() {
        RetryPolicy three = DELAYS.with("redeliveryDelays=1,2,3");
        assertThat(three.maximumRedeliveries()).isEqualTo(3);
        assertThat(three.redeliveryDelays())
                .containsExactly(Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofMillis(3));

        RetryPolicy repeated = STEPS.with("redeliveryDelays=1,2,3;maximumRedeliveries=50");
        assertThat(repeated.maximumRedeliveries()).isEqualTo(50);
        assertThat(repeated.redeliveryDelays()).hasSize(3);
    }

    @Test
    void should_set_the_consumers_steps_aside_only_by_a_delay_of_its_own() {
        assertThat(STEPS.with("maximumRedeliveries=50").redeliveryDelays()).isEqualTo(STEPS.redeliveryDelays());
        assertThat(STEPS.with("redeliveryDelay=5000").redeliveryDelays()).isEmpty();
    }

    @Test
    void should_count_where_it_does_not_fit_the_consumers_longest_or_shortest_delay() {
        RetryPolicy longer = DELAYS.with("redeliveryDelay=7200000");
        assertThat(longer.redeliveryDelay()).isEqualTo(Duration.ofHours(2));
        assertThat(longer.maximumRedeliveryDelay()).isEqualTo(Duration.ofHours(2));

        RetryPolicy shorter = DELAYS.with("maximumRedeliveryDelay=1000");
        assertThat(shorter.redeliveryDelay()).isEqualTo(Duration.ofSeconds(1));
        assertThat(shorter.maximumRedeliveryDelay()).isEqualTo(Duration.ofSeconds(1));
    }
}
