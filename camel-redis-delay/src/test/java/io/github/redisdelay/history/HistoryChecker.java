// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.Failure;
import io.github.redisdelay.history.History.Receipt;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Judges what the clients of an experiment have recorded, after it has ended and the queue has been drained. What it asks:
 *
 * <ul>
 *   <li>each message whose schedule was confirmed was finished by a delivery, or cancelled;
 *   <li>nothing came before its due time, by the clock of the histories and by the server's; where the server's clock was
 *       stepped forward, by the server's alone;
 *   <li>nothing came twice without a cause that the history names: it was returned; its consumer was killed, or a fault that
 *       can cost a lease hit its consumer, and its lease was over; the answer to its schedule was lost, so that it was scheduled
 *       again;
 *   <li>no attempt is missing without such a cause;
 *   <li>no finish of a delivery took effect after another one had begun, or after a confirmed cancel;
 *   <li>each cancel and each finish of a delivery got an answer, unless its client was killed, or closed before;
 *   <li>nothing came that nobody scheduled, or with another body;
 *   <li>Redis is empty of leftovers.
 * </ul>
 *
 * <p>Where Camel routes received the messages, also:
 *
 * <ul>
 *   <li>nothing was acknowledged whose route had not ended well;
 *   <li>no route worked on a message after its time to live, and nothing was dropped before;
 *   <li>no claim took a message as long as one of a higher priority was due in the same queue;
 *   <li>each dead letter was a message that was given up; and, where dead letters are consumed, each message that was given up
 *       came as a dead letter, and each dead letter was finished by a delivery.
 * </ul>
 */
public final class HistoryChecker {

    /** How a handler finishes a delivery. */
    public enum Finish {
        ACKNOWLEDGE,
        RETRY,
        RELEASE,
        DEAD_LETTER,
        DROP;

        /** Tells whether the message is out of the queue then. */
        boolean isEnd() {
            return this != RETRY && this != RELEASE;
        }
    }

    /** The kinds of violations. */
    public enum Rule {
        LOST,
        EARLY,
        TWICE,
        ATTEMPTS,
        FENCING,
        CANCELLED,
        UNANSWERED,
        FROM_NOWHERE,
        GARBLED,
        UNWORKED,
        EXPIRY,
        PRIORITY,
        LEFTOVER,
        OVERLAP,
        ORDER,
        STANDSTILL,
        RATE
    }

    /** Something wrong: the rule, the message, and what happened to it. */
    public record Problem(Rule rule, String id, String text) {}

    /**
     * The judgement.
     *
     * @param confirmed messages whose schedule was confirmed
     * @param uncertain messages whose schedule was neither confirmed nor refused
     * @param causes why messages came more than once: cause, and how often
     */
    public record Report(
            List<Problem> problems, int confirmed, int uncertain, int deliveries, Map<String, Integer> causes) {

        /** The same with what another judge has found. */
        public Report with(List<Problem> more) {
            List<Problem> all = new ArrayList<>(problems);
            all.addAll(more);
            return new Report(List.copyOf(all), confirmed, uncertain, deliveries, causes);
        }

        /** Fails with what is wrong, unless nothing is. */
        public void assertClean() {
            if (!problems.isEmpty()) {
                throw new AssertionError(problems.size() + " problems in the history, "
                        + problems.stream()
                                .collect(Collectors.groupingBy(Problem::rule, TreeMap::new, Collectors.counting()))
                        + ":\n"
                        + problems.stream()
                                .limit(10)
                                .map(problem -> problem.rule + " " + problem.text)
                                .collect(Collectors.joining("\n")));
            }
        }

        /** How many messages were lost. */
        public long lost() {
            return problems.stream()
                    .filter(problem -> problem.rule == Rule.LOST)
                    .count();
        }

        /** How often messages came again although nobody had asked for it, with and without a cause. */
        public int duplicates() {
            long causeless = problems.stream()
                    .filter(problem -> problem.rule == Rule.TWICE)
                    .count();
            return causes.entrySet().stream()
                            .filter(cause -> !cause.getKey().equals(RETURNED))
                            .mapToInt(Map.Entry::getValue)
                            .sum()
                    + (int) causeless;
        }
    }

    /**
     * A claim without an answer is repeated after this time, on a busy machine without any fault; and tells the time of the
     * repeat. It was executed at some time between: a call may be under way for long before that.
     */
    static final long REPEAT_MICROS = 1_000_000;

