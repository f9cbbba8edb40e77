// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Finish;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Report;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.SettleResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Judges the runs of recurring schedules, as {@link HistoryChecker} does messages. What it asks:
 *
 * <ul>
 *   <li>each run has a time that follows: the first one of the rule that is later than the run before and than the end of that;
 *       or the one that a declaration of another rule, a reschedule or a promotion has given. So each time of the rule has
 *       one run, or was missed because the run before ended later: it is caught up by the next one;
 *   <li>no time comes again after its run was ended, except where the server has lost what it confirmed, and then only what was
 *       confirmed since the fault began;
 *   <li>no run is followed by another one unless a delivery of it was ended;
 *   <li>no two deliveries of a schedule have valid leases, and none is ended after its lease was another's;
 *   <li>none comes before its time by the server's clock, none after a cancel, none by a rule that was replaced before;
 *   <li>a declaration of the same rule moves no time, unless the server's clock stepped back or somebody has moved it;
 *   <li>each end of a delivery got an answer, unless its client was killed.
 * </ul>
 */
public final class RunChecker {

    /**
     * The judgement.
     *
     * @param report its confirmed messages are runs that have ended, its uncertain ones those of which nobody knows
     * @param missed how many times of the rules had no run of their own, because the run before ended later
     * @param latest how late the first delivery of a run was at the most: after its time, or, if that was later, after the end
     *     of the one before
     * @param reached the rare states that runs have reached
     */
    public record Verdict(Report report, long missed, Duration latest, RareStates reached) {}

    private static final String KILLED = "its consumer was killed";
    private static final String LOST_WITH_SERVER = "lost with the server";

    private final long leaseMicros;
    private final ServerClock clock;
    private final Map<String, Long> deaths = new HashMap<>();
    private final List<Fault> faults = new ArrayList<>();
    private final Map<String, Event> settlings = new HashMap<>();
    private final Map<String, Event> settled = new HashMap<>();
    private final Map<String, Event> failed = new HashMap<>();
    private final Map<String, Event> answers = new HashMap<>();
    /** When each declaration was executed, in machine time. It may have been sent, and answered, far earlier and later. */
    private final Map<String, Long> executed = new HashMap<>();

    private final Map<String, List<Delivery>> deliveries = new TreeMap<>();
    private final Map<String, List<Event>> changes = new HashMap<>();
    private final List<Problem> problems = new ArrayList<>();
    private final Map<String, Integer> causes = new TreeMap<>();
    private long missed;
    private long latest;

    /** @param hit the clients that it hits; empty for any */
    private record Fault(String name, long begin, long end, Set<String> hit, boolean loses) {

        boolean hits(String source) {
            return hit.isEmpty() || hit.contains(source);
        }
    }

    /**
     * A delivery of a run.
     *
     * @param event as it was recorded
     * @param claimed when it was claimed, in machine time
     * @param due when it was due, in machine time
     */
    private record Delivery(Event event, long claimed, long due) {

        long time() {
            return event.runMicros();
        }

        Schedule rule() {
            return event.rule();
        }
    }

    private RunChecker(Duration lease, ServerClock clock) {
        this.leaseMicros = lease.toNanos() / 1000;
        this.clock = clock;
    }

    /**
     * Judges.
     *
     * @param events of all clients, in any order, as they were recorded
     * @param lease the visibility timeout of all consumers
     */
    public static Verdict check(Collection<Event> events, Duration lease) {
        return new RunChecker(lease, ServerClock.of(events)).check(events);
    }

