// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each limit of the page is that of the code. */
class LimitsPageTest {

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| [^|]+ \\| ([^|]+) \\| [^|]*\\| `([\\w.]+)\\.(\\w+)` \\|$");
    /** Such as {@code 0 to 9}, {@code 1 MiB}, {@code until the year 2255}. */
    private static final Pattern VALUE =
            Pattern.compile("(?:0 to |until the )?(year )?(\\d[\\d ]*)(?: (ms|s|days|MiB|[a-z].*))?");

    static List<MatchResult> rows() throws IOException {
        return ROW.matcher(Files.readString(Block.ROOT.resolve("docs/limits.md")))
                .results()
                .toList();
    }

    @Test
    void should_read_all_rows() throws IOException {
        assertThat(rows()).hasSizeGreaterThan(25).hasSize((int) Files.readString(Block.ROOT.resolve("docs/limits.md"))
                .lines()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| limit |"))
                .count());
    }

    @ParameterizedTest
    @MethodSource("rows")
    void should_be_that_of_the_code(MatchResult row) throws ReflectiveOperationException {
        check(row.group(1), row.group(2), row.group(3));
    }

    private static void check(String text, String type, String name) throws ReflectiveOperationException {
        Matcher value = VALUE.matcher(text);
        assertThat(value.matches()).as(text).isTrue();
        long number = Long.parseLong(value.group(2).replace(" ", ""));
        Object constant = constant(type, name);
        if (value.group(1) != null) {
            Instant last = Instant.EPOCH.plus(((Number) constant).longValue(), ChronoUnit.MICROS);
            assertThat(last.atOffset(ZoneOffset.UTC).getYear()).as(name).isEqualTo((int) number);
        } else if (constant instanceof Duration duration) {
            ChronoUnit unit =
                    switch (value.group(3)) {
                        case "ms" -> ChronoUnit.MILLIS;
                        case "s" -> ChronoUnit.SECONDS;
                        default -> ChronoUnit.valueOf(value.group(3).toUpperCase(Locale.ROOT));
                    };
            assertThat(duration).as(name).isEqualTo(Duration.of(number, unit));
        } else {
            assertThat(((Number) constant).longValue())
                    .as(name)
                    .isEqualTo("MiB".equals(value.group(3)) ? number << 20 : number);
        }
    }

    /** A constant, or the default value of an option. */
    private static Object constant(String type, String name) throws ReflectiveOperationException {
        Class<?> owner = Class.forName("io.github.redisdelay." + type);
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        if (Modifier.isStatic(field.getModifiers())) {
            return field.get(null);
        }
        Constructor<?> options = owner.getDeclaredConstructor();
        return field.get(options.newInstance());
    }

    @ParameterizedTest
    @CsvSource({
        "257 bytes, queue.ScheduleRequest, MAX_ID_BYTES",
        "2 MiB, queue.internal.format.ClaimRequest, MAX_BYTES",
        "until the year 2256, queue.DueTime, MAX_MICROS",
        "100 s, queue.ConsumerOptions, MIN_VISIBILITY_TIMEOUT",
        "many bytes, queue.ScheduleRequest, MAX_ID_BYTES"
    })
    void should_notice_another_value(String value, String type, String name) {
        assertThatThrownBy(() -> check(value, type, name)).isInstanceOf(AssertionError.class);
    }
}