    private static final String KILLED = "its consumer was killed";
    private static final String RETURNED = "returned";
    private static final String AMBIGUOUS = "scheduled again after an ambiguous answer";

    private final long leaseMicros;
    private final boolean deadLettersConsumed;
    private final List<Problem> problems = new ArrayList<>();
    private final Map<String, Integer> causes = new TreeMap<>();
    private final Map<String, Long> deaths = new HashMap<>();
    /** Until when something of a client that dies may be executed, where that is known. */
    private final Map<String, Long> ends = new HashMap<>();
    /** Those that can cost a lease. */
    private final List<Fault> faults = new ArrayList<>();

    private final ServerClock clock;

    /** @param hit the clients that it hits; empty for any */
    private record Fault(String name, long begin, long end, Set<String> hit) {

        /** Tells whether it can cost this client a lease, or anybody, if it is null. */
        boolean hits(String source) {
            return source == null || hit.isEmpty() || hit.contains(source);
        }

        /** How long it was there between two times; less than 0 by how long it missed them. */
        long within(long from, long to) {
            return Math.min(end, to) - Math.max(begin, from);
        }
    }

    private HistoryChecker(Duration lease, boolean deadLettersConsumed, ServerClock clock) {
        this.leaseMicros = lease.toNanos() / 1000;
        this.deadLettersConsumed = deadLettersConsumed;
        this.clock = clock;
    }

    /**
     * Judges.
     *
     * @param events of all clients, in any order, in machine time (see {@link ServerClock})
     * @param lease the visibility timeout of all consumers
     * @param leftovers the keys that Redis still holds and that should not be there, see {@link #isLeftover}, each perhaps
     *     with what is in it
     */
    public static Report check(Collection<Event> events, Duration lease, Collection<String> leftovers) {
        return check(events, lease, leftovers, false);
    }

    /** @param deadLettersConsumed whether somebody has received all dead letters, and the histories say so */
    public static Report check(
            Collection<Event> events, Duration lease, Collection<String> leftovers, boolean deadLettersConsumed) {
        return new HistoryChecker(lease, deadLettersConsumed, ServerClock.of(events)).check(events, leftovers);
    }

    /** Tells whether a key of a queue has no business to be there when the queue is empty: it is about messages. */
    public static boolean isLeftover(String key) {
        return !key.matches(".*:(sessions|config|consumers|waiters|seen|queues)");
    }

    private Report check(Collection<Event> events, Collection<String> leftovers) {
        List<Event> ordered = new ArrayList<>(events);
        ordered.sort(Comparator.comparingLong(Event::micros));
        Map<String, Message> messages = new LinkedHashMap<>();
        Map<String, Event> begun = new HashMap<>();
        for (Event event : ordered) {
            switch (event.what()) {
                case KILLED -> deaths.putIfAbsent(event.id(), event.micros());
                case DEAD -> ends.put(event.id(), event.micros());
                case FAULT_BEGINS -> begun.putIfAbsent(event.source() + " " + event.detail(), event);
                case FAULT_ENDS ->
                    addFault(
                            Objects.requireNonNull(
                                    begun.remove(event.source() + " " + event.detail()), "a fault that did not begin"),
                            event.micros());
                case CLOCK_STEPS -> {
                    // The clock has read it.
                }
                default ->
                    messages.computeIfAbsent(event.id(), id -> new Message()).add(event);
            }
        }
        begun.values().forEach(begin -> addFault(begin, Long.MAX_VALUE));
        List.copyOf(messages.entrySet()).stream()
                .filter(entry -> entry.getValue().isDeadLetter())
                .forEach(entry -> messages.computeIfAbsent(originalId(entry.getKey()), id -> new Message())
                        .deadLetters
                        .add(entry.getValue()));
        messages.forEach(this::check);
        checkPriorities(messages);
        leftovers.stream()
                .sorted()
                .forEach(key -> problems.add(new Problem(Rule.LEFTOVER, key, "Redis still holds " + key)));
        return new Report(
                List.copyOf(problems),
                (int) messages.values().stream().filter(Message::isConfirmed).count(),
                (int) messages.values().stream().filter(Message::isUncertain).count(),
                messages.values().stream().mapToInt(m -> m.deliveries.size()).sum(),
                Map.copyOf(causes));
    }

