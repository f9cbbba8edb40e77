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
     * @param zone the time zone of the expression: a {@link ZoneId} or text
     * @return null if there is neither
     * @throws IllegalArgumentException naming the option or header and its value
     */
    public static Schedule of(String everyName, Object every, String cronName, Object cron, Object zone) {
        OptionValues.checkOne(everyName, every, cronName, cron);
        String name = every == null ? cronName : everyName;
        try {
            if (every != null) {
                return Schedule.every(Durations.of(everyName, every));
            }
            return cron == null
                    ? null
                    : Schedule.cron(cron.toString(), ZoneId.of(zone.toString().strip()));
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    name + ": time zone '" + OptionValues.shown(zone)
                            + "' is unknown: write Europe/Berlin, UTC or +01:00",
                    e);
        } catch (IllegalArgumentException e) {
            String why = e.getMessage();
            throw new IllegalArgumentException(why.startsWith(name) ? why : name + ": " + why, e);
        }
    }
}
