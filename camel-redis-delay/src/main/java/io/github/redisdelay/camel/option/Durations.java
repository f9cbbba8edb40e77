// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import io.github.redisdelay.queue.DueTime;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads durations and times from options and headers, strictly.
 *
 * <p>Camel's own converter turns {@code -5s}, {@code 2M}, {@code 5S} and {@code 1w} into 0 and wraps what overflows,
 * which would deliver at once what was meant for later. Here, whatever is not exactly in one of the documented forms is
 * an error that names the option or header, the value found and what would be right.
 *
 * <p>In every method, {@code what} names the option or header for the error, such as {@code option 'delay'}.
 */
public final class Durations {

    /** The longest duration: 2<sup>53</sup> - 1 microseconds, a bit more than 285 years. */
    public static final Duration MAX = Duration.of(DueTime.MAX_MICROS, ChronoUnit.MICROS);

    /** The last delivery time, as many microseconds after 1970: 2255-06-05T23:47:34.740991Z. */
    public static final Instant LAST = Instant.EPOCH.plus(MAX);

    private static final Pattern UNITS =
            Pattern.compile("(?:([0-9]++)d)?(?:([0-9]++)h)?(?:([0-9]++)m)?(?:([0-9]++)s)?(?:([0-9]++)ms)?");

    private static final long[] UNIT_MILLIS = {86_400_000, 3_600_000, 60_000, 1_000, 1};

    private static final int MAX_NUMBER_BITS = 4096;

    private static final Pattern DIGITS = Pattern.compile("[0-9]++");

    /** A URI makes a space of the + of an offset. Nothing else can be meant by it there. */
    private static final Pattern DECODED_OFFSET =
            Pattern.compile("([-0-9]++T[0-9:.]++) ([0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\\[\\S++)?)");

    /**
     * Fewer milliseconds than that are in the years up to 1973, and as seconds up to the year 5138: the unit is wrong.
     */
    private static final long FIRST_MILLIS = 100_000_000_000L;

    private static final String DURATION_FORMS =
            "write 1d2h3m4s5ms (any of these units in this order, lower case, no spaces or signs), ISO-8601 such as PT30M,"
                    + " or plain digits for milliseconds";

    private static final String TIME_FORMS =
            "write ISO-8601 with an offset, such as 2030-01-31T10:15:00Z or 2030-01-31T10:15:00+01:00, or plain digits for"
                    + " milliseconds since 1970";

    private Durations() {}

    /**
     * Reads a duration.
     *
     * @param text {@code [nd][nh][nm][ns][nms]} in this order, at least one; or ISO-8601 as {@link Duration#parse} reads
     *     it, without signs; or plain digits, which are milliseconds
     * @return zero or more, up to {@link #MAX}
     * @throws IllegalArgumentException for anything else
     */
    public static Duration parse(String what, String text) {
        if (text == null || text.isEmpty()) {
            throw new IllegalArgumentException(what + " is empty: " + DURATION_FORMS);
        }
        if (DIGITS.matcher(text).matches()) {
            return millis(what, text, BigDecimal.valueOf(saturated(text)));
        }
        char first = text.charAt(0);
        if (first == '-' || first == '+') {
            throw bad(what, text, "has a sign", DURATION_FORMS);
        }
        if (first == ' ' && !text.isBlank()) {
            throw bad(
                    what,
                    text,
                    "begins with a space, which a URI makes of a +",
                    "leave the sign out and " + DURATION_FORMS);
        }
        Duration duration;
        try {
            duration = first == 'P' || first == 'p' ? iso(what, text) : units(what, text);
        } catch (ArithmeticException | NumberFormatException e) {
            throw tooLong(what, text);
        }
        return check(what, text, duration);
    }

