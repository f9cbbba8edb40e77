// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The state of a queue in one line of text. */
public final class StatsText {

    private StatsText() {}

    /**
     * The line of a consumer that starts, for example {@code orders on redis://h:6379 (Redis 7.0.15, noeviction, AOF on):
     * 1204 delayed, 37 overdue …}.
     *
     * @param deadLetters whether the figures are those of the queue's dead letters
     */
    static String of(String queue, boolean deadLetters, String address, ServerInfo server, QueueStats stats) {
        String policy = server.evictionPolicy();
        Boolean appendOnly = server.appendOnly();
        return (deadLetters ? "dead letters of " : "") + queue + " on " + address
                + " (" + server.product() + " " + server.version()
                + ", " + (policy.equals("unknown") ? "eviction policy unknown" : policy)
                + ", AOF " + (appendOnly == null ? "unknown" : appendOnly ? "on" : "off") + "): "
                + (stats.paused() ? "PAUSED, " : "")
                + stats.delayed() + " delayed, " + overdue(stats, "no consumer until now")
                + (stats.parked() > 0 ? ", " + stats.parked() + " parked" : "")
                + (stats.leased() > 0 ? ", " + stats.leased() + " leased" : "")
                + (deadLetters ? "" : ", " + stats.dead() + " dead")
                + (stats.nextDueMicros() < 0 ? "" : ", next due in " + Durations.text(micros(stats.nextDueMicros())));
    }

    /**
     * For example {@code 37 overdue (oldest 41 min), and no consumer}.
     *
     * @param nobody what to say if no consumer was seen lately
     */
    public static String overdue(QueueStats stats, String nobody) {
        return stats.overdue() == 0
                ? "0 overdue"
                : stats.overdue() + " overdue (oldest " + Durations.text(micros(stats.oldestOverdueMicros())) + ")"
                        + (stats.consumers() == 0 ? ", and " + nobody : "");
    }

    /** That Redis has lost what the queue held, as a sentence; null if it has not. */
    public static String loss(QueueStats stats) {
        return stats.lostMicros() == 0
                ? null
                : "Redis has lost data, as was found at " + time(stats.lostMicros())
                        + ": messages that were delayed then may be gone";
    }

    /** A queue in a sentence, for example {@code dead letters of queue 'orders' of Redis at redis://h:6379}. */
    public static String label(DelayQueue queue, boolean deadLetters) {
        return (deadLetters ? "dead letters of " : "") + "queue '" + queue.name() + "' of " + queue.server();
    }

    /** A time in seconds. */
    public static String time(long micros) {
        return Instant.EPOCH
                .plus(micros(micros))
                .truncatedTo(ChronoUnit.SECONDS)
                .toString();
    }

    public static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
