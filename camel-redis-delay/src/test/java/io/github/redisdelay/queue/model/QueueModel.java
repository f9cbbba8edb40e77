// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import static io.github.redisdelay.queue.model.QueueSnapshot.latin;

import io.github.redisdelay.history.RareState;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A model of a queue in plain maps: executes the calls that the scripts execute and tells what they should answer.
 * It takes the time from outside. Ids and bodies are ISO-8859-1 text, whose order is Redis's order of bytes. Its dead letters
 * are a second model.
 */
public final class QueueModel {

    /** The answer to a call of a session that has executed a later one. */
    public static final Object REFUSED = "refused";

    private static final String NO_CLAIM = "00".repeat(16);
    private static final double MAX = 9007199254740991d;
    /** Of a dead letter's priority. */
    private static final int DEAD = 16;
    /** Of a recurring schedule's. */
    private static final int RUN = 32;
    /** Of a message with a group. */
    private static final int GROUP = 64;

    private record Message(long scheduled, long due, String body, String group) {

        /** The time of scheduling, as it is stored. */
        long time() {
            return group == null ? scheduled : -scheduled;
        }

        /** All that is stored behind the times. */
        String rest() {
            return group == null ? body : (char) group.length() + group + body;
        }

        byte[] bytes() {
            byte[] text = rest().getBytes(StandardCharsets.ISO_8859_1);
            return ByteBuffer.allocate(16 + text.length)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putDouble(time())
                    .putDouble(due)
                    .put(text)
                    .array();
        }
    }

    /** The gate of a group: when its next delivery may begin by the rate; since when it is paused, and until when. */
    private record Gate(long next, long since, long ends) {

        private static final Gate OPEN = new Gate(0, 0, 0);

        String text() {
            return QueueSnapshot.gate(next, since, ends);
        }
    }

    /** When and with what priority a message is delayed. */
    private record Waiting(long due, int priority) {}

    private record Call(long sequence, long time, byte[] result, String claim, List<String> claimed) {}

    private record State(
            int attempts, int lost, int reason, int priority, String claim, long due, long firstDue, String failure) {

        /** The same as it is stored for a message of a group, or of none. */
        State of(String group) {
            return group == null
                    ? this
                    : new State(attempts, lost, reason, priority + GROUP, claim, due, firstDue, group + "\n" + failure);
        }

        byte[] bytes() {
            byte[] text = failure.getBytes(StandardCharsets.ISO_8859_1);
            boolean brief = due == QueueSnapshot.AS_BODY;
            ByteBuffer out = ByteBuffer.allocate(brief ? 24 : 40 + text.length).order(ByteOrder.LITTLE_ENDIAN);
            out.put((byte) 1)
                    .put((byte) lost)
                    .put((byte) reason)
                    .put((byte) priority)
                    .putInt(attempts);
            out.put(HexFormat.of().parseHex(claim));
            if (!brief) {
                out.putDouble(due).putDouble(firstDue).put(text);
            }
            return out.array();
        }

        /** The set in which it waits. */
        int level() {
            return priority % RUN < DEAD ? priority % RUN : 0;
        }

        /** Also of the dead letter of a run. */
        boolean recurs() {
            return priority >= RUN && !parts()[2].isEmpty();
        }

        /** The line before the failure; of most messages nothing. */
        String line() {
            return priority >= RUN ? failure.substring(0, failure.indexOf('\n') + 1) : "";
        }

        /** The first time of a rule that was stored during a run, what it says of runs before, and the rule. */
        String[] parts() {
            return line().substring(0, line().length() - 1).split(" ", 3);
        }

        /** How many runs were given up, when the last one was, and for which time the one was that ended last. */
        String[] past() {
            return parts()[1].split("@");
        }
    }

    /** A recurring schedule as a call has it: the next times of its rule, the rule, and other bytes. */
    private record Run(List<Long> times, String rule, String rest) {

        static Run of(Object argument) {
            String[] lines = text(argument).split("\n", 3);
            return new Run(Stream.of(lines[0].split(" ")).map(Long::valueOf).toList(), lines[1], lines[2]);
        }

        long later(long than) {
            return times.stream().filter(time -> time > than).findFirst().orElse(last());
        }

        long last() {
            return times.get(times.size() - 1);
        }

        /** The record of a run that is due at a time. */
        static State record(long due, int priority, String past, String rule, String failure) {
            return new State(0, 0, 0, priority, NO_CLAIM, due, due, "0 " + past + " " + rule + "\n" + failure);
        }
    }

    private final Map<String, Message> messages = new HashMap<>();
    private final Map<String, Waiting> delayed = new HashMap<>();
    private final Map<String, Long> leased = new HashMap<>();
    private final Map<String, State> state = new HashMap<>();
    private final Map<String, Call> calls = new HashMap<>();
    private final Map<String, Long> seen = new HashMap<>();
    private final Map<String, String> consumers = new HashMap<>();
    private final TreeSet<Integer> priorities = new TreeSet<>(Comparator.reverseOrder());
    /** Since when it is paused; 0 if it is not. */
    private long paused;
    /** What the client of the call that is executed has read: whether the queue has limits. */
    private boolean limits;
    /** The needs of the messages that it has, or had since it was empty, in the order in which they were noted. */
    private final Set<String> needs = new LinkedHashSet<>();
    /** Those that have a place in their group. */
    private final Set<String> placed = new HashSet<>();
    /** Of these the ones that have kept it since they failed, or were given back. */
    private final Set<String> kept = new HashSet<>();
    /** Those of groups that are parked, as the last call that changed their group left them; they are among the delayed. */
    private final Set<String> parked = new HashSet<>();
    /** The groups that the call has changed: false of one that messages have only left. */
    private final Map<String, Boolean> changed = new TreeMap<>();

    private final Map<String, Gate> gates = new TreeMap<>();
    /** When the gates open behind which messages are parked. */
    private final Map<String, Long> opening = new TreeMap<>();
    /** How many places a group has, 0 for any number; and whether a failed message keeps its one. */
    private int places = 1;
    /** Since when the number of places is another one; 0 if all groups are in line with it. */
    private long limitChanged;

    private boolean strict = true;
    /** The rate of the queue: the time from one delivery to the next one, 0 for none; and how many may begin at once. */
    private long interval;

    private int burst;
    /** The same for each group. */
    private long groupInterval;

    private int groupBurst;
    /** How many places the queue has, 0 for any number; and when one was left last, -1 for never. */
    private int concurrency;

    private long freed = -1;
    /** When the next delivery may begin by the rate; -1 before any claim. */
    private long next = -1;
    /** The time of the call that is executed. */
    private long now;
    /** Which of all random choices Redis takes, and how many there were in the last call. */
    private int pick;

    private int picks;
    /** The sessions that were forgotten, and were not used since. */
    private final Set<String> forgotten = new HashSet<>();

    /** Shared with copies: what it counts of a call is the same for all random choices. */
    private final RareStates reached;
    /** Null in the model of the dead letters themselves. */
    public final QueueModel dead;

    /** The consumers that wait for messages of this queue. */
    public final WaitersModel waiters;

    /**
     * @param line who hears it when a consumer is called
     * @param reached is told of rare states
     */
    public QueueModel(WaitersModel.Line line, RareStates reached) {
        this(line, new QueueModel(line, null, reached), reached);
    }

    private QueueModel(WaitersModel.Line line, QueueModel dead, RareStates reached) {
        this.waiters = new WaitersModel(line);
        this.dead = dead;
        this.reached = reached;
    }

    private QueueModel(QueueModel other) {
        this.waiters = new WaitersModel(other.waiters);
        this.dead = other.dead == null ? null : new QueueModel(other.dead);
        this.reached = other.reached;
        forgotten.addAll(other.forgotten);
        messages.putAll(other.messages);
        delayed.putAll(other.delayed);
        leased.putAll(other.leased);
        state.putAll(other.state);
        calls.putAll(other.calls);
        seen.putAll(other.seen);
        consumers.putAll(other.consumers);
        priorities.addAll(other.priorities);
        paused = other.paused;
        needs.addAll(other.needs);
        placed.addAll(other.placed);
        kept.addAll(other.kept);
        parked.addAll(other.parked);
        gates.putAll(other.gates);
        opening.putAll(other.opening);
        places = other.places;
        limitChanged = other.limitChanged;
        strict = other.strict;
        interval = other.interval;
        burst = other.burst;
        groupInterval = other.groupInterval;
        groupBurst = other.groupBurst;
        concurrency = other.concurrency;
        freed = other.freed;
        next = other.next;
    }

    /** A copy whose next call takes this one of all random choices, from 0 on. */
    public QueueModel taking(int choice) {
        QueueModel copy = new QueueModel(this);
        copy.pick = choice;
        return copy;
    }

    /** How many random choices the last call had. */
    public int choices() {
        return Math.max(1, picks);
    }

