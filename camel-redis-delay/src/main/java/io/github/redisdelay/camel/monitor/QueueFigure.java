// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.queue.QueueStats;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The figures of a queue: the names and values that operations, checks, consoles and meters have in common. */
public enum QueueFigure {
    DELAYED("delayed", QueueStats::delayed),
    OVERDUE("overdue", QueueStats::overdue),
    LEASED("leased", QueueStats::leased),
    DEAD("dead", QueueStats::dead),
    OLDEST_OVERDUE("oldestOverdueMillis", stats -> stats.oldestOverdueMicros() / 1000),
    PARKED("parked", QueueStats::parked),
    OLDEST_PARKED("oldestParkedMillis", stats -> stats.oldestParkedMicros() / 1000),
    /** Of the next message that is not due yet; -1 if there is none. */
    NEXT_DUE("nextDueMillis", stats -> stats.nextDueMicros() < 0 ? -1L : (stats.nextDueMicros() + 999) / 1000),
    CONSUMERS("consumers", QueueStats::consumers),
    PAUSED("paused", QueueStats::paused);

    private final String title;
    private final Function<QueueStats, Object> value;

    QueueFigure(String title, Function<QueueStats, Object> value) {
        this.title = title;
        this.value = value;
    }

    /** All figures under their names: whole numbers, and one Boolean. */
    public static Map<String, Object> of(QueueStats stats) {
        Map<String, Object> figures = new LinkedHashMap<>();
        for (QueueFigure figure : values()) {
            figures.put(figure.title, figure.value(stats));
        }
        return figures;
    }

    public Object value(QueueStats stats) {
        return value.apply(stats);
    }
}
