// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.GroupHistory.Act;
import io.github.redisdelay.history.GroupHistory.Delivery;
import io.github.redisdelay.history.GroupHistory.Message;
import io.github.redisdelay.history.GroupHistory.Span;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.SettleResult;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The rule of {@link GroupChecker} on what must begin: nothing waits for which its group has a place. */
final class GroupStandstill {

    private final GroupHistory history;
    private final GroupProblems problems;
    /** After how many claims all groups were asked for. */
    int looked;
    /** For how long a message has waited at the most. */
    long longest;

    GroupStandstill(GroupHistory history, GroupProblems problems) {
        this.history = history;
        this.problems = problems;
    }

    /** How long a delivery waited although its group had a place for it. */
    void checkWait(List<Message> group, Message message, int index) {
        Delivery delivery = message.deliveries.get(index);
        long ready;
        if (index == 0) {
            if (!delivery.isFirst() || message.stored == null || history.isExcused(message, delivery.claimed())) {
                return;
            }
            ready = Math.max(delivery.due(), message.stored.answered());
            ready = freed(group, message, ready, delivery.claimed());
            for (Act act : message.acts) {
                ready = Math.max(ready, act.begin.micros() > delivery.claimed() ? 0 : act.answered());
            }
        } else {
            Delivery before = message.deliveries.get(index - 1);
            Event answer = history.settled.get(before.key());
            Long death = history.deaths.get(before.event().source());
            if (answer != null && answer.detail().equals(SettleResult.DONE.name())) {
                ready = Math.max(
                        answer.micros(), history.settlings.get(before.key()).due());
                ready = history.whole == null ? ready : freed(group, message, ready, delivery.claimed());
            } else if (death != null) {
                ready = Math.max(death, before.claimed()) + history.leaseMicros;
            } else {
                return;
            }
        }
        for (Span fault : history.faults) {
            // Until it is over nothing can be expected; a lease that it has cost ends a lease later.
            boolean death = fault.begin() == fault.end();
            ready = !death && fault.meets(ready - history.leaseMicros, delivery.claimed())
                    ? Math.max(
                            ready,
                            fault.end() == GroupHistory.NEVER ? GroupHistory.NEVER : fault.end() + history.leaseMicros)
                    : ready;
        }
        longest = Math.max(longest, delivery.claimed() - ready);
        if (delivery.claimed() - ready > history.terms.longest().toNanos() / 1000) {
            problems.add(Rule.STANDSTILL, message, null, "was not claimed from " + ready + " to " + delivery.claimed());
        }
    }

    /** From when on others have surely left a place to a message: in a group all of them, in a queue all but fewer than the limit. */
    private long freed(List<Message> group, Message message, long from, long at) {
        return group.stream()
                .filter(other -> other != message && other.over > from && other.last(at - 1) != null)
                .map(other -> Math.min(at, freed(other, other.last(at - 1))))
                .filter(freed -> freed > from)
                .sorted(Comparator.reverseOrder())
                .skip(history.whole == null ? 0 : history.terms.limit() - 1)
                .findFirst()
                .orElse(from);
    }

    /** When a place is free at the latest that a delivery has had, as far as it is known. */
    private long freed(Message message, Delivery last) {
        Event answer = history.settled.get(last.key());
        if (answer != null) {
            return answer.micros();
        }
        return message.acts.stream()
                .filter(act -> act.begin.what() != What.SCHEDULING && act.answered() >= last.claimed())
                .mapToLong(Act::answered)
                .min()
                .orElse(GroupHistory.NEVER);
    }

    /** After each claim of a consumer that surely had room for more, no group has less under way than it may. */
    void checkRoom(List<Delivery> all) {
        Set<String> done = new HashSet<>();
        for (int i = 0; i < all.size(); i++) {
            Delivery delivery = all.get(i);
            long at = delivery.claimed();
            if (!done.add(delivery.event().claim()) || history.isDisturbed(at)) {
                continue;
            }
            List<Delivery> given = all.stream()
                    .filter(other ->
                            other.event().claim().equals(delivery.event().claim()))
                    .toList();
            // Some that have ended may have been under way as the claim was sent; of a queue's places no more than
            // there
            // are, and as many without one.
            long before = history.whole != null
                    ? 2L * history.terms.limit()
                    : all.stream()
                            .filter(other -> other.claimed() < at && endedBy(other) > at - HistoryChecker.REPEAT_MICROS)
                            .count();
            if (given.size() < history.terms.slots() - before
                    && history.earliestClaim(delivery) == at
                    && !hasOneAlone(at)) {
                looked++;
                history.groups.values().forEach(group -> checkUnderWay(group, delivery));
            }
        }
    }

    /**
     * True if a message that has lost two leases may have been waiting: it is given alone, with room for more, and a claim
     * that has given others ends before it.
     */
    private boolean hasOneAlone(long at) {
        for (Message message : history.messages.values()) {
            long free = 0;
            for (Delivery delivery : message.deliveries) {
                if (delivery.claimed() >= at
                        && free <= at
                        && delivery.event().attempt() > 2
                        && delivery.event().reason().equals(RedeliveryReason.LEASE_EXPIRED.name())) {
                    return true;
                }
                free = delivery.claimed() + history.leaseMicros;
            }
        }
        return false;
    }

    private long endedBy(Delivery delivery) {
        Event answer = history.settled.get(delivery.key());
        return answer == null ? GroupHistory.NEVER : answer.micros();
    }

    private void checkUnderWay(List<Message> group, Delivery claim) {
        long at = claim.claimed();
        Message left = null;
        int taken = 0;
        for (Message message : group) {
            if (message.over < at) {
                continue;
            }
            taken += history.mayHavePlace(message, at) ? 1 : 0;
            Act since = message.isRepeated() ? null : message.waits(at);
            if (left == null && since != null && since.isDue(claim) && isLeft(message, at)) {
                left = message;
            }
        }
        if (left != null && taken < history.terms.limit() && !history.isExcused(left, at)) {
            problems.add(
                    Rule.STANDSTILL, left, null, "was due and not claimed at " + at + ", and its group had a place");
        }
    }

    /** True if a message was surely claimed later, or never. */
    private boolean isLeft(Message message, long at) {
        return message.deliveries.isEmpty()
                || message.deliveries.get(0).isFirst() && history.earliestClaim(message.deliveries.get(0)) > at;
    }
}