    private String groupOf(String id) {
        return messages.containsKey(id) ? messages.get(id).group : null;
    }

    /** Groups are noted by the first message of one. */
    private boolean grouped() {
        return needs.contains("groups=0.1");
    }

    /** The messages of a group that have no place and are not leased, in order. */
    private List<String> waiting(String group) {
        List<String> ids = inOrder(delayed, w -> w.due);
        ids.removeIf(id -> !group.equals(groupOf(id)) || placed.contains(id));
        return ids;
    }

    private int holders(String group) {
        return (int) placed.stream().filter(id -> group.equals(groupOf(id))).count();
    }

    private void leavePlace(String id) {
        placed.remove(id);
        kept.remove(id);
    }

    private Gate gate(String group) {
        Gate gate = gates.getOrDefault(group, Gate.OPEN);
        if (limits && gate.next > now + groupInterval) {
            // Not later than this rate may make it wait.
            gate = new Gate(now + groupInterval, gate.since, gate.ends);
            moveGate(group, gate);
        }
        return gate;
    }

    private void moveGate(String group, Gate gate) {
        gates.put(group, gate);
        touch(group, false);
        placed.stream().filter(id -> group.equals(groupOf(id))).forEach(this::dueAsRecorded);
    }

    /** When the gate of a group opens; 0 if it is open. */
    private long shut(String group) {
        Gate gate = gate(group);
        long at = Math.max(gate.next, gate.ends);
        return limits && at > now ? at : 0;
    }

    /** @param left whether a message has only left the group */
    private void touch(String group, boolean left) {
        if (group != null && dead != null) {
            changed.merge(group, !left, Boolean::logicalOr);
        }
    }

    /** The first messages of a group that are not leased have its free places, and the others are parked. */
    private void balance(String group) {
        List<String> waiting = waiting(group);
        long shut = shut(group);
        int holders = holders(group);
        int most = places == 0 ? Integer.MAX_VALUE : places;
        if (limits) {
            most = Math.min(most, shut > 0 ? holders : groupInterval > 0 ? holders + 1 : Integer.MAX_VALUE);
        }
        boolean waits = waiting.stream().anyMatch(parked::contains);
        for (int i = 0; i < waiting.size(); i++) {
            if (i < most - holders) {
                parked.remove(waiting.get(i));
            } else {
                waits |= parked.add(waiting.get(i));
            }
        }
        if (shut > 0 && waits) {
            opening.put(group, shut);
        }
    }

    /** Brings all groups into line that the call has changed. */
    private void balanceAll() {
        boolean some = !parked.isEmpty();
        changed.forEach((group, more) -> {
            if (grouped() && (some || more)) {
                balance(group);
            }
        });
        changed.clear();
    }

    /** Takes a random group, and a random message that may be due earlier than it was before its gate opened. */
    private void mend() {
        List<String> groups = messages.values().stream()
                .map(Message::group)
                .filter(Objects::nonNull)
                .distinct()
                .sorted()
                .toList();
        List<String> ids = inOrder(delayed, w -> w.due);
        ids.removeIf(id -> parked.contains(id) || delayed.get(id).priority > 0);
        parked.stream()
                .min(Comparator.<String>comparingLong(id -> delayed.get(id).due).thenComparing(id -> id))
                .ifPresent(first -> changed.put(groupOf(first), true));
        picks = Math.max(1, groups.size()) * Math.max(1, ids.size());
        if (!groups.isEmpty()) {
            changed.put(groups.get(pick % groups.size()), true);
        }
        if (!ids.isEmpty()) {
            putBack(ids.get(pick / Math.max(1, groups.size()) % ids.size()));
            putBack(ids.get(ids.size() - 1));
        }
    }

    private void putBack(String id) {
        if (groupOf(id) == null || shut(groupOf(id)) == 0) {
            dueAsRecorded(id);
        }
    }

    private void dueAsRecorded(String id) {
        Waiting waiting = delayed.get(id);
        if (waiting != null && !parked.contains(id) && waiting.priority == 0 && state.containsKey(id)) {
            delayed.put(id, new Waiting(Math.min(waiting.due, stateOf(id, waiting.due, 0).due), 0));
        }
    }

    private void openGates() {
        opening.entrySet().removeIf(entry -> {
            if (entry.getValue() <= now) {
                changed.put(entry.getKey(), true);
            }
            return entry.getValue() <= now;
        });
        long rest = Math.max(0, groupBurst - 1) * groupInterval;
        gates.entrySet().removeIf(gate -> shut(gate.getKey()) == 0 && gate.getValue().next + rest <= now);
    }

    /** Pauses a group until a time, or ends its pause with 0; returns until when it was paused. */
    private long pauseGroup(String group, long till) {
        needs.add("groups=0.1");
        needs.add("limits=0.1");
        limits = true;
        Gate gate = gate(group);
        if (till == 0 ? gate.ends > 0 : till > Math.max(gate.ends, now)) {
            moveGate(group, new Gate(gate.next, now, till));
        }
        return gate.ends > now ? gate.ends : 0;
    }

    /** Whether a claim gives a message of a group; else it is parked, or waits in its place for the gate. */
    private boolean mayGive(String id, long time, State record, boolean batch, Map<String, Integer> given) {
        String group = groupOf(id);
        if (batch && given.containsKey(group)) {
            return false;
        }
        boolean kept = record != null && placed.contains(id);
        int others = given.getOrDefault(group, holders(group)) - (kept ? 1 : 0);
        long shut = shut(group);
        if (shut == 0 && (places == 0 || others < places)) {
            given.put(group, others + 1);
            if (limits && groupInterval > 0) {
                Gate gate = gates.getOrDefault(group, Gate.OPEN);
                long rested = now - (groupBurst - 1) * groupInterval;
                gates.put(group, new Gate(Math.max(gate.next, rested) + groupInterval, gate.since, gate.ends));
                touch(group, false);
            }
            return true;
        }
        boolean keeps = kept && shut > 0;
        if (record != null) {
            state.put(id, record);
        }
        leased.remove(id);
        delayed.put(id, new Waiting(keeps ? shut : time, 0));
        if (keeps) {
            this.kept.add(id);
        } else {
            leavePlace(id);
            parked.add(id);
            touch(group, false);
        }
        return false;
    }

    /** The due time of the first waiting message, or when the first gate opens; null if none waits. */
    private Long firstDue() {
        return Stream.concat(dueTimes().stream(), limits ? opening.values().stream() : Stream.<Long>empty())
                .min(Comparator.naturalOrder())
                .map(due -> Math.max(due, from()))
                .orElse(null);
    }

    /** From when on the queue has a place, and its rate lets a delivery begin. */
    private long from() {
        if (!limits || concurrency == 0 || leased.size() < concurrency) {
            return opens();
        }
        return Math.max(opens(), leased.get(inOrder(leased, at -> at).get(leased.size() - concurrency)));
    }

    /** When the next delivery may begin by the rate. */
    private long opens() {
        return interval == 0 ? 0 : Math.max(0, next);
    }

    private void coverEarlier(double earliest, long time) {
        if (earliest != Double.POSITIVE_INFINITY && paused == 0) {
            waiters.coverEarlier(Math.max((long) earliest, from()), firstDue(), time);
        }
    }

    /** Calls those who are missing for what a call will make due, from how things are before it. */
    private void cover(LuaScript script, List<Object[]> items, long time, boolean groups) {
        double earliest = Double.POSITIVE_INFINITY;
        Set<String> finished = new HashSet<>();
        for (int i = 0; i < items.size(); i++) {
            Object[] item = items.get(i);
            String id = text(item[0]);
            switch (script.command()) {
                case "schedule" -> {
                    if (text(item[1]).startsWith("at recur")) {
                        earliest = Math.min(earliest, Run.of(behindGroup(item)).later(time));
                        continue;
                    }
                    double due = Long.parseLong(text(item[2]));
                    due = text(item[1]).startsWith("after ") ? time + due + i : due;
                    earliest = due > MAX ? earliest : Math.min(earliest, due);
                }
                case "change" -> {
                    String action = text(item[1]);
                    double due = Long.parseLong(text(item[2]));
                    if (action.equals("resume")) {
                        waiters.cover(time, time);
                        return;
                    }
                    due = isDelay(action, due) ? time + due + i : due;
                    if (delayed.containsKey(id) && action.matches("reschedule-.*|promote") && due <= MAX) {
                        earliest = Math.min(earliest, due);
                    }
                }
                case "settle" -> {
                    if (action(item).equals("extend") || !holds(id, (byte[]) item[1]) || !finished.add(id)) {
                        continue; // it finishes nothing, perhaps because of one before it in this call
                    }
                    switch (action(item)) {
                        case "retry" ->
                            earliest = Math.min(
                                    earliest, Math.min(time + (double) Long.parseLong(text(item[3])) + i, MAX));
                        case "run-done", "run-dead-letter" -> earliest = Math.min(earliest, nextRun(item, time));
                        case "release" -> earliest = Math.min(earliest, stateOf(id, time, 0).due);
                        default -> {}
                    }
                }
                case "redrive" ->
                    earliest = dead.delayed.containsKey(id) || dead.holds(id, (byte[]) item[1]) ? time : earliest;
                default -> {}
            }
        }
        Set<String> met = new HashSet<>();
        if (script == LuaScript.SETTLE
                && items.stream()
                        .filter(item -> !action(item).equals("extend")
                                && holds(text(item[0]), (byte[]) item[1])
                                && met.add(text(item[0])))
                        .anyMatch(item -> action(item).endsWith("dead-letter"))) {
            Long head = dead.firstDue();
            if (head == null || time < head || head < time - WaitersModel.OVERDUE) {
                dead.waiters.cover(time, time);
            }
        }
        if (!groups || script == LuaScript.SETTLE) {
            coverEarlier(earliest, time);
        }
    }

