// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.RareState;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.Timers.Timer;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.random.RandomGenerator;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * The network between clients and a real Redis, in the hands of a test: every sending waits until the test executes it,
 * answers it, loses it or keeps a copy. One thread does everything, so that a seed decides a whole history.
 *
 * <p>Each execution is compared with the {@link QueueModel}: the answer, and then everything that the queue holds.
 */
public final class SimulatedNetwork {

    /** One sending of a call. */
    public static final class Packet {
        /** The number of the client that sends it. */
        final int sender;

        public final LuaScript script;
        public final List<Object> keys;
        public final Object[] arguments;
        /** Null for a copy whose answer nobody waits for. */
        public CompletableFuture<Object> answer;

        public boolean executed;
        public Object reply;
        public Throwable error;

        Packet(int sender, LuaScript script, List<Object> keys, Object[] arguments, CompletableFuture<Object> answer) {
            this.sender = sender;
            this.script = script;
            this.keys = keys;
            this.arguments = arguments.clone();
            this.answer = answer;
        }

        /** The same once more, and nobody waits for the answer. */
        public Packet copy() {
            return new Packet(sender, script, keys, arguments, null);
        }
    }

    private final RedissonClient redisson;
    private final ScriptExecutor redis;
    private final QueueKeys keys;
    /** Channels on which somebody listens. */
    private final Set<String> heard = new HashSet<>();

    public QueueModel model;
    public final SimulatedTimers timers = new SimulatedTimers();
    public final List<Packet> packets = new ArrayList<>();
    /** How many bytes of bodies claims may give. */
    public long maxClaimBytes = ClaimRequest.MAX_BYTES;
    /** How often each body of a schedule call was executed, repeats not counted. */
    public final Map<String, Integer> executedBodies = new HashMap<>();

    private final Map<String, Set<String>> gone = Map.of("messages", new HashSet<>(), "dead:messages", new HashSet<>());
    /** The server's time at the last call that told it. */
    private long lastTime;

    private QueueSnapshot last = QueueSnapshot.empty();
    private boolean bodiesMissing;
    private boolean idsMissing;
    public int executions;
    /** Judges in place of the model; else null. */
    private DamagedGroups damaged;

    private int clients;
    /** The only client whose calls arrive; -1 if all may. */
    private int core = -1;

    /** @param reached is told of rare states */
    public SimulatedNetwork(RedissonClient redisson, QueueKeys keys, RareStates reached) {
        this.model = new QueueModel(
                (member, micros) -> {
                    boolean listens = heard.contains(member.substring(member.indexOf(' ') + 1));
                    reached.countIf(!listens, RareState.WAKE_UP_UNHEARD);
                    return listens;
                },
                reached);
        this.redisson = redisson;
        this.redis = new PatientCaller(redisson);
        this.keys = keys;
    }

    /** A client on this network. */
    public DelayQueueClient client(RandomGenerator random) {
        int number = clients++;
        return ClientAccess.create(
                (script, keys, arguments, attempt) -> send(number, script, keys, arguments, attempt),
                ClientOptions.DEFAULTS,
                timers,
                random,
                () -> 0,
                redisson);
    }

    /**
     * The calls of one client arrive from now on, and are answered. None of the others ever is, and what they send does not arrive:
     * they stay as broken as they are.
     */
    public void heal(int client, Random random) {
        core = client;
        for (Packet packet : List.copyOf(packets)) {
            if (packet.sender != core) {
                packets.remove(packet);
                if (!packet.executed && random.nextBoolean()) {
                    execute(packet);
                }
            }
        }
    }

    /** From now on somebody hears it when a consumer of this client is called. */
    public void listenTo(DelayQueueClient client) {
        String channel = ClientAccess.consumers(client).wakeups().name();
        redisson.getTopic(channel, ByteArrayCodec.INSTANCE).addListener(byte[].class, (name, message) -> {});
        heard.add(channel);
    }

