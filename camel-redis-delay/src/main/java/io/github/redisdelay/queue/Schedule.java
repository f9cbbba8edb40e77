// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.github.redisdelay.queue.exception.ShownId;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.zone.ZoneOffsetTransition;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The rule of a recurring schedule: at which times its runs are due. Immutable; two are equal if their text is.
 *
 * <p>A rule is a grid of equal intervals, or a cron expression in a time zone. The expression has the five fields of crontab
 * (minute, hour, day of the month, month, day of the week), or six with the second first. Fields have numbers, names ({@code
 * JAN}, {@code MON}), lists, ranges and steps. Days of the month also have, alone, {@code 15W} (the weekday nearest to the 15th,
 * up to 27W), {@code L} (the last day), {@code L-3} and {@code LW} (the last weekday). Days of the week, of which 0 and 7
 * are Sunday, also have {@code MON#1} (the first Monday) and {@code FRIL} (the last Friday).
 *
 * <p>Where five fields restrict both the day of the month and the day of the week, either is enough, as in crontab. Refused are
 * six fields that restrict both, as other libraries want both there; and five that restrict one and have a step from {@code *} for
 * the other, as crontab wants both there.
 *
 * <p>Where the clocks of the time zone change:
 *
 * <ul>
 *   <li>Times that are missing become one run, at the change: that of 02:30 is due at 03:00.
 *   <li>A time that comes twice is due the first time only. Where the seconds, minutes or hours begin with {@code *}, it is
 *       due both times: each quarter of an hour stays one.
 * </ul>
 */
public final class Schedule {

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(3650);
    private static final int MAX_EXPRESSION = 200;
    private static final String EVERY = "every ";
    private static final String CRON = "cron ";
    private static final int SECOND = 1_000_000;

    /** Days of the month that the library takes for others, or fails at in some months. */
    private static final Pattern NO_DAYS = Pattern.compile(".*(2[89]|3\\d)W|.*[LW].*,.*|.*,.*[LW].*");

    /** The rules that were read, by their texts. To read a cron expression takes 0.1 ms or more, and each run needs its rule thrice. */
    private static final Map<String, Schedule> READ = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Schedule> eldest) {
            return size() > 1_000;
        }
    });

    private final String text;
    private final long interval; // in microseconds; 0 of a cron expression
    private final ExecutionTime times; // null of an interval, as the zone is
    private final ZoneId zone;
    private final boolean repeats; // true if a time that comes twice is due twice

    private Schedule(String text, long interval, ExecutionTime times, ZoneId zone, boolean repeats) {
        this.text = text;
        this.interval = interval;
        this.times = times;
        this.zone = zone;
        this.repeats = repeats;
    }

    private static CronDefinition fields(boolean seconds) {
        CronDefinitionBuilder builder = CronDefinitionBuilder.defineCron();
        if (seconds) {
            builder.withSeconds().withValidRange(0, 59).withStrictRange().and();
        }
        builder.withMinutes().withValidRange(0, 59).withStrictRange().and();
        builder.withHours().withValidRange(0, 23).withStrictRange().and();
        var days = builder.withDayOfMonth().withValidRange(1, 31);
        days.supportsL().supportsW().supportsLW().withStrictRange().and();
        builder.withMonth().withValidRange(1, 12).withStrictRange().and();
        var week = builder.withDayOfWeek().withValidRange(0, 7);
        week.withMondayDoWValue(1)
                .withIntMapping(7, 0)
                .supportsHash()
                .supportsL()
                .withStrictRange()
                .and();
        return builder.instance();
    }

    /**
     * A run in each interval, on a grid from the first due time.
     *
     * @param interval from 1 s to 3650 days, in whole milliseconds
     * @throws IllegalArgumentException for another one
     */
    public static Schedule every(Duration interval) {
        if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0 || interval.getNano() % SECOND != 0) {
            throw new IllegalArgumentException("interval " + interval
                    + " of a recurring schedule must be from 1 s to 3650 days, in whole milliseconds");
        }
        String shown = interval.toString().substring("PT".length()).toLowerCase(Locale.ROOT);
        return new Schedule(EVERY + shown, interval.toMillis() * 1_000, null, null, false);
    }

    /**
     * A run at each time of a cron expression.
     *
     * @param expression of five or six fields, at most 200 characters
     * @param zone of the times
     * @throws IllegalArgumentException if the expression cannot be read, or never matches; the message names it
     */
    public static Schedule cron(String expression, ZoneId zone) {
        if (expression.length() > MAX_EXPRESSION) {
            throw new IllegalArgumentException(
                    "cron expression of " + expression.length() + " characters: the most are " + MAX_EXPRESSION);
        }
        String normal = expression.strip().replaceAll("\\s+", " ").toUpperCase(Locale.ROOT);
        String[] fields = normal.split(" ");
        boolean seconds = fields.length == 6;
        if (!seconds && fields.length != 5) {
            throw unusable(
                    expression,
                    "has " + fields.length + " fields: give minute, hour, day of the month, month and day of the week,"
                            + " or these with the second first");
        }
        if (Stream.of(fields).anyMatch(field -> field.startsWith("/"))) {
            throw unusable(expression, "has a field that begins with /: write */15 for each 15th");
        }
        String days = fields[fields.length - 3];
        String week = fields[fields.length - 1];
        if (!days.equals("*") && !week.equals("*") && (seconds || days.startsWith("*") || week.startsWith("*"))) {
            throw unusable(
                    expression,
                    "restricts the day of the month and the day of the week: make one of them *; MON#1 is the first"
                            + " Monday, and two schedules take either");
        }
        if (NO_DAYS.matcher(days).matches()) {
            throw unusable(
                    expression,
                    "has the day of the month " + ShownId.of(days)
                            + ": L, L-3, LW and 15W stand alone, and W goes with 1 to 27");
        }
        if (week.matches("(.*[^A-Z0-9])?L.*")) {
            throw unusable(
                    expression,
                    "has L without a day of the week: Saturday in Quartz, Sunday elsewhere; write SAT or SUN");
        }
        ExecutionTime times;
        try {
            times = ExecutionTime.forCron(new CronParser(fields(seconds)).parse(normal));
        } catch (LinkageError e) {
            throw unusable(expression, "needs com.cronutils:cron-utils: " + e);
        } catch (RuntimeException e) {
            // Also others than the library documents.
            throw unusable(expression, "cannot be read: " + ShownId.of(String.valueOf(e.getMessage())));
        }
        boolean repeats = Stream.of(fields).limit(fields.length - 3).anyMatch(field -> field.startsWith("*"));
        Schedule rule = new Schedule(CRON + normal + " " + zone.getId(), 0, times, zone, repeats);
        // A day that comes once comes again within 40 years: 29 February on a Monday, say.
        if (rule.match(LocalDateTime.of(2000, 1, 1, 0, 0)).isEmpty()) {
            throw unusable(expression, "never matches: no day of any year is in all its fields");
        }
        return rule;
    }

    private static IllegalArgumentException unusable(String expression, String why) {
        return new IllegalArgumentException("cron expression '" + ShownId.of(expression) + "' " + why);
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static Schedule parse(String text) {
        return READ.computeIfAbsent(text, Schedule::read);
    }

    private static Schedule read(String text) {
        try {
            int zone = text.lastIndexOf(' ') + 1;
            if (text.startsWith(EVERY)) {
                return every(Duration.parse("PT" + text.substring(EVERY.length())));
            } else if (text.startsWith(CRON) && zone > CRON.length()) {
                return cron(text.substring(CRON.length(), zone - 1), ZoneId.of(text.substring(zone)));
            }
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("rule '" + ShownId.of(text) + "' cannot be read", e);
        }
        throw new IllegalArgumentException("rule '" + ShownId.of(text) + "' is of no kind that this version knows");
    }

    /** Returns whether its times are a grid of equal intervals, which begins with the first run. */
    public boolean isGrid() {
        return interval > 0;
    }

    /** The rule as it is stored, and shown: {@code every 15m}, {@code cron 0 2 * * * Europe/Berlin}. */
    public String encode() {
        return text;
    }

    /**
     * The first time of the rule that is later than another one. All times are microseconds since 1970.
     *
     * @param nominalMicros a time of the grid; means nothing to a cron expression
     */
    public long next(long nominalMicros, long afterMicros) {
        if (interval > 0) {
            return nominalMicros + (Math.floorDiv(afterMicros - nominalMicros, interval) + 1) * interval;
        }
        Instant after = Instant.ofEpochSecond(Math.floorDiv(afterMicros, SECOND));
        // The library knows no changes of the clock: it is asked for times as a clock on the wall shows them.
        LocalDateTime shown = LocalDateTime.ofInstant(after, zone);
        Instant next;
        do {
            shown = match(shown).orElseThrow();
            next = instant(shown, after);
        } while (!next.isAfter(after));
        ZoneOffsetTransition change = repeats ? zone.getRules().nextTransition(after) : null;
        if (change != null && change.isOverlap() && change.getInstant().isBefore(next)) {
            LocalDateTime again =
                    match(change.getDateTimeAfter().minusSeconds(1)).orElseThrow();
            if (again.isBefore(change.getDateTimeBefore())) {
                next = again.toInstant(change.getOffsetAfter());
            }
        }
        return next.getEpochSecond() * SECOND;
    }

    private Optional<LocalDateTime> match(LocalDateTime after) {
        return times.nextExecution(after.atZone(ZoneOffset.UTC)).map(ZonedDateTime::toLocalDateTime);
    }

    private Instant instant(LocalDateTime shown, Instant after) {
        ZoneOffsetTransition change = zone.getRules().getTransition(shown);
        if (change == null) {
            return shown.atZone(zone).toInstant();
        } else if (change.isGap()) {
            return change.getInstant();
        }
        Instant first = shown.toInstant(change.getOffsetBefore());
        return repeats && !first.isAfter(after) ? shown.toInstant(change.getOffsetAfter()) : first;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Schedule that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
