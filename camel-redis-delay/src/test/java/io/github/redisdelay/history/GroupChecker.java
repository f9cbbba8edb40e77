// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Finish;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.SettleResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Judges the groups of messages, as {@link HistoryChecker} does each message by itself. What it asks:
 *
 * <ul>
 *   <li>overlap: no delivery begins while as many other messages of its group as the limit says have a place: each has one from
 *       its claim until it may have been ended, cancelled or moved, whether its lease is over or not; where retries let others
 *       pass, until it may have been retried;
 *   <li>order: with a limit of 1, no message begins while another one of its group is stored that was due earlier by the server's
 *       clock, and never began;
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

    private static final long NEVER = Long.MAX_VALUE;

    private final long leaseMicros;
    private final Terms terms;
    /** The name of the queue if all of its messages are judged as one group; else null. */
    private final String whole;

    private final Map<String, Message> messages = new HashMap<>();
    private final Map<String, List<Message>> groups = new TreeMap<>();
    private final Map<String, Event> settlings = new HashMap<>();
    private final Map<String, Event> settled = new HashMap<>();
    private final Map<String, Long> deaths = new HashMap<>();
    /** All that can cost a lease, deaths as well; and what was lost with the server. */
    private final List<Span> faults = new ArrayList<>();

    private final List<Span> losses = new ArrayList<>();
    /** The deliveries of each consumer, those without a group as well. */
    private final Map<String, List<Delivery>> claims = new HashMap<>();

    private final List<Problem> problems = new ArrayList<>();
    private int looked;
    private long longest;

    private record Span(long begin, long end) {

        boolean meets(long from, long to) {
            return begin <= to && end >= from;
        }
    }

    /**
     * A delivery.
     *
     * @param event as it was recorded
     * @param claimed when it was claimed, in machine time
     * @param due when it was due, in machine time
     * @param key by which its end is found
     */
    private record Delivery(Event event, long claimed, long due, String key) {

        boolean isFirst() {
            return event.attempt() == 1 && event.reason().equals(RedeliveryReason.NONE.name());
        }
    }

    /** Something else that may move or remove a message, or store it. */
    private static final class Act {
        final Event begin;
        Event answer;
        /** The due time in the answer, in machine time. */
        long due;

        Act(Event begin) {
            this.begin = begin;
        }

        long answered() {
            return answer == null ? NEVER : answer.micros();
        }

        /** True if it can have been executed between two times. */
        boolean within(long from, long to) {
            return begin.micros() <= to && answered() >= from && !isWithoutEffect();
        }

        private boolean isWithoutEffect() {
            String found = answer == null ? "" : answer.detail();
            return switch (begin.what()) {
                case CANCELLING -> found.equals(MessageState.NONE.name());
                case MOVING -> found.equals(MessageState.NONE.name()) || found.equals(MessageState.LEASED.name());
                default -> found.equals(ScheduleOutcome.IGNORED.name());
            };
        }
    }

    private static final class Message {
        final String id;
        final String group;
        final List<Event> events = new ArrayList<>();
        final List<Delivery> deliveries = new ArrayList<>();
        final List<Act> acts = new ArrayList<>();
        /** The first call that stored it; null if none was answered. */
        Act stored;
        /** When all was over that happened to it, if it was ended for good. */
        long over = NEVER;

        Message(String id, String group) {
            this.id = id;
            this.group = group;
        }

        /** The last delivery at a time; null if it has not begun. */
        Delivery last(long at) {
            Delivery last = null;
            for (Delivery delivery : deliveries) {
                if (delivery.claimed <= at) {
                    last = delivery;
                }
            }
            return last;
        }

        /** Notes the answer to the first call of this kind that has none. */
        void answer(What what, Event event, long due) {
            acts.stream()
                    .filter(act -> act.begin.what() == what
                            && act.answer == null
                            && act.begin.source().equals(event.source())
                            && act.begin.claim().equals(event.claim()))
                    .findFirst()
                    .ifPresent(act -> {
                        act.answer = event;
                        act.due = due;
                        stored = stored == null && what == What.SCHEDULING ? act : stored;
                    });
        }

        /** The call that tells since when it waits for certain without having begun, and for when; null if none does. */
        Act waits(long at) {
            if (last(at) != null || stored == null || stored.answered() > at) {
                return null;
            }
            Act since = stored;
            for (Act act : acts) {
                if (act.begin.micros() > at || act.isWithoutEffect() || act.begin.what() == What.SCHEDULING) {
                    continue;
                }
                if (act.begin.what() == What.CANCELLING
                        || act.answered() > at
                        || act.begin.micros() < since.answered()) {
                    return null;
                }
                since = act;
            }
            return since;
        }

        /** True if it was scheduled several times, because an answer was missing. */
        boolean isRepeated() {
            return acts.stream()
                            .filter(act -> act.begin.what() == What.SCHEDULING)
                            .count()
                    > 1;
        }
    }

    private GroupChecker(Duration lease, Terms terms, String whole) {
        this.leaseMicros = lease.toNanos() / 1000;
        this.terms = terms;
        this.whole = whole;
    }

    /**
     * Judges.
     *
     * @param events of all clients, in any order, as they were recorded
     * @param lease the visibility timeout of all consumers
     */
    public static Verdict check(Collection<Event> events, Duration lease, Terms terms) {
        return new GroupChecker(lease, terms, null).judge(events);
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
        return new GroupChecker(lease, new Terms(limit, false, slots, longest), "the queue").judge(events);
    }

    private Verdict judge(Collection<Event> events) {
        read(events);
        groups.values().forEach(this::check);
        claims.values().forEach(this::checkRoom);
        return new Verdict(List.copyOf(problems), groups.size(), looked, Duration.ofNanos(longest * 1000));
    }

    private void read(Collection<Event> events) {
        List<Event> ordered = new ArrayList<>(events);
        ordered.sort(Comparator.comparingLong(Event::micros));
        List<Event> inMachineTime = ServerClock.of(ordered).inMachineTime(ordered);
        Map<String, Event> begun = new HashMap<>();
        for (int i = 0; i < ordered.size(); i++) {
            Event event = ordered.get(i);
            Event machine = inMachineTime.get(i);
            switch (event.what()) {
                case KILLED -> {
                    deaths.putIfAbsent(event.id(), event.micros());
                    faults.add(new Span(event.micros(), event.micros()));
                }
                case FAULT_BEGINS -> begun.putIfAbsent(event.source() + " " + event.detail(), event);
                case FAULT_ENDS -> addFault(begun.remove(event.source() + " " + event.detail()), event.micros());
                case DELIVERED -> {
                    Delivery delivery =
                            new Delivery(event, machine.claimed(), machine.due(), event.claim() + event.id());
                    claims.computeIfAbsent(event.source(), source -> new ArrayList<>())
                            .add(delivery);
                    Message message = messages.get(event.id());
                    if (message != null) {
                        message.deliveries.add(delivery);
                    }
                }
                case SETTLING -> settlings.put(event.claim() + event.id(), event);
                case SETTLED -> settled.put(event.claim() + event.id(), event);
                default -> act(event, machine);
            }
            if (messages.containsKey(event.id())) {
                messages.get(event.id()).events.add(event);
            }
        }
        begun.values().forEach(begin -> addFault(begin, NEVER));
        Comparator<Delivery> byClaim = Comparator.comparingLong(Delivery::claimed);
        for (Message message : messages.values()) {
            message.deliveries.sort(byClaim);
            if (!message.deliveries.isEmpty() && !mayHavePlace(message, NEVER - 1)) {
                message.over = message.events.get(message.events.size() - 1).micros();
            }
        }
        claims.values().forEach(all -> all.sort(byClaim));
    }

    private void act(Event event, Event machine) {
        String group = whole == null ? event.reason() : whole;
        if (event.what() == What.SCHEDULING && !group.isEmpty()) {
            messages.computeIfAbsent(event.id(), id -> {
                Message message = new Message(id, group);
                groups.computeIfAbsent(group, name -> new ArrayList<>()).add(message);
                return message;
            });
        }
        Message message = messages.get(event.id());
        if (message == null) {
            return;
        }
        switch (event.what()) {
            case SCHEDULING, CANCELLING, MOVING -> message.acts.add(new Act(event));
            case CANCELLED -> message.answer(What.CANCELLING, event, 0);
            case MOVED -> message.answer(What.MOVING, event, machine.due());
            case SCHEDULED -> message.answer(What.SCHEDULING, event, machine.due());
            default -> {
                // It changes nothing.
            }
        }
    }

    private void addFault(Event begin, long end) {
        if (!begin.reason().equals(History.HARMLESS)) {
            faults.add(new Span(begin.micros(), end));
        }
        if (begin.reason().equals(History.LOSES)) {
            losses.add(new Span(begin.micros(), end));
        }
    }

    private void check(List<Message> group) {
        for (Message message : group) {
            for (int i = 0; i < message.deliveries.size(); i++) {
                Delivery delivery = message.deliveries.get(i);
                checkOverlap(group, message, delivery);
                if (terms.limit == 1 && whole == null && i == 0) {
                    checkOrder(group, message, delivery);
                }
                checkWait(group, message, i);
            }
        }
    }

    private void checkOverlap(List<Message> group, Message message, Delivery delivery) {
        List<Message> others = group.stream()
                .filter(other ->
                        other != message && other.over >= delivery.claimed && hasPlace(other, delivery.claimed))
                .toList();
        if (others.size() >= terms.limit
                && !isExcused(message, delivery.claimed)
                && others.stream().noneMatch(other -> isExcused(other, delivery.claimed))) {
            problem(Rule.OVERLAP, message, others.get(0), "began while others of its group had all places");
        }
    }

    /** True if a message surely has a place. */
    private boolean hasPlace(Message message, long at) {
        Delivery last = message.last(at);
        if (last == null) {
            return false;
        }
        Event settling = settlings.get(last.key());
        if (settling != null && settling.micros() <= at && !isStale(last)) {
            Finish finish = Finish.valueOf(settling.detail());
            if (finish.isEnd() || finish == Finish.RELEASE || !terms.strict) {
                return false;
            }
        }
        // The first act has stored it.
        return message.acts.stream().skip(1).noneMatch(act -> act.within(last.claimed, at));
    }

    /** True if a message may have a place. */
    private boolean mayHavePlace(Message message, long at) {
        Delivery last = message.last(at);
        if (last == null) {
            return false;
        }
        Event answer = settled.get(last.key());
        boolean ended = answer != null
                && answer.micros() <= at
                && answer.detail().equals(SettleResult.DONE.name())
                && (!terms.strict
                        || Finish.valueOf(settlings.get(last.key()).detail()).isEnd());
        return !ended && !isCancelled(message, last.claimed, at);
    }

    private static boolean isCancelled(Message message, long from, long at) {
        return message.acts.stream()
                .anyMatch(act -> act.begin.what() == What.CANCELLING
                        && act.begin.micros() >= from
                        && act.answered() <= at
                        && !act.isWithoutEffect());
    }

    private void checkOrder(List<Message> group, Message message, Delivery delivery) {
        if (!delivery.isFirst() || isExcused(message, delivery.claimed) || message.isRepeated()) {
            return; // somebody who was never heard of may have begun it
        }
        long earliest = earliestClaim(delivery);
        for (Message other : group) {
            Act since = other == message || other.isRepeated() ? null : other.waits(delivery.claimed);
            if (since != null
                    && since.answered() < earliest
                    && since.answer.due() < delivery.event.due()
                    && !isExcused(other, delivery.claimed)) {
                problem(Rule.ORDER, message, other, "began before another one of its group that was due earlier");
            }
        }
    }

    /** A claim may be the repeat of one after the last claim of the same consumer, and is never one before its message was due. */
    private long earliestClaim(Delivery delivery) {
        long before = delivery.due;
        for (Delivery other : claims.get(delivery.event.source())) {
            if (other.claimed >= delivery.claimed) {
                break;
            }
            before = Math.max(before, other.claimed);
        }
        return delivery.claimed - before < HistoryChecker.REPEAT_MICROS ? delivery.claimed : before;
    }

    /** How long a delivery waited although its group had a place for it. */
    private void checkWait(List<Message> group, Message message, int index) {
        Delivery delivery = message.deliveries.get(index);
        long ready;
        if (index == 0) {
            if (!delivery.isFirst() || message.stored == null || isExcused(message, delivery.claimed)) {
                return;
            }
            ready = Math.max(delivery.due, message.stored.answered());
            ready = freed(group, message, ready, delivery.claimed);
            for (Act act : message.acts) {
                ready = Math.max(ready, act.begin.micros() > delivery.claimed ? 0 : act.answered());
            }
        } else {
            Delivery before = message.deliveries.get(index - 1);
            Event answer = settled.get(before.key());
            Long death = deaths.get(before.event.source());
            if (answer != null && answer.detail().equals(SettleResult.DONE.name())) {
                ready = Math.max(answer.micros(), settlings.get(before.key()).due());
                ready = whole == null ? ready : freed(group, message, ready, delivery.claimed);
            } else if (death != null) {
                ready = Math.max(death, before.claimed) + leaseMicros;
            } else {
                return;
            }
        }
        for (Span fault : faults) {
            // Until it is over nothing can be expected; a lease that it has cost ends a lease later.
            boolean death = fault.begin == fault.end;
            ready = !death && fault.meets(ready - leaseMicros, delivery.claimed)
                    ? Math.max(ready, fault.end == NEVER ? NEVER : fault.end + leaseMicros)
                    : ready;
        }
        longest = Math.max(longest, delivery.claimed - ready);
        if (delivery.claimed - ready > terms.longest.toNanos() / 1000) {
            problem(Rule.STANDSTILL, message, null, "was not claimed from " + ready + " to " + delivery.claimed);
        }
    }

    /** From when on others have surely left a place to a message: in a group all of them, in a queue all but fewer than the limit. */
    private long freed(List<Message> group, Message message, long from, long at) {
        return group.stream()
                .filter(other -> other != message && other.over > from && other.last(at - 1) != null)
                .map(other -> Math.min(at, freed(other, other.last(at - 1))))
                .filter(freed -> freed > from)
                .sorted(Comparator.reverseOrder())
                .skip(whole == null ? 0 : terms.limit - 1)
                .findFirst()
                .orElse(from);
    }

    /** When a place is free at the latest that a delivery has had, as far as it is known. */
    private long freed(Message message, Delivery last) {
        Event answer = settled.get(last.key());
        if (answer != null) {
            return answer.micros();
        }
        return message.acts.stream()
                .filter(act -> act.begin.what() != What.SCHEDULING && act.answered() >= last.claimed)
                .mapToLong(Act::answered)
                .min()
                .orElse(NEVER);
    }

    /** After each claim of a consumer that surely had room for more, no group has less under way than it may. */
    private void checkRoom(List<Delivery> all) {
        Set<String> done = new HashSet<>();
        for (int i = 0; i < all.size(); i++) {
            Delivery delivery = all.get(i);
            long at = delivery.claimed;
            if (!done.add(delivery.event.claim()) || isDisturbed(at)) {
                continue;
            }
            List<Delivery> given = all.stream()
                    .filter(other -> other.event.claim().equals(delivery.event.claim()))
                    .toList();
            // Some that have ended may have been under way as the claim was sent; of a queue's places no more than
            // there
            // are, and as many without one.
            long before = whole != null
                    ? 2L * terms.limit
                    : all.stream()
                            .filter(other -> other.claimed < at && endedBy(other) > at - HistoryChecker.REPEAT_MICROS)
                            .count();
            if (given.size() < terms.slots - before && earliestClaim(delivery) == at && !hasOneAlone(at)) {
                looked++;
                groups.values().forEach(group -> checkUnderWay(group, at));
            }
        }
    }

    /**
     * True if a message that has lost two leases may have been waiting: it is given alone, with room for more, and a claim
     * that has given others ends before it.
     */
    private boolean hasOneAlone(long at) {
        for (Message message : messages.values()) {
            long free = 0;
            for (Delivery delivery : message.deliveries) {
                if (delivery.claimed >= at
                        && free <= at
                        && delivery.event.attempt() > 2
                        && delivery.event.reason().equals(RedeliveryReason.LEASE_EXPIRED.name())) {
                    return true;
                }
                free = delivery.claimed + leaseMicros;
            }
        }
        return false;
    }

    private long endedBy(Delivery delivery) {
        Event answer = settled.get(delivery.key());
        return answer == null ? NEVER : answer.micros();
    }

    private void checkUnderWay(List<Message> group, long at) {
        Message left = null;
        int taken = 0;
        for (Message message : group) {
            if (message.over < at) {
                continue;
            }
            taken += mayHavePlace(message, at) ? 1 : 0;
            Act since = message.isRepeated() ? null : message.waits(at);
            if (left == null && since != null && since.due <= at && isLeft(message, at)) {
                left = message;
            }
        }
        if (left != null && taken < terms.limit && !isExcused(left, at)) {
            problem(Rule.STANDSTILL, left, null, "was due and not claimed at " + at + ", and its group had a place");
        }
    }

    /** True if a message was surely claimed later, or never. */
    private boolean isLeft(Message message, long at) {
        return message.deliveries.isEmpty()
                || message.deliveries.get(0).isFirst() && earliestClaim(message.deliveries.get(0)) > at;
    }

    private boolean isDisturbed(long at) {
        return faults.stream()
                .anyMatch(fault -> fault.meets(at - leaseMicros - HistoryChecker.REPEAT_MICROS, at + leaseMicros));
    }

    /** True if the outcome of a message may have been lost. */
    private boolean isExcused(Message message, long at) {
        return losses.stream()
                .anyMatch(loss -> loss.begin <= at
                        && (at <= loss.end
                                || at - loss.end <= leaseMicros
                                || message.events.stream()
                                        .anyMatch(
                                                event -> event.micros() >= loss.begin && event.micros() <= loss.end)));
    }

    private boolean isStale(Delivery delivery) {
        Event answer = settled.get(delivery.key());
        return answer != null && !answer.detail().equals(SettleResult.DONE.name());
    }

    private void problem(Rule rule, Message message, Message other, String text) {
        StringBuilder history = new StringBuilder("'" + message.id + "' of " + message.group + " " + text + ":");
        message.events.forEach(event -> history.append("\n    ").append(event));
        if (other != null) {
            history.append("\n  beside");
            other.events.forEach(event -> history.append("\n    ").append(event));
        }
        problems.add(new Problem(rule, message.id, history.toString()));
    }
}