    private CompletableFuture<Object> send(
            int sender, LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
        if (core >= 0 && sender != core) {
            return new CompletableFuture<>();
        }
        if (script == LuaScript.REGISTER) {
            return redis.call(script, keys, arguments, attempt); // of no queue, and nothing depends on it
        }
        CompletableFuture<Object> answer = new CompletableFuture<>();
        Packet packet = new Packet(sender, script, keys, arguments, answer);
        if (script == LuaScript.CLAIM) {
            packet.arguments[6] = Digits.of(maxClaimBytes);
        }
        packets.add(packet);
        return answer;
    }

    /** Executes and answers everything in the order of sending, what follows from the answers included. */
    public void deliverAll() {
        while (!packets.isEmpty()) {
            Packet packet = packets.remove(0);
            if (!packet.executed) {
                execute(packet);
            }
            answer(packet);
        }
    }

    /** Executes a sending on Redis and in the model. */
    public void execute(Packet packet) {
        executions++;
        if (damaged != null) {
            executeDamaged(packet);
            return;
        }
        boolean old = modelOf(packet).isOld(packet.script, packet.arguments);
        packet.executed = true;
        try {
            packet.reply =
                    redis.call(packet.script, packet.keys, packet.arguments, 1).join();
        } catch (CompletionException e) {
            packet.error = e.getCause();
        }
        if (!old && packet.script == LuaScript.SCHEDULE) {
            for (int i = 7; i < packet.arguments.length; i += 5) {
                executedBodies.merge(QueueSnapshot.latin((byte[]) packet.arguments[i]), 1, Integer::sum);
            }
        }
        if (packet.error != null) {
            assertThat(modelOf(packet).execute(packet.script, packet.arguments, 0))
                    .as("the answer to a call that Redis refused with " + packet.error)
                    .isEqualTo(QueueModel.REFUSED);
            assertThat(packet.error).hasMessageContaining("superseded");
        } else {
            long time = timeOf(packet);
            if (packet.script == LuaScript.CLAIM && !old) {
                assertNoneEarly(modelOf(packet) == model ? "" : "dead:", (List<?>) packet.reply, time);
            }
            String answer = readable(inOrder(packet.script, packet.reply));
            assertThat(answer).as("answer of " + packet.script).isEqualTo(expected(packet, time, answer));
        }
        QueueSnapshot before = last;
        compare(packet.script.command());
        if (old) {
            assertThat(last).as("the queue after a repeated or late call").isEqualTo(before);
        }
    }

    private void executeDamaged(Packet packet) {
        packet.executed = true;
        packet.reply =
                redis.call(packet.script, packet.keys, packet.arguments, 1).join();
        QueueSnapshot before = last;
        last = QueueSnapshot.read(redisson, keys);
        if (packet.script == LuaScript.CLAIM && isToQueue(packet)) {
            damaged.judge(ClaimReply.parse((List<?>) packet.reply), before, last);
        }
    }

    /** What the model answers; where Redis chooses at random, with the choice that Redis seems to have taken, else the first. */
    private String expected(Packet packet, long time, String answer) {
        QueueModel before = model;
        model = before.taking(0);
        String first = readable(inOrder(packet.script, modelOf(packet).execute(packet.script, packet.arguments, time)));
        if (model.choices() == 1) {
            return first;
        }
        QueueModel taken = model;
        Object held = QueueSnapshot.read(redisson, keys).keys();
        String found = first;
        for (int choice = 1; !found.equals(answer) || !model.snapshot().keys().equals(held); choice++) {
            if (choice == taken.choices()) {
                model = taken;
                return first;
            }
            model = before.taking(choice);
            found = readable(inOrder(packet.script, modelOf(packet).execute(packet.script, packet.arguments, time)));
        }
        return found;
    }

    /** The model of the queue that a call is to, or of its dead letters. */
    private QueueModel modelOf(Packet packet) {
        return isToQueue(packet) ? model : model.dead;
    }