    private Verdict check(Collection<Event> events) {
        List<Event> ordered = new ArrayList<>(events);
        ordered.sort(Comparator.comparingLong(Event::micros));
        Map<String, Event> begun = new HashMap<>();
        List<Event> inMachineTime = clock.inMachineTime(ordered);
        for (int i = 0; i < ordered.size(); i++) {
            Event event = ordered.get(i);
            switch (event.what()) {
                case KILLED -> deaths.putIfAbsent(event.id(), event.micros());
                case FAULT_BEGINS -> begun.putIfAbsent(event.source() + " " + event.detail(), event);
                case FAULT_ENDS -> addFault(begun.remove(event.source() + " " + event.detail()), event.micros());
                case DELIVERED -> {
                    if (event.runMicros() >= 0) {
                        Event machine = inMachineTime.get(i);
                        deliveries
                                .computeIfAbsent(event.id(), id -> new ArrayList<>())
                                .add(new Delivery(event, machine.claimed(), machine.due()));
                    }
                }
                case SETTLING -> settlings.put(event.claim() + event.id(), event);
                case SETTLED -> settled.put(event.claim() + event.id(), event);
                case FAILED -> failed.put(event.claim() + event.id(), event);
                case DECLARED -> {
                    answers.put(event.claim(), event);
                    executed.put(event.claim(), inMachineTime.get(i).claimed());
                }
                case MOVED -> answers.put(event.claim(), event);
                case DECLARING, MOVING, CANCELLED ->
                    changes.computeIfAbsent(event.id(), id -> new ArrayList<>()).add(event);
                default -> {
                    // It is not about runs.
                }
            }
        }
        begun.values().forEach(begin -> addFault(begin, Long.MAX_VALUE));
        int ended = 0;
        int uncertain = 0;
        for (List<Delivery> each : deliveries.values()) {
            each.sort(
                    Comparator.comparingLong(Delivery::claimed).thenComparingInt(delivery -> delivery.event.attempt()));
            for (int i = 0; i < each.size(); i++) {
                check(each, i);
            }
            Set<Long> done =
                    each.stream().filter(this::isEnded).map(Delivery::time).collect(Collectors.toSet());
            ended += done.size();
            uncertain += (int) each.stream()
                    .filter(delivery -> settling(delivery) != null && settled(delivery) == null)
                    .map(Delivery::time)
                    .filter(time -> !done.contains(time))
                    .distinct()
                    .count();
        }
        int all = deliveries.values().stream().mapToInt(List::size).sum();
        Report report = new Report(List.copyOf(problems), ended, uncertain, all, Map.copyOf(causes));
        RareStates reached = RareStates.in(ordered);
        deliveries.values().stream()
                .flatMap(List::stream)
                .forEach(each -> reached.countIf(isDone(each) && isReplaced(each), RareState.RUN_BY_OTHER_RULE));
        return new Verdict(report, missed, Duration.ofNanos(latest * 1000), reached);
    }

    /** True if another rule was stored during a delivery. */
    private boolean isReplaced(Delivery delivery) {
        return isReplaced(delivery, settling(delivery), changes.getOrDefault(delivery.event.id(), List.of()));
    }

    /** The last one counts: the rule of the delivery may have come back. */
    private boolean isReplaced(Delivery delivery, Event settling, List<Event> acts) {
        return acts.stream()
                .filter(act -> act.what() == What.DECLARING
                        && act.micros() > delivery.claimed
                        && answered(act) < settling.micros()
                        && isStored(answers.get(act.claim())))
                .max(Comparator.comparingLong(this::answered))
                .filter(last -> !last.rule().equals(delivery.rule()))
                .isPresent();
    }

    private void addFault(Event begin, long end) {
        if (!begin.reason().equals(History.HARMLESS)) {
            Set<String> hit =
                    begin.id().isEmpty() ? Set.of() : Set.of(begin.id().split(","));
            faults.add(new Fault(
                    begin.detail(), begin.micros(), end, hit, begin.reason().equals(History.LOSES)));
        }
    }

    private void check(List<Delivery> all, int index) {
        Delivery delivery = all.get(index);
        Delivery before = index == 0 ? null : all.get(index - 1);
        Event event = delivery.event;
        Event failure = failed.get(event.claim() + event.id());
        boolean closed = failure != null && failure.reason().equals(History.Failure.CLOSED.name());
        if (settling(delivery) != null && settled(delivery) == null && !closed && !deaths.containsKey(event.source())) {
            problem(Rule.UNANSWERED, all, index, "was to be ended, and its client never got an answer");
        }
        checkCancel(all, index);
        checkRule(all, index);
        boolean again = before != null && before.time() == delivery.time();
        // Where the server's clock stepped back, a run that comes again does so before its own time.
        if (event.claimed() < (again ? event.due() : Math.max(event.due(), delivery.time()))) {
            problem(Rule.EARLY, all, index, "was claimed before its time");
        }
        if (before != null) {
            checkLease(all, index, again);
        }
        if (!again) {
            checkTime(all, index, before);
        }
    }

