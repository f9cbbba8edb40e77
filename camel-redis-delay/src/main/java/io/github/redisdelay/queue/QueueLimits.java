// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.List;

/**
 * The limits of a queue over all of its consumers: how many messages, and how many of a group, may be leased at a time, and at what
 * rates deliveries begin. They are the queue's, and kept in Redis.
 *
 * @param groupConcurrency how many of a group; with 1 they come in the order of their due times; 0 for any number, so that a group
 *     has no order and is a key only
 * @param strict whether a failed message keeps its place until it is acknowledged or given up; otherwise its retry lets others of
 *     its group pass
 * @param rate the rate of the whole queue; null for none
 * @param groupRate the rate of each group; null for none
 * @param queueConcurrency how many of the whole queue may be leased at a time; 0 for any number
 */
public record QueueLimits(int groupConcurrency, boolean strict, Rate rate, Rate groupRate, int queueConcurrency) {

    /** The limits of a queue for which none were set: one of a group at a time, in strict order, and no other. */
    public static final QueueLimits DEFAULT = new QueueLimits(1, true);

    /** The highest {@code groupConcurrency}. */
    public static final int MAX_GROUP_CONCURRENCY = 1_000;

    /** The largest burst of a rate. */
    public static final int MAX_BURST = 1_000;

    public QueueLimits {
        if (groupConcurrency < 0 || groupConcurrency > MAX_GROUP_CONCURRENCY) {
            throw new IllegalArgumentException(
                    "groupConcurrency is " + groupConcurrency + ": it must be from 0 to " + MAX_GROUP_CONCURRENCY);
        }
        if (queueConcurrency < 0) {
            throw new IllegalArgumentException(
                    "queueConcurrency is " + queueConcurrency + ": it must be 1 or more, or 0 for any number");
        }
    }

    /** Limits of groups only. */
    public QueueLimits(int groupConcurrency, boolean strict) {
        this(groupConcurrency, strict, null, null, 0);
    }

    /** Those of groups, without the limits that a queue has only once they are set. */
    public QueueLimits ofGroups() {
        return new QueueLimits(groupConcurrency, strict);
    }

    /** As the options are written. */
    @Override
    public String toString() {
        return "groupConcurrency=" + groupConcurrency + " and groupRetry=" + (strict ? "strict" : "relaxed")
                + (rate == null ? "" : " and rate=" + rate)
                + (groupRate == null ? "" : " and groupRate=" + groupRate)
                + (queueConcurrency == 0 ? "" : " and queueConcurrency=" + queueConcurrency);
    }

    /**
     * A rate at which deliveries begin, counted by the Redis server's clock when they are claimed. With N in a time, fewer than N +
     * burst begin in any time of that length.
     *
     * @param intervalMicros the time from one to the next one, in microseconds, {@value #MIN_MICROS} to {@value #MAX_MICROS}
     * @param burst how many may begin at once after a rest, 1 to {@value #MAX_BURST}
     */
    public record Rate(long intervalMicros, int burst) {

        /** The shortest interval: 10 000 in a second. */
        public static final long MIN_MICROS = 100;
        /** The longest interval: one in a day. */
        public static final long MAX_MICROS = 86_400_000_000L;

        private static final List<String> UNITS = List.of("1s", "1m", "1h", "1d");
        private static final List<Long> MICROS = List.of(1_000_000L, 60_000_000L, 3_600_000_000L, MAX_MICROS);

        public Rate {
            if (intervalMicros < MIN_MICROS || intervalMicros > MAX_MICROS) {
                throw new IllegalArgumentException("it must be from one in a day to 10000 in a second");
            }
            if (burst < 1 || burst > MAX_BURST) {
                throw new IllegalArgumentException("its burst is " + burst + ": it must be from 1 to " + MAX_BURST);
            }
        }

        /** So many in a time, rounded to a slower rate of whole microseconds. */
        public static Rate of(int count, Duration time, int burst) {
            long micros = DueTime.toMicros(time);
            return new Rate(count < 1 ? 0 : (micros + count - 1) / count, burst);
        }

        /** As the options are written: 10/1s, or 10/1s:5 with a burst of 5. */
        @Override
        public String toString() {
            String text =
                    intervalMicros % 1000 == 0 ? "1/" + intervalMicros / 1000 + "ms" : "1000/" + intervalMicros + "ms";
            for (int i = 0; i < UNITS.size(); i++) {
                long count = Math.round((double) MICROS.get(i) / intervalMicros);
                if (count > 0 && (MICROS.get(i) + count - 1) / count == intervalMicros) {
                    text = count + "/" + UNITS.get(i);
                    break;
                }
            }
            return text + (burst == 1 ? "" : ":" + burst);
        }
    }
}
