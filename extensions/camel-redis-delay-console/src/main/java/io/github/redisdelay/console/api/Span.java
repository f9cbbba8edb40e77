// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Outlook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A time from now on that an outlook covers, and its steps. */
enum Span {
    MINUTE(Duration.ofSeconds(1), 60),
    HOUR(Duration.ofMinutes(1), 60),
    DAY(Duration.ofMinutes(15), 96),
    MONTH(Duration.ofHours(6), 31 * 4),
    /** Until the last message is due, in steps that grow. */
    ALL(null, 0);

    static final List<String> CODES = Arrays.stream(values()).map(Span::code).toList();

    /** The steps of {@link #ALL}, and how many there are of each; years until the end. */
    private static final Duration[] WIDTHS = {
        Duration.ofSeconds(10),
        Duration.ofMinutes(1),
        Duration.ofMinutes(10),
        Duration.ofHours(1),
        Duration.ofDays(1),
        Duration.ofDays(30),
        Duration.ofDays(365)
    };

    private static final int[] COUNTS = {6, 9, 5, 23, 29, 11, 100};

    private final Duration step;
    private final int steps;

    Span(Duration step, int steps) {
        this.step = step;
        this.steps = steps;
    }

    static Span of(String code) {
        return values()[CODES.indexOf(code)];
    }

    /** Its name in the JSON API. */
    String code() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The bounds of its steps, in microseconds.
     *
     * @param lastDue when the last message is due
     */
    List<Long> bounds(long now, long lastDue) {
        if (this != ALL) {
            return Outlook.bounds(now, step, steps);
        }
        List<Long> bounds = new ArrayList<>();
        long bound = now;
        bounds.add(bound);
        for (int i = 0; i < WIDTHS.length; i++) {
            long width = DueTime.toMicros(WIDTHS[i]);
            for (int n = 0; n < COUNTS[i] && bound <= lastDue && bound <= DueTime.MAX_MICROS - width; n++) {
                bound += width;
                bounds.add(bound);
            }
        }
        if (bounds.size() == 1) {
            bounds.add(now + DueTime.toMicros(WIDTHS[0]));
        }
        return bounds;
    }
}