    private void checkCancel(List<Delivery> all, int index) {
        Delivery delivery = all.get(index);
        List<Event> acts = changes.getOrDefault(delivery.event.id(), List.of());
        acts.stream()
                .filter(act -> act.what() == What.CANCELLED && act.micros() < delivery.claimed)
                .filter(cancel -> acts.stream()
                        .noneMatch(act -> act.what() == What.DECLARING
                                && answered(act) > cancel.micros()
                                && act.micros() < delivery.claimed))
                .findFirst()
                .ifPresent(cancel -> problem(Rule.CANCELLED, all, index, "came after a cancel"));
    }

    /** The rule is one that was stored last, as far as the order of the declarations is known. */
    private void checkRule(List<Delivery> all, int index) {
        Delivery delivery = all.get(index);
        Event last = null;
        boolean possible = isLost(0, delivery.claimed);
        for (Event act : changes.getOrDefault(delivery.event.id(), List.of())) {
            Event answer = answers.get(act.claim());
            if (act.what() != What.DECLARING || act.micros() > delivery.claimed) {
                continue;
            }
            if (answered(act) > delivery.claimed) {
                possible |= act.rule().equals(delivery.rule());
            } else if (isStored(answer)
                    && (last == null
                            || answer.claimed() > answers.get(last.claim()).claimed())) {
                last = act;
            }
        }
        if (!possible && (last == null || !last.rule().equals(delivery.rule()))) {
            problem(
                    Rule.FROM_NOWHERE,
                    all,
                    index,
                    "came by another rule than " + (last == null ? "none" : last.rule()));
        }
    }

    private static boolean isStored(Event declared) {
        return declared != null && !declared.detail().equals(ScheduleOutcome.IGNORED.name());
    }

    private boolean isReplacing(Event act) {
        Event answer = answers.get(act.claim());
        return act.what() == What.DECLARING
                && answer != null
                && answer.detail().equals(ScheduleOutcome.REPLACED.name());
    }

    /** When a call was answered; as late as never if it was not. */
    private long answered(Event call) {
        Event answer = answers.get(call.claim());
        return answer == null ? Long.MAX_VALUE : answer.micros();
    }

    /** @param again whether both are of the same run */
    private void checkLease(List<Delivery> all, int index, boolean again) {
        Delivery before = all.get(index - 1);
        Delivery delivery = all.get(index);
        Event settling = settling(before);
        if (isDone(before) && settling.micros() > delivery.claimed) {
            problem(Rule.FENCING, all, index, "began, and the delivery before was ended with effect afterwards");
            return;
        }
        boolean lost = isLost(before.claimed, delivery.claimed);
        boolean ended = settling != null && !isStale(before) && settling.micros() <= delivery.claimed;
        boolean forGood = ended && Finish.valueOf(settling.detail()).isEnd();
        if (!again || ended && !forGood) {
            // A claim in between, whose messages nobody was given, needs no cause here: the lease of this one is over.
            if (!ended && !lost && cause(before, delivery) == null) {
                problem(Rule.TWICE, all, index, "came while the delivery before had a valid lease");
            }
            return;
        }
        String cause = lost && isRepeatable(before, delivery.claimed)
                ? LOST_WITH_SERVER
                : isDone(before) ? null : cause(before, delivery);
        if (cause == null) {
            problem(
                    Rule.TWICE,
                    all,
                    index,
                    isDone(before) ? "came again after it was ended" : "came again without a cause");
        } else {
            causes.merge(cause, 1, Integer::sum);
        }
    }

