// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.HistoryChecker.Finish;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueLimits.Rate;
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
import java.util.stream.Collectors;

/**
 * Judges the rates of a queue and of each of its groups. What it asks:
 *
 * <ul>
 *   <li>rate: with the interval I and the burst B, at most N + B - 1 deliveries begin in any half-open window of the length N * I,
 *       for every N. They begin when they are claimed, by the server's clock. Each counts, also one that comes again; a claim that
 *       was repeated counts once. A clock that steps forward begins a new count, one that steps back does not;
 *   <li>standstill: no message that is scheduled once and never changed waits for longer than it is told to, from the time when
 *       it was due, both rates let it begin, and all that had begun of its group were ended.
 * </ul>
 */
public final class RateChecker {

    /**
     * The judgement.
     *
     * @param deliveries that have begun
     * @param exact how many of them have one moment when they can have been claimed: the others may be from the repeat of a call,
     *     and count only in windows that contain all the time in which it can have been
     * @param reached the share of the queue's rate that was reached while a message was ready to begin; 1 if none was
     * @param longest for how long a message has waited at the most although both rates let it begin
     */
    public record Verdict(List<Problem> problems, int deliveries, int exact, double reached, Duration longest) {}

    private static final long NEVER = Long.MAX_VALUE;
    /** How many deliveries of a window a problem names. */
    private static final int SHOWN = 20;

    private final QueueLimits limits;
    private final long leaseMicros;
    private final long longestMicros;
    private final ServerClock clock;
    private final Map<String, Message> messages = new HashMap<>();
    /** In the order of their claims, as the ones of each group. */
    private final List<Delivery> deliveries = new ArrayList<>();

    private final Map<String, List<Delivery>> groups = new TreeMap<>();
    /** All that can cost a lease, but deaths. */
    private final List<Span> faults = new ArrayList<>();

    private final List<Problem> problems = new ArrayList<>();
    private long longest;
    private long ready;
    private long readyMicros;

    private record Span(long begin, long end) {}

    private static final class Message {
        /** Empty if it has none. */
        final String group;
        /** When its schedule was confirmed, and for when, in machine time. */
        long stored = NEVER;

        long due;
        /** Whether something else may have given it another due time, or removed it. */
        boolean changed;
        /** When a delivery of it was ended for good. */
        long ended = NEVER;

        Message(String group) {
            this.group = group;
        }
    }

    /**
     * A delivery, with times in machine time.
     *
     * @param event as it was recorded
     * @param claimed when it was claimed, at the latest
     * @param earliest when it was claimed, at the earliest
     */
    private record Delivery(Event event, long claimed, long earliest) {

        boolean isFirst() {
            return event.attempt() == 1 && event.reason().equals(RedeliveryReason.NONE.name());
        }
    }

    private RateChecker(QueueLimits limits, Duration lease, Duration longest, ServerClock clock) {
        this.limits = limits;
        this.leaseMicros = lease.toNanos() / 1000;
        this.longestMicros = longest.toNanos() / 1000;
        this.clock = clock;
    }

    /**
     * Judges.
     *
     * @param events of all clients, in any order, as they were recorded
     * @param limits of the queue from its first message on
     * @param lease the visibility timeout of all consumers
     * @param longest for how long a message may wait although both rates let it begin
     */
    public static Verdict check(Collection<Event> events, QueueLimits limits, Duration lease, Duration longest) {
        RateChecker checker = new RateChecker(limits, lease, longest, ServerClock.of(events));
        checker.read(events);
        checker.checkWindows("the queue", checker.deliveries, limits.rate());
        checker.groups.forEach((group, all) -> checker.checkWindows(group, all, limits.groupRate()));
        List<Delivery> all = checker.deliveries;
        long before = 0;
        for (List<Delivery> moment : all.stream()
                .collect(Collectors.groupingBy(Delivery::claimed, TreeMap::new, Collectors.toList()))
                .values()) {
            checker.checkWaits(moment, before);
            before = moment.get(0).claimed;
        }
        return new Verdict(
                List.copyOf(checker.problems),
                all.size(),
                (int) all.stream().filter(each -> each.earliest == each.claimed).count(),
                checker.readyMicros == 0
                        ? 1
                        : (double) checker.ready * limits.rate().intervalMicros() / checker.readyMicros,
                Duration.ofNanos(checker.longest * 1000));
    }

    private void read(Collection<Event> events) {
        List<Event> ordered = new ArrayList<>(events);
        ordered.sort(Comparator.comparingLong(Event::micros));
        List<Event> inMachineTime = clock.inMachineTime(ordered);
        Map<String, Event> begun = new HashMap<>();
        Map<String, Finish> finishes = new HashMap<>();
        List<Integer> claims = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (int i = 0; i < ordered.size(); i++) {
            Event event = ordered.get(i);
            String delivery = event.claim() + event.id();
            Message message = messages.get(event.id());
            switch (event.what()) {
                case SCHEDULING ->
                    messages.merge(event.id(), new Message(event.reason()), (first, again) -> {
                        first.changed = true;
                        return first;
                    });
                case SCHEDULED -> {
                    message.changed |= !event.detail().equals(ScheduleOutcome.SCHEDULED.name());
                    message.stored = Math.min(message.stored, event.micros());
                    message.due = inMachineTime.get(i).due();
                }
                case CANCELLING, MOVING -> message.changed = true;
                case DELIVERED -> {
                    if (known.add(delivery)) {
                        claims.add(i);
                    }
                }
                case SETTLING -> finishes.put(delivery, Finish.valueOf(event.detail()));
                case SETTLED -> {
                    if (event.detail().equals(SettleResult.DONE.name())
                            && finishes.get(delivery).isEnd()
                            && message != null) {
                        message.ended = event.micros();
                    }
                }
                case FAULT_BEGINS -> begun.putIfAbsent(event.source() + " " + event.detail(), event);
                case FAULT_ENDS -> addFault(begun.remove(event.source() + " " + event.detail()), event.micros());
                default -> {
                    // It says nothing of rates.
                }
            }
        }
        begun.values().forEach(begin -> addFault(begin, NEVER));
        claims.sort(Comparator.comparingLong(i -> inMachineTime.get(i).claimed()));
        addDeliveries(
                claims.stream().map(ordered::get).toList(),
                claims.stream().map(inMachineTime::get).toList());
    }

