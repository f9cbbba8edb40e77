// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.QueueStats;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The figures of a queue in the last hour, as this process has seen them: one sample in {@link #STEP}, as long as
 * somebody has looked at the queue within the last hour. Thread-safe.
 */
final class History {

    static final Duration STEP = Duration.ofSeconds(5);

    /** The samples of an hour. */
    static final int SAMPLES = 720;

    private static final long WANTED_NANOS = Duration.ofHours(1).toNanos();

    private final LongSupplier nanoTime;
    /** Rings: null until the first sample. Guarded by this. */
    private long[][] rings;
    /** Guarded by this. */
    private int begin;
    /** Guarded by this. */
    private int count;
    /** The time when the newest sample was taken, by the Redis server's clock. Guarded by this. */
    private long newestMicros;
    /** Guarded by this. */
    private long lookedNanos;
    /** Guarded by this. */
    private boolean looked;

    /**
     * The samples, the newest last; null where there was no answer.
     *
     * @param since when the oldest one was taken
     */
    public record Samples(
            Instant since,
            long stepMicros,
            List<Long> delayed,
            List<Long> oldestOverdueMicros,
            List<Long> leased,
            List<Long> dead) {}

    History(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Somebody looks at the queue. */
    synchronized void look() {
        looked = true;
        lookedNanos = nanoTime.getAsLong();
    }

    /** True as long as samples are wanted. Afterwards the old ones are gone. */
    synchronized boolean isWanted() {
        if (looked && idleNanos() > WANTED_NANOS) {
            forget();
        }
        return looked;
    }

    /** For how long nobody has looked. */
    synchronized long idleNanos() {
        return nanoTime.getAsLong() - lookedNanos;
    }

    synchronized void forget() {
        looked = false;
        rings = null;
        begin = 0;
        count = 0;
    }

    /** Adds a sample; null if Redis has not answered. */
    synchronized void add(QueueStats stats) {
        if (rings == null) {
            if (stats == null) {
                return;
            }
            rings = new long[4][SAMPLES];
        }
        int at = (begin + count) % SAMPLES;
        if (count == SAMPLES) {
            begin = (begin + 1) % SAMPLES;
        } else {
            count++;
        }
        newestMicros = stats == null ? newestMicros + STEP.toNanos() / 1000 : stats.timeMicros();
        rings[0][at] = stats == null ? -1 : stats.delayed();
        rings[1][at] = stats == null ? -1 : stats.oldestOverdueMicros();
        rings[2][at] = stats == null ? -1 : stats.leased();
        rings[3][at] = stats == null ? -1 : stats.dead();
    }

    /** The samples that there are; null before the first one. */
    synchronized Samples samples() {
        if (rings == null) {
            return null;
        }
        long step = STEP.toNanos() / 1000;
        return new Samples(Times.of(newestMicros - (count - 1) * step), step, ring(0), ring(1), ring(2), ring(3));
    }

    private List<Long> ring(int number) {
        List<Long> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long value = rings[number][(begin + i) % SAMPLES];
            values.add(value < 0 ? null : value);
        }
        return values;
    }
}
