// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.redisdelay.queue.DueTime;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {

    private static final String OPTION = "option 'delay'";
    private static final String HEADER = "header CamelRedisDelayDelay";
    private static final String AT = "header CamelRedisDelayDeliverAt";
    private static final Instant TIME = Instant.parse("2030-01-31T10:15:00Z");

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "007, 7",
        "1800000, 1800000",
        "9007199254740, 9007199254740",
        "0s, 0",
        "1ms, 1",
        "500ms, 500",
        "5s, 5000",
        "30m, 1800000",
        "2h, 7200000",
        "1d, 86400000",
        "90m, 5400000",
        "1h30m, 5400000",
        "1m30s, 90000",
        "1s5ms, 1005",
        "1m5ms, 60005",
        "1d1ms, 86400001",
        "1d2h3m4s5ms, 93784005",
        "104249d, 9007113600000",
        "PT30M, 1800000",
        "PT0S, 0",
        "PT0.5S, 500",
        "P1DT2H, 93600000",
        "pt1h, 3600000",
    })
    void reads_a_duration(String text, long millis) {
        assertThat(Durations.of(HEADER, text)).isEqualTo(Duration.ofMillis(millis));
        assertThat(Durations.of(HEADER, new StringBuilder(text))).isEqualTo(Duration.ofMillis(millis));
    }

    @Test
    void reads_parts_of_a_millisecond_in_iso_8601() {
        assertThat(Durations.of(OPTION, "PT0.000000001S")).isEqualTo(Duration.ofNanos(1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                " ",
                "-5s",
                "+5s",
                "-5",
                "+5",
                "2M",
                "5S",
                "5H",
                "1D",
                "5MS",
                "5Ms",
                "1w",
                "1y",
                "1M",
                "5us",
                "5ns",
                "1h-30m",
                "1h+30m",
                "1m30",
                "130m5",
                "30m 5s",
                " 30m",
                "30m ",
                "30 m",
                "30m\n",
                "1s1m",
                "1m1h",
                "1h1d",
                "1ms1s",
                "1m1m",
                "1s1s",
                "1h1h",
                "1d1d",
                "1ms1ms",
                "m",
                "ms",
                "s",
                "d",
                "hm",
                "1.5h",
                "1,5h",
                "0.5",
                "1e3",
                "1_000",
                "0x10",
                "5 minutes",
                "5min",
                "5sec",
                "1hour",
                "NaN",
                "null",
                "infinity",
                "abc",
                "${delay}",
                "{{delay}}",
                "30m,1h",
                "٣s",
                "５s",
                "٣",
                "P",
                "PT",
                "P1DT",
                "PT-5S",
                "-PT5S",
                "+PT5S",
                "PT+5S",
                "PT1H-30M",
                "P1Y",
                "P1M",
                "P1W",
                "PT5",
                "PT5m5",
                "T5S",
                "1PT5S",
                "PT0.0000000001S",
                "PT5S ",
                "9007199254741",
                "9223372036854775807",
                "9223372036854775808",
                "99999999999999999999999999999999",
                "9007199254741ms",
                "9223372036854775807ms",
                "9223372036854775808s",
                "9223372036854775807s",
                "9223372036854775807d",
                "106751991168d",
                "104250d",
                "1s9223372036854775807ms",
                "18446744073709551616ms",
                "PT9007199254.740992S",
                "PT9007199254.7409911S",
                "PT9223372036854775807S",
                "PT9223372036854775808S",
                "P106751991167301D",
                "PT9223372036854775807H"
            })
    void refuses_what_is_no_duration(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.of(OPTION, text))
                .withMessageStartingWith("option 'delay' '" + text.replace('\n', '?')
                        + "' is no duration of at most 104249 days: write 1d2h3m4s5ms")
                .withMessageContaining("PT30M")
                .withMessageContaining("milliseconds");
    }

    @Test
    void refuses_nothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.of(OPTION, ""))
                .withMessageStartingWith("option 'delay' '' is no duration");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.of(OPTION, null))
                .withMessageStartingWith("option 'delay' 'null' is no duration");
    }

    @Test
    void refuses_a_million_digits_at_once_and_shows_a_few() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.of(OPTION, "9".repeat(1_000_000)))
                .withMessageStartingWith("option 'delay' '" + "9".repeat(100) + "…' is no duration");
        assertThatIllegalArgumentException().isThrownBy(() -> Durations.of(OPTION, "9".repeat(1_000_000) + "s"));
        assertThatIllegalArgumentException().isThrownBy(() -> Durations.of(OPTION, "1h".repeat(1_000_000)));
    }

    @Test
    void reads_the_longest_duration() {
        assertThat(Durations.of(OPTION, "PT9007199254.740991S")).isEqualTo(Durations.MAX);
        assertThat(Durations.of(HEADER, Durations.MAX)).isEqualTo(Durations.MAX);
        assertThat(DueTime.after(Durations.MAX).micros()).isEqualTo(DueTime.MAX_MICROS);
    }

    static Stream<Arguments> headerDurations() {
        return Stream.of(
                Arguments.of(Duration.ofNanos(1), Duration.ofNanos(1)),
                Arguments.of(Duration.ZERO, Duration.ZERO),
                Arguments.of(0, Duration.ZERO),
                Arguments.of(1500, Duration.ofMillis(1500)),
                Arguments.of(1500L, Duration.ofMillis(1500)),
                Arguments.of((short) 1500, Duration.ofMillis(1500)),
                Arguments.of((byte) 15, Duration.ofMillis(15)),
                Arguments.of(1500.0d, Duration.ofMillis(1500)),
                Arguments.of(1500.0f, Duration.ofMillis(1500)),
                Arguments.of(-0.0d, Duration.ZERO),
                Arguments.of(new BigDecimal("1500.00"), Duration.ofMillis(1500)),
                Arguments.of(new BigDecimal("15E+2"), Duration.ofMillis(1500)),
                Arguments.of(BigInteger.valueOf(1500), Duration.ofMillis(1500)),
                Arguments.of(new AtomicLong(1500), Duration.ofMillis(1500)),
                Arguments.of(new AtomicInteger(1500), Duration.ofMillis(1500)),
                Arguments.of(9_007_199_254_740L, Duration.ofMillis(9_007_199_254_740L)));
    }

    @ParameterizedTest
    @MethodSource("headerDurations")
    void reads_a_duration_from_a_header(Object value, Duration expected) {
        assertThat(Durations.of(HEADER, value)).isEqualTo(expected);
    }

    static Stream<Object> wrongHeaderDurations() {
        return Stream.of(
                Duration.ofNanos(-1),
                Durations.MAX.plusNanos(1),
                Duration.ofSeconds(Long.MAX_VALUE),
                Duration.ofSeconds(Long.MIN_VALUE),
                -1,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                9_007_199_254_741L,
                0.5d,
                0.5f,
                -0.5d,
                1e300,
                -1e300,
                Double.NaN,
                Float.NaN,
                Double.POSITIVE_INFINITY,
                Float.NEGATIVE_INFINITY,
                new BigDecimal("0.1"),
                new BigDecimal("1E-999999999"),
                new BigDecimal("1E+999999999"),
                BigInteger.TWO.pow(64),
                BigInteger.TWO.pow(64).negate(),
                Period.ofDays(1),
                Instant.EPOCH,
                true,
                new byte[0],
                List.of("5s"),
                "",
                "-5s",
                "+5s",
                "-PT5S",
                " 5s");
    }

    @ParameterizedTest
    @MethodSource("wrongHeaderDurations")
    void refuses_a_wrong_duration_in_a_header(Object value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.of(HEADER, value))
                .withMessageStartingWith("header CamelRedisDelayDelay '")
                .withMessageContaining("' is no duration of at most 104249 days: write 1d2h3m4s5ms");
    }

    @Test
    void reads_a_list() {
        assertThat(Durations.list("option 'redeliveryDelays'", "15s,3m,10m"))
                .containsExactly(Duration.ofSeconds(15), Duration.ofMinutes(3), Duration.ofMinutes(10));
        assertThat(Durations.list("option 'redeliveryDelays'", "15s, PT3M ,\n 600000"))
                .containsExactly(Duration.ofSeconds(15), Duration.ofMinutes(3), Duration.ofMinutes(10));
        assertThat(Durations.list("option 'redeliveryDelays'", "0")).containsExactly(Duration.ZERO);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''       | ''
                    ' '      | ''
                    ,        | ''
                    15s,     | ''
                    ,15s     | ''
                    15s,,3m  | ''
                    15s;3m   | 15s;3m
                    15s 3m   | 15s 3m
                    15s,-3m  | -3m
                    15s,3M   | 3M
                    """)
    void refuses_a_wrong_list(String text, String part) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.list("option 'redeliveryDelays'", text))
                .withMessageStartingWith("option 'redeliveryDelays' '" + part + "' is no duration");
    }

    @Test
    void reads_a_list_of_durations_from_a_header_and_refuses_an_empty_one() {
        assertThat(Durations.list(HEADER, List.of("15s ", 500, Duration.ofMinutes(3))))
                .containsExactly(Duration.ofSeconds(15), Duration.ofMillis(500), Duration.ofMinutes(3));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.list(HEADER, List.of()))
                .withMessageStartingWith("header CamelRedisDelayDelay '' is no duration");
    }

    static Stream<Object> times() {
        Calendar calendar = new GregorianCalendar(TimeZone.getTimeZone("Asia/Tokyo"));
        calendar.setTimeInMillis(TIME.toEpochMilli());
        return Stream.of(
                TIME,
                Date.from(TIME),
                java.sql.Timestamp.from(TIME),
                calendar,
                ZonedDateTime.ofInstant(TIME, ZoneId.of("Europe/Berlin")),
                OffsetDateTime.parse("2030-01-31T05:15:00-05:00"),
                TIME.toEpochMilli(),
                (double) TIME.toEpochMilli(),
                BigDecimal.valueOf(TIME.toEpochMilli()),
                new AtomicLong(TIME.toEpochMilli()),
                "2030-01-31T10:15:00Z",
                "2030-01-31T10:15Z",
                "2030-01-31T10:15:00.000Z",
                "2030-01-31T11:15:00+01:00",
                "2030-01-31T11:15:00+01:00[Europe/Berlin]",
                "2030-01-31T05:15:00-05:00",
                "2030-01-31T11:15:00 01:00", // a + that was decoded in a URI
                "2030-01-31T11:15 01:00[Europe/Berlin]",
                new StringBuilder("2030-01-31T10:15:00Z"),
                "1896084900000");
    }

    @ParameterizedTest
    @MethodSource("times")
    void reads_a_delivery_time(Object value) {
        assertThat(Durations.instant(AT, value)).isEqualTo(TIME);
    }

    @Test
    void keeps_the_nanoseconds_of_a_delivery_time() {
        Instant time = TIME.plusNanos(123_456_789);

        assertThat(Durations.instant(AT, time)).isEqualTo(time);
        assertThat(Durations.instant(AT, java.sql.Timestamp.from(time))).isEqualTo(time);
        assertThat(Durations.instant(AT, "2030-01-31T10:15:00.123456789Z")).isEqualTo(time);
    }

    @Test
    void reads_the_first_and_the_last_delivery_time() {
        assertThat(Durations.instant(AT, Instant.EPOCH)).isEqualTo(Instant.EPOCH);
        assertThat(Durations.instant(AT, new Date(0))).isEqualTo(Instant.EPOCH);
        assertThat(Durations.instant(AT, "1970-01-01T00:00:00Z")).isEqualTo(Instant.EPOCH);
        assertThat(Durations.instant(AT, 100_000_000_000L)).isEqualTo(Instant.parse("1973-03-03T09:46:40Z"));
        assertThat(Durations.instant(AT, Durations.LAST)).isEqualTo(Durations.LAST);
        assertThat(Durations.instant(AT, "2255-06-05T23:47:34.740991Z")).isEqualTo(Durations.LAST);
        assertThat(DueTime.at(Durations.LAST).micros()).isEqualTo(DueTime.MAX_MICROS);
    }

    static Stream<Object> wrongTimes() {
        return Stream.of(
                "",
                LocalDateTime.parse("2030-01-31T10:15:00"),
                LocalDate.parse("2030-01-31"),
                LocalTime.NOON,
                "2030-01-31T10:15:00",
                "2030-01-31T10:15",
                "2030-01-31",
                "2030-01-31T10:15:00[Europe/Berlin]",
                "2030-01-31 10:15:00Z",
                "2030-01-31 10:15:00 01:00",
                "2030-01-31T10:15:00  01:00",
                "2030-01-31T10:15:00 01",
                "2030-01-31 01:00",
                "2030-02-30T10:15:00 01:00",
                1_900_000_000L,
                "1900000000",
                99_999_999_999L,
                1,
                0,
                "0",
                "2030-02-30T10:15:00Z",
                "2030-01-31T25:15:00Z",
                "2030-01-31T10:15:00Z ",
                "10:15",
                "tomorrow",
                "30m",
                "PT30M",
                "-5",
                "1.5e12",
                "9007199254741",
                "9".repeat(50),
                -1,
                Long.MAX_VALUE,
                Long.MIN_VALUE,
                new BigDecimal("1E+999999999"),
                1.5d,
                Double.NaN,
                new Date(Long.MAX_VALUE),
                new Date(-1),
                Instant.MAX,
                Instant.MIN,
                Durations.LAST.plusNanos(1),
                "1969-12-31T23:59:59Z",
                "+999999999-12-31T23:59:59Z",
                new java.sql.Date(0),
                new java.sql.Time(0),
                Duration.ofMinutes(30),
                true);
    }

    @ParameterizedTest
    @MethodSource("wrongTimes")
    void refuses_a_wrong_delivery_time(Object value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Durations.instant(AT, value))
                .withMessageStartingWith("header CamelRedisDelayDeliverAt '")
                .withMessageContaining("' is no time up to the year 2255: give ISO-8601 with an offset")
                .withMessageContaining("fewer than 100000000000 look like seconds");
    }
}
