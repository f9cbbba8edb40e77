// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import io.github.redisdelay.queue.Schedule;
import java.time.DateTimeException;
import java.time.ZoneId;

/** Reads the rules of recurring schedules from options and headers. */
public final class Rules {

    private Rules() {}

    /**
     * The rule of an interval or a cron expression.
     *
     * @param everyName the option or header of the interval, for errors
     * @param every an interval as {@link Durations#of} reads it, or null
     * @param cronName the option or header of the expression, for errors
     * @param cron a cron expression, or null
     * @param zone the time zone of the expression, see {@link #zone}
     * @return null if there is neither
     * @throws IllegalArgumentException naming the option or header and its value
     */
    public static Schedule of(String everyName, Object every, String cronName, Object cron, ZoneId zone) {
        OptionValues.checkOne(everyName, every, cronName, cron);
        String name = every == null ? cronName : everyName;
        try {
            if (every != null) {
                return Schedule.every(Durations.of(everyName, every));
            }
            return cron == null ? null : Schedule.cron(cron.toString(), zone);
        } catch (IllegalArgumentException e) {
            String why = e.getMessage();
            throw new IllegalArgumentException(why.startsWith(name) ? why : name + ": " + why, e);
        }
    }

    /**
     * Reads a time zone: a {@link ZoneId}, or text.
     *
     * @param name the option or header, for errors
     * @throws IllegalArgumentException naming the option or header and its value
     */
    public static ZoneId zone(String name, Object value) {
        try {
            // In a URI, Camel reads + as a blank.
            return ZoneId.of(String.valueOf(value).replaceAll(" (?=\\d)", "+").strip());
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    name + " is '" + OptionValues.shown(value)
                            + "': it must be a time zone that Java knows, such as Europe/Berlin, UTC or +01:00",
                    e);
        }
    }
}