    /** Tells whether a redrive may move a dead letter. */
    private boolean moves(Object[] item) {
        return delayed.containsKey(text(item[0])) || holds(text(item[0]), (byte[]) item[1]);
    }

    /** The text behind the group in the last argument of a message to schedule. */
    private static byte[] behindGroup(Object[] item) {
        long length = option(List.of(text(item[1]).split(" ")), "group", 0);
        return text(item[4]).substring((int) length).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Calls one for what is due earlier than before a call that has changed a group. */
    private void coverAfter(Long before, long time) {
        Long first = paused > 0 ? null : firstDue();
        if (first != null && (before == null || first < before || before < time - WaitersModel.OVERDUE)) {
            waiters.cover(first, time);
        }
    }

    private static boolean hasLane(LuaScript script) {
        return switch (script.command()) {
            case "schedule", "change", "claim", "settle", "acknowledge", "redrive" -> true;
            default -> false;
        };
    }

    /** Tells whether this very call was executed before, or a later one of its session. */
    public boolean isOld(LuaScript script, Object[] arguments) {
        if (!hasLane(script)) {
            return false;
        }
        Call last = calls.get(text(arguments[0]));
        return last != null && Long.parseLong(text(arguments[1])) <= last.sequence;
    }

    /**
     * Executes a call.
     *
     * @param time the server's time at the call
     * @return the answer in the scripts' bytes, or {@link #REFUSED}
     */
    public Object execute(LuaScript script, Object[] arguments, long time) {
        now = time;
        limits = needs.contains("limits=0.1");
        if (dead != null) {
            dead.now = time;
        }
        if (!hasLane(script)) {
            return look(script, arguments, time);
        }
        String session = text(arguments[0]);
        long sequence = Long.parseLong(text(arguments[1]));
        Call last = calls.get(session);
        if (last != null && sequence < last.sequence) {
            reached.count(RareState.CALL_SUPERSEDED);
            return REFUSED;
        }
        boolean repeat = last != null && sequence == last.sequence;
        reached.countIf(repeat && script != LuaScript.CLAIM, RareState.CALL_REPEATED);
        reached.countIf(forgotten.remove(session), RareState.SESSION_FORGOTTEN);
        if (script == LuaScript.CLAIM) {
            return repeat ? claimAgain(last, arguments, time) : claim(session, sequence, arguments, time);
        }
        if (repeat) {
            return last.result;
        }
        int head =
                switch (script.command()) {
                    case "acknowledge" -> 2;
                    case "settle" -> 4;
                    default -> 3;
                };
        int width =
                switch (script.command()) {
                    case "change" -> 3;
                    case "acknowledge", "redrive" -> 2;
                    default -> 5;
                };
        List<Object[]> items = new ArrayList<>();
        for (int i = head; i < arguments.length; i += width) {
            items.add(Arrays.copyOfRange(arguments, i, i + width));
        }
        boolean groups = script != LuaScript.SETTLE && script != LuaScript.ACKNOWLEDGE && grouped()
                || script == LuaScript.SCHEDULE
                        && items.stream().anyMatch(item -> text(item[1]).contains(" group="))
                || script == LuaScript.REDRIVE
                        && items.stream().anyMatch(item -> dead.groupOf(text(item[0])) != null && dead.moves(item))
                || script == LuaScript.SCHEDULE && concurrency > 0;
        final boolean limited = limits;
        Long before = firstDue();
        cover(script, items, time, groups);
        ByteBuffer reply = ByteBuffer.allocate(8 + 9 * items.size()).order(ByteOrder.LITTLE_ENDIAN);
        reply.putDouble(time);
        switch (script.command()) {
            case "schedule" -> schedule(items, time, reply);
            case "change" -> change(items, time, reply);
            case "settle" -> settle(items, time, reply);
            case "acknowledge" ->
                settle(
                        items.stream()
                                .map(item ->
                                        new Object[] {item[0], item[1], ascii("acknowledge"), ascii("0"), ascii("")})
                                .toList(),
                        time,
                        reply);
            case "redrive" -> redrive(items, time, reply);
            default -> throw new IllegalArgumentException(script.toString());
        }
        groups |= script == LuaScript.SETTLE && !changed.isEmpty();
        balanceAll();
        if (groups || limits && (script == LuaScript.CHANGE || script == LuaScript.REDRIVE)) {
            coverAfter(groups || script == LuaScript.CHANGE && limited ? before : null, time);
        }
        Long first = firstDue();
        if (script == LuaScript.SETTLE
                && limited
                && concurrency > 0
                && first != null
                && (before == null || first < before)) {
            freed = time;
            if (paused == 0) {
                waiters.cover(first, time);
            }
        }
        if (script != LuaScript.SETTLE && script != LuaScript.ACKNOWLEDGE) {
            forgetNeeds();
        }
        byte[] answer = reply.array();
        if (script == LuaScript.ACKNOWLEDGE && isAllDone(answer)) {
            answer = doubles(time);
        }
        calls.put(session, new Call(sequence, time, answer, null, List.of()));
        return answer;
    }

    /** An empty queue needs nothing but its limits and gates, and one without limits no client that knows them. */
    private void forgetNeeds() {
        boolean unlimited =
                limits && interval + groupInterval == 0 && concurrency == 0 && next <= now && gates.isEmpty();
        if (unlimited) {
            needs.remove("limits=0.1");
            next = -1;
        }
        if (!messages.isEmpty()) {
            return;
        }
        boolean gated = limits && grouped() && !gates.isEmpty();
        needs.clear();
        if (gated) {
            needs.add("groups=0.1");
        }
        if (limits && !unlimited) {
            needs.add("limits=0.1");
        }
        opening.clear();
    }

    private static boolean isAllDone(byte[] reply) {
        for (int i = 8; i < reply.length; i += 9) {
            if (reply[i] != 1) {
                return false;
            }
        }
        return true;
    }

    private Object look(LuaScript script, Object[] arguments, long time) {
        return switch (script.command()) {
            case "get" -> get(text(arguments[0]), time);
            case "group" -> group(text(arguments[0]), text(arguments[1]), Integer.parseInt(text(arguments[2])), time);
            case "browse" ->
                browse(
                        text(arguments[0]),
                        Integer.parseInt(text(arguments[1])),
                        switch (text(arguments[2])) {
                            case "-inf" -> Long.MIN_VALUE;
                            case "inf" -> Long.MAX_VALUE;
                            default -> Long.parseLong(text(arguments[2]));
                        },
                        text(arguments[3]),
                        text(arguments[4]).equals("newest"));
            case "heartbeat" -> {
                if (((byte[]) arguments[1]).length == 0) {
                    consumers.remove(text(arguments[0]));
                } else {
                    consumers.put(text(arguments[0]), text(arguments[1]));
                }
                yield ByteBuffer.allocate(9)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putDouble(time)
                        .array();
            }
            case "consumers" ->
                consumers.entrySet().stream()
                        .flatMap(consumer ->
                                java.util.stream.Stream.of(consumer.getKey(), "no time " + consumer.getValue()))
                        .map(text -> text.getBytes(StandardCharsets.ISO_8859_1))
                        .toList();
            case "repair" -> repair(text(arguments[0]), time);
            case "dead_letters" -> letters(text(arguments[0]), text(arguments[1]));
            case "stats" -> stats(time);
            case "outlook" -> outlook(time, Stream.of(arguments).mapToLong(bound -> Long.parseLong(text(bound))));
            default -> throw new IllegalArgumentException(script.toString());
        };
    }

    private List<byte[]> letters(String id, String digits) {
        return digits.isEmpty()
                ? lettersOf(id).stream()
                        .map(time -> ascii(String.valueOf(time)))
                        .toList()
                : dead.messages.containsKey(id + "@" + digits) ? List.of(ascii(digits)) : List.of();
    }

    private static byte[] doubles(double... values) {
        ByteBuffer out = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (double value : values) {
            out.putDouble(value);
        }
        return out.array();
    }

    private static void answer(ByteBuffer reply, int outcome, double micros) {
        reply.put((byte) outcome).putDouble(micros);
    }

    private void delay(String id, long due, int priority) {
        if (!placed.contains(id)) {
            touch(groupOf(id), false);
        }
        delayed.put(id, new Waiting(due, priority));
        if (priority > 0) {
            priorities.add(priority);
        }
    }

    /** Forgets ids that are no duplicates any more; fewer than a script drops in one call. */
    private void forget(long time) {
        seen.values().removeIf(until -> until <= time);
    }

    private void schedule(List<Object[]> items, long time, ByteBuffer reply) {
        forget(time);
        if (items.stream().anyMatch(item -> text(item[1]).contains(" group="))) {
            mend();
        }
        for (int i = 0; i < items.size(); i++) {
            Object[] item = items.get(i);
            String id = text(item[0]);
            List<String> options = List.of(text(item[1]).split(" "));
            if (options.get(1).equals("recur")) {
                declare(item, options, time, reply);
                continue;
            }
            boolean replaces = options.get(1).equals("replace");
            long limit = option(options, "limit", Long.MAX_VALUE);
            int priority = (int) option(options, "priority", 0);
            int length = (int) option(options, "group", 0);
            String group = length == 0 ? null : text(item[4]).substring(0, length);
            double due = Long.parseLong(text(item[2]));
            if (options.get(0).equals("after")) {
                due = time + due + i;
            }
            boolean isNew = !messages.containsKey(id);
            if (due > MAX) {
                answer(reply, 6, due);
                continue;
            }
            if (isNew && ((byte[]) item[3]).length == 16 && !leased.containsKey(id)) {
                reached.count(RareState.REPLACED_TOO_LATE);
                answer(reply, 9, 0);
                continue;
            }
            if (isNew && !replaces && seen.containsKey(id)) {
                reached.count(RareState.REMEMBERED);
                answer(reply, 7, seen.get(id));
                continue;
            }
            if (isNew && messages.size() >= limit) {
                answer(reply, 8, messages.size());
                continue;
            }
            Waiting pending = isNew ? null : delayed.get(id);
            Long lease = isNew ? null : leased.get(id);
            byte[] claim = (byte[]) item[3];
            boolean holder = lease != null && claim.length == 16 && holds(id, claim);
            reached.countIf(!isNew && !replaces && !holder && claim.length == 16, RareState.REPLACED_TOO_LATE);
            if (pending != null && !replaces) {
                answer(reply, 4, pending.due);
            } else if (lease != null && !replaces && !holder) {
                answer(reply, 5, lease);
            } else {
                remove(id);
                messages.put(id, new Message(time, (long) due, text(item[4]).substring(length), group));
                if (group != null) {
                    needs.add("groups=0.1");
                }
                delay(id, (long) due, priority);
                answer(reply, lease != null ? 3 : pending != null ? 2 : 1, due);
            }
        }
    }

    private void declare(Object[] item, List<String> options, long time, ByteBuffer reply) {
        needs.add("schedules=0.1");
        String id = text(item[0]);
        int length = (int) option(options, "group", 0);
        String group = length == 0 ? null : text(item[4]).substring(0, length);
        Run run = Run.of(behindGroup(item));
        long declared = Long.parseLong(text(item[2])) == 0 ? time : Long.parseLong(text(item[2]));
        Message stored = messages.get(id);
        Waiting pending = stored == null ? null : delayed.get(id);
        Long lease = stored == null ? null : leased.get(id);
        Long waits = pending == null ? lease : (Long) pending.due;
        State s = stateOf(id, time, 0);
        int priority = (int) option(options, "priority", 0);
        boolean same = s.recurs() && s.parts()[2].equals(run.rule);
        boolean equal = same && s.priority == priority + RUN;
        boolean newer = stored != null && stored.scheduled <= time && (stored.scheduled > declared || declared > time);
        boolean begun = pending != null && (pending.due <= time || s.attempts > 0);
        boolean far = same && pending != null && Math.min(pending.due, s.due) > run.last() && run.last() > time;
        long due = same && !far && waits != null ? waits : run.later(time);
        boolean stays = newer || begun || equal && Objects.equals(group, groupOf(id));
        if (s.recurs() && (lease != null || (pending != null && stays && !far))) {
            if (!newer) {
                messages.put(id, new Message(declared, s.firstDue, run.rest, stored.group));
            }
            if (newer || equal) {
                answer(reply, pending != null ? 4 : 5, waits);
            } else {
                String failure = s.failure.substring(s.failure.indexOf('\n'));
                String line = (same ? s.parts()[0] : due) + " " + s.parts()[1] + " " + run.rule + failure;
                state.put(
                        id,
                        new State(
                                s.attempts,
                                s.lost,
                                s.reason,
                                Objects.equals(group, stored.group) ? priority + RUN : s.priority,
                                s.claim,
                                s.due,
                                s.firstDue,
                                line));
                answer(reply, same ? 5 : 2, due);
            }
            return;
        }
        if (stored == null && messages.size() >= option(options, "limit", Long.MAX_VALUE)) {
            answer(reply, 8, messages.size());
            return;
        }
        String past = s.recurs() ? s.parts()[1] : "0@0@0";
        remove(id);
        messages.put(id, new Message(declared, due, run.rest, group));
        if (group != null) {
            needs.add("groups=0.1");
        }
        delay(id, due, priority);
        state.put(id, Run.record(due, priority + RUN, past, run.rule, ""));
        answer(reply, lease != null ? 3 : pending != null ? 2 : 1, due);
    }

    /** A rule that was stored during the run has its first time in the record. */
    private long nextRun(Object[] item, long time) {
        State s = stateOf(text(item[0]), time, 0);
        long stored = Long.parseLong(s.parts()[0]);
        Run run = Run.of(item[4]);
        reached.countIf(!s.parts()[2].equals(run.rule), RareState.RUN_BY_OTHER_RULE);
        long over = Math.max(s.firstDue, time);
        return stored > over || !s.parts()[2].equals(run.rule) ? stored : run.later(over);
    }

    private void endRun(Object[] item, long time, ByteBuffer reply) {
        String id = text(item[0]);
        State s = stateOf(id, time, 0);
        long due = nextRun(item, time);
        String past = s.past()[0] + "@" + s.past()[1] + "@" + s.firstDue;
        double value = due;
        if (action(item).equals("run-dead-letter")) {
            past = (Integer.parseInt(s.past()[0]) + 1) + "@" + time + "@" + s.firstDue;
            if (messages.containsKey(id)) {
                String letter = id + "@" + time;
                dead.messages.put(letter, messages.get(id));
                dead.delayed.put(letter, new Waiting(time, 0));
                dead.state.put(letter, Run.record(time, s.priority + DEAD, past, s.parts()[2], Run.of(item[4]).rest));
                String older = id + "@" + s.past()[1];
                if (dead.delayed.containsKey(older)) {
                    dead.remove(older);
                }
                value = time;
            }
        }
        state.put(id, Run.record(due, s.priority, past, s.parts()[2], ""));
        leased.remove(id);
        leavePlace(id);
        delay(id, due, s.level());
        answer(reply, 1, value);
    }

    private void change(List<Object[]> items, long time, ByteBuffer reply) {
        for (int i = 0; i < items.size(); i++) {
            String id = text(items.get(i)[0]);
            String action = text(items.get(i)[1]);
            double due = Long.parseLong(text(items.get(i)[2]));
            if (action.equals("pause") || action.equals("resume")) {
                answer(reply, paused > 0 ? 1 : 0, 0);
                paused = action.equals("resume") ? 0 : paused > 0 ? paused : time;
                continue;
            }
            if (action.endsWith("-group") || action.startsWith("pause-group")) {
                long till = action.equals("resume-group")
                        ? 0
                        : (long) Math.max(1, Math.min(MAX, action.endsWith("-after") ? time + due + i : due));
                long until = till > 0 || limits ? pauseGroup(id, till) : 0;
                answer(reply, until > 0 ? 1 : 0, until);
                continue;
            }
            if (action.endsWith("-rate") || action.equals("limit-concurrency")) {
                long was =
                        switch (action) {
                            case "limit-rate" -> interval * 1024 + burst;
                            case "limit-group-rate" -> groupInterval * 1024 + groupBurst;
                            default -> concurrency;
                        };
                answer(reply, 0, was);
                if (due == was) {
                    continue;
                }
                switch (action) {
                    case "limit-rate" -> {
                        interval = (long) due / 1024;
                        burst = (int) ((long) due % 1024);
                    }
                    case "limit-group-rate" -> {
                        groupInterval = (long) due / 1024;
                        groupBurst = (int) ((long) due % 1024);
                    }
                    default -> {
                        concurrency = (int) due;
                        freed = concurrency == 0 ? -1 : freed;
                    }
                }
                needs.add("limits=0.1");
                limits = true;
                waiters.cover(time, time);
                continue;
            }
            if (action.startsWith("limit-")) {
                answer(reply, (strict ? 0 : 1) + (limitChanged > 0 ? 2 : 0), places);
                limitChanged = (int) due != places && grouped() ? time : limitChanged;
                places = (int) due;
                strict = action.equals("limit-strict");
                continue;
            }
            Waiting pending = delayed.get(id);
            int was = pending != null ? 1 : leased.containsKey(id) ? 2 : 0;
            List<Long> letters = was == 0 && !action.equals("cancel-delayed") ? lettersOf(id) : List.of();
            if (action.equals("cancel") || (action.equals("cancel-delayed") && was != 2)) {
                reached.countIf(was == 2, RareState.CANCELLED_UNDER_LEASE);
                remove(id);
                dropPriorities();
                Long until = seen.remove(id);
                if (letters.isEmpty()) {
                    answer(reply, was == 0 && until != null && until > time ? 4 : was, 0);
                } else {
                    answer(reply, 20 + letters.size(), letters.get(0));
                }
                continue;
            }
            if (isDelay(action, due)) {
                due = time + due + i;
            }
            if (action.equals("promote") && pending != null) {
                due = Math.min(due, pending.due);
            }
            if (!letters.isEmpty()) {
                answer(reply, 20 + letters.size(), letters.get(0));
            } else if (action.equals("cancel-delayed") || was != 1) {
                answer(reply, was, 0);
            } else if (due > MAX) {
                answer(reply, 3, 0);
            } else {
                State s = stateOf(id, pending.due, pending.priority);
                long firstDue = s.attempts == 0 ? (long) due : s.firstDue;
                state.put(
                        id,
                        new State(s.attempts, s.lost, s.reason, s.priority, s.claim, (long) due, firstDue, s.failure));
                if (!action.equals("promote")) {
                    leavePlace(id);
                }
                parked.remove(id);
                delay(id, (long) due, pending.priority);
                answer(reply, 1, due);
            }
        }
    }

    /** The name behind the version. */
    private static String nameOf(String consumer) {
        return consumer.substring(consumer.indexOf(' ') + 1);
    }

    private void dropPriorities() {
        priorities.removeIf(p -> delayed.values().stream().noneMatch(w -> w.priority == p));
    }

    private static long option(List<String> options, String name, long otherwise) {
        return options.stream()
                .filter(option -> option.startsWith(name + "="))
                .mapToLong(option -> Long.parseLong(option.substring(name.length() + 1)))
                .findFirst()
                .orElse(otherwise);
    }

    private static boolean isDelay(String action, double due) {
        return action.equals("reschedule-after") || (action.equals("promote") && due == 0);
    }

    /** When a message was given up, the latest first. */
    private List<Long> lettersOf(String id) {
        return dead == null
                ? List.of()
                : dead.messages.keySet().stream()
                        .filter(letter -> DeadLetterId.messageIdOf(letter).equals(id))
                        .map(letter -> Long.parseLong(letter.substring(id.length() + 1)))
                        .sorted(Comparator.reverseOrder())
                        .toList();
    }

    private void settle(List<Object[]> items, long time, ByteBuffer reply) {
        Map<String, Long> pauses = new TreeMap<>();
        // The state at the beginning of the call decides which items are stale.
        List<Integer> stale = new ArrayList<>();
        // Those that this call gives back: they wait, even if their bodies are lost.
        Set<String> givenBack = new HashSet<>();
        for (Object[] item : items) {
            String id = text(item[0]);
            stale.add(holds(id, (byte[]) item[1]) ? 0 : messages.containsKey(id) ? 3 : 2);
        }
        for (int i = 0; i < items.size(); i++) {
            Object[] item = items.get(i);
            String id = text(item[0]);
            if (stale.get(i) != 0) {
                reached.countIf(!text(item[2]).equals("extend"), RareState.LATE_END);
                answer(reply, stale.get(i), 0);
                continue;
            }
            if (!holds(id, (byte[]) item[1])) {
                answer(reply, givenBack.contains(id) ? 3 : 2, 0);
                continue;
            }
            State s = stateOf(id, time, 0);
            Message message = messages.get(id);
            long micros = Long.parseLong(text(item[3]));
            String failure = text(item[4]);
            String[] words = text(item[2]).split(" pause=");
            if (words.length > 1) {
                touch(groupOf(id), true);
                long until = (long) Math.min(time + (double) Long.parseLong(words[1]), MAX);
                pauses.merge(groupOf(id), until, Math::max);
            }
            long first = state.get(id).due == QueueSnapshot.AS_BODY ? 0 : s.firstDue;
            switch (words[0]) {
                case "run-done", "run-dead-letter" -> {
                    endRun(item, time, reply);
                    givenBack.add(id);
                }
                case "retry" -> {
                    long due = (long) Math.min(time + (double) micros + i, MAX);
                    failure = s.line() + failure;
                    state.put(id, new State(s.attempts, 0, 1, s.priority, NO_CLAIM, due, first, failure));
                    leased.remove(id);
                    givenBack.add(id);
                    keepPlace(id, s.attempts);
                    delay(id, due, s.level());
                    answer(reply, 1, due);
                }
                case "release" -> {
                    int attempts = Math.max(0, s.attempts - 1);
                    state.put(id, new State(attempts, s.lost, 3, s.priority, NO_CLAIM, s.due, s.firstDue, s.failure));
                    leased.remove(id);
                    givenBack.add(id);
                    keepPlace(id, attempts);
                    delay(id, s.due, s.level());
                    answer(reply, 1, s.due);
                }
                case "extend" -> {
                    long end = (long) Math.min(time + (double) micros, MAX);
                    leased.put(id, end);
                    answer(reply, 1, end);
                }
                case "dead-letter" -> {
                    if (message != null) {
                        String deadId = id + "@" + time;
                        dead.messages.put(deadId, message);
                        dead.delayed.put(deadId, new Waiting(time, 0));
                        dead.state.put(
                                deadId,
                                new State(0, 0, 0, s.priority + DEAD, NO_CLAIM, time, first, s.line() + failure));
                    }
                    finish(id, micros, time);
                    answer(reply, 1, message == null ? 0 : time);
                }
                default -> {
                    finish(id, micros, time);
                    answer(reply, 1, 0);
                }
            }
        }
        pauses.forEach(this::pauseGroup);
    }

    private static String action(Object[] item) {
        return text(item[2]).split(" ")[0];
    }

    private void keepPlace(String id, int attempts) {
        if (!strict || attempts == 0) {
            leavePlace(id);
        } else if (placed.contains(id)) {
            kept.add(id);
        }
    }

    private void finish(String id, long remember, long time) {
        remove(id);
        if (remember > 0) {
            seen.put(id, (long) Math.min(time + (double) remember, MAX));
            forget(time);
        }
    }

    private void redrive(List<Object[]> items, long time, ByteBuffer reply) {
        for (int i = 0; i < items.size(); i++) {
            String deadId = text(items.get(i)[0]);
            String id = dead.stateOf(deadId, 0, 0).recurs() ? deadId : deadId.replaceFirst("(?s)^(.+)@[0-9]+$", "$1");
            if (dead.leased.containsKey(deadId) && !dead.holds(deadId, (byte[]) items.get(i)[1])) {
                answer(reply, 3, 0);
            } else if (!(dead.delayed.containsKey(deadId)
                            || dead.leased.containsKey(deadId)
                            || dead.holds(deadId, (byte[]) items.get(i)[1]))
                    || !dead.messages.containsKey(deadId)) {
                answer(reply, 0, 0);
            } else if (delayed.containsKey(id) || leased.containsKey(id)) {
                answer(reply, 2, 0);
            } else {
                Message body = dead.messages.get(deadId);
                reached.countIf(dead.leased.containsKey(deadId), RareState.LETTER_UNDER_LEASE);
                messages.put(id, new Message(time, time + i, body.body, body.group));
                if (body.group != null) {
                    needs.add("groups=0.1");
                }
                state.remove(id);
                State letter = dead.stateOf(deadId, 0, 0);
                delay(id, time + i, letter.priority % DEAD);
                if (letter.priority >= RUN) {
                    state.put(id, Run.record(time + i, letter.priority - DEAD, "0@0@" + letter.past()[2], "", ""));
                }
                dead.remove(deadId);
                answer(reply, 1, time + i);
            }
        }
    }

    /** All in one slice: there are few. */
    private List<byte[]> repair(String walk, long time) {
        Long before = firstDue();
        long grouped = messages.values().stream().filter(m -> m.group != null).count();
        List<byte[]> reply =
                switch (walk) {
                    case "index" -> List.of(doubles(time, messages.size(), 0), ascii("0"));
                    case "groups" -> {
                        messages.keySet().stream()
                                .filter(id -> groupOf(id) != null)
                                .forEach(this::dueAsRecorded);
                        limitChanged = 0;
                        yield List.of(doubles(time, grouped, 0), ascii("0"));
                    }
                    default -> check(walk.equals("messages"), time);
                };
        if (dead != null && (walk.equals("groups") ? grouped() || limits : walk.equals("messages") && grouped > 0)) {
            messages.values().forEach(message -> touch(message.group, false));
            balanceAll();
            coverAfter(before, time);
        }
        return reply;
    }

    private List<byte[]> check(boolean ofBodies, long time) {
        List<String> stray = new ArrayList<>((ofBodies ? messages : state).keySet());
        final int looked = stray.size();
        stray.removeIf(
                id -> delayed.containsKey(id) || leased.containsKey(id) || (!ofBodies && messages.containsKey(id)));
        List<byte[]> reply = new ArrayList<>();
        stray.forEach(id -> reply.add(id.getBytes(StandardCharsets.ISO_8859_1)));
        if (ofBodies) {
            Map<String, State> restored = new TreeMap<>();
            for (String id : stray) {
                State s = stateOf(id, messages.get(id).due, 0);
                boolean held = !s.claim.equals(NO_CLAIM);
                restored.put(
                        id,
                        new State(
                                s.attempts,
                                s.lost,
                                held ? 2 : s.reason,
                                s.priority,
                                NO_CLAIM,
                                held ? Math.min(s.due, time) : s.due,
                                s.firstDue,
                                s.failure));
            }
            coverEarlier(
                    restored.values().stream().mapToDouble(s -> s.due).min().orElse(Double.POSITIVE_INFINITY), time);
            restored.forEach((id, s) -> {
                state.computeIfPresent(id, (same, old) -> s);
                delay(id, s.due, s.level());
            });
        } else {
            stray.forEach(state::remove);
        }
        reply.add(0, doubles(time, looked, Math.max(0, delayed.size() + leased.size() - messages.size())));
        reply.add(1, ascii("0"));
        return reply;
    }

    private List<byte[]> claim(String session, long sequence, Object[] arguments, long time) {
        String claim = HexFormat.of().formatHex((byte[]) arguments[2]);
        long lease = Long.parseLong(text(arguments[3]));
        int asked = Integer.parseInt(text(arguments[4]));
        int wanted = asked;
        int wantedEnded = Integer.parseInt(text(arguments[5]));
        long maxBytes = Long.parseLong(text(arguments[6]));
        boolean batch = arguments.length > 11;
        // Not later than this rate may make it wait.
        next = interval == 0 ? next : Math.min(next, time + interval);
        long rate = interval == 0 ? 0 : Math.max(opens(), time - (burst - 1) * interval);
        if (interval > 0) {
            wanted = (int) Math.min(wanted, Math.max(0, Math.floorDiv(time - rate, interval) + 1));
            long due = dueTimes().stream().filter(at -> at <= time).count();
            reached.countIf(wanted < Math.min(asked, due), RareState.RATE_HELD_BACK);
        }
        int free = Integer.MAX_VALUE;
        if (limits && concurrency > 0) {
            long valid = leased.values().stream().filter(at -> at > time).count();
            wanted = (int) Math.max(0, Math.min(wanted, concurrency - valid));
            free = Math.max(0, Math.min(wanted, concurrency - leased.size()));
        }
        Long complete = batch ? completion(wanted, Long.parseLong(text(arguments[11])), time) : null;
        List<String> ids = new ArrayList<>();
        List<String> dropped = new ArrayList<>();
        long bytes = 0;
        boolean full = paused > 0;
        List<String> ended = upTo(leased, at -> at, time);
        if (paused == 0 && asked > 0 && grouped()) {
            List<String> zero = inOrder(delayed, w -> w.due);
            zero.removeIf(id -> delayed.get(id).priority > 0 || parked.contains(id));
            Waiting last = zero.size() < Math.max(1, wanted)
                    ? null
                    : delayed.get(zero.get((wanted == 0 ? zero.size() : wanted) - 1));
            if (limits || last == null || last.due > time || time % 16 == 0) {
                mend();
                if (limits) {
                    openGates();
                }
                balanceAll();
            }
        }
        Long first = firstDue();
        Map<String, Integer> given = new HashMap<>();
        if (priorities.isEmpty() || wantedEnded == 0) {
            ended = ended.subList(0, Math.min(wantedEnded, ended.size()));
        }
        boolean oneSet = priorities.isEmpty() && ended.isEmpty();
        for (int priority = ScheduleRequest.MAX_PRIORITY; priority >= 0; priority--) {
            int level = priority;
            List<String> ready = upTo(delayed, w -> w.due, time);
            ready.removeIf(id -> delayed.get(id).priority != level || parked.contains(id));
            int looked = complete == null ? Math.min(wanted, free) : 8;
            ready = new ArrayList<>(ready.subList(0, Math.min(looked, ready.size())));
            List<String> lost = new ArrayList<>(ended);
            lost.removeIf(id -> stateOf(id, 0, 0).level() != level);
            while (ids.size() < wanted && !full && !(ready.isEmpty() && (lost.isEmpty() || wantedEnded == 0))) {
                boolean fromLease = !lost.isEmpty()
                        && wantedEnded > 0
                        && (ready.isEmpty() || leased.get(lost.get(0)) < delayed.get(ready.get(0)).due);
                String id = (fromLease ? lost : ready).remove(0);
                wantedEnded -= fromLease ? 1 : 0;
                free -= fromLease ? 0 : 1;
                Message message = messages.get(id);
                if (message == null) {
                    dropped.add(id);
                    continue;
                }
                State s = stateOf(id, message.due, fromLease ? 0 : level);
                if (!fromLease && level > 0 && s.due > time) {
                    // Its record was lost, which had an earlier time: what has a priority is due as its body says.
                    delayed.put(id, new Waiting(s.due, level));
                    continue;
                }
                int losses = fromLease ? Math.min(255, s.lost + 1) : s.lost;
                reached.countIf(fromLease, RareState.EXPIRED_LEASE);
                reached.countIf(losses >= 2, RareState.TWO_LEASES_LOST);
                int reason = fromLease ? 2 : s.reason;
                int length = message.bytes().length;
                boolean fresh = !fromLease && !state.containsKey(id) && length <= 1_024;
                boolean alone = losses >= 2 || (batch && s.attempts > 0);
                if (batch && (alone ? !ids.isEmpty() : complete != null)) {
                    continue;
                }
                if (!ids.isEmpty() && (alone || bytes + length > maxBytes)) {
                    full = true;
                    continue;
                }
                State record = fresh && oneSet && complete == null && bytes + length <= maxBytes
                        ? null
                        : new State(s.attempts, losses, reason, s.priority, NO_CLAIM, s.due, s.firstDue, s.failure);
                if (grouped() && message.group != null && !mayGive(id, s.due, record, batch, given)) {
                    continue;
                }
                full = alone;
                bytes += length;
                ids.add(id);
                boolean brief = fresh && (message.group == null || dead == null);
                long due = brief ? QueueSnapshot.AS_BODY : s.due;
                long firstDue = brief ? QueueSnapshot.AS_BODY : s.firstDue;
                state.put(id, new State(s.attempts + 1, losses, reason, s.priority, claim, due, firstDue, s.failure));
            }
        }
        for (String id : ids) {
            delayed.remove(id);
            leased.put(id, (long) Math.min(time + (double) lease, MAX));
            if (groupOf(id) != null && dead != null) {
                placed.add(id);
            }
        }
        dropped.forEach(this::remove);
        balanceAll();
        dropPriorities();
        if (interval > 0 && !ids.isEmpty()) {
            next = rate + ids.size() * interval;
        }
        forgetNeeds();
        calls.put(session, new Call(sequence, time, packed(ids), claim, ids));
        Long event = firstDue();
        if (complete != null && first != null && ids.isEmpty() && dropped.isEmpty()) {
            event = first;
            long woken = event + WaitersModel.OVERDUE + 1;
            event = woken > time ? Math.min(complete, woken) : complete;
        }
        long again = waiters.claim(
                text(arguments[8]),
                time,
                nextEvent(event),
                ids.size(),
                asked,
                text(arguments[9]).equals("1"),
                Long.parseLong(text(arguments[10])));
        return claimReply(ids, dropped, event, time, again);
    }

    private List<byte[]> claimAgain(Call call, Object[] arguments, long time) {
        byte[] claim = HexFormat.of().parseHex(call.claim);
        List<String> ids = call.claimed.stream()
                .filter(id -> holds(id, claim) && messages.containsKey(id))
                .toList();
        reached.countIf(!ids.isEmpty(), RareState.CLAIM_REPEATED);
        reached.countIf(ids.size() < call.claimed.size(), RareState.CLAIM_REPEATED_TOO_LATE);
        return claimReply(ids, List.of(), firstDue(), time, -1);
    }

    /** When the batch is complete of which messages are due; null if it is, or none are. */
    private Long completion(int size, long timeout, long time) {
        Long first = firstDue();
        long due = dueTimes().stream().filter(at -> at <= time).count();
        if (first == null || first > time || due >= size) {
            return null;
        }
        // By what is stored: of one priority, so many.
        LongStream full = IntStream.rangeClosed(0, ScheduleRequest.MAX_PRIORITY)
                .mapToObj(priority -> delayed.entrySet().stream()
                        .filter(entry -> !parked.contains(entry.getKey()))
                        .map(Map.Entry::getValue)
                        .filter(waiting -> waiting.priority == priority)
                        .mapToLong(Waiting::due)
                        .sorted()
                        .skip(size - 1))
                .flatMapToLong(times -> times.limit(1));
        long complete =
                LongStream.concat(full, LongStream.of(first + timeout)).min().orElseThrow();
        return complete > time ? complete : null;
    }

    /** Their number, that of the lengths, these, and then all, as a claim keeps them for a repeat. */
    private static byte[] packed(List<String> ids) {
        byte[] lengths = lengths(ids.stream().map(String::length).toList());
        byte[] names = String.join("", ids).getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer out = ByteBuffer.allocate(8 + lengths.length + names.length).order(ByteOrder.LITTLE_ENDIAN);
        return out.putInt(ids.size())
                .putInt(lengths.length / 4)
                .put(lengths)
                .put(names)
                .array();
    }

    /** A single one if all are equal. */
    private static byte[] lengths(List<Integer> lengths) {
        List<Integer> told = lengths.stream().distinct().count() == 1 ? lengths.subList(0, 1) : lengths;
        ByteBuffer out = ByteBuffer.allocate(4 * told.size()).order(ByteOrder.LITTLE_ENDIAN);
        told.forEach(out::putInt);
        return out.array();
    }

    /** When leases end, and what was leased may be claimed again. */
    private List<Long> leaseEnds() {
        return leased.values().stream().map(at -> Math.max(at, from())).toList();
    }

    /** When the next message is due, which is known, or lease ends; null if nothing comes, or the queue is paused. */
    private Long nextEvent(Long due) {
        Stream<Long> all = Stream.concat(Stream.ofNullable(due), leaseEnds().stream());
        return paused > 0 ? null : all.min(Comparator.naturalOrder()).orElse(null);
    }

    /** @param due when the next message is due, or a batch complete; null if none is */
    private List<byte[]> claimReply(List<String> ids, List<String> dropped, Long due, long time, long again) {
        ByteBuffer head = ByteBuffer.allocate(limits ? 41 : 40).order(ByteOrder.LITTLE_ENDIAN);
        head.putDouble(time)
                .putDouble(untilFirst(due == null ? List.of() : List.of(due), time))
                .putDouble(untilFirst(leaseEnds(), time));
        head.putDouble(again);
        head.putInt(ids.size()).putInt(dropped.size());
        if (limits) {
            head.put((byte) 1);
        }
        List<byte[]> reply = new ArrayList<>();
        reply.add(head.array());
        reply.add(lengths(ids.stream().map(String::length).toList()));
        reply.add(String.join("", ids).getBytes(StandardCharsets.ISO_8859_1));
        List<byte[]> records =
                ids.stream().map(id -> state.get(id).of(groupOf(id)).bytes()).toList();
        boolean same = records.stream().allMatch(record -> Arrays.equals(record, records.get(0)));
        reply.add(
                same
                        ? new byte[0]
                        : lengths(records.stream().map(record -> record.length).toList()));
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        (same ? records.subList(0, Math.min(1, records.size())) : records).forEach(all::writeBytes);
        reply.add(all.toByteArray());
        ids.forEach(id -> reply.add(messages.get(id).bytes()));
        dropped.forEach(id -> reply.add(id.getBytes(StandardCharsets.ISO_8859_1)));
        return reply;
    }

    /** Of what claims look at. */
    private List<Long> dueTimes() {
        return delayed.entrySet().stream()
                .filter(entry -> !parked.contains(entry.getKey()))
                .map(entry -> entry.getValue().due)
                .toList();
    }

    private List<Long> allDueTimes() {
        return delayed.values().stream().map(Waiting::due).toList();
    }

    private double untilFirst(Collection<Long> times, long time) {
        if (paused > 0) {
            return -2;
        }
        return times.stream()
                .min(Comparator.naturalOrder())
                .map(at -> Math.max(0, at - time))
                .orElse(-1L);
    }

    private List<byte[]> get(String id, long time) {
        List<byte[]> reply = new ArrayList<>();
        if ((delayed.containsKey(id) || leased.containsKey(id)) && messages.containsKey(id)) {
            tellState(reply, id, time);
            reply.add(messages.get(id).bytes());
            reply.add(doubles(groupOf(id) == null ? 0 : pausedUntil(groupOf(id), time)));
        }
        return reply;
    }

    private long pausedUntil(String group, long time) {
        long ends = limits ? gates.getOrDefault(group, Gate.OPEN).ends : 0;
        return ends > time ? ends : 0;
    }

    private List<byte[]> group(String group, String behind, int limit, long time) {
        List<String> all = new ArrayList<>(messages.keySet().stream()
                .filter(id -> group.equals(groupOf(id)))
                .toList());
        all.sort(Comparator.comparing(this::entry));
        List<String> page = all.stream()
                .filter(id -> entry(id).compareTo(behind) > 0)
                .limit(limit)
                .toList();
        List<byte[]> reply = new ArrayList<>();
        reply.add(
                doubles(time, all.size(), all.stream().filter(parked::contains).count(), pausedUntil(group, time)));
        reply.add(
                limit > 0 && page.size() == limit
                        ? entry(page.get(limit - 1)).getBytes(StandardCharsets.ISO_8859_1)
                        : new byte[0]);
        page.forEach(id -> tellState(reply, id, time));
        return reply;
    }

    /** What the index of groups has of a message behind its group, in the order of their bytes. */
    private String entry(String id) {
        double due = kept.contains(id)
                ? Double.MIN_VALUE
                : placed.contains(id) ? stateOf(id, messages.get(id).due, 0).due : delayed.get(id).due;
        return (parked.contains(id) ? "2" : "1")
                + latin(ByteBuffer.allocate(8).putDouble(due).array())
                + id;
    }

    private void tellState(List<byte[]> reply, String id, long time) {
        tell(reply, id);
        boolean held = parked.contains(id) && delayed.get(id).due <= time;
        reply.add(
                (leased.containsKey(id) ? "leased" : held ? "parked" : "delayed").getBytes(StandardCharsets.US_ASCII));
    }

    private void tell(List<byte[]> reply, String id) {
        boolean isLeased = leased.containsKey(id);
        long score = isLeased ? leased.get(id) : delayed.get(id).due;
        State s = stateOf(id, score, isLeased ? 0 : delayed.get(id).priority);
        // 0 is the one in the stored body.
        long first = s.firstDue == 0 && messages.containsKey(id) ? messages.get(id).due : s.firstDue;
        s = new State(s.attempts, s.lost, s.reason, s.priority, s.claim, s.due, first, s.failure);
        reply.add(id.getBytes(StandardCharsets.ISO_8859_1));
        reply.add(doubles(score));
        reply.add(String.valueOf(s.priority % DEAD).getBytes(StandardCharsets.US_ASCII));
        reply.add(s.of(groupOf(id)).bytes());
        String holder = isLeased
                ? nameOf(consumers.getOrDefault(
                        latin(Arrays.copyOf(HexFormat.of().parseHex(s.claim), 8)), ""))
                : "";
        reply.add(holder.getBytes(StandardCharsets.ISO_8859_1));
    }

    private List<byte[]> browse(String which, int limit, long after, String afterId, boolean newest) {
        List<byte[]> reply = new ArrayList<>();
        boolean ofLeased = which.equals("leased");
        Set<String> shown = which.equals("parked") ? parked : delayed.keySet();
        browse(ofLeased, newest).stream()
                .filter(id -> ofLeased || shown.contains(id))
                .filter(id -> {
                    int place = Long.compare(ofLeased ? leased.get(id) : delayed.get(id).due, after);
                    int atOnce = newest && afterId.isEmpty() ? -1 : id.compareTo(afterId);
                    return Integer.signum(place == 0 ? atOnce : place) == (newest ? -1 : 1);
                })
                .limit(limit)
                .forEach(id -> tell(reply, id));
        return reply;
    }

    /** All ids of a state, in order; the newest first if wanted. */
    public List<String> browse(boolean ofLeased, boolean newest) {
        List<String> ids = ofLeased ? inOrder(leased, at -> at) : inOrder(delayed, w -> w.due);
        if (newest) {
            Collections.reverse(ids);
        }
        return ids;
    }

    private byte[] outlook(long time, LongStream bounds) {
        long[] from = LongStream.concat(LongStream.of(Long.MIN_VALUE), bounds).toArray();
        double[] counts = new double[1 + from.length];
        counts[0] = time;
        for (long due : allDueTimes()) {
            int step = from.length;
            while (due < from[step - 1]) {
                step--;
            }
            counts[step]++;
        }
        return doubles(counts);
    }

    private byte[] stats(long time) {
        List<Long> times = allDueTimes();
        Predicate<Long> isOverdue = at -> at <= time;
        List<Long> held =
                parked.stream().map(id -> delayed.get(id).due).filter(isOverdue).toList();
        List<Long> claimable = dueTimes();
        double overdue = claimable.stream().filter(isOverdue).count();
        double oldest = claimable.stream()
                .filter(isOverdue)
                .mapToDouble(at -> time - at)
                .max()
                .orElse(0);
        double next = times.stream()
                .filter(isOverdue.negate())
                .mapToDouble(at -> at - time)
                .min()
                .orElse(-1);
        double parkedCount = held.size();
        double oldestParked = held.stream().mapToDouble(at -> time - at).max().orElse(0);
        if (Math.max(from(), freed <= time ? freed : 0) > time - 1_000_000) {
            parkedCount += overdue;
            oldestParked = Math.max(oldest, oldestParked);
            overdue = 0;
            oldest = 0;
        }
        double given = dead == null ? 0 : dead.delayed.size() + dead.leased.size();
        return doubles(
                time,
                times.size(),
                overdue,
                leased.size(),
                given,
                oldest,
                next,
                consumers.size(),
                paused,
                times.stream().mapToDouble(at -> at).max().orElse(0),
                messages.size(),
                0,
                parkedCount,
                oldestParked);
    }

    private static <T> List<String> inOrder(Map<String, T> set, Function<T, Long> time) {
        List<String> ids = new ArrayList<>(set.keySet());
        ids.sort(Comparator.<String, Long>comparing(id -> time.apply(set.get(id)))
                .thenComparing(Comparator.naturalOrder()));
        return ids;
    }

    private static <T> List<String> upTo(Map<String, T> set, Function<T, Long> time, long limit) {
        List<String> ids = inOrder(set, time);
        ids.removeIf(id -> time.apply(set.get(id)) > limit);
        return ids;
    }

    /** Tells if the state record has this claim id: the scripts ask for no more, as the lease may have got lost. */
    private boolean holds(String id, byte[] claim) {
        return state.containsKey(id)
                && state.get(id).claim.equals(HexFormat.of().formatHex(claim));
    }

    private State stateOf(String id, long due, int priority) {
        State s = state.getOrDefault(id, new State(0, 0, 0, priority, NO_CLAIM, due, due, ""));
        if (s.due != QueueSnapshot.AS_BODY) {
            return s;
        }
        long time = messages.containsKey(id) ? messages.get(id).due : due;
        return new State(s.attempts, s.lost, s.reason, s.priority, s.claim, time, time, s.failure);
    }

    private void remove(String id) {
        touch(groupOf(id), true);
        parked.remove(id);
        messages.remove(id);
        delayed.remove(id);
        leased.remove(id);
        state.remove(id);
        leavePlace(id);
    }

    /** A body is lost, as by eviction or by hand. */
    public void loseBody(String id) {
        reached.countIf(leased.containsKey(id) && messages.containsKey(id), RareState.BODY_LOST_UNDER_LEASE);
        messages.remove(id);
    }

    /** An id is lost from the sets. */
    public void loseId(String id) {
        reached.countIf(leased.containsKey(id), RareState.ID_LOST_UNDER_LEASE);
        delayed.remove(id);
        leased.remove(id);
    }

    public void loseRecord(String id) {
        reached.countIf(leased.containsKey(id) && state.containsKey(id), RareState.RECORD_LOST_UNDER_LEASE);
        state.remove(id);
    }

    /** The sessions that have had a call, in a fixed order. */
    public List<String> sessions() {
        return calls.keySet().stream().sorted().toList();
    }

    /** A session is forgotten, as one that is not used for a day. */
    public void forgetSession(String session) {
        calls.remove(session);
        forgotten.add(session);
    }

    /** Time passes, also for the dead letters. */
    public void shift(long micros) {
        delayed.replaceAll((id, w) -> new Waiting(Math.max(0, w.due - micros), w.priority));
        leased.replaceAll((id, at) -> Math.max(0, at - micros));
        next = next < 0 ? next : Math.max(0, next - micros);
        freed = freed < 0 ? freed : Math.max(0, freed - micros);
        opening.replaceAll((group, at) -> Math.max(0, at - micros));
        gates.replaceAll((group, gate) -> new Gate(
                Math.max(0, gate.next - micros), Math.max(0, gate.since - micros), Math.max(0, gate.ends - micros)));
        seen.replaceAll((id, at) -> Math.max(0, at - micros));
        messages.replaceAll((id, m) -> new Message(m.scheduled, Math.max(0, m.due - micros), m.body, m.group));
        state.replaceAll((id, s) -> new State(
                s.attempts,
                s.lost,
                s.reason,
                s.priority,
                s.claim,
                s.due == QueueSnapshot.AS_BODY ? s.due : Math.max(0, s.due - micros),
                s.due == QueueSnapshot.AS_BODY ? s.due : Math.max(0, s.firstDue - micros),
                s.failure));
        waiters.shift(micros);
        if (dead != null) {
            dead.shift(micros);
        }
    }

    public QueueSnapshot snapshot() {
        QueueSnapshot snapshot = QueueSnapshot.empty();
        put(snapshot, "");
        dead.put(snapshot, "dead:");
        QueueSnapshot.members(dead.messages.keySet())
                .forEach(member -> snapshot.keys().get("dead:index").put(member, "0"));
        return snapshot;
    }

    private void put(QueueSnapshot snapshot, String queue) {
        put(snapshot, queue + "messages", messages, m -> QueueSnapshot.message(m.time(), m.due, m.rest()));
        put(snapshot, queue + "leased", leased, String::valueOf);
        state.forEach((id, s) -> snapshot.keys().get(queue + "state").put(id, describe(s.of(groupOf(id)))));
        put(snapshot, queue + "gates", gates, Gate::text);
        put(snapshot, queue + "opens", opening, String::valueOf);
        put(snapshot, queue + "sessions", calls, c -> QueueSnapshot.call(c.sequence, c.time, latin(c.result)));
        put(snapshot, queue + "seen", seen, String::valueOf);
        put(snapshot, queue + "waiters", waiters.promises(), String::valueOf);
        put(snapshot, queue + "consumers", consumers, name -> name);
        delayed.forEach((id, w) -> snapshot.keys()
                .get(queue + (parked.contains(id) ? "parked" : w.priority == 0 ? "delayed" : "delayed:" + w.priority))
                .put(id, String.valueOf(w.due)));
        for (String id : dead == null ? Set.<String>of() : messages.keySet()) {
            if (groupOf(id) != null) {
                snapshot.keys().get(queue + "groups").put(groupOf(id) + "\0" + entry(id), "0");
            }
        }
        Map<String, String> config = new TreeMap<>();
        if (paused > 0) {
            config.put("paused", String.valueOf(paused));
        }
        if (!needs.isEmpty()) {
            config.put("needs", String.join(" ", needs));
        }
        if (interval > 0) {
            config.put("rate", String.valueOf(interval * 1024 + burst));
        }
        if (groupInterval > 0) {
            config.put("groupRate", String.valueOf(groupInterval * 1024 + groupBurst));
        }
        if (concurrency > 0) {
            config.put("concurrency", String.valueOf(concurrency));
        }
        if (freed >= 0) {
            config.put("freed", String.valueOf(freed));
        }
        if (next >= 0) {
            config.put("next", String.valueOf(next));
        }
        if (places != 1 || !strict || limitChanged > 0) {
            String changed = limitChanged > 0 ? " changed " + limitChanged : "";
            config.put("groupLimit", places + (strict ? " limit-strict" : " limit-relaxed") + changed);
        }
        StringBuilder digits = new StringBuilder();
        priorities.forEach(digits::append);
        if (!digits.isEmpty()) {
            config.put("priorities", digits.toString());
        }
        put(snapshot, queue + "config", config, value -> value);
    }

    private static <T> void put(QueueSnapshot snapshot, String key, Map<String, T> values, Function<T, String> text) {
        values.forEach((id, value) -> snapshot.keys().get(key).put(id, text.apply(value)));
    }

    private static String describe(State s) {
        return QueueSnapshot.state(s.attempts, s.lost, s.reason, s.claim, s.due, s.firstDue, s.failure, s.priority);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    public static String text(Object argument) {
        return latin((byte[]) argument);
    }
}