    /** Why the lease of a delivery was over when the next one was claimed; null if it was not, or nothing can have cost it. */
    private String cause(Delivery before, Delivery next) {
        long from = before.claimed;
        if (next.claimed - from + clock.forward(from, next.claimed) < leaseMicros) {
            // A claim that is repeated, because its answer was lost, tells the time of the repeat.
            from = before.due;
            if (next.claimed - from + clock.forward(from, next.claimed) < leaseMicros) {
                return null;
            }
        } else {
            Long death = deaths.get(before.event.source());
            if (death != null && death <= next.claimed) {
                return KILLED;
            }
        }
        long since = from - leaseMicros;
        return faults.stream()
                .filter(fault -> fault.hits(before.event.source()) && fault.begin <= next.claimed && fault.end >= since)
                .findFirst()
                .map(fault -> "its lease expired in: " + fault.name)
                .orElse(null);
    }

    /** True if the server may have lost something between two times. */
    private boolean isLost(long from, long to) {
        return faults.stream().anyMatch(fault -> fault.loses && fault.begin <= to && fault.end >= from);
    }

    /** True if a delivery was ended when its end could be lost, or not ended at all. */
    private boolean isRepeatable(Delivery before, long to) {
        Event answer = settled(before);
        return faults.stream()
                .anyMatch(fault -> fault.loses
                        && fault.begin <= to
                        && (answer == null || answer.micros() >= fault.begin && answer.micros() <= fault.end));
    }

    private void checkTime(List<Delivery> all, int index, Delivery before) {
        Delivery delivery = all.get(index);
        Delivery first = all.subList(0, index).stream()
                .filter(other -> other.time() == before.time())
                .findFirst()
                .orElse(null); // of the run before
        List<Event> acts = changes.getOrDefault(delivery.event.id(), List.of()).stream()
                .filter(act -> act.micros() <= delivery.claimed && isOf(act, all, first))
                .toList();
        boolean repeated = isLost(before == null ? 0 : before.claimed, delivery.claimed)
                && all.subList(0, index).stream()
                        .anyMatch(other -> other.time() == delivery.time() && isRepeatable(other, delivery.claimed));
        if (repeated) {
            causes.merge(LOST_WITH_SERVER, 1, Integer::sum);
            return;
        }
        boolean given = acts.stream().anyMatch(act -> gives(act, delivery.time()));
        long end = before == null ? Long.MAX_VALUE : end(before, delivery, acts);
        if (!given && end == Long.MAX_VALUE) {
            boolean back = before != null && delivery.time() < before.time();
            problem(back ? Rule.TWICE : Rule.LOST, all, index, "has a time that does not follow from the run before");
            return;
        }
        checkPulledBack(all, index, first, acts);
        if (!given) {
            for (long time = before.rule().next(before.time(), before.time());
                    time < delivery.time();
                    time = before.rule().next(before.time(), time)) {
                missed++;
            }
            long ready = Math.max(delivery.time(), end);
            long forward = clock.forward(before.claimed, delivery.claimed);
            latest = Math.max(latest, delivery.event.claimed() - ready - forward);
        }
    }

    /**
     * True if a change can have given the time of the run that follows one: it was made after the first delivery of that, or is
     * the rule of that delivery, stored while the run was due already.
     */
    private boolean isOf(Event act, List<Delivery> all, Delivery first) {
        if (first == null || answered(act) >= first.claimed) {
            return true;
        }
        int index = all.indexOf(first);
        return isReplacing(act)
                && act.rule().equals(first.rule())
                && answered(act) >= (index == 0 ? 0 : all.get(index - 1).claimed);
    }

    /** True if a declaration, a reschedule or a promotion has given a run this time, or may have. */
    private boolean gives(Event act, long time) {
        Event answer = answers.get(act.claim());
        if (answer != null) {
            return answer.due() == time && (act.what() == What.MOVING || isStored(answer));
        }
        return act.what() == What.MOVING
                || act.what() == What.DECLARING
                        && time > act.micros() + clock.ahead(act.micros(), act.micros())[0]
                        && (act.rule().isGrid() || act.rule().next(0, time - 1) == time);
    }

