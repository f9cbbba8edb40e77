// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Says in one line what a queue holds. */
final class QueueReport {

    private QueueReport() {}

    /** For example {@code orders on redis://h:6379 (Redis 7.0.15, noeviction, AOF on): 1204 waiting, 37 overdue …}. */
    static String of(String queue, String address, ServerInfo server, QueueStats stats) {
        StringBuilder line = new StringBuilder(200);
        line.append(queue).append(" on ").append(address);
        line.append(" (").append(server.product()).append(' ').append(server.version());
        line.append(", ")
                .append(
                        server.evictionPolicy().equals("unknown")
                                ? "eviction policy unknown"
                                : server.evictionPolicy());
        line.append(", AOF ").append(server.appendOnly() ? "on" : "off").append("): ");
        line.append(stats.delayed())
                .append(" waiting, ")
                .append(stats.overdue())
                .append(" overdue");
        if (stats.overdue() > 0) {
            line.append(" (oldest ")
                    .append(text(micros(stats.oldestOverdueMicros())))
                    .append(')');
        }
        if (stats.leased() > 0) {
            line.append(", ").append(stats.leased()).append(" being delivered");
        }
        line.append(", ").append(stats.dead()).append(" dead");
        if (stats.nextDueMicros() >= 0) {
            line.append(", next due in ").append(text(micros(stats.nextDueMicros())));
        }
        return line.toString();
    }

    static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** A duration in its largest unit of which there are at least two, such as 41 min. */
    static String text(Duration duration) {
        if (duration.toDays() >= 2) {
            return duration.toDays() + " d";
        }
        if (duration.toHours() >= 2) {
            return duration.toHours() + " h";
        }
        if (duration.toMinutes() >= 2) {
            return duration.toMinutes() + " min";
        }
        if (duration.toSeconds() >= 2) {
            return duration.toSeconds() + " s";
        }
        return duration.toMillis() + " ms";
    }
}
