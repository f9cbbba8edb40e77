// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.QueueStats;

/** Makes figures of a queue: those of an empty one, but for what a test says. */
public final class StatsBuilder {

    private long timeMicros;
    private long delayed;
    private long overdue;
    private long leased;
    private long dead;
    private long oldestOverdueMicros;
    private long nextDueMicros = -1;
    private int consumers;
    private long pausedMicros;
    private long lastDueMicros;
    private long stored;
    private long lostMicros;
    private long parked;
    private long oldestParkedMicros;

    public StatsBuilder timeMicros(long value) {
        timeMicros = value;
        return this;
    }

    public StatsBuilder delayed(long value) {
        delayed = value;
        return this;
    }

    public StatsBuilder overdue(long value) {
        overdue = value;
        return this;
    }

    public StatsBuilder leased(long value) {
        leased = value;
        return this;
    }

    public StatsBuilder dead(long value) {
        dead = value;
        return this;
    }

    public StatsBuilder oldestOverdueMicros(long value) {
        oldestOverdueMicros = value;
        return this;
    }

    public StatsBuilder nextDueMicros(long value) {
        nextDueMicros = value;
        return this;
    }

    public StatsBuilder consumers(int value) {
        consumers = value;
        return this;
    }

    public StatsBuilder pausedMicros(long value) {
        pausedMicros = value;
        return this;
    }

    public StatsBuilder lastDueMicros(long value) {
        lastDueMicros = value;
        return this;
    }

    public StatsBuilder stored(long value) {
        stored = value;
        return this;
    }

    public StatsBuilder lostMicros(long value) {
        lostMicros = value;
        return this;
    }

    public StatsBuilder parked(long value) {
        parked = value;
        return this;
    }

    public StatsBuilder oldestParkedMicros(long value) {
        oldestParkedMicros = value;
        return this;
    }

    public QueueStats build() {
        return new QueueStats(
                timeMicros,
                delayed,
                overdue,
                leased,
                dead,
                oldestOverdueMicros,
                nextDueMicros,
                consumers,
                pausedMicros,
                lastDueMicros,
                stored,
                lostMicros,
                parked,
                oldestParkedMicros);
    }
}
