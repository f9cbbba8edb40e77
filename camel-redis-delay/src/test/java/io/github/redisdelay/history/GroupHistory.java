// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Finish;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.SettleResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the events say of each message of a group: when it surely had a place, when it may have had one, and what others cost it. */
final class GroupHistory {

    static final long NEVER = Long.MAX_VALUE;

    final long leaseMicros;
    final GroupChecker.Terms terms;
    /** The name of the queue if all of its messages are judged as one group; else null. */
    final String whole;

    final Map<String, Message> messages = new HashMap<>();
    final Map<String, List<Message>> groups = new TreeMap<>();
    final Map<String, Event> settlings = new HashMap<>();
    final Map<String, Event> settled = new HashMap<>();
    final Map<String, Long> deaths = new HashMap<>();
    /** All that can cost a lease, deaths as well; and what was lost with the server. */
    final List<Span> faults = new ArrayList<>();

    private final List<Span> losses = new ArrayList<>();
    /** The deliveries of each consumer, those without a group as well. */
    final Map<String, List<Delivery>> claims = new HashMap<>();

    record Span(long begin, long end) {

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
    record Delivery(Event event, long claimed, long due, String key) {

        boolean isFirst() {
            return event.attempt() == 1 && event.reason().equals(RedeliveryReason.NONE.name());
        }
    }

    /** Something else that may move or remove a message, or store it. */
    static final class Act {
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

        /** True if its message was due as another one was claimed, by the server's clock, too: it may have been set back meanwhile. */
        boolean isDue(Delivery claim) {
            return due <= claim.claimed && answer.due() <= claim.event.claimed();
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

    static final class Message {
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

    GroupHistory(Collection<Event> events, Duration lease, GroupChecker.Terms terms, String whole) {
        this.leaseMicros = lease.toNanos() / 1000;
        this.terms = terms;
        this.whole = whole;
        read(events);
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

    /** True if a message surely has a place. */
    boolean hasPlace(Message message, long at) {
        Delivery last = message.last(at);
        if (last == null) {
            return false;
        }
        Event settling = settlings.get(last.key());
        if (settling != null && settling.micros() <= at && !isStale(last)) {
            Finish finish = Finish.valueOf(settling.detail());
            if (finish.isEnd() || finish == Finish.RELEASE || !terms.strict()) {
                return false;
            }
        }
        // The first act has stored it.
        return message.acts.stream().skip(1).noneMatch(act -> act.within(last.claimed, at));
    }

    /** True if a message may have a place. */
    boolean mayHavePlace(Message message, long at) {
        Delivery last = message.last(at);
        if (last == null) {
            return false;
        }
        Event answer = settled.get(last.key());
        boolean ended = answer != null
                && answer.micros() <= at
                && answer.detail().equals(SettleResult.DONE.name())
                && (!terms.strict()
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

    /** A claim may be the repeat of one after the last claim of the same consumer, and is never one before its message was due. */
    long earliestClaim(Delivery delivery) {
        long sent = Long.MIN_VALUE;
        for (Delivery other : claims.get(delivery.event.source())) {
            if (other.claimed >= delivery.claimed) {
                break;
            }
            sent = other.claimed;
        }
        sent = sent == Long.MIN_VALUE ? delivery.due : sent;
        return delivery.claimed - sent < HistoryChecker.REPEAT_MICROS ? delivery.claimed : Math.max(delivery.due, sent);
    }

    boolean isDisturbed(long at) {
        return faults.stream()
                .anyMatch(fault -> fault.meets(at - leaseMicros - HistoryChecker.REPEAT_MICROS, at + leaseMicros));
    }

    /** True if the outcome of a message may have been lost. */
    boolean isExcused(Message message, long at) {
        return losses.stream()
                .anyMatch(loss -> loss.begin <= at
                        && (at <= loss.end
                                || at - loss.end <= leaseMicros
                                || message.events.stream()
                                        .anyMatch(
                                                event -> event.micros() >= loss.begin && event.micros() <= loss.end)));
    }

    boolean isStale(Delivery delivery) {
        Event answer = settled.get(delivery.key());
        return answer != null && !answer.detail().equals(SettleResult.DONE.name());
    }
}
