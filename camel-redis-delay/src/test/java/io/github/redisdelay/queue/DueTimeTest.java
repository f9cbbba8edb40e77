// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Due times are exact, rounded up, and refused where they cannot be exact. */
class DueTimeTest {

    private static final Duration LONGEST = Duration.of(DueTime.MAX_MICROS, ChronoUnit.MICROS);

    @Test
    void should_take_delays_from_zero_to_the_largest_exact_number_of_microseconds() {
        assertThat(DueTime.after(Duration.ZERO)).isEqualTo(DueTime.now());
        assertThat(DueTime.after(Duration.ofMillis(30))).isEqualTo(new DueTime(true, 30_000));
        assertThat(DueTime.after(LONGEST).micros()).isEqualTo(9_007_199_254_740_991L);
    }

    @Test
    void should_round_a_delay_up_to_microseconds() {
        assertThat(DueTime.after(Duration.ofNanos(1)).micros()).isEqualTo(1);
        assertThat(DueTime.after(Duration.ofNanos(1_000)).micros()).isEqualTo(1);
        assertThat(DueTime.after(Duration.ofNanos(1_001)).micros()).isEqualTo(2);
        assertThat(DueTime.after(Duration.ofSeconds(1, 999_999_999)).micros()).isEqualTo(2_000_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PT-0.000000001S",
                "PT-1S",
                "P-1D",
                "PT9007199254.740991001S",
                "PT9007199254.740992S",
                "PT9007199254.999999999S",
                "PT9007199255S",
                "PT2562047788015215H"
            })
    void should_refuse_a_delay_that_is_negative_or_beyond_the_exact_range(String delay) {
        Duration duration = Duration.parse(delay);
        assertThatThrownBy(() -> DueTime.after(duration))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("delay")
                .hasMessageContaining("out of range");
        assertThatThrownBy(() -> DueTime.toMicros(duration))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("out of range");
    }

    @Test
    void should_take_times_from_1970_to_2255_rounded_up_to_microseconds() {
        assertThat(DueTime.at(Instant.EPOCH)).isEqualTo(new DueTime(false, 0));
        assertThat(DueTime.at(Instant.parse("2030-01-01T00:00:00.000001Z")).micros())
                .isEqualTo(1_893_456_000_000_001L);
        assertThat(DueTime.at(Instant.parse("2030-01-01T00:00:00.000000001Z")).micros())
                .isEqualTo(1_893_456_000_000_001L);
        assertThat(DueTime.at(Instant.EPOCH.plus(LONGEST)).micros()).isEqualTo(DueTime.MAX_MICROS);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1969-12-31T23:59:59.999999Z",
                "0000-01-01T00:00:00Z",
                "2255-06-05T23:47:34.740991001Z",
                "2255-06-06T00:00:00Z",
                "9999-12-31T00:00:00Z",
                "+1000000000-12-31T23:59:59.999999999Z",
                "-1000000000-01-01T00:00:00Z"
            })
    void should_refuse_a_time_before_1970_or_beyond_the_exact_range(String time) {
        assertThatThrownBy(() -> DueTime.at(Instant.parse(time)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("delivery time")
                .hasMessageContaining("2255-06-05");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, DueTime.MAX_MICROS + 1, Long.MAX_VALUE})
    void should_refuse_microseconds_out_of_range(long micros) {
        assertThatThrownBy(() -> new DueTime(true, micros))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("delay of " + micros);
        assertThatThrownBy(() -> new DueTime(false, micros))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("delivery time of " + micros);
    }
}
