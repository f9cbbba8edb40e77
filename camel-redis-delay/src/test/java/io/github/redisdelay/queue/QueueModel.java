// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static io.github.redisdelay.queue.QueueSnapshot.latin;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * What a queue should hold, in plain maps: executes the calls that the scripts execute and tells what they should answer.
 * It takes the time from outside. Ids and bodies are ISO-8859-1 text, whose order is Redis's order of bytes.
 */
final class QueueModel {

    /** The answer to a call of a lane that has executed a later one. */
    static final Object REFUSED = "refused";

    private static final String NO_CLAIM = "00".repeat(16);
    private static final double MAX = 9007199254740991d;

    private record Message(long scheduled, String body) {}

    private record Call(long sequence, long time, byte[] result, String claim) {}

    private record State(int attempts, int lost, int reason, String claim, long due, long firstDue, String failure) {

        byte[] bytes() {
            byte[] text = failure.getBytes(StandardCharsets.ISO_8859_1);
            ByteBuffer out = ByteBuffer.allocate(40 + text.length).order(ByteOrder.LITTLE_ENDIAN);
            out.put((byte) 1).put((byte) lost).put((byte) reason).put((byte) 0).putInt(attempts);
            out.put(HexFormat.of().parseHex(claim))
                    .putDouble(due)
                    .putDouble(firstDue)
                    .put(text);
            return out.array();
        }
    }

    private final Map<String, Message> messages = new HashMap<>();
    private final Map<String, Long> delayed = new HashMap<>();
    private final Map<String, Long> leased = new HashMap<>();
    private final Map<String, State> state = new HashMap<>();
    private final Map<String, Call> calls = new HashMap<>();
    private final Map<String, Message> deadMessages = new HashMap<>();
    private final Map<String, Long> deadDelayed = new HashMap<>();
    private final Map<String, State> deadState = new HashMap<>();

    /** Whether this very call was executed before, or a later one of its lane. */
    boolean isOld(Object[] arguments) {
        Call last = calls.get(text(arguments[0]));
        return last != null && Long.parseLong(text(arguments[1])) <= last.sequence;
    }

    /**
     * Executes a call.
     *
     * @param time the server's time at the call
     * @return the answer in the scripts' bytes, or {@link #REFUSED}
     */
    Object execute(LuaScript script, Object[] arguments, long time) {
        String lane = text(arguments[0]);
        long sequence = Long.parseLong(text(arguments[1]));
        Call last = calls.get(lane);
        if (last != null && sequence < last.sequence) {
            return REFUSED;
        }
        boolean repeat = last != null && sequence == last.sequence;
        if (script == LuaScript.CLAIM) {
            return repeat ? claimAgain(last, time) : claim(lane, sequence, arguments, time);
        }
        if (repeat) {
            return last.result;
        }
        List<Object[]> items = new ArrayList<>();
        int head =
                switch (script) {
                    case EXTEND -> 2;
                    case SETTLE -> 5;
                    default -> 4;
                };
        int width = script == LuaScript.CHANGE || script == LuaScript.EXTEND ? 3 : 5;
        for (int i = head; i < arguments.length; i += width) {
            items.add(java.util.Arrays.copyOfRange(arguments, i, i + width));
        }
        ByteBuffer reply = ByteBuffer.allocate(8 + 9 * items.size()).order(ByteOrder.LITTLE_ENDIAN);
        reply.putDouble(time);
        switch (script) {
            case SCHEDULE -> schedule(items, time, reply);
            case CHANGE -> change(items, time, reply);
            case SETTLE -> settle(items, time, reply);
            case EXTEND -> extend(items, time, reply);
            default -> throw new IllegalArgumentException(script.name());
        }
        calls.put(lane, new Call(sequence, time, reply.array(), null));
        return reply.array();
    }

    private static void answer(ByteBuffer reply, int outcome, double micros) {
        reply.put((byte) outcome).putDouble(micros);
    }

    private void schedule(List<Object[]> items, long time, ByteBuffer reply) {
        for (int i = 0; i < items.size(); i++) {
            Object[] item = items.get(i);
            String id = text(item[0]);
            String flags = text(item[1]);
            double due = Long.parseLong(text(item[2]));
            if (flags.charAt(0) == 'd') {
                due = time + due + i;
            }
            if (due > MAX) {
                answer(reply, 6, due);
                continue;
            }
            Long pending = messages.containsKey(id) ? delayed.get(id) : null;
            Long lease = messages.containsKey(id) ? leased.get(id) : null;
            byte[] claim = (byte[]) item[3];
            boolean holder = claim.length == 16 && holds(id, claim);
            if (pending != null && flags.charAt(1) != 'p') {
                answer(reply, 4, pending);
            } else if (lease != null && flags.charAt(1) != 'p' && !holder) {
                answer(reply, 5, lease);
            } else {
                remove(id);
                messages.put(id, new Message(time, text(item[4])));
                delayed.put(id, (long) due);
                answer(reply, lease != null ? 3 : pending != null ? 2 : 1, due);
            }
        }
    }

