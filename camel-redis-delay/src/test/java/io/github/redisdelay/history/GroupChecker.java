// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.GroupHistory.Delivery;
import io.github.redisdelay.history.GroupHistory.Message;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.HistoryChecker.Problem;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * Judges the groups of messages, as {@link HistoryChecker} does each message by itself. What it asks:
 *
 * <ul>
 *   <li>overlap: no delivery begins while as many other messages of its group as the limit says have a place: each has one from
 *       its claim until it may have been ended, cancelled or moved, whether its lease is over or not; where retries let others
 *       pass, until it may have been retried;
 *   <li>order: with a limit of 1, no message begins while another one of its group is stored that was due earlier by the server's
 *       clock, or at the same time with an earlier id, and never began;
 *   <li>standstill: after a claim that had room for more, each group has as many messages under way as its limit says, or all
 *       that are due; and no message waits for longer than it is told to, from the time when it was due and the one before it
 *       ended, or when a dead consumer's lease was over.
 * </ul>
 *
 * <p>The places of a queue are judged by the same rules, as if all of its messages were of one group whose retries let others
 * pass, and without an order. A message waits from when fewer others than the limit says had a place.
 *
 * <p>Where the server has lost or was robbed of what it had confirmed, the first two are not asked until a lease later, nor of
 * a message with which something was done meanwhile: those may repeat and change their order, and no others.
 */
public final class GroupChecker {

    /**
     * The rules of the queue, and of its consumers.
     *
     * @param limit how many of a group are leased at a time
     * @param strict whether a retry keeps its place
     * @param slots of each consumer, not more than a claim may ask for
     * @param longest for how long a message may wait although its group has a place for it
     */
    public record Terms(int limit, boolean strict, int slots, Duration longest) {}

    /**
     * The judgement.
     *
     * @param groups that have messages
     * @param claims after which all groups were asked for, as they had room for more
     * @param longest for how long a message has waited at the most although its group had a place for it
     */
    public record Verdict(List<Problem> problems, int groups, int claims, Duration longest) {}

    private GroupChecker() {}

    /**
     * Judges.
     *
     * @param events of all clients, in any order, as they were recorded
     * @param lease the visibility timeout of all consumers
     */
    public static Verdict check(Collection<Event> events, Duration lease, Terms terms) {
        return judge(new GroupHistory(events, lease, terms, null));
    }

    /**
     * Judges the places of a queue, whose groups have no limit.
     *
     * @param events as of {@link #check}
     * @param limit how many messages of the queue are leased at a time
     * @param slots as of {@link Terms}, more than twice the limit
     * @param longest for how long a message may wait although the queue has a place for it
     */
    public static Verdict checkQueue(Collection<Event> events, Duration lease, int limit, int slots, Duration longest) {
        return judge(new GroupHistory(events, lease, new Terms(limit, false, slots, longest), "the queue"));
    }

    private static Verdict judge(GroupHistory history) {
        GroupProblems problems = new GroupProblems();
        GroupPlaces places = new GroupPlaces(history, problems);
        GroupStandstill standstill = new GroupStandstill(history, problems);
        for (List<Message> group : history.groups.values()) {
            for (Message message : group) {
                for (int i = 0; i < message.deliveries.size(); i++) {
                    Delivery delivery = message.deliveries.get(i);
                    places.checkOverlap(group, message, delivery);
                    if (history.terms.limit() == 1 && history.whole == null && i == 0) {
                        places.checkOrder(group, message, delivery);
                    }
                    standstill.checkWait(group, message, i);
                }
            }
        }
        history.claims.values().forEach(standstill::checkRoom);
        return new Verdict(
                problems.found(),
                history.groups.size(),
                standstill.looked,
                Duration.ofNanos(standstill.longest * 1000));
    }
}