    private boolean isToQueue(Packet packet) {
        return packet.script == LuaScript.DEAD_LETTERS
                || !packet.keys.get(0).toString().startsWith(keys.dead().base());
    }

    /** The server's time at a call; at the last one before for those that do not tell it, which look at no near time. */
    private long timeOf(Packet packet) {
        switch (packet.script.command()) {
            case "get", "browse", "dead_letters", "consumers" -> {}
            default -> {
                byte[] head = packet.reply instanceof byte[] bytes ? bytes : (byte[]) ((List<?>) packet.reply).get(0);
                lastTime = (long)
                        ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getDouble();
            }
        }
        return lastTime;
    }

    /** I2, from what Redis held before the call. */
    private void assertNoneEarly(String queue, List<?> reply, long time) {
        for (ClaimReply.ClaimedMessage message : ClaimReply.parse(reply).messages()) {
            String from = last.keys().entrySet().stream()
                    .filter(part -> part.getKey().matches(queue + "(delayed(:\\d)?|leased|parked)"))
                    .map(part -> part.getValue().get(message.id()))
                    .filter(java.util.Objects::nonNull)
                    .findFirst()
                    .orElseThrow();
            assertThat(Long.parseLong(from))
                    .as("when '" + message.id() + "' could be claimed")
                    .isLessThanOrEqualTo(time);
        }
    }

    /** Compares what the queue holds with the model, and checks what has to be true at any time. */
    private void compare(String cause) {
        QueueSnapshot now = QueueSnapshot.read(redisson, keys);
        assertThat(now.keys())
                .as("the queue after " + cause)
                .isEqualTo(model.snapshot().keys());
        if (!idsMissing) {
            now.assertOneStateAtATime(bodiesMissing);
        }
        // I6: what has left the queue never comes back. Each message of a test has a body of its own; a redrive
        // schedules one anew.
        gone.forEach((part, bodies) -> {
            for (String body : last.keys().get(part).values()) {
                // But each run of a recurring schedule that is given up may leave a copy of its body, behind its group.
                if (!now.keys().get(part).containsValue(body) && !body.matches("(?s).* body (.g\\d)?r.*")) {
                    bodies.add(body);
                }
            }
            assertThat(now.keys().get(part).values())
                    .as(part + " that came back")
                    .noneMatch(bodies::contains);
        });
        last = now;
    }

    /** Hands the answer of an executed sending to its client. */
    public void answer(Packet packet) {
        if (packet.answer == null) {
            return;
        }
        if (packet.error != null) {
            packet.answer.completeExceptionally(packet.error);
        } else {
            packet.answer.complete(packet.reply);
        }
    }

    /** The client gives up waiting for the answer; the sending itself may still be on its way. */
    public void timeOut(Packet packet) {
        CompletableFuture<Object> answer = packet.answer;
        packet.answer = null;
        if (answer != null) {
            answer.completeExceptionally(new RedisTimeoutException("no answer in time"));
        }
    }

    /** Lets time pass by the server's clock. */
    public void shift(long micros) {
        QueueSnapshot.shift(redisson, keys, micros);
        if (damaged != null) {
            last = QueueSnapshot.read(redisson, keys);
            return;
        }
        model.shift(micros);
        compare("time has passed");
    }

    /** A body is lost, as by eviction or by hand. */
    public void loseBody(String id) {
        bodiesMissing = true;
        redisson.<byte[], byte[]>getMap(keys.key("messages"), ByteArrayCodec.INSTANCE)
                .fastRemove(id.getBytes(StandardCharsets.UTF_8));
        model.loseBody(id);
        compare("a loss");
    }

    /** An id is lost from the sets, as where a key of theirs was evicted or deleted. */
    public void loseId(String id, boolean dead) {
        idsMissing = true;
        QueueKeys queue = dead ? keys.dead() : keys;
        for (Object key : queue.of(LuaScript.REPAIR)) {
            if (((String) key).matches(".*:(delayed(:\\d)?|leased)")) {
                redisson.getScoredSortedSet((String) key, org.redisson.client.codec.StringCodec.INSTANCE)
                        .remove(id);
            }
        }
        (dead ? model.dead : model).loseId(id);
        compare("a loss");
    }

