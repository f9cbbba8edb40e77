// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The time when a message is due: a delay counted from the moment at which Redis stores it, or a fixed time.
 *
 * <p>Both are whole microseconds of the Redis server's clock below 2<sup>53</sup> (the range in which a Redis score is
 * exact; it ends in the year 2255). Nothing is ever rounded down or wrapped: a value outside of the range is refused.
 *
 * @param relative whether {@code micros} is a delay; otherwise it is a time since the Unix epoch
 * @param micros the delay or the time, in microseconds, from 0 to {@link #MAX_MICROS}
 */
public record DueTime(boolean relative, long micros) {

    /** The largest exact time or delay: 2<sup>53</sup> - 1 microseconds. */
    public static final long MAX_MICROS = (1L << 53) - 1;

    private static final DueTime NOW = new DueTime(true, 0);

    public DueTime {
        if (micros < 0 || micros > MAX_MICROS) {
            throw new IllegalArgumentException((relative ? "delay" : "delivery time") + " of " + micros
                    + " microseconds is out of range: it must be from 0 to " + MAX_MICROS
                    + (relative ? "" : " (1970-01-01 to 2255-06-05)"));
        }
    }

    /** Due at once. */
    public static DueTime now() {
        return NOW;
    }

    /**
     * Due after a delay.
     *
     * @param delay zero or more; finer parts than microseconds are rounded up
     * @throws IllegalArgumentException if the delay is negative or above {@link #MAX_MICROS}
     */
    public static DueTime after(Duration delay) {
        return new DueTime(true, toMicros(delay));
    }

    /**
     * Due at a fixed time. A time in the past means due now; lateness counts from the given time.
     *
     * @throws IllegalArgumentException if the time is before 1970 or beyond {@link #MAX_MICROS}
     */
    public static DueTime at(Instant time) {
        long micros;
        try {
            micros = ChronoUnit.MICROS.between(Instant.EPOCH, time);
            if (Instant.EPOCH.plus(micros, ChronoUnit.MICROS).isBefore(time)) {
                micros++;
            }
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    "delivery time " + time + " is out of range: it must be from 1970-01-01 to 2255-06-05", e);
        }
        return new DueTime(false, micros);
    }

    /**
     * A duration in whole microseconds, rounded up.
     *
     * @throws IllegalArgumentException if it is negative or above {@link #MAX_MICROS}
     */
    public static long toMicros(Duration duration) {
        boolean inRange = !duration.isNegative() && duration.getSeconds() <= MAX_MICROS / 1_000_000;
        long micros = inRange ? duration.getSeconds() * 1_000_000 + (duration.getNano() + 999) / 1_000 : -1;
        if (micros < 0 || micros > MAX_MICROS) {
            throw new IllegalArgumentException(
                    "delay " + duration + " is out of range: it must be from PT0S to " + MAX_MICROS + " microseconds");
        }
        return micros;
    }
}