    private void addFault(Event begin, long end) {
        if (!begin.reason().equals(History.HARMLESS)) {
            faults.add(new Span(begin.micros(), end));
        }
    }

    /** A claim may be the repeat of one after the last claim of the same consumer, and is never one before its message was due. */
    private void addDeliveries(List<Event> claims, List<Event> inMachineTime) {
        Map<String, long[]> last = new HashMap<>();
        for (int i = 0; i < claims.size(); i++) {
            Event event = claims.get(i);
            long at = inMachineTime.get(i).claimed();
            // The consumer's last claim, and the one before that.
            long[] its = last.computeIfAbsent(event.source(), source -> new long[] {Long.MIN_VALUE, Long.MIN_VALUE});
            if (its[0] < at) {
                its[1] = its[0];
                its[0] = at;
            }
            long before = Math.max(inMachineTime.get(i).due(), its[1]);
            Delivery delivery = new Delivery(event, at, before > at - HistoryChecker.REPEAT_MICROS ? at : before);
            deliveries.add(delivery);
            Message message = messages.get(event.id());
            if (message != null && !message.group.isEmpty()) {
                groups.computeIfAbsent(message.group, group -> new ArrayList<>())
                        .add(delivery);
            }
        }
    }

    private void checkWindows(String whose, List<Delivery> all, Rate rate) {
        if (rate == null) {
            return;
        }
        List<Delivery> byEarliest = new ArrayList<>(all);
        byEarliest.sort(Comparator.comparingLong(Delivery::earliest).reversed());
        // One that is too many is too many in longer windows, too.
        long reported = Long.MIN_VALUE;
        for (Delivery end : all) {
            List<Delivery> window = new ArrayList<>();
            for (Delivery begin : byEarliest) {
                if (begin.claimed > end.claimed) {
                    continue;
                }
                if (begin.earliest <= reported) {
                    break;
                }
                window.add(begin);
                long more = window.size() - rate.burst();
                if (more > 0 && end.claimed - begin.earliest < more * rate.intervalMicros()) {
                    if (clock.forward(begin.earliest, end.claimed) == 0) {
                        reported = end.claimed;
                        tooMany(whose, window, end, rate);
                    }
                    break;
                }
            }
        }
    }

    private void tooMany(String whose, List<Delivery> window, Delivery end, Rate rate) {
        Delivery begin = window.get(window.size() - 1);
        StringBuilder text = new StringBuilder();
        text.append(window.size())
                .append(" deliveries of ")
                .append(whose)
                .append(" began within ")
                .append(end.claimed - begin.earliest)
                .append(" us from ")
                .append(begin.earliest)
                .append(" on, at a rate of ")
                .append(rate)
                .append(":");
        window.stream().limit(SHOWN).forEach(each -> text.append("\n    ").append(each.event));
        problems.add(new Problem(Rule.RATE, end.event.id(), text.toString()));
    }

    /** How long the messages that began at one moment waited although nothing held them back. */
    private void checkWaits(List<Delivery> moment, long before) {
        long claimed = moment.get(0).claimed;
        long next = limits.rate() == null || before == 0
                ? 0
                : before + limits.rate().intervalMicros();
        boolean wasReady = false;
        for (Delivery delivery : moment) {
            long since = readySince(delivery);
            wasReady |= since <= next;
            since = Math.max(since, next);
            if (since <= claimed && isUndisturbed(since, claimed)) {
                longest = Math.max(longest, claimed - since);
                if (claimed - since > longestMicros) {
                    problems.add(new Problem(
                            Rule.STANDSTILL,
                            delivery.event.id(),
                            "nothing held '" + delivery.event.id() + "' back from " + since
                                    + " on, and it was claimed at " + claimed + ":\n    " + delivery.event));
                }
            }
        }
        if (wasReady && isUndisturbed(before, claimed)) {
            ready += moment.size();
            readyMicros += claimed - before;
        }
    }

    /** Since when only the queue's rate held a message back, if it is surely known. */
    private long readySince(Delivery delivery) {
        Message message = messages.get(delivery.event.id());
        if (!delivery.isFirst() || message == null || message.changed || message.stored == NEVER) {
            return NEVER;
        }
        long[] ahead = clock.ahead(message.stored, delivery.claimed);
        return ahead[0] == ahead[1]
                ? Math.max(Math.max(message.due, message.stored), free(message, delivery.claimed))
                : NEVER;
    }

    /** When nothing of its group held a message back any more, as far as is known before a time. */
    private long free(Message message, long at) {
        long free = 0;
        for (Delivery other : groups.getOrDefault(message.group, List.of())) {
            if (other.claimed >= at) {
                break;
            }
            long next = limits.groupRate() == null
                    ? 0
                    : other.claimed + limits.groupRate().intervalMicros();
            free = Math.max(Math.max(free, next), messages.get(other.event.id()).ended);
        }
        return free;
    }

    /** Until a fault is over nothing can be expected; a lease that it has cost ends a lease later. */
    private boolean isUndisturbed(long from, long to) {
        return faults.stream().noneMatch(fault -> fault.begin <= to && fault.end >= from - leaseMicros);
    }
}
