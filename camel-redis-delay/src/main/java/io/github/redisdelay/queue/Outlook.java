// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

/**
 * How many delayed messages become due when. Each message counts once: {@code before}, {@code counts} and {@code after} add up to
 * all delayed ones.
 *
 * @param timeMicros the Redis server's time, in microseconds since the epoch
 * @param boundsMicros the bounds of the steps, in microseconds since the epoch
 * @param counts for each step how many messages are due at its first bound or later, and before the next bound; one fewer than
 *     the bounds
 * @param before how many are due before the first bound
 * @param after how many are due at the last bound or later
 */
public record Outlook(long timeMicros, List<Long> boundsMicros, List<Long> counts, long before, long after) {

    /** The most steps of an outlook. */
    public static final int MAX_STEPS = 240;

    public Outlook {
        boundsMicros = List.copyOf(boundsMicros);
        counts = List.copyOf(counts);
    }

    /**
     * The bounds of equal steps.
     *
     * @param fromMicros where the first step begins, in microseconds since the epoch, 0 or more
     * @param step the length of a step, at least a microsecond; finer parts than microseconds are rounded up
     * @param steps how many, 1 to {@value #MAX_STEPS}
     * @return one more than the steps
     * @throws IllegalArgumentException if one of these is out of its range, or the last step ends beyond {@link
     *     DueTime#MAX_MICROS}
     */
    public static List<Long> bounds(long fromMicros, Duration step, int steps) {
        if (steps < 1 || steps > MAX_STEPS) {
            throw new IllegalArgumentException("steps is " + steps + ": it must be from 1 to " + MAX_STEPS);
        }
        long width;
        try {
            width = DueTime.toMicros(step);
        } catch (IllegalArgumentException e) {
            width = 0;
        }
        if (width < 1
                || fromMicros < 0
                || fromMicros > DueTime.MAX_MICROS
                || width > (DueTime.MAX_MICROS - fromMicros) / steps) {
            throw new IllegalArgumentException(steps + " steps of " + step + " from " + fromMicros
                    + " microseconds are out of range: a step must be 1 microsecond or more, and all be from 0 to "
                    + DueTime.MAX_MICROS + " microseconds since the epoch");
        }
        long each = width;
        return LongStream.rangeClosed(0, steps)
                .mapToObj(i -> fromMicros + i * each)
                .toList();
    }
}
