// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import io.github.redisdelay.queue.DueTime;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.camel.util.TimeUtils;

/**
 * Reads durations and times from options and headers, strictly.
 *
 * <p>Camel's own converter turns {@code -5s}, {@code 2M}, {@code 5S} and {@code 1w} into 0 and wraps what overflows,
 * which would deliver at once what was meant for later. So it is given only what it reads as it is written. All else is an error
 * that names the option or header, the value found and what would be right.
 *
 * <p>In every method, {@code what} names the option or header for the error, such as {@code option 'delay'}.
 */
public final class Durations {

    /** The longest duration: 2<sup>53</sup> - 1 microseconds, a bit more than 285 years. */
    public static final Duration MAX = Duration.of(DueTime.MAX_MICROS, ChronoUnit.MICROS);

    /** The last delivery time, as many microseconds after 1970: 2255-06-05T23:47:34.740991Z. */
    public static final Instant LAST = Instant.EPOCH.plus(MAX);

    /** Camel's form. With more digits than these it would wrap. */
    private static final Pattern UNITS =
            Pattern.compile("(?=.)(\\d{1,9}d)?(\\d{1,9}h)?(\\d{1,9}m)?(\\d{1,13}s)?(\\d{1,16}ms)?");

    /** ISO-8601 without a sign, which is as likely a mistake inside as in {@code 1h-30m}. */
    private static final Pattern ISO = Pattern.compile("[Pp][^-+]{1,100}");

    private static final Pattern DIGITS = Pattern.compile("[0-9]+");

    /**
     * Fewer milliseconds than that are in the years up to 1973, and as seconds up to the year 5138: the unit is wrong.
     */
    private static final long FIRST_MILLIS = 100_000_000_000L;

    private Durations() {}

    /**
     * Reads a duration.
     *
     * @param value a {@link Duration}; a whole number, of milliseconds; or text: {@code [nd][nh][nm][ns][nms]} in this order, at
     *     least one; ISO-8601 as {@link Duration#parse} reads it, without signs; or plain digits, which are milliseconds
     * @return zero or more, up to {@link #MAX}
     * @throws IllegalArgumentException for anything else
     */
    public static Duration of(String what, Object value) {
        try {
            Duration duration = value instanceof Duration given ? given : read(value);
            if (!duration.isNegative() && duration.compareTo(MAX) <= 0) {
                return duration;
            }
        } catch (ArithmeticException | DateTimeException | NumberFormatException e) {
            // The error follows.
        }
        throw new IllegalArgumentException(what + " '" + OptionValues.shown(value) + "' is no duration of at most "
                + MAX.toDays() + " days: write 1d2h3m4s5ms (any of these units in this order, lower case, no spaces or"
                + " signs), ISO-8601 such as PT30M, or plain digits for milliseconds");
    }

    private static Duration read(Object value) {
        if (isNumber(value)) {
            return Duration.ofMillis(OptionValues.number(value).longValueExact());
        }
        String text = value instanceof CharSequence ? value.toString() : "";
        return UNITS.matcher(text).matches()
                ? TimeUtils.toDuration(text)
                : Duration.parse(ISO.matcher(text).matches() ? text : "");
    }

    private static boolean isNumber(Object value) {
        return value instanceof Number
                || (value instanceof CharSequence text && DIGITS.matcher(text).matches());
    }

    /** A duration in its largest unit of which there are at least two, such as 41 min. */
    public static String text(Duration duration) {
        long millis = duration.toMillis();
        long[] units = {86_400_000, 3_600_000, 60_000, 1_000};
        for (int i = 0; i < units.length; i++) {
            if (millis >= 2 * units[i]) {
                return (millis + units[i] / 2) / units[i]
                        + List.of(" d", " h", " min", " s").get(i);
            }
        }
        return millis + " ms";
    }

    /**
     * Reads a list of durations.
     *
     * @param value a list of what {@link #of} reads; or text, separated by commas, with spaces around them or without
     * @return an unmodifiable list of at least one
     * @throws IllegalArgumentException for anything else, an empty place in the list included
     */
    public static List<Duration> list(String what, Object value) {
        Iterable<?> parts = value instanceof Iterable<?> given
                ? given
                : List.of(String.valueOf(value).split(",", -1));
        List<Duration> durations = new ArrayList<>();
        parts.forEach(part -> durations.add(of(what, part instanceof String text ? text.strip() : part)));
        return durations.isEmpty() ? List.of(of(what, "")) : List.copyOf(durations);
    }

    /**
     * Reads a duration as {@link #of}, which must be a millisecond or more.
     *
     * @param hint ends the error for a shorter one
     */
    public static Duration positive(String what, Object value, String hint) {
        Duration duration = of(what, value);
        if (duration.toMillis() < 1) {
            throw new IllegalArgumentException(
                    what + " is '" + OptionValues.shown(value) + "': it must be 1 millisecond or more" + hint);
        }
        return duration;
    }

    /**
     * Reads a delivery time.
     *
     * @param value an {@link Instant}, {@link Date}, {@link Calendar} or another object of java.time that is a moment;
     *     a whole number of milliseconds since 1970, at least 10<sup>11</sup>; or text: ISO-8601 with an offset, or
     *     plain digits, which are such a number. Where text names an offset and a zone, the offset counts. A space in
     *     the place of the + of an offset is read as one.
     * @return a time from 1970 to {@link #LAST}; may be in the past
     * @throws IllegalArgumentException for anything else; a date or time without an offset in particular, because it
     *     means another moment on another host, and a smaller number, which is one of seconds or was never set. An
     *     object or ISO-8601 text of before 1973 is taken as the past: it has its unit with it.
     */
    public static Instant instant(String what, Object value) {
        try {
            Instant time = readInstant(value);
            if (!time.isBefore(Instant.EPOCH) && !time.isAfter(LAST)) {
                return time;
            }
        } catch (ArithmeticException
                | DateTimeException
                | NumberFormatException
                | UnsupportedOperationException e) { // of half a date and time of java.sql
            // The error follows.
        }
        throw new IllegalArgumentException(what + " '" + OptionValues.shown(value) + "' is no time up to the year 2255:"
                + " give ISO-8601 with an offset, such as 2030-01-31T10:15:00Z or 2030-01-31T10:15:00+01:00, or"
                + " milliseconds since 1970 (fewer than " + FIRST_MILLIS + " look like seconds)");
    }

    private static Instant readInstant(Object value) {
        if (value instanceof Date date) {
            return date.toInstant();
        }
        if (value instanceof Calendar calendar) {
            return calendar.toInstant();
        }
        if (value instanceof TemporalAccessor moment) {
            return Instant.from(moment);
        }
        if (isNumber(value)) {
            long millis = OptionValues.number(value).longValueExact();
            return millis < FIRST_MILLIS ? Instant.MIN : Instant.ofEpochMilli(millis);
        }
        // A URI makes a space of the + of an offset. Nothing else can be meant by it there.
        String text = value instanceof CharSequence ? value.toString().replaceFirst(" (?=\\d\\d:\\d\\d)", "+") : "";
        return DateTimeFormatter.ISO_ZONED_DATE_TIME.parse(text, Instant::from);
    }
}