    private void addFault(Event begin, long end) {
        if (!begin.reason().equals(History.HARMLESS)) {
            Set<String> hit =
                    begin.id().isEmpty() ? Set.of() : Set.of(begin.id().split(","));
            faults.add(new Fault(begin.detail(), begin.micros(), end, hit));
        }
    }

    /** The id that a dead letter had as a message. */
    private static String originalId(String deadLetterId) {
        return deadLetterId.substring(0, Math.max(0, deadLetterId.lastIndexOf('@')));
    }

    private void check(String id, Message message) {
        message.deliveries.sort(Comparator.comparingLong(Event::claimed).thenComparingInt(Event::attempt));
        if (message.isDeadLetter()) {
            checkDeadLetter(id, message);
        } else {
            checkNotLost(id, message);
            checkOrigin(id, message);
            checkBurials(id, message);
        }
        checkNotGarbled(id, message);
        checkNotEarly(id, message);
        checkRepeats(id, message);
        checkCancel(id, message);
        checkAnswers(id, message);
        checkWork(id, message);
        checkExpiry(id, message);
    }

    private void checkNotLost(String id, Message message) {
        if (!message.isConfirmed() || message.mayBeCancelled()) {
            return;
        }
        if (message.deliveries.isEmpty()) {
            problem(Rule.LOST, id, message, "was confirmed, and never delivered");
        } else if (endings(message) < message.copies()) {
            problem(Rule.LOST, id, message, "was delivered, and no delivery of it was finished");
        }
    }

    /** How many of its deliveries ended it, or may have. */
    private long endings(Message message) {
        long all = message.deliveries.stream().filter(message::mayHaveEnded).count();
        if (!deadLettersConsumed) {
            return all;
        }
        // A burial shows in the dead letter.
        long burials = message.deliveries.stream()
                .filter(delivery -> message.mayHaveEnded(delivery) && message.isFinish(delivery, Finish.DEAD_LETTER))
                .count();
        return all - burials + Math.min(burials, message.deadLetters.size());
    }

    private void checkBurials(String id, Message message) {
        long buried = message.deliveries.stream()
                .filter(delivery ->
                        message.isFinish(delivery, Finish.DEAD_LETTER) && message.isDone(message.settling(delivery)))
                .count();
        if (deadLettersConsumed && message.deadLetters.size() < buried) {
            problem(Rule.LOST, id, message, "was given up, and never came as a dead letter");
        }
        boolean mayBeBuried = message.deliveries.stream()
                .anyMatch(delivery -> message.isFinish(delivery, Finish.DEAD_LETTER) && message.mayHaveEnded(delivery));
        if (!message.deadLetters.isEmpty() && !mayBeBuried) {
            problem(Rule.FROM_NOWHERE, id, message, "came as a dead letter, and nobody can have given it up");
        }
    }

    private void checkDeadLetter(String id, Message letter) {
        if (deadLettersConsumed
                && !letter.mayBeCancelled()
                && letter.deliveries.stream().noneMatch(letter::mayHaveEnded)) {
            problem(Rule.LOST, id, letter, "is a dead letter, was delivered, and no delivery of it was finished");
        }
    }

    private void checkWork(String id, Message message) {
        for (Event delivery : message.deliveries) {
            if (delivery.receipt() == null || !message.isFinish(delivery, Finish.ACKNOWLEDGE)) {
                continue;
            }
            Event worked = message.worked.get(delivery.claim());
            if (worked == null || worked.micros() > message.settling(delivery).micros()) {
                problem(Rule.UNWORKED, id, message, "was acknowledged, and its route had not ended");
            } else if (!worked.detail().equals(History.SUCCEEDS)) {
                problem(Rule.UNWORKED, id, message, "was acknowledged, and its route had failed");
            }
        }
    }

    private void checkExpiry(String id, Message message) {
        // Several calls to schedule one message: nobody knows which one counts.
        if (message.isRepeated() || !message.isExpiryKnown()) {
            return;
        }
        long expiry = message.expiryMicros();
        for (Event delivery : message.deliveries) {
            boolean over = delivery.claimed() > expiry;
            if (over && message.worked.containsKey(delivery.claim())) {
                problem(Rule.EXPIRY, id, message, "was worked on after its time to live");
            } else if (!over && delivery.receipt() != null && message.isFinish(delivery, Finish.DROP)) {
                problem(Rule.EXPIRY, id, message, "was dropped before its time to live was over");
            }
        }
    }

