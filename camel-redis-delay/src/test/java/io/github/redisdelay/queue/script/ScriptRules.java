// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisExtension;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RScript;
import org.redisson.api.RType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/**
 * A script changes nothing or everything: Redis does not roll back. Wrong data, wrong arguments and a full memory are
 * met before the first write. The rules are by theme, each for the scripts of a module; this is what they share, a queue with
 * something in every key.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ScriptRules {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    static final byte[] CLAIM = new byte[16];
    static final byte[] OTHER_CLAIM = new byte[16];
    static final byte[] CONSUMER = new byte[8];

    /** The keys that there are of a pattern and of some names, each with its dump. */
    private static final String DUMP = """
            local reply = {}
            local function add(keys)
              for _, key in ipairs(keys) do
                if redis.call('EXISTS', key) == 1 then
                  reply[#reply + 1] = key
                  reply[#reply + 1] = redis.call('DUMP', key)
                end
              end
            end
            add(redis.call('KEYS', ARGV[1]))
            add(KEYS)
            return reply
            """;

    static {
        Arrays.fill(CLAIM, (byte) 7);
        Arrays.fill(OTHER_CLAIM, (byte) 8);
    }

    final ScriptSet set;
    RedissonClient redisson;
    ScriptExecutor caller;
    QueueKeys keys;
    /** Ids of dead letters; before the queue is filled, when tests are only named, they are no ids. */
    ScriptSet.Filled filled = new ScriptSet.Filled("", "");

    ScriptRules(ScriptSet set) {
        this.set = set;
    }

    Stream<LuaScript> scripts() {
        return set.scripts().stream();
    }

    private Stream<LuaScript> scripts(ScriptSet.Trait trait) {
        return scripts().filter(script -> set.traits(script).contains(trait));
    }

    Stream<LuaScript> changing() {
        return scripts(ScriptSet.Trait.CHANGES);
    }

    Stream<LuaScript> withSeveralWrites() {
        return scripts(ScriptSet.Trait.WRITES_SEVERAL_KEYS);
    }

    Stream<LuaScript> withArguments() {
        return scripts(ScriptSet.Trait.NEEDS_ALL_ARGUMENTS);
    }

    Stream<LuaScript> withNeeds() {
        return scripts(ScriptSet.Trait.KNOWS_NEEDS);
    }

    Stream<LuaScript> withPriorities() {
        return scripts(ScriptSet.Trait.KNOWS_PRIORITIES);
    }

    Stream<LuaScript> withForeignBytes() {
        return scripts(ScriptSet.Trait.MEETS_RECORDS);
    }

    Stream<LuaScript> withNumbers() {
        return scripts().filter(script -> !named(script).numbers().isEmpty());
    }

    Stream<LuaScript> withItems() {
        return scripts().filter(script -> named(script).width() > 0);
    }

    Stream<LuaScript> withSession() {
        return scripts().filter(script -> named(script).has("session"));
    }

    /** The valid call of a script. */
    ScriptCall named(LuaScript script) {
        return set.valid(script, filled);
    }

    Object[] valid(LuaScript script) {
        return named(script).arguments();
    }

    /** Something in every key: see the names of the ids. */
    @BeforeEach
    void open() {
        redisson = redis.client();
        caller = new PatientCaller(redisson);
        keys = set.keys(ClientOptions.DEFAULT_KEY_PREFIX, redis.uniqueQueue());
        fillQueue();
    }

    void fillQueue() {
        int sequence = 1;
        call(
                LuaScript.SCHEDULE,
                items(
                        bytes("filler", sequence++, "base"),
                        bytes("l1", "at reject", 1, "", "x"),
                        bytes("l2", "at reject", 2, "", "x"),
                        bytes("l3", "at reject", 3, "", "x"),
                        bytes("l4", "at reject", 4, "", "x"),
                        bytes("l5", "at reject", 5, "", "x"),
                        bytes("ended", "at reject", 6, "", "x")));
        call(LuaScript.CLAIM, claim("filler", sequence++, CLAIM, 3_600_000_000L, 5, 0));
        call(LuaScript.CLAIM, claim("filler", sequence++, OTHER_CLAIM, 1, 5, 0));
        call(LuaScript.SETTLE, "filler", sequence++, "base", "dead", "l5", CLAIM, "dead-letter", 0, "failure");
        String deadOfOne = onlyDead();
        call(
                LuaScript.SCHEDULE,
                items(
                        bytes("filler", sequence++, "base"),
                        bytes("dead9", "at reject priority=9", 1, "", "x"),
                        bytes("seen", "at reject", 2, "", "x")));
        call(LuaScript.CLAIM, claim("filler", sequence++, CLAIM, 3_600_000_000L, 2, 0));
        // A consumer of dead letters holds the first of them.
        List<?> claimed = (List<?>) callDead(LuaScript.CLAIM, claim("filler", 1, CLAIM, 3_600_000_000L, 1, 0));
        assertThat(claimed).hasSize(6);
        call(
                LuaScript.SETTLE,
                items(
                        bytes("filler", sequence++, "base", "dead"),
                        bytes("dead9", CLAIM, "dead-letter", 0, "failure"),
                        bytes("seen", CLAIM, "acknowledge", 3_600_000_000L, "")));
        filled = new ScriptSet.Filled(deadOfOne, onlyDead());
        call(
                LuaScript.SCHEDULE,
                items(
                        bytes("filler", sequence, "base"),
                        bytes("due", "at reject", 7, "", "x"),
                        bytes("high", "at reject priority=5", 8, "", "x"),
                        bytes("waits", "after reject", 3_600_000_000L, "", "x")));
        call(LuaScript.HEARTBEAT, CONSUMER, "consumer", 0);
        // Two that wait, and nobody hears when they are called.
        for (QueueKeys each : List.of(keys, keys.dead())) {
            redisson.getScoredSortedSet(each.key("waiters"), StringCodec.INSTANCE)
                    .addAll(Map.of("c7 nowhere", 9e15, "c8 nowhere", 9.001e15));
        }
        set.fill(redisson, keys);
    }

    /** A claim of one who does not wait for more. */
    static Object[] claim(String session, int sequence, byte[] claim, long lease, int messages, int ended) {
        return bytes(session, sequence, claim, lease, messages, ended, 1_000_000, "base", "", 0, 1);
    }

    String onlyDead() {
        return redisson.<String>getScoredSortedSet(keys.dead().key("delayed"), StringCodec.INSTANCE)
                .first();
    }

    /** A head and items, one behind the other. */
    static Object[] items(Object[]... parts) {
        return Arrays.stream(parts).flatMap(Arrays::stream).toArray();
    }

    Object callDead(LuaScript script, Object... arguments) {
        return caller.call(script, keys.dead().of(script), bytes(arguments), 1).join();
    }

    Object call(LuaScript script, Object... arguments) {
        try {
            return caller.call(script, keys.of(script), bytes(arguments), 1).get(20, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw new CallFailed(e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static final class CallFailed extends RuntimeException {
        CallFailed(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }

    static Object[] bytes(Object... arguments) {
        return Arrays.stream(arguments)
                .map(a -> a instanceof byte[] ? a : String.valueOf(a).getBytes(StandardCharsets.ISO_8859_1))
                .toArray();
    }

    /** A key without the base; one of Redisson's queue as it is. */
    String part(Object key) {
        String name = (String) key;
        return name.startsWith(keys.base()) ? name.substring(keys.base().length() + 1) : name;
    }

    /** Everything that the queue holds, byte for byte: in one call, as some tests read it a thousand times. */
    Map<String, String> dump() {
        List<byte[]> read = redisson.getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_ONLY,
                        DUMP,
                        RedissonScriptExecutor.LIST,
                        keys.foreign(),
                        bytes(keys.base().replace("[", "\\[") + "*"));
        Map<String, String> all = new TreeMap<>();
        for (int i = 0; i < read.size(); i += 2) {
            all.put(
                    new String(read.get(i), StandardCharsets.UTF_8),
                    HexFormat.of().formatHex(read.get(i + 1)));
        }
        return all;
    }

    void assertRefused(LuaScript script, Object[] arguments, String what) {
        Map<String, String> before = dump();
        assertThatThrownBy(() -> call(script, arguments)).as(what).isInstanceOf(CallFailed.class);
        assertThat(dump()).as("the queue after " + what).isEqualTo(before);
    }

    void assertRefused(LuaScript script, ScriptCall call, String what) {
        assertRefused(script, call.arguments(), what);
    }

    /** Gives a script something to do. */
    void prepare(LuaScript script) {
        if (script == LuaScript.REPAIR) {
            redisson.getScoredSortedSet(keys.key("leased"), StringCodec.INSTANCE)
                    .remove("l1");
            redisson.getMap(keys.key("messages"), StringCodec.INSTANCE).put("stray", "scheduled");
            redisson.getMap(keys.key("config"), StringCodec.INSTANCE).remove("priorities");
        }
    }

    /** The members or fields of a key; none if it has another kind. */
    Set<String> held(QueueKeys of, String part) {
        String key = of.key(part);
        RType type = redisson.getKeys().getType(key);
        if (type == RType.ZSET) {
            return Set.copyOf(redisson.<String>getScoredSortedSet(key, StringCodec.INSTANCE)
                    .readAll());
        }
        return type == RType.MAP
                ? redisson.<String, String>getMap(key, StringCodec.INSTANCE).readAllKeySet()
                : Set.of();
    }

    /** The ids that have a body and that a claim finds now or when they are due. */
    Set<String> findable(QueueKeys of) {
        Set<String> ids = new TreeSet<>(held(of, "delayed"));
        ids.addAll(held(of, "leased"));
        String priorities = held(of, "config").contains("priorities")
                ? redisson.<String, String>getMap(of.key("config"), StringCodec.INSTANCE)
                        .get("priorities")
                : "";
        priorities.chars().forEach(digit -> ids.addAll(held(of, "delayed:" + (char) digit)));
        ids.retainAll(held(of, "messages"));
        return ids;
    }

    /** The ids that are in more than one set. */
    Set<String> inTwoSets() {
        Set<String> once = new TreeSet<>();
        return Stream.concat(
                        Stream.of("delayed", "leased"),
                        IntStream.rangeClosed(1, 9).mapToObj(priority -> "delayed:" + priority))
                .flatMap(part -> held(keys, part).stream())
                .filter(id -> !once.add(id))
                .collect(Collectors.toSet());
    }
}
