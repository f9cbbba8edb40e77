// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.GroupHistory.Act;
import io.github.redisdelay.history.GroupHistory.Delivery;
import io.github.redisdelay.history.GroupHistory.Message;
import io.github.redisdelay.history.HistoryChecker.Rule;
import java.util.List;

/** The rules of {@link GroupChecker} on what may begin: no more of a group than it has places, and of one place the earliest first. */
final class GroupPlaces {

    private final GroupHistory history;
    private final GroupProblems problems;

    GroupPlaces(GroupHistory history, GroupProblems problems) {
        this.history = history;
        this.problems = problems;
    }

    void checkOverlap(List<Message> group, Message message, Delivery delivery) {
        List<Message> others = group.stream()
                .filter(other -> other != message
                        && other.over >= delivery.claimed()
                        && history.hasPlace(other, delivery.claimed()))
                .toList();
        if (others.size() >= history.terms.limit()
                && !history.isExcused(message, delivery.claimed())
                && others.stream().noneMatch(other -> history.isExcused(other, delivery.claimed()))) {
            problems.add(Rule.OVERLAP, message, others.get(0), "began while others of its group had all places");
        }
    }

    void checkOrder(List<Message> group, Message message, Delivery delivery) {
        if (!delivery.isFirst() || history.isExcused(message, delivery.claimed()) || message.isRepeated()) {
            return; // somebody who was never heard of may have begun it
        }
        long earliest = history.earliestClaim(delivery);
        for (Message other : group) {
            Act since = other == message || other.isRepeated() ? null : other.waits(delivery.claimed());
            if (since != null
                    && since.answered() < earliest
                    && isBefore(
                            other, since.answer.due(), message, delivery.event().due())
                    && !history.isExcused(other, delivery.claimed())) {
                problems.add(Rule.ORDER, message, other, "began before another one of its group that comes earlier");
            }
        }
    }

    /** At the same time by the order of ids. */
    private static boolean isBefore(Message one, long due, Message other, long otherDue) {
        return due < otherDue || due == otherDue && one.id.compareTo(other.id) < 0;
    }
}