    /** A state record is lost. */
    public void loseRecord(String id) {
        redisson.getMap(keys.key("state"), org.redisson.client.codec.StringCodec.INSTANCE)
                .fastRemove(id);
        model.loseRecord(id);
        compare("a loss");
    }

    /** The last call of a session is forgotten; none of its calls may be under way. */
    public void forgetSession(Random random) {
        List<String> sessions = model.sessions();
        if (!sessions.isEmpty()) {
            String session = sessions.get(random.nextInt(sessions.size()));
            redisson.<byte[], byte[]>getMap(keys.key("sessions"), ByteArrayCodec.INSTANCE)
                    .fastRemove(session.getBytes(StandardCharsets.ISO_8859_1));
            model.forgetSession(session);
            compare("a loss");
        }
    }

    /** Things will be lost of which no model knows how they are mended: this one judges in its place. */
    void judgeBy(DamagedGroups groups) {
        damaged = groups;
    }

    void damage(DamagedGroups.Damage damage, Random random) {
        damaged.lose(damage, last, random);
        last = QueueSnapshot.read(redisson, keys);
    }

    /** Nothing is amiss any more, but for bodies. */
    public void repaired() {
        if (damaged != null) {
            last.assertOneStateAtATime(true);
            return;
        }
        idsMissing = false;
        compare("a loss");
    }

    public QueueSnapshot held() {
        return last;
    }

    public void delete() {
        heard.forEach(channel -> redisson.getTopic(channel).removeAllListeners());
        redisson.getKeys().delete(QueueSnapshot.allKeys(keys));
    }

    /** A check meets ids in the order of a hash table. */
    private static Object inOrder(LuaScript script, Object reply) {
        if (script == LuaScript.CONSUMERS) {
            // Each with its name; the model knows no time of a heartbeat.
            List<String> consumers = new ArrayList<>();
            List<?> rows = (List<?>) reply;
            for (int i = 0; i < rows.size(); i += 2) {
                consumers.add(QueueSnapshot.latin((byte[]) rows.get(i)) + " "
                        + QueueSnapshot.latin((byte[]) rows.get(i + 1)).substring(8));
            }
            return consumers.stream().sorted().toList();
        }
        if (script != LuaScript.REPAIR) {
            return reply;
        }
        List<Object> sorted = new ArrayList<>((List<?>) reply);
        sorted.subList(2, sorted.size()).sort(Comparator.comparing(id -> QueueSnapshot.latin((byte[]) id)));
        return sorted;
    }

    private static String readable(Object reply) {
        if (reply instanceof byte[] bytes) {
            return java.util.HexFormat.ofDelimiter(" ").formatHex(bytes);
        }
        if (reply instanceof List<?> list) {
            return list.stream().map(SimulatedNetwork::readable).toList().toString();
        }
        return String.valueOf(reply);
    }

    /** A clock that stands still until the test moves it. */
    public static final class SimulatedTimers implements Timers {
        private final List<Task> tasks = new ArrayList<>();
        private long now;
        private long made;

        private record Task(long at, long number, Runnable work) {}

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public Timer schedule(long delayNanos, Runnable work) {
            Task task = new Task(now + Math.max(0, delayNanos), made++, work);
            tasks.add(task);
            return () -> tasks.remove(task);
        }

        /** Moves the clock to the next task and runs it; false if there is none. */
        public boolean runNext() {
            Task next = tasks.stream()
                    .min(Comparator.comparingLong(Task::at).thenComparingLong(Task::number))
                    .orElse(null);
            if (next == null) {
                return false;
            }
            tasks.remove(next);
            now = Math.max(now, next.at);
            next.work.run();
            return true;
        }
    }
}
