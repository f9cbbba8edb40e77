// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.testkit.JavaCommand;
import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** At which times the runs of a recurring schedule are due, and which rules are refused. */
class ScheduleTest {

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    @ParameterizedTest
    @CsvSource({
        // nominal, after, next; in seconds, of an interval of 15 min
        "0, -1, 0",
        "0, 0, 900",
        "0, 899, 900",
        "0, 900, 1800",
        "0, 86400, 87300",
        "100, 90000, 90100",
        "5000, 0, 500",
        "5000, 4999, 5000"
    })
    void should_stay_on_the_grid_of_an_interval(long nominal, long after, long next) {
        assertThat(Schedule.every(Duration.ofMinutes(15)).next(nominal * 1_000_000, after * 1_000_000))
                .isEqualTo(next * 1_000_000);
    }

    @Test
    void should_keep_the_microseconds_of_a_grid() {
        assertThat(Schedule.every(Duration.ofMillis(1_500)).next(1_000_007, 1_000_007))
                .isEqualTo(2_500_007);
    }

    @Test
    void should_remember_the_thousand_rules_that_were_used_last() {
        Schedule used = Schedule.parse("cron 0 2 * * * Europe/Berlin");
        Schedule forgotten = Schedule.parse("cron 0 3 * * * Europe/Berlin");
        for (int seconds = 1; seconds <= 1_000; seconds++) {
            Schedule.parse("every " + seconds + "s");
            assertThat(Schedule.parse(used.encode())).isSameAs(used);
        }
        assertThat(Schedule.parse(forgotten.encode())).isEqualTo(forgotten).isNotSameAs(forgotten);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT0.999S", "PT-1H", "PT1.0001S", "P3651D", "PT2562047788015215H"})
    void should_refuse_an_interval_that_is_too_short_too_long_or_too_fine(String interval) {
        assertThatThrownBy(() -> Schedule.every(Duration.parse(interval)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Duration.parse(interval).toString())
                .hasMessageContaining("from 1 s to 3650 days");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // 2026-11-25 was a Wednesday
                "0 2 * * *        | 2026-11-26T02:00 2026-11-27T02:00 2026-11-28T02:00",
                "*/15 * * * *     | 2026-11-25T10:15 2026-11-25T10:30 2026-11-25T10:45",
                "5-50/20 9,17 * * *| 2026-11-25T17:05 2026-11-25T17:25 2026-11-25T17:45",
                "0 8 * * MON-FRI  | 2026-11-26T08:00 2026-11-27T08:00 2026-11-30T08:00",
                "0 8 * * mon-fri  | 2026-11-26T08:00 2026-11-27T08:00 2026-11-30T08:00",
                "0 0 * * 5-7      | 2026-11-27T00:00 2026-11-28T00:00 2026-11-29T00:00",
                "0 0 * * 0        | 2026-11-29T00:00 2026-12-06T00:00 2026-12-13T00:00",
                "0 0 * * 7        | 2026-11-29T00:00 2026-12-06T00:00 2026-12-13T00:00",
                "0 0 * * 0-2      | 2026-11-29T00:00 2026-11-30T00:00 2026-12-01T00:00",
                "0 0 1 JAN,jul *  | 2027-01-01T00:00 2027-07-01T00:00 2028-01-01T00:00",
                "0 0 L * *        | 2026-11-30T00:00 2026-12-31T00:00 2027-01-31T00:00",
                "0 0 L-3 2 *      | 2027-02-25T00:00 2028-02-26T00:00 2029-02-25T00:00",
                "0 0 LW * *       | 2026-11-30T00:00 2026-12-31T00:00 2027-01-29T00:00",
                "0 0 15W 8 *      | 2027-08-16T00:00 2028-08-15T00:00 2029-08-15T00:00",
                "0 0 * * MON#1    | 2026-12-07T00:00 2027-01-04T00:00 2027-02-01T00:00",
                "0 0 * * FRIL     | 2026-11-27T00:00 2026-12-25T00:00 2027-01-29T00:00",
                "0 0 13 * FRI     | 2026-11-27T00:00 2026-12-04T00:00 2026-12-11T00:00",
                "0 0 */10 * *     | 2026-12-01T00:00 2026-12-11T00:00 2026-12-21T00:00",
                "0 0 * * */3      | 2026-11-28T00:00 2026-11-29T00:00 2026-12-02T00:00",
                "0 0 1-31/10 * MON | 2026-11-30T00:00 2026-12-01T00:00 2026-12-07T00:00",
                "0 9 1-2 * SUN    | 2026-11-29T09:00 2026-12-01T09:00 2026-12-02T09:00",
                "0 0 29 2 *       | 2028-02-29T00:00 2032-02-29T00:00 2036-02-29T00:00",
                "0 0 31 * *       | 2026-12-31T00:00 2027-01-31T00:00 2027-03-31T00:00",
                "*/20 * * * * *   | 2026-11-25T10:00:20 2026-11-25T10:00:40 2026-11-25T10:01",
                "30 0 2 * * *     | 2026-11-26T02:00:30 2026-11-27T02:00:30 2026-11-28T02:00:30",
                "0 0 9 L * *      | 2026-11-30T09:00 2026-12-31T09:00 2027-01-31T09:00",
                "0 0 0 * 2 SUN#5  | 2032-02-29T00:00 2060-02-29T00:00 2088-02-29T00:00"
            })
    void should_follow_a_cron_expression(String expression, String expected) {
        assertThat(times(Schedule.cron(expression, ZoneOffset.UTC), "2026-11-25T10:00:00Z", 3))
                .containsExactly(List.of(expected.split(" ")).stream()
                        .map(each -> LocalDateTime.parse(each).toInstant(ZoneOffset.UTC))
                        .toArray(Instant[]::new));
    }

    /** 29 February on a Sunday: 2088, then 2128, as 2100 is no leap year. */
    @Test
    void should_find_what_comes_again_after_forty_years() {
        assertThat(times(Schedule.cron("0 0 0 * 2 SUN#5", ZoneOffset.UTC), "2089-01-01T00:00:00Z", 1))
                .containsExactly(Instant.parse("2128-02-29T00:00:00Z"));
    }

    @Test
    void should_be_strictly_later_by_a_microsecond_also() {
        Schedule nightly = Schedule.cron("0 2 * * *", ZoneOffset.UTC);
        long two = micros("2026-11-25T02:00:00Z");
        assertThat(nightly.next(0, two - 1)).isEqualTo(two);
        assertThat(nightly.next(0, two)).isEqualTo(micros("2026-11-26T02:00:00Z"));
        assertThat(nightly.next(0, two + 1)).isEqualTo(micros("2026-11-26T02:00:00Z"));
    }

    @Test
    void should_mean_the_time_of_the_zone() {
        assertThat(times(Schedule.cron("0 2 * * *", BERLIN), "2026-03-27T12:00:00Z", 4))
                .containsExactly(
                        Instant.parse("2026-03-28T01:00:00Z"),
                        Instant.parse("2026-03-29T01:00:00Z"), // 02:00 is missing: 03:00
                        Instant.parse("2026-03-30T00:00:00Z"),
                        Instant.parse("2026-03-31T00:00:00Z"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // At 02:00 it becomes 03:00.
                "30 2 * * *    | 2026-03-28T23:00:00Z | 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z",
                "*/20 2 * * *  | 2026-03-28T23:00:00Z | 2026-03-29T01:00:00Z 2026-03-30T00:00:00Z",
                "30 * * * *    | 2026-03-29T00:00:00Z | 2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z",
                "0 * * * *     | 2026-03-28T23:30:00Z | 2026-03-29T00:00:00Z 2026-03-29T01:00:00Z 2026-03-29T02:00:00Z",
                "*/30 * * * *  | 2026-03-29T00:00:00Z | 2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z",
                // At 03:00 it becomes 02:00 again.
                "30 2 * * *    | 2026-10-24T22:00:00Z | 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
                "0,30 2 * * *  | 2026-10-24T22:00:00Z | 2026-10-25T00:00:00Z 2026-10-25T00:30:00Z 2026-10-26T01:00:00Z",
                "30 2 * * *    | 2026-10-25T01:10:00Z | 2026-10-26T01:30:00Z",
                "0 3 * * *     | 2026-10-25T00:30:00Z | 2026-10-25T02:00:00Z 2026-10-26T02:00:00Z",
                "30 * * * *    | 2026-10-25T00:00:00Z | 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z",
                "*/30 2 * * *  | 2026-10-24T22:00:00Z"
                        + " | 2026-10-25T00:00:00Z 2026-10-25T00:30:00Z 2026-10-25T01:00:00Z 2026-10-25T01:30:00Z"
                        + " 2026-10-26T01:00:00Z",
            })
    void should_decide_both_changes_of_the_clock(String expression, String after, String expected) {
        List<Instant> instants =
                List.of(expected.split(" ")).stream().map(Instant::parse).toList();
        assertThat(times(Schedule.cron(expression, BERLIN), after, instants.size()))
                .isEqualTo(instants);
    }

    /** Beside a clock that shows each minute: half hours, a day that a country left out, midnight that comes twice. */
    @ParameterizedTest
    @CsvSource({
        "Europe/Berlin, 2026-01-01", "America/New_York, 2026-01-01", "Australia/Lord_Howe, 2026-01-01",
        "America/Havana, 2026-01-01", "Pacific/Apia, 2011-06-01", "Antarctica/Troll, 2026-01-01"
    })
    void should_be_due_when_a_clock_on_the_wall_shows_it(String zone, String from) {
        ZoneId place = ZoneId.of(zone);
        Instant change = Instant.parse(from + "T00:00:00Z");
        for (int i = 0; i < 2; i++) {
            change = place.getRules().nextTransition(change).getInstant();
            for (String hours : List.of("*", "0", "1", "2", "3", "23", "*/6", "0-3")) {
                for (String minute : List.of("0", "15", "30,45", "*/30")) {
                    Schedule schedule = Schedule.cron(minute + " " + hours + " * * *", place);
                    List<Instant> expected = watch(change.minus(2, ChronoUnit.DAYS), place, hours, minute);
                    assertThat(times(schedule, change.minus(2, ChronoUnit.DAYS).toString(), expected.size()))
                            .as(schedule.encode())
                            .isEqualTo(expected);
                }
            }
        }
    }

    /** When it is due in the four days after a time. */
    private static List<Instant> watch(Instant after, ZoneId place, String hours, String minute) {
        boolean repeats = hours.startsWith("*") || minute.startsWith("*");
        TreeSet<Instant> due = new TreeSet<>();
        LocalDateTime latest = LocalDateTime.ofInstant(after, place);
        LocalDateTime before = latest;
        for (int i = 1; i <= 4 * 24 * 60; i++) {
            Instant time = after.plus(i, ChronoUnit.MINUTES);
            LocalDateTime shown = LocalDateTime.ofInstant(time, place);
            // Those that the clock leaves out are due now.
            for (LocalDateTime each = before.plusMinutes(1); each.isBefore(shown); each = each.plusMinutes(1)) {
                if (fits(hours, each.getHour()) && fits(minute, each.getMinute())) {
                    due.add(time);
                }
            }
            if (fits(hours, shown.getHour()) && fits(minute, shown.getMinute()) && (repeats || shown.isAfter(latest))) {
                due.add(time);
            }
            before = shown;
            latest = shown.isAfter(latest) ? shown : latest;
        }
        return List.copyOf(due);
    }

    private static boolean fits(String field, int value) {
        if (field.startsWith("*")) {
            return value % (field.length() > 1 ? Integer.parseInt(field.substring(2)) : 1) == 0;
        }
        return field.contains("-") ? value <= 3 : List.of(field.split(",")).contains(String.valueOf(value));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 0 30 2 *     | never matches",
                "0 0 31 4,6,9 * | never matches",
                "0 0 * * MON#6  | never matches",
                "* * * *        | has 4 fields",
                "'  '           | has 1 fields",
                "0 0 2 * * * 2030 | has 7 fields",
                "@daily         | has 1 fields",
                "60 0 * * *     | 60 not in range [0, 59]",
                "0 24 * * *     | 24 not in range [0, 23]",
                "0 0 0 * *      | 0 not in range [1, 31]",
                "0 0 * 13 *     | 13 not in range [1, 12]",
                "0 0 * * 8      | 8 not in range [0, 7]",
                "*/0 * * * *    | Period 0 not in range",
                "0 22-2 * * *   | Invalid range! [22,2]",
                "a b c d e      | Invalid chars",
                "0 0 * * MO     | cannot be read",
                "0 0 9 1-7 * MON | restricts the day of the month and the day of the week",
                "0 0 12 1 * ?   | restricts the day of the month and the day of the week",
                "0 0 ? * MON    | cannot be read",
                "0 0 */10 * MON | restricts the day of the month and the day of the week",
                "0 0 1-7 * */2  | restricts the day of the month and the day of the week",
                "0 0 */2 * */2  | restricts the day of the month and the day of the week",
                "0 9 29W * *    | has the day of the month 29W: L, L-3, LW and 15W stand alone, and W goes with 1 to 27",
                "0 8 31W * *    | has the day of the month 31W",
                "/15 2 * * *    | has a field that begins with /",
                "0 0 /10 * MON  | has a field that begins with /",
                "0 0 28W * *    | has the day of the month 28W",
                "0 0 L,15 * *   | has the day of the month L,15",
                "0 0 15,L * *   | has the day of the month 15,L",
                "0 8 15W,20 * * | has the day of the month 15W,20",
                "0 8 1,15W * *  | has the day of the month 1,15W",
                "0 0 0 LW,1 * * | has the day of the month LW,1",
                "0 0 * * L      | has L without a day of the week: Saturday in Quartz, Sunday elsewhere; write",
                "0 0 0 * * L    | write SAT or SUN",
                "0 0 * * l-3    | has L without a day of the week",
                "0 0 * * MON,L  | has L without a day of the week",
                "0 0 * * MON-L  | has L without a day of the week"
            })
    void should_say_what_is_wrong_with_an_expression(String expression, String why) {
        assertThatThrownBy(() -> Schedule.cron(expression, BERLIN))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("cron expression '" + expression + "' ")
                .hasMessageContaining(why);
    }

    /** Intervals work without it, and no run stays under a lease that never ends. */
    @Test
    void should_name_the_library_for_cron_where_it_is_missing() throws Exception {
        String all = JavaCommand.classPath();
        List<URL> others = new ArrayList<>();
        for (String entry : all.split(File.pathSeparator)) {
            if (!entry.contains("cron-utils")) {
                others.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader without =
                new URLClassLoader(others.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Method parse = without.loadClass(Schedule.class.getName()).getMethod("parse", String.class);
            assertThat(parse.invoke(null, "every 15m")).hasToString("every 15m");
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> parse.invoke(null, "cron 0 2 * * * UTC"))
                        .cause()
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("needs com.cronutils:cron-utils: ");
            }
        }
    }

    @Test
    void should_neither_read_nor_show_an_expression_of_any_length() {
        String list = "0,".repeat(100) + "0 * * * *";
        assertThatThrownBy(() -> Schedule.cron(list, BERLIN))
                .hasMessage("cron expression of 209 characters: the most are 200");
        assertThatThrownBy(() -> Schedule.cron("0 0 * * \u001b[2J", BERLIN))
                .hasMessageContaining("'0 0 * * ?[2J'")
                .hasMessageNotContaining("\u001b");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "every 15m",
                "every 24h",
                "every 1s",
                "every 1.5s",
                "every 1h0.001s",
                "cron 0 2 * * * Europe/Berlin",
                "cron 0 0 2 * * MON Z",
                "cron */5 * * * * +05:30"
            })
    void should_be_read_as_it_was_written(String text) {
        Schedule schedule = Schedule.parse(text);
        assertThat(schedule.encode()).isEqualTo(text).isEqualTo(schedule.toString());
        assertThat(schedule).isEqualTo(Schedule.parse(text)).hasSameHashCodeAs(Schedule.parse(text));
    }