    /** Checks that no claim passed over a message of a higher priority that was due, as far as nothing can have hidden it. */
    private void checkPriorities(Map<String, Message> messages) {
        // By queue, priority and time of the claim.
        Map<String, TreeMap<Integer, TreeSet<Long>>> claims = new HashMap<>();
        // By queue and consumer.
        Map<String, TreeSet<Long>> claimsOf = new HashMap<>();
        for (Message message : messages.values()) {
            for (Event delivery : message.deliveries) {
                Receipt receipt = delivery.receipt();
                if (receipt != null && !receipt.deadLetter()) {
                    claims.computeIfAbsent(receipt.queue(), queue -> new TreeMap<>())
                            .computeIfAbsent(receipt.priority(), priority -> new TreeSet<>())
                            .add(delivery.claimed());
                    claimsOf.computeIfAbsent(receipt.queue() + " " + delivery.source(), consumer -> new TreeSet<>())
                            .add(delivery.claimed());
                }
            }
        }
        messages.forEach((id, message) -> {
            Event first = message.deliveries.isEmpty() ? null : message.deliveries.get(0);
            if (first == null
                    || first.receipt() == null
                    || first.receipt().deadLetter()
                    || first.attempt() != 1
                    || !first.reason().equals(RedeliveryReason.NONE.name())
                    || message.isRepeated()
                    || !message.isConfirmed()) {
                return; // it may have been held by somebody else meanwhile
            }
            long from = Math.max(first.due(), message.stored.get(0).micros());
            if (from >= first.claimed() || disturbance(from, first.claimed()) != null) {
                return;
            }
            // Its claim may be the repeat of one that leased it before, after the last claim of the same consumer.
            Long before =
                    claimsOf.get(first.receipt().queue() + " " + first.source()).lower(first.claimed());
            long sent = before == null ? from : before;
            long until = first.claimed() - sent < REPEAT_MICROS ? first.claimed() : Math.max(from, sent) + 1;
            claims.get(first.receipt().queue())
                    .headMap(first.receipt().priority())
                    .forEach((priority, times) -> {
                        Long passed = times.higher(from);
                        if (passed != null && passed < until) {
                            problem(
                                    Rule.PRIORITY,
                                    id,
                                    message,
                                    "was due and passed over at " + passed + " for one of priority " + priority);
                        }
                    });
        });
    }

    private void checkNotGarbled(String id, Message message) {
        if (!message.garbled.isEmpty()) {
            problem(Rule.GARBLED, id, message, "came with another body");
        }
    }

    private void checkOrigin(String id, Message message) {
        if (!message.deliveries.isEmpty() && !message.isConfirmed() && !message.isUncertain()) {
            problem(Rule.FROM_NOWHERE, id, message, "was delivered, and nothing can have stored it");
        }
    }

    private void checkNotEarly(String id, Message message) {
        for (Event delivery : message.deliveries) {
            long due = message.schedulings.stream()
                    .mapToLong(scheduling -> scheduling.due() - clock.forward(scheduling.micros(), delivery.claimed()))
                    .min()
                    .orElse(0);
            long early = due - Math.min(delivery.micros(), delivery.claimed());
            if (early > 0) {
                problem(Rule.EARLY, id, message, "came " + early + " µs before it was due");
            }
            if (delivery.claimed() < delivery.due()) {
                problem(Rule.EARLY, id, message, "was claimed before it was due by the server's clock");
            }
        }
        for (int i = 1; i < message.deliveries.size(); i++) {
            Event settling = message.settling(message.deliveries.get(i - 1));
            Event next = message.deliveries.get(i);
            if (settling != null
                    && settling.detail().equals(Finish.RETRY.name())
                    && message.isDone(settling)
                    && next.claimed() < settling.due() - clock.forward(settling.micros(), next.claimed())) {
                problem(Rule.EARLY, id, message, "came again before the delay of its return was over");
            }
        }
    }

