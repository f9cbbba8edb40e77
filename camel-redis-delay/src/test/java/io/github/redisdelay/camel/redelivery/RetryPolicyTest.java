// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.redelivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.camel.OptionReader;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.option.Durations;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {

    /** nextDouble() gives 0.5, which is in the middle. */
    private static final RandomGenerator MIDDLE = () -> 1L << 63;

    private static final RandomGenerator LOWEST = () -> 0;

    private static RetryPolicy policy(Consumer<RedisDelayConfiguration> options) {
        RedisDelayConfiguration configuration = new RedisDelayConfiguration();
        options.accept(configuration);
        return new OptionReader(configuration).retries();
    }

    private static List<Duration> delays(RetryPolicy policy, int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(attempt -> policy.delayAfter(attempt, MIDDLE))
                .toList();
    }

    @Test
    void should_double_from_ten_seconds_to_an_hour_by_default() {
        assertThat(delays(policy(options -> {}), 10).stream().map(Duration::toSeconds))
                .containsExactly(10L, 20L, 40L, 80L, 160L, 320L, 640L, 1280L, 2560L, 3600L);
    }

    @Test
    void should_give_up_after_nine_redeliveries_by_default() {
        RetryPolicy policy = policy(options -> {});
        assertThat(policy.isLast(9)).isFalse();
        assertThat(policy.isLast(10)).isTrue();
        assertThat(policy.isExceeded(10)).isFalse();
        assertThat(policy.isExceeded(11)).isTrue();
    }

    @Test
    void should_never_give_up_if_the_maximum_is_minus_one() {
        RetryPolicy policy = policy(options -> options.setMaximumRedeliveries(-1));
        assertThat(policy.isLast(Integer.MAX_VALUE)).isFalse();
        assertThat(policy.isExceeded(Integer.MAX_VALUE)).isFalse();
        assertThat(policy.delayAfter(Integer.MAX_VALUE, MIDDLE)).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void should_not_keep_Redis_busy_with_what_always_fails() {
        RetryPolicy policy = policy(options -> {
            options.setMaximumRedeliveries(-1);
            options.setRedeliveryDelay("0");
        });
        assertThat(delays(policy, 12).stream().map(Duration::toMillis))
                .containsExactly(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 10L, 10L, 10L);
        assertThat(RetryPolicy.withPause(Duration.ofMillis(11), 1_000)).isEqualTo(Duration.ofMillis(11));
    }

    @Test
    void should_not_redeliver_if_the_maximum_is_zero() {
        RetryPolicy policy = policy(options -> options.setMaximumRedeliveries(0));
        assertThat(policy.isLast(1)).isTrue();
        assertThat(policy.isExceeded(1)).isFalse();
        assertThat(policy.isExceeded(2)).isTrue();
    }

    @Test
    void should_take_the_steps_and_their_number_as_the_maximum() {
        RetryPolicy policy = policy(options -> options.setRedeliveryDelays("15s, 3m, 15h"));
        assertThat(delays(policy, 3))
                .containsExactly(Duration.ofSeconds(15), Duration.ofMinutes(3), Duration.ofHours(15));
        assertThat(policy.isLast(3)).isFalse();
        assertThat(policy.isLast(4)).isTrue();
    }

    @Test
    void should_repeat_the_last_step_up_to_an_explicit_maximum() {
        RetryPolicy policy = policy(options -> {
            options.setRedeliveryDelays("1s,2s");
            options.setMaximumRedeliveries(4);
        });
        assertThat(delays(policy, 4).stream().map(Duration::toSeconds)).containsExactly(1L, 2L, 2L, 2L);
        assertThat(policy.isLast(4)).isFalse();
        assertThat(policy.isLast(5)).isTrue();
    }

    @Test
    void should_spread_delays_by_the_jitter() {
        RetryPolicy policy = policy(options -> {});
        assertThat(policy.delayAfter(1, LOWEST)).isEqualTo(Duration.ofMillis(8_500));
        RandomGenerator random = RandomGenerator.of("L64X128MixRandom");
        assertThat(IntStream.range(0, 1000).mapToObj(i -> policy.delayAfter(1, random)))
                .allMatch(delay -> delay.toMillis() >= 8_500 && delay.toMillis() <= 11_500)
                .anyMatch(delay -> delay.toMillis() < 9_000)
                .anyMatch(delay -> delay.toMillis() > 11_000);
    }

    @Test
    void should_stay_within_the_exact_range_whatever_the_numbers_are() {
        RetryPolicy policy = policy(options -> {
            options.setRedeliveryDelay("100000d");
            options.setMaximumRedeliveryDelay("104000d");
            options.setRedeliveryJitter(1);
            options.setBackOffMultiplier(1e300);
        });
        assertThat(policy.delayAfter(1000, () -> -1L)).isEqualTo(Duration.ofMillis(Durations.MAX.toMillis()));
    }

    @Test
    void should_name_option_and_value_of_what_cannot_be() {
        bad(options -> options.setMaximumRedeliveries(-2), "option 'maximumRedeliveries' is -2");
        bad(options -> options.setBackOffMultiplier(0.5), "option 'backOffMultiplier' is 0.5");
        bad(options -> options.setBackOffMultiplier(Double.NaN), "option 'backOffMultiplier' is NaN");
        bad(options -> options.setRedeliveryJitter(1.5), "option 'redeliveryJitter' is 1.5");
        bad(options -> options.setRedeliveryJitter(Double.NaN), "option 'redeliveryJitter' is NaN");
        bad(options -> options.setRedeliveryDelay("2h"), "option 'redeliveryDelay' is PT2H, longer than option");
        bad(options -> options.setRedeliveryDelay("-5s"), "option 'redeliveryDelay' '-5s'");
        bad(options -> options.setMaximumRedeliveryDelay("1w"), "option 'maximumRedeliveryDelay' '1w'");
        bad(options -> options.setRedeliveryDelays("15s,,3m"), "option 'redeliveryDelays'");
        bad(options -> options.setRedeliveryDelays("15s,3M"), "3M");
    }

    private static void bad(Consumer<RedisDelayConfiguration> options, String message) {
        assertThatThrownBy(() -> policy(options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