    private void change(List<Object[]> items, long time, ByteBuffer reply) {
        for (int i = 0; i < items.size(); i++) {
            String id = text(items.get(i)[0]);
            String action = text(items.get(i)[1]);
            double due = Long.parseLong(text(items.get(i)[2]));
            int was = delayed.containsKey(id) ? 1 : leased.containsKey(id) ? 2 : 0;
            if (action.equals("c")) {
                remove(id);
                answer(reply, was, 0);
                continue;
            }
            if (action.equals("d")) {
                due = time + due + i;
            }
            if (was != 1) {
                answer(reply, was, 0);
            } else if (due > MAX) {
                answer(reply, 3, 0);
            } else {
                State s = stateOf(id, delayed.get(id));
                long firstDue = s.attempts == 0 ? (long) due : s.firstDue;
                state.put(id, new State(s.attempts, s.lost, s.reason, s.claim, (long) due, firstDue, s.failure));
                delayed.put(id, (long) due);
                answer(reply, 1, due);
            }
        }
    }

    private void settle(List<Object[]> items, long time, ByteBuffer reply) {
        // What is stale is told from how things were when the call began.
        List<Integer> stale = new ArrayList<>();
        for (Object[] item : items) {
            String id = text(item[0]);
            stale.add(holds(id, (byte[]) item[1]) ? 0 : messages.containsKey(id) ? 3 : 2);
        }
        for (int i = 0; i < items.size(); i++) {
            Object[] item = items.get(i);
            String id = text(item[0]);
            if (stale.get(i) != 0) {
                answer(reply, stale.get(i), 0);
                continue;
            }
            if (!holds(id, (byte[]) item[1])) {
                answer(reply, messages.containsKey(id) ? 3 : 2, 0);
                continue;
            }
            State s = state.get(id);
            Message message = messages.get(id);
            String failure = text(item[4]);
            switch (text(item[2])) {
                case "n" -> {
                    long due = (long) Math.min(time + (double) Long.parseLong(text(item[3])) + i, MAX);
                    state.put(id, new State(s.attempts, 0, 1, NO_CLAIM, due, s.firstDue, failure));
                    leased.remove(id);
                    delayed.put(id, due);
                    answer(reply, 1, due);
                }
                case "r" -> {
                    state.put(
                            id,
                            new State(Math.max(0, s.attempts - 1), s.lost, 3, NO_CLAIM, s.due, s.firstDue, s.failure));
                    leased.remove(id);
                    delayed.put(id, s.due);
                    answer(reply, 1, s.due);
                }
                case "b" -> {
                    if (message != null) {
                        String dead = id + "@" + time;
                        deadMessages.put(dead, message);
                        deadDelayed.put(dead, time);
                        deadState.put(dead, new State(0, 0, 0, NO_CLAIM, time, s.firstDue, failure));
                    }
                    remove(id);
                    answer(reply, 1, 0);
                }
                default -> {
                    remove(id);
                    answer(reply, 1, 0);
                }
            }
        }
    }

    private void extend(List<Object[]> items, long time, ByteBuffer reply) {
        for (Object[] item : items) {
            String id = text(item[0]);
            if (holds(id, (byte[]) item[1])) {
                long end = (long) Math.min(time + (double) Long.parseLong(text(item[2])), MAX);
                leased.put(id, end);
                answer(reply, 1, end);
            } else {
                answer(reply, messages.containsKey(id) ? 3 : 2, 0);
            }
        }
    }

    private List<byte[]> claim(String lane, long sequence, Object[] arguments, long time) {
        String claim = HexFormat.of().formatHex((byte[]) arguments[2]);
        long lease = Long.parseLong(text(arguments[3]));
        int wanted = Integer.parseInt(text(arguments[4]));
        int wantedEnded = Integer.parseInt(text(arguments[5]));
        long maxBytes = Long.parseLong(text(arguments[6]));
        List<String> due = upTo(delayed, time, wanted);
        List<String> ended = upTo(leased, time, wantedEnded);
        List<String> ids = new ArrayList<>();
        List<String> dropped = new ArrayList<>();
        long bytes = 0;
        List<String> picked = new ArrayList<>();
        boolean full = false;
        while (picked.size() < wanted && !(due.isEmpty() && ended.isEmpty())) {
            boolean fromLease =
                    !ended.isEmpty() && (due.isEmpty() || leased.get(ended.get(0)) < delayed.get(due.get(0)));
            String id = (fromLease ? ended : due).get(0);
            Message message = messages.get(id);
            if (message != null && !picked.isEmpty() && bytes + 8 + message.body.length() > maxBytes) {
                break;
            }
            (fromLease ? ended : due).remove(0);
            if (message == null) {
                dropped.add(id);
                continue;
            }
            bytes += 8 + message.body.length();
            picked.add(id);
            if (full) {
                continue;
            }
            boolean alone = stateOf(id, 0).lost + (fromLease ? 1 : 0) >= 2;
            full = alone;
            if (alone && !ids.isEmpty()) {
                continue;
            }
            ids.add(id);
            long score = (fromLease ? leased : delayed).get(id);
            State s = stateOf(id, score);
            state.put(
                    id,
                    new State(
                            s.attempts + 1,
                            fromLease ? Math.min(255, s.lost + 1) : s.lost,
                            fromLease ? 2 : s.reason,
                            claim,
                            fromLease ? s.due : score,
                            s.firstDue,
                            s.failure));
        }
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        for (String id : ids) {
            delayed.remove(id);
            leased.put(id, (long) Math.min(time + (double) lease, MAX));
            names.write(id.length() & 0xff);
            names.write(id.length() >> 8);
            names.writeBytes(id.getBytes(StandardCharsets.ISO_8859_1));
        }
        dropped.forEach(this::remove);
        calls.put(lane, new Call(sequence, time, names.toByteArray(), claim));
        return claimReply(ids, dropped, time);
    }