    private void checkRepeats(String id, Message message) {
        Set<String> claims = new HashSet<>();
        for (int i = 0; i < message.deliveries.size(); i++) {
            Event delivery = message.deliveries.get(i);
            if (!claims.add(delivery.claim())) {
                problem(Rule.TWICE, id, message, "was handed out twice by one claim");
                continue;
            }
            Event before = i == 0 ? null : message.deliveries.get(i - 1);
            boolean anew = before == null || message.mayBeScheduledAnew(delivery);
            if (before != null) {
                checkRepeat(id, message, before, delivery);
            }
            int missing = delivery.attempt() - 1 - (anew ? 0 : before.attempt());
            boolean released = before != null && message.isFinish(before, Finish.RELEASE);
            long since = before == null ? begun(id, message) : before.claimed();
            if (missing > 0 && disturbance(since, delivery.claimed()) == null) {
                problem(Rule.ATTEMPTS, id, message, missing + " attempts are missing before a delivery");
            } else if (missing < (released ? -1 : 0)) {
                problem(Rule.ATTEMPTS, id, message, "came again, and its attempt was not counted");
            }
        }
        // Of others each repeat was judged above; of these each one alone is excused.
        if (message.isRepeated() && message.finishedForGood() > message.lives()) {
            problem(Rule.TWICE, id, message, "was finished more often than it can have been stored");
        }
    }

    /** From when on it could be claimed. */
    private static long begun(String id, Message message) {
        // The id of a dead letter ends with the time at which it was given up.
        return message.isDeadLetter()
                ? Long.parseLong(id.substring(id.lastIndexOf('@') + 1))
                : message.events.get(0).micros();
    }

    /** Two deliveries, one after the other by the server's clock. */
    private void checkRepeat(String id, Message message, Event before, Event delivery) {
        Event settling = message.settling(before);
        boolean done = settling != null && message.isDone(settling);
        if (done && settling.micros() > delivery.claimed()) {
            problem(Rule.FENCING, id, message, "was finished by a delivery that had lost its lease to another one");
            return;
        }
        String cause = cause(message, before, delivery, settling, done);
        if (cause == null) {
            String what = done ? "came again although it had been finished" : "came again without a cause";
            problem(Rule.TWICE, id, message, what);
        } else {
            causes.merge(cause, 1, Integer::sum);
        }
    }

    /** Why the second delivery followed the first, as far as the history tells; null if it does not. */
    private String cause(Message message, Event before, Event delivery, Event settling, boolean done) {
        boolean ended = settling != null && Finish.valueOf(settling.detail()).isEnd();
        if (ended && message.mayBeScheduledAnew(delivery) && message.mayHaveEnded(before)) {
            return AMBIGUOUS;
        }
        if (done && ended) {
            return null;
        }
        String disturbance = disturbance(before.claimed(), delivery.claimed());
        if (settling != null && !ended && !message.isStale(settling)) {
            boolean again = !delivery.reason().equals(RedeliveryReason.LEASE_EXPIRED.name());
            if (done || again) {
                // A claim in between, whose messages nobody was given, needs a cause of its own.
                return again || disturbance != null ? RETURNED : null;
            }
        }
        long age = delivery.claimed() - before.claimed() + clock.forward(before.claimed(), delivery.claimed());
        if (age < leaseMicros) {
            // A claim that is repeated, because its answer was lost, tells the time of the repeat; its messages were
            // leased the first time, once they were due.
            long longest = delivery.claimed() - before.due() + clock.forward(before.due(), delivery.claimed());
            return longest < leaseMicros ? null : fault(before.source(), before.due(), before.claimed());
        }
        Long death = deaths.get(before.source());
        if (death != null && death <= delivery.claimed()) {
            return KILLED;
        }
        return fault(before.source(), before.claimed(), delivery.claimed());
    }

    /** The disturbance in between that can have cost some claim its messages, whoever made it; or null. */
    private String disturbance(long from, long to) {
        return deaths.entrySet().stream().anyMatch(death -> death.getValue() <= to && end(death) >= from)
                ? KILLED
                : fault(null, from, to);
    }

    /** A JVM takes a while to die: meanwhile it claims what nobody is given, also messages that are only scheduled then. */
    private long end(Map.Entry<String, Long> death) {
        return ends.getOrDefault(death.getKey(), death.getValue());
    }

