// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.GroupHistory.Message;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Rule;
import java.util.ArrayList;
import java.util.List;

/** What {@link GroupChecker} finds. */
final class GroupProblems {

    private final List<Problem> found = new ArrayList<>();

    /** @param other the message that is in the way; null if none is */
    void add(Rule rule, Message message, Message other, String text) {
        StringBuilder history = new StringBuilder("'" + message.id + "' of " + message.group + " " + text + ":");
        message.events.forEach(event -> history.append("\n    ").append(event));
        if (other != null) {
            history.append("\n  beside");
            other.events.forEach(event -> history.append("\n    ").append(event));
        }
        found.add(new Problem(rule, message.id, history.toString()));
    }

    List<Problem> found() {
        return List.copyOf(found);
    }
}