    private List<byte[]> claimAgain(Call call, long time) {
        List<String> ids = new ArrayList<>();
        for (int at = 0; at < call.result.length; ) {
            int length = (call.result[at] & 0xff) | (call.result[at + 1] & 0xff) << 8;
            String id = latin(java.util.Arrays.copyOfRange(call.result, at + 2, at + 2 + length));
            at += 2 + length;
            if (holds(id, HexFormat.of().parseHex(call.claim)) && messages.containsKey(id)) {
                ids.add(id);
            }
        }
        return claimReply(ids, List.of(), time);
    }

    private List<byte[]> claimReply(List<String> ids, List<String> dropped, long time) {
        ByteBuffer head = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        head.putDouble(time).putDouble(untilFirst(delayed, time)).putDouble(untilFirst(leased, time));
        head.putInt(ids.size()).putInt(dropped.size());
        List<byte[]> reply = new ArrayList<>();
        reply.add(head.array());
        ids.forEach(id -> reply.add(id.getBytes(StandardCharsets.ISO_8859_1)));
        for (String id : ids) {
            byte[] body = messages.get(id).body.getBytes(StandardCharsets.ISO_8859_1);
            reply.add(ByteBuffer.allocate(8 + body.length)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putDouble(messages.get(id).scheduled)
                    .put(body)
                    .array());
        }
        ids.forEach(id -> reply.add(state.get(id).bytes()));
        dropped.forEach(id -> reply.add(id.getBytes(StandardCharsets.ISO_8859_1)));
        return reply;
    }

    private static double untilFirst(Map<String, Long> set, long time) {
        return set.values().stream()
                .min(Comparator.naturalOrder())
                .map(at -> Math.max(0, at - time))
                .orElse(-1L);
    }

    private static List<String> upTo(Map<String, Long> set, long time, int limit) {
        List<String> ids = new ArrayList<>(set.keySet());
        ids.removeIf(id -> set.get(id) > time);
        ids.sort(Comparator.<String, Long>comparing(set::get).thenComparing(Comparator.naturalOrder()));
        return new ArrayList<>(ids.subList(0, Math.min(limit, ids.size())));
    }

    private boolean holds(String id, byte[] claim) {
        return leased.containsKey(id)
                && state.containsKey(id)
                && state.get(id).claim.equals(HexFormat.of().formatHex(claim));
    }

    private State stateOf(String id, long due) {
        return state.getOrDefault(id, new State(0, 0, 0, NO_CLAIM, due, due, ""));
    }

    private void remove(String id) {
        messages.remove(id);
        delayed.remove(id);
        leased.remove(id);
        state.remove(id);
    }

    /** A body is lost, as by eviction or by hand. */
    void loseBody(String id) {
        messages.remove(id);
    }

    /** Time passes. */
    void shift(long micros) {
        delayed.replaceAll((id, at) -> Math.max(0, at - micros));
        leased.replaceAll((id, at) -> Math.max(0, at - micros));
    }

    QueueSnapshot snapshot() {
        QueueSnapshot snapshot = QueueSnapshot.empty();
        put(snapshot, "messages", messages, m -> QueueSnapshot.message(m.scheduled, m.body));
        put(snapshot, "delayed", delayed, String::valueOf);
        put(snapshot, "leased", leased, String::valueOf);
        put(snapshot, "state", state, QueueModel::describe);
        put(snapshot, "calls", calls, c -> QueueSnapshot.call(c.sequence, c.time, latin(c.result)));
        put(snapshot, "dead:messages", deadMessages, m -> QueueSnapshot.message(m.scheduled, m.body));
        put(snapshot, "dead:delayed", deadDelayed, String::valueOf);
        put(snapshot, "dead:state", deadState, QueueModel::describe);
        return snapshot;
    }

    private static <T> void put(
            QueueSnapshot snapshot, String key, Map<String, T> values, java.util.function.Function<T, String> text) {
        values.forEach((id, value) -> snapshot.keys().get(key).put(id, text.apply(value)));
    }

    private static String describe(State s) {
        return QueueSnapshot.state(s.attempts, s.lost, s.reason, s.claim, s.due, s.firstDue, s.failure);
    }

    private static String text(Object argument) {
        return latin((byte[]) argument);
    }
}