    /**
     * The fault that was there in between, or so shortly before that leases could not be extended, or null; of several the one
     * that was there for the longest time.
     *
     * @param source whose lease has expired; null for anybody's
     */
    private String fault(String source, long from, long to) {
        return faults.stream()
                .filter(fault -> fault.hits(source) && fault.begin <= to && fault.end >= from - leaseMicros)
                .max(Comparator.comparingLong((Fault fault) -> fault.within(from, to))
                        .thenComparingLong(Fault::begin))
                .map(fault -> "its lease expired in: " + fault.name)
                .orElse(null);
    }

    /** A client that lives sends what it has to say until Redis answers. */
    private void checkAnswers(String id, Message message) {
        for (Event settling : message.settlings.values()) {
            Event failure = message.failures.get(settling.claim());
            if (message.settled.containsKey(settling.claim()) || deaths.containsKey(settling.source())) {
                continue;
            }
            if (failure == null) {
                problem(Rule.UNANSWERED, id, message, "was to be finished, and its client never got an answer");
            } else if (!failure.reason().equals(Failure.CLOSED.name())
                    && !failure.reason().equals(Failure.NOT_REPLICATED.name())) {
                problem(Rule.UNANSWERED, id, message, "was to be finished, and its client gave it up");
            }
        }
        Map<String, Integer> open = new HashMap<>();
        message.cancellings.forEach(event -> open.merge(event.source(), 1, Integer::sum));
        message.cancelled.forEach(event -> open.merge(event.source(), -1, Integer::sum));
        message.failedCancels.forEach(event -> open.merge(event.source(), -1, Integer::sum));
        open.forEach((source, cancels) -> {
            if (cancels > 0 && !deaths.containsKey(source)) {
                problem(Rule.UNANSWERED, id, message, "was to be cancelled, and its client never got an answer");
            }
        });
    }

    private void checkCancel(String id, Message message) {
        if (message.isRepeated()) {
            return; // another copy of the schedule may have come after the cancel
        }
        for (Event cancelled : message.cancelled) {
            if (cancelled.detail().equals(MessageState.NONE.name())) {
                continue;
            }
            for (Event delivery : message.deliveries) {
                Event settling = message.settling(delivery);
                if (delivery.claimed() > cancelled.micros()) {
                    problem(Rule.CANCELLED, id, message, "was delivered after it had been cancelled");
                } else if (settling != null && message.isDone(settling) && settling.micros() > cancelled.micros()) {
                    problem(Rule.CANCELLED, id, message, "was finished after it had been cancelled");
                }
            }
        }
    }

    private void problem(Rule rule, String id, Message message, String text) {
        problems.add(new Problem(
                rule,
                id,
                "'" + id + "' " + text + ":"
                        + message.events.stream().map(event -> "\n    " + event).collect(Collectors.joining())));
    }

    /** The events of one message. */
    private static final class Message {
        final List<Event> events = new ArrayList<>();
        final List<Event> schedulings = new ArrayList<>();
        final List<Event> stored = new ArrayList<>();
        final List<Event> unknown = new ArrayList<>();
        final List<Event> refused = new ArrayList<>();
        final List<Event> cancellings = new ArrayList<>();
        final List<Event> cancelled = new ArrayList<>();
        final List<Event> failedCancels = new ArrayList<>();
        final List<Event> deliveries = new ArrayList<>();
        final List<Event> garbled = new ArrayList<>();
        /** The dead letters that became of it when it was given up. */
        final List<Message> deadLetters = new ArrayList<>();
        /** By claim id. */
        final Map<String, Event> settlings = new HashMap<>();

        final Map<String, Event> settled = new HashMap<>();
        final Map<String, Event> failures = new HashMap<>();
        final Map<String, Event> worked = new HashMap<>();

        void add(Event event) {
            events.add(event);
            switch (event.what()) {
                case SCHEDULING -> schedulings.add(event);
                case SCHEDULED -> stored.add(event);
                case UNKNOWN -> unknown.add(event);
                case REFUSED -> refused.add(event);
                case CANCELLING -> cancellings.add(event);
                case CANCELLED -> cancelled.add(event);
                case DELIVERED -> deliveries.add(event);
                case GARBLED -> garbled.add(event);
                case WORKED -> worked.put(event.claim(), event);
                case SETTLING -> settlings.put(event.claim(), event);
                case SETTLED -> settled.put(event.claim(), event);
                case FAILED -> {
                    if (event.claim().isEmpty()) {
                        failedCancels.add(event);
                    } else {
                        failures.put(event.claim(), event);
                    }
                }
                case MOVING, MOVED -> {
                    // Never to an earlier time.
                }
                default -> throw new IllegalArgumentException("not about a message: " + event);
            }
        }