    private static Duration iso(String what, String text) {
        // A sign inside, as in PT1H-30M or PT-5S, is as likely a mistake as 1h-30m.
        if (text.indexOf('-') >= 0 || text.indexOf('+') >= 0) {
            throw bad(what, text, "has a sign", DURATION_FORMS);
        }
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            // The form is right and a number does not fit.
            if (e.getCause() != null) {
                throw tooLong(what, text);
            }
            throw bad(what, text, "is no duration", DURATION_FORMS);
        }
    }

    private static Duration units(String what, String text) {
        Matcher matcher = UNITS.matcher(text);
        if (!matcher.matches()) {
            throw bad(what, text, "is no duration", DURATION_FORMS);
        }
        long millis = 0;
        for (int i = 0; i < UNIT_MILLIS.length; i++) {
            String number = matcher.group(i + 1);
            if (number != null) {
                millis = Math.addExact(millis, Math.multiplyExact(Long.parseLong(number), UNIT_MILLIS[i]));
            }
        }
        return Duration.ofMillis(millis);
    }

    /** A duration in its largest unit of which there are at least two, such as 41 min. */
    public static String text(Duration duration) {
        for (ChronoUnit unit : List.of(ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES, ChronoUnit.SECONDS)) {
            Duration one = unit.getDuration();
            if (duration.dividedBy(one) >= 2) {
                String name = unit == ChronoUnit.MINUTES
                        ? "min"
                        : unit.name().substring(0, 1).toLowerCase(Locale.ROOT);
                return duration.plus(one.dividedBy(2)).dividedBy(one) + " " + name;
            }
        }
        return duration.toMillis() + " ms";
    }

    /** The end of an error about a duration that is too short: somebody may have meant seconds. */
    public static String askForUnit(String text) {
        return DIGITS.matcher(text).matches() ? "; a bare number is milliseconds: " + text + "s?" : "";
    }

    /**
     * Reads a list of durations, separated by commas; spaces around a comma are allowed.
     *
     * @param text at least one duration, each as in {@link #parse}
     * @return an unmodifiable list
     * @throws IllegalArgumentException for anything else, an empty place in the list included
     */
    public static List<Duration> parseList(String what, String text) {
        if (text == null || text.isBlank()) {
            throw new IllegalArgumentException(
                    what + " is empty: write durations separated by commas, such as 15s,3m,10m");
        }
        List<Duration> durations = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            durations.add(parse(what, part.strip()));
        }
        return List.copyOf(durations);
    }

    /**
     * Reads a duration from a header.
     *
     * @param value a {@link Duration}, a whole number of milliseconds, or text as in {@link #parse}
     * @return zero or more, up to {@link #MAX}
     * @throws IllegalArgumentException for anything else: null, a fraction of a millisecond, NaN, another type
     */
    public static Duration of(String what, Object value) {
        if (value instanceof Duration duration) {
            return check(what, value, duration);
        }
        if (value instanceof Number number) {
            return millis(what, value, number(what, number, "give whole milliseconds"));
        }
        if (value instanceof CharSequence text) {
            return parse(what, text.toString());
        }
        throw type(what, value, "give a java.time.Duration, a number of milliseconds, or text such as 30m or PT30M");
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
     * @param value an {@link Instant}, {@link Date}, {@link ZonedDateTime}, {@link OffsetDateTime} or {@link Calendar};
     *     a whole number of milliseconds since 1970, at least 10<sup>11</sup>; or text: ISO-8601 with an offset, or
     *     plain digits, which are such a number. Where text names an offset and a zone, the offset counts. A space in
     *     the place of the + of an offset is read as one.
     * @return a time from 1970 to {@link #LAST}; may be in the past
     * @throws IllegalArgumentException for anything else; a date or time without an offset in particular, because it
     *     means another moment on another host, and a smaller number, which is one of seconds or was never set. An
     *     object or ISO-8601 text of before 1973 is taken as the past: it has its unit with it.
     */
    public static Instant instant(String what, Object value) {
        Instant time;
        if (value instanceof TemporalAccessor moment && moment.isSupported(ChronoField.INSTANT_SECONDS)) {
            time = Instant.from(moment);
        } else if (value instanceof Date date) {
            time = ofDate(what, date);
        } else if (value instanceof Calendar calendar) {
            time = calendar.toInstant();
        } else if (value instanceof Number number) {
            time = epochMillis(what, value, number(what, number, "give whole milliseconds since 1970"));
        } else if (value instanceof CharSequence text) {
            time = parseInstant(what, text.toString());
        } else if (value instanceof TemporalAccessor) {
            throw type(
                    what,
                    value,
                    "it has no offset, so it is not clear which moment is meant: give an Instant, for"
                            + " example by .atZone(ZoneId.of(\"Europe/Berlin\")).toInstant()");
        } else {
            throw type(
                    what,
                    value,
                    "give an Instant, Date, ZonedDateTime, OffsetDateTime, milliseconds since 1970, or"
                            + " ISO-8601 text with an offset");
        }
        if (time.isBefore(Instant.EPOCH) || time.isAfter(LAST)) {
            throw outOfTime(what, value);
        }
        return time;
    }

    private static Instant parseInstant(String what, String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(what + " is empty: " + TIME_FORMS);
        }
        if (DIGITS.matcher(text).matches()) {
            return epochMillis(what, text, BigDecimal.valueOf(saturated(text)));
        }
        try {
            Matcher decoded = DECODED_OFFSET.matcher(text);
            return DateTimeFormatter.ISO_ZONED_DATE_TIME.parse(
                    decoded.matches() ? decoded.group(1) + "+" + decoded.group(2) : text, Instant::from);
        } catch (DateTimeException e) {
            String problem = "is no time";
            if (parses(DateTimeFormatter.ISO_DATE_TIME, text) || parses(DateTimeFormatter.ISO_LOCAL_DATE, text)) {
                problem = "has no offset, so it is not clear which moment is meant";
            }
            throw bad(what, text, problem, TIME_FORMS);
        }
    }

    private static boolean parses(DateTimeFormatter formatter, String text) {
        try {
            formatter.parse(text);
            return true;
        } catch (DateTimeException e) {
            return false;
        }
    }

    private static Instant ofDate(String what, Date date) {
        try {
            return date.toInstant();
        } catch (UnsupportedOperationException e) {
            // java.sql.Date and java.sql.Time are half of a date and time, in the JVM's zone.
            throw type(
                    what,
                    date,
                    "it is a date without a time, or a time without a date: give an Instant or a" + " java.util.Date");
        }
    }

    private static Instant epochMillis(String what, Object value, BigDecimal millis) {
        if (millis.signum() < 0 || millis.compareTo(BigDecimal.valueOf(LAST.toEpochMilli())) > 0) {
            throw outOfTime(what, value);
        }
        long number = millis.longValueExact();
        if (number == 0) {
            throw bad(what, value, "is no delivery time", "leave it out for now");
        }
        if (number < FIRST_MILLIS) {
            throw bad(
                    what,
                    value,
                    "looks like seconds",
                    "give milliseconds since 1970, for " + Instant.ofEpochSecond(number) + " " + number * 1000);
        }
        return Instant.ofEpochMilli(number);
    }

    private static Duration millis(String what, Object value, BigDecimal millis) {
        if (millis.signum() < 0) {
            throw bad(what, value, "is negative", DURATION_FORMS);
        }
        if (millis.compareTo(BigDecimal.valueOf(MAX.toMillis())) > 0) {
            throw tooLong(what, value);
        }
        return Duration.ofMillis(millis.longValueExact());
    }

    /** A whole number. Not yet checked for its range, so that the caller can say what the range is. */
    private static BigDecimal number(String what, Number number, String hint) {
        if (number instanceof BigInteger integer && integer.bitLength() > MAX_NUMBER_BITS
                || number instanceof BigDecimal decimal
                        && decimal.unscaledValue().bitLength() > MAX_NUMBER_BITS) {
            // Reading or showing it would cost the square of its length.
            throw new IllegalArgumentException(what + " has more than " + MAX_NUMBER_BITS + " binary digits: " + hint);
        }
        BigDecimal exact;
        try {
            exact = number instanceof BigDecimal decimal ? decimal : new BigDecimal(number.toString());
            exact = exact.stripTrailingZeros();
        } catch (ArithmeticException e) {
            throw bad(what, number, "is out of range", hint); // its exponent is at the end of what there is
        } catch (NumberFormatException e) {
            throw bad(what, number, "is no number", hint);
        }
        if (exact.scale() > 0) {
            throw bad(what, number, "is not whole", hint);
        }
        return exact;
    }

    /** The value of digits, or the largest long instead of anything larger, which is out of every range here. */
    private static long saturated(String digits) {
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    private static Duration check(String what, Object value, Duration duration) {
        if (duration.isNegative()) {
            throw bad(what, value, "is negative", DURATION_FORMS);
        }
        if (duration.compareTo(MAX) > 0) {
            throw tooLong(what, value);
        }
        return duration;
    }

    private static IllegalArgumentException tooLong(String what, Object value) {
        return bad(what, value, "is too long", "at most " + MAX.toDays() + " days are possible");
    }

    private static IllegalArgumentException outOfTime(String what, Object value) {
        return bad(what, value, "is out of range", "give a time from 1970-01-01T00:00:00Z to " + LAST);
    }

    private static IllegalArgumentException type(String what, Object value, String hint) {
        String name = value == null ? "null" : "of type " + value.getClass().getTypeName();
        return new IllegalArgumentException(what + " is " + name + ": " + hint);
    }

    private static IllegalArgumentException bad(String what, Object value, String problem, String hint) {
        return new IllegalArgumentException(what + " '" + OptionValues.shown(value) + "' " + problem + ": " + hint);
    }
}
