// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.camel.option.Durations;
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

    static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** A duration for people, such as {@code 41 min}. */
    static String words(long micros) {
        return Durations.text(Duration.of(micros, ChronoUnit.MICROS));
    }
}