        boolean isDeadLetter() {
            return deliveries.stream()
                    .anyMatch(
                            event -> event.receipt() != null && event.receipt().deadLetter());
        }

        /** After which it may not be delivered, by the server's clock; as late as never if it may be for ever. */
        long expiryMicros() {
            String terms = schedulings.isEmpty() ? "" : schedulings.get(0).detail();
            if (terms.isEmpty() || deliveries.isEmpty()) {
                return Long.MAX_VALUE;
            }
            long due =
                    stored.isEmpty() ? deliveries.get(0).due() : stored.get(0).due();
            return due + Long.parseLong(terms);
        }

        /** A producer that was killed was not told when its message is due: then its first delivery tells. */
        boolean isExpiryKnown() {
            return !stored.isEmpty()
                    || deliveries.isEmpty()
                    || deliveries.get(0).attempt() == 1;
        }

        /** It was stored: by a call that was confirmed, or found there by one. */
        boolean isConfirmed() {
            return stored.stream()
                    .anyMatch(event -> event.detail().equals(ScheduleOutcome.SCHEDULED.name())
                            || event.detail().equals(ScheduleOutcome.IGNORED.name()));
        }

        /** How often it was stored at least: a repeated schedule stores it again if it was finished meanwhile. */
        long copies() {
            return Math.max(
                    1,
                    stored.stream()
                            .filter(event -> event.detail().equals(ScheduleOutcome.SCHEDULED.name()))
                            .count());
        }

        /** How often it can have been stored, however often calls that have no answer were executed: each one once. */
        long lives() {
            return Math.max(1, schedulings.size() - refused.size());
        }

        /** How many deliveries are known to have ended it, so that it could not come again; one that was given up can. */
        long finishedForGood() {
            return deliveries.stream()
                    .filter(delivery -> mayHaveEnded(delivery)
                            && isDone(settling(delivery))
                            && !isFinish(delivery, Finish.DEAD_LETTER))
                    .count();
        }

        /** It may have been stored: a call has no answer, for instance because its producer was killed. */
        boolean isUncertain() {
            return !isConfirmed() && schedulings.size() > refused.size();
        }

        /** Tells whether a call was made again because the answer to an earlier one was lost. */
        boolean isRepeated() {
            return schedulings.size() > 1;
        }

        /**
         * Tells whether a delivery may be the first one of a second copy. A claim that was not begun may have come before: it was
         * released, which takes its attempt back, or nobody was given it.
         */
        boolean mayBeScheduledAnew(Event delivery) {
            if (!isRepeated() || unknown.isEmpty()) {
                return false;
            }
            return switch (RedeliveryReason.valueOf(delivery.reason())) {
                case NONE, RELEASED -> delivery.attempt() == 1;
                case LEASE_EXPIRED -> copies() > 1;
                default -> false;
            };
        }

        /** Tells whether a cancel was confirmed to have found it, or has no answer and was sent. */
        boolean mayBeCancelled() {
            long withoutEffect = failedCancels.stream()
                    .filter(event -> event.reason().equals(Failure.NOT_SENT.name()))
                    .count();
            return cancellings.size() > cancelled.size() + withoutEffect
                    || cancelled.stream().anyMatch(event -> !event.detail().equals(MessageState.NONE.name()));
        }

        /** How a delivery was to be finished, or null. */
        Event settling(Event delivery) {
            return settlings.get(delivery.claim());
        }

        boolean isFinish(Event delivery, Finish finish) {
            Event settling = settling(delivery);
            return settling != null && settling.detail().equals(finish.name());
        }

        boolean isDone(Event settling) {
            Event answer = settled.get(settling.claim());
            return answer != null && answer.detail().equals(SettleResult.DONE.name());
        }

        boolean isStale(Event settling) {
            return settled.get(settling.claim()) != null && !isDone(settling);
        }

        /** Tells whether a delivery ended its message, or may have: its answer is missing. */
        boolean mayHaveEnded(Event delivery) {
            Event settling = settling(delivery);
            return settling != null && Finish.valueOf(settling.detail()).isEnd() && !isStale(settling);
        }
    }
}