    /** When the run before may have ended, if its end gives the next one this time; else as late as never. */
    private long end(Delivery before, Delivery next, List<Event> acts) {
        Event settling = settling(before);
        if (settling == null || isStale(before)) {
            return Long.MAX_VALUE;
        }
        if (isReplaced(before, settling, acts)) {
            return Long.MAX_VALUE;
        }
        Event answer = settled(before);
        long latestEnd = answer == null ? next.claimed : answer.micros();
        long[] ahead = clock.ahead(before.claimed, latestEnd);
        long low = Math.max(before.time(), settling.micros() + ahead[0]);
        long high = Math.max(before.time(), latestEnd + ahead[1]);
        Schedule rule = before.rule();
        long time = next.time();
        // A grid begins where its rule was stored: during the run before, say, whose retry came later.
        boolean follows = Stream.concat(
                        Stream.of(before.time()),
                        acts.stream()
                                .map(act -> answers.get(act.claim()))
                                .filter(RunChecker::isStored)
                                .map(Event::due))
                .anyMatch(begin -> rule.next(begin, low) <= time
                        && time <= rule.next(begin, high)
                        && rule.next(begin, time - 1) == time);
        return follows ? high : Long.MAX_VALUE;
    }

    /** True if the same rule was stored again, and a time moved, for no reason. */
    private void checkPulledBack(List<Delivery> all, int index, Delivery first, List<Event> acts) {
        Delivery delivery = all.get(index);
        boolean others = first == null
                || acts.stream()
                        .anyMatch(act ->
                                act.what() != What.DECLARING || !act.rule().equals(first.rule()));
        if (others || isLost(0, delivery.claimed)) {
            return;
        }
        boolean pulled = acts.stream()
                .filter(this::isReplacing)
                // Whenever it was sent: before the first claim it may have replaced another rule, and after this one
                // it moves a later run.
                .filter(act ->
                        executed.get(act.claim()) >= first.claimed && executed.get(act.claim()) <= delivery.claimed)
                .anyMatch(act -> !isSteppedBack(first, act));
        if (pulled) {
            problem(Rule.LOST, all, index, "was moved by a declaration of the same rule");
        }
    }

    /** True if the server's clock was less far ahead when a declaration was executed than at a claim before. */
    private boolean isSteppedBack(Delivery delivery, Event act) {
        long aheadThen = delivery.event.claimed() - delivery.claimed;
        return answers.get(act.claim()).claimed() - executed.get(act.claim()) < aheadThen;
    }

    private Event settling(Delivery delivery) {
        return settlings.get(delivery.event.claim() + delivery.event.id());
    }

    private Event settled(Delivery delivery) {
        return settled.get(delivery.event.claim() + delivery.event.id());
    }

    private boolean isDone(Delivery delivery) {
        Event answer = settled(delivery);
        return answer != null && answer.detail().equals(SettleResult.DONE.name());
    }

    private boolean isStale(Delivery delivery) {
        return settled(delivery) != null && !isDone(delivery);
    }

    private boolean isEnded(Delivery delivery) {
        return isDone(delivery) && Finish.valueOf(settling(delivery).detail()).isEnd();
    }

    private void problem(Rule rule, List<Delivery> all, int index, String text) {
        String id = all.get(index).event.id();
        StringBuilder history = new StringBuilder("a run of '" + id + "' " + text + ":");
        for (Delivery each : all.subList(Math.max(0, index - 2), index + 1)) {
            history.append("\n    ").append(each.event);
            for (Event event : new Event[] {settling(each), settled(each)}) {
                history.append(event == null ? "" : "\n      " + event);
            }
        }
        long since = all.get(Math.max(0, index - 2)).claimed;
        for (Event act : changes.getOrDefault(id, List.of())) {
            if (answered(act) >= since && act.micros() <= all.get(index).claimed) {
                history.append("\n    ").append(act).append("\n      ").append(answers.get(act.claim()));
            }
        }
        problems.add(new Problem(rule, id, history.toString()));
    }
}
