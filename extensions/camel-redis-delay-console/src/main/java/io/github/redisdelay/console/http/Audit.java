// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.console.api.ConsoleUser;
import io.github.redisdelay.queue.exception.ShownId;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One line of the log for each change that somebody asked for and had the right to. */
final class Audit {

    private static final Logger LOG = LoggerFactory.getLogger(Audit.class);

    /** All that an action may be told, but for what the user saw before. */
    private static final List<String> PARAMETERS = List.of(
            "queue",
            "id",
            "group",
            "due",
            "to",
            "inMicros",
            "cause",
            "all",
            "since",
            "until",
            "count",
            "schedules",
            "job");

    private Audit() {}

    /** @param outcome in a word */
    static void log(Route route, Call call, String outcome) {
        if (!LOG.isInfoEnabled()) {
            return;
        }
        ConsoleUser user = call.user();
        StringBuilder line = new StringBuilder("console: ")
                .append(user.name() == null ? "somebody" : "'" + shown(user.name()) + "'")
                .append(" from ")
                .append(user.peer().isEmpty() ? "an unknown address" : shown(user.peer()))
                .append(": ")
                .append(route.path().substring("api/".length()));
        for (String name : PARAMETERS) {
            Object value = call.parameters().get(name);
            if (value != null) {
                line.append(", ").append(name).append(" '").append(shown(value)).append('\'');
            }
        }
        LOG.info("{}: {}", line, shown(outcome));
    }

    private static String shown(Object value) {
        return ShownId.of(String.valueOf(value));
    }
}
