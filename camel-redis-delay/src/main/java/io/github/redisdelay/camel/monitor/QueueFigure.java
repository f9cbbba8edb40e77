// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.queue.QueueStats;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The figures of a queue: the names and values that operations, checks, consoles and meters have in common. */
public enum QueueFigure {
    DELAYED("delayed", "Messages that no consumer has claimed, overdue ones included", QueueStats::delayed),
    OVERDUE("overdue", "Delayed messages that are due", QueueStats::overdue),
    LEASED("leased", "Messages that consumers have claimed", QueueStats::leased),
    DEAD("dead", "Dead letters", QueueStats::dead),
    OLDEST_OVERDUE(
            "oldestOverdueMillis",
            "For how long the oldest overdue message has been due",
            stats -> stats.oldestOverdueMicros() / 1000),
    NEXT_DUE(
            "nextDueMillis",
            "In how long the next message is due that is not due yet; -1 if there is none",
            stats -> stats.nextDueMicros() < 0 ? -1L : (stats.nextDueMicros() + 999) / 1000),
    CONSUMERS("consumers", "Consumers of the queue, in all JVMs", QueueStats::consumers),
    PAUSED("paused", "1 if the queue is paused, else 0", QueueStats::paused);

    private final String title;
    private final String description;
    private final Function<QueueStats, Object> value;

    QueueFigure(String title, String description, Function<QueueStats, Object> value) {
        this.title = title;
        this.description = description;
        this.value = value;
    }

    /** All figures under their names: whole numbers, and one Boolean. */
    public static Map<String, Object> of(QueueStats stats) {
        Map<String, Object> figures = new LinkedHashMap<>();
        for (QueueFigure figure : values()) {
            figures.put(figure.title, figure.value.apply(stats));
        }
        return figures;
    }

    /** The figure as a meter shows it: times in seconds, a Boolean as 1 or 0. */
    double gauge(QueueStats stats) {
        Object now = value.apply(stats);
        if (now instanceof Boolean yes) {
            return yes ? 1 : 0;
        }
        return ((Number) now).doubleValue() / (isTime() ? 1000 : 1);
    }

    boolean isTime() {
        return title.endsWith("Millis");
    }

    String description() {
        return description;
    }
}
