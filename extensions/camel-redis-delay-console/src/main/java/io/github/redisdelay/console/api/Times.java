// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.DueTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Microseconds of the Redis server's clock as times and words. */
final class Times {

    private Times() {}

    static Instant of(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** A time as text, in seconds: for people. */
    static String text(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** The pause of a group, such as {@code paused until 2026-11-22T14:00:00Z}. */
    static String pause(long untilMicros) {
        return "paused until " + (untilMicros == DueTime.MAX_MICROS ? "it is resumed" : text(of(untilMicros)));
    }

    static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** A duration for people, such as {@code 41 min}: rounded down, as the page does it beside these words. */
    static String words(long micros) {
        Duration length = Duration.of(micros, ChronoUnit.MICROS);
        if (length.compareTo(Duration.ofSeconds(10)) < 0) {
            return length.toSeconds() + "." + length.toMillisPart() / 100 + " s";
        }
        if (length.compareTo(Duration.ofMinutes(2)) < 0) {
            return length.toSeconds() + " s";
        }
        if (length.compareTo(Duration.ofHours(2)) < 0) {
            return length.toMinutes() + " min";
        }
        if (length.compareTo(Duration.ofDays(2)) < 0) {
            return two(length.toHours() + " h", length.toMinutesPart(), " min");
        }
        return length.toDays() < 100 ? two(length.toDays() + " d", length.toHoursPart(), " h") : length.toDays() + " d";
    }

    private static String two(String large, int rest, String unit) {
        return rest == 0 ? large : large + " " + rest + unit;
    }
}