    @Test
    void should_write_one_rule_in_one_way() {
        assertThat(Schedule.cron(" 0  2\t* * mon ", BERLIN))
                .isEqualTo(Schedule.cron("0 2 * * MON", BERLIN))
                .isNotEqualTo(Schedule.cron("0 2 * * MON", ZoneOffset.UTC));
        assertThat(Schedule.every(Duration.ofSeconds(90)).encode()).isEqualTo("every 1m30s");
        assertThat(Schedule.every(Duration.ofDays(2)).encode()).isEqualTo("every 48h");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "cron",
                "cron ",
                "cron 0 2 * * *",
                "cron 0 2 * * * Europe/Atlantis",
                "every",
                "every ",
                "every x",
                "every 0s",
                "rrule FREQ=DAILY",
                "Every 15m"
            })
    void should_refuse_a_text_that_it_did_not_write(String text) {
        assertThatThrownBy(() -> Schedule.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    private static List<Instant> times(Schedule schedule, String after, int count) {
        List<Instant> times = new ArrayList<>();
        long time = micros(after);
        for (int i = 0; i < count; i++) {
            time = schedule.next(0, time);
            times.add(ChronoUnit.MICROS.addTo(Instant.EPOCH, time));
        }
        return times;
    }

    private static long micros(String time) {
        return TimeUnit.SECONDS.toMicros(ZonedDateTime.parse(time).toEpochSecond());
    }
}
