// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.redis.ClusterSlot;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.api.RType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A script changes nothing or everything: Redis does not roll back. Wrong data, wrong arguments and a full memory are
 * met before the first write. The rules for all scripts, those of other modules included.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ScriptSafety {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    static final long MAX = DueTime.MAX_MICROS;
    static final byte[] CLAIM = new byte[16];
    static final byte[] OTHER_CLAIM = new byte[16];
    static final byte[] CONSUMER = new byte[8];

    static {
        Arrays.fill(CLAIM, (byte) 7);
        Arrays.fill(OTHER_CLAIM, (byte) 8);
    }

    RedissonClient redisson;
    ScriptExecutor caller;
    QueueKeys keys;
    /** Dead letters: one that is leased, and one of a message of priority 9. */
    String deadOfOne;

    String dead9;

    /** All scripts that this test is about. */
    abstract List<LuaScript> scripts();

    /** Those that change something. */
    abstract List<LuaScript> changing();

    /** Those whose arguments have numbers. */
    abstract List<LuaScript> withNumbers();

    /** Those that need each of their arguments. */
    abstract List<LuaScript> withArguments();

    /** Those with items. */
    abstract List<LuaScript> withItems();

    /** Those that know the format of a queue. */
    abstract List<LuaScript> withFormat();

    /** Those that find messages by their priorities. */
    abstract List<LuaScript> withPriorities();

    /** Those that meet records of messages and of calls. */
    abstract List<LuaScript> withForeignBytes();

    /** Those that write to several keys. */
    abstract List<LuaScript> withSeveralWrites();

    abstract List<LuaScript> withSession();

    /** The keys of a queue, with all that the scripts name. */
    QueueKeys keys(String prefix, String queue) {
        return QueueKeys.of(prefix, queue);
    }

    /** Fills what is outside of the queue. */
    void fillMore() {}

    /** A call that touches every key that the script may touch here, and uses every word. */
    abstract Object[] valid(LuaScript script);

    /** Gives a script something to do. */
    void prepare(LuaScript script) {}

    /** The keys whose kinds the valid call of a script checks: all of its keys, or those that it has to look at. */
    Set<String> needed(LuaScript script) {
        return keys.of(script).stream().map(this::part).collect(Collectors.toSet());
    }

    /** Where a script's items are; null if it has none. */
    abstract Layout layout(LuaScript script);

    /** Positions of numbers in the valid calls. */
    abstract List<Integer> numbers(LuaScript script);

    /** Asserts what a script refuses besides what is no number. */
    void refuseMore(LuaScript script) {}

    /** The ids that the valid call of a script may end: they are done, or are where the call moves them. */
    Set<String> ended(LuaScript script) {
        return Set.of();
    }

    /** Asserts more about a call that was made in part. */
    void assertMore(LuaScript script, Set<String> after, String what) {}

    /** The names of the files of all that is sent, and nothing else. */
    abstract List<String> files();

    /** The file of a script among these. */
    abstract String fileOf(LuaScript script);

    /** A class that has these files beside it, and their folder. */
    abstract URL folder();

    /** Something in every key: see the names of the ids. */
    @BeforeEach
    void open() {
        redisson = redis.client();
        caller = new PatientCaller(redisson);
        keys = keys(ClientOptions.DEFAULT_KEY_PREFIX, redis.uniqueQueue());
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
        call(LuaScript.SETTLE, "filler", sequence++, "base", "dead", "l5", CLAIM, "bury", 0, "failure");
        deadOfOne = onlyDead();
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
                        bytes("dead9", CLAIM, "bury", 0, "failure"),
                        bytes("seen", CLAIM, "acknowledge", 3_600_000_000L, "")));
        dead9 = onlyDead();
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
        fillMore();
    }

    /** A claim of one who does not wait for more. */
    static Object[] claim(String lane, int sequence, byte[] claim, long lease, int messages, int ended) {
        return bytes(lane, sequence, claim, lease, messages, ended, 1_000_000, "base", "", "fill", 1);
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

    /** The right type of a key. */
    String type(String part) {
        return part.matches("(dead:)*(delayed(:\\d)?|leased|seen|waiters|index|queues)") ? "zset" : "hash";
    }

    /** Everything that the queue holds, byte for byte. */
    Map<String, String> dump() {
        Map<String, String> all = new TreeMap<>();
        for (String key : redisson.getKeys().getKeysByPattern(keys.base().replace("[", "\\[") + "*")) {
            all.put(key, dump(key));
        }
        keys.foreign().stream()
                .map(String.class::cast)
                .filter(key -> redisson.getKeys().countExists(key) > 0)
                .forEach(key -> all.put(key, dump(key)));
        return all;
    }

    String dump(String key) {
        return HexFormat.of()
                .formatHex(redisson.getBucket(key, ByteArrayCodec.INSTANCE).dump());
    }

    void assertRefused(LuaScript script, Object[] arguments, String what) {
        Map<String, String> before = dump();
        assertThatThrownBy(() -> call(script, arguments)).as(what).isInstanceOf(CallFailed.class);
        assertThat(dump()).as("the queue after " + what).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("changing")
    void should_execute_the_valid_call_that_these_tests_are_made_of(LuaScript script) {
        prepare(script);
        Map<String, String> before = dump();
        call(script, valid(script));
        assertThat(dump()).isNotEqualTo(before);
    }

    Stream<Arguments> keysOfScripts() {
        return scripts().stream()
                .filter(script -> script != LuaScript.SERVER) // reads no key
                .flatMap(script -> IntStream.range(0, keysOf("q", script).size())
                        .boxed()
                        .flatMap(key -> Stream.of("string", "list", "set", "hash", "zset")
                                .map(type -> Arguments.of(script, key, type))));
    }

    private List<Object> keysOf(String queue, LuaScript script) {
        return keys("p", queue).of(script);
    }

    @ParameterizedTest
    @MethodSource("keysOfScripts")
    void should_change_nothing_where_a_key_has_a_wrong_type(LuaScript script, int index, String type) {
        String key = (String) keys.of(script).get(index);
        String part = part(key);
        if (type.equals(type(part)) || part.endsWith(":none")) {
            return; // the right one, or the one that is never there
        }
        redisson.getKeys().delete(key);
        switch (type) {
            case "string" -> redisson.getBucket(key, StringCodec.INSTANCE).set("x");
            case "list" -> redisson.getList(key, StringCodec.INSTANCE).add("x");
            case "set" -> redisson.getSet(key, StringCodec.INSTANCE).add("x");
            case "hash" -> redisson.getMap(key, StringCodec.INSTANCE).put("x", "y");
            default -> redisson.getScoredSortedSet(key, StringCodec.INSTANCE).add(1, "x");
        }
        Map<String, String> before = dump();
        if (needed(script).contains(part)) {
            assertThatThrownBy(() -> call(script, valid(script)))
                    .isInstanceOf(CallFailed.class)
                    .hasMessageContaining("WRONGTYPE");
            assertThat(dump()).isEqualTo(before);
        } else {
            // Such as the set of a priority that is not in use.
            call(script, valid(script));
            assertThat(dump()).containsEntry(key, before.get(key));
        }
    }

    /** Where a script's arguments are: head without lane, then items. */
    record Layout(int head, int width) {}

    static Object[] with(Object[] arguments, int index, Object value) {
        Object[] changed = arguments.clone();
        changed[index] = bytes(value)[0];
        return changed;
    }

    @ParameterizedTest
    @MethodSource("withNumbers")
    void should_refuse_what_is_not_a_whole_number_within_bounds(LuaScript script) {
        List<String> bad = List.of(
                "",
                " ",
                "x",
                "1x",
                "nan",
                "NaN",
                "-nan",
                "inf",
                "-inf",
                "1e400",
                "-1",
                "1.5",
                "0.000001",
                "9007199254740992",
                "9007199254740993",
                "1e16",
                "18446744073709551616");
        for (int index : numbers(script)) {
            for (String value : bad) {
                assertRefused(script, with(valid(script), index, value), script + " with '" + value + "' at " + index);
            }
        }
        refuseMore(script);
    }

    @ParameterizedTest
    @MethodSource("withArguments")
    void should_refuse_missing_arguments(LuaScript script) {
        Object[] valid = valid(script);
        Layout layout = layout(script);
        for (int length = 0; length < valid.length; length++) {
            if (layout != null && length > layout.head && (length - layout.head) % layout.width == 0) {
                continue; // fewer items, all whole
            }
            assertRefused(script, Arrays.copyOf(valid, length), script + " with " + length + " arguments");
        }
    }

    @ParameterizedTest
    @MethodSource("withItems")
    void should_refuse_no_items_and_more_than_256(LuaScript script) {
        Object[] valid = valid(script);
        Layout layout = layout(script);
        assertRefused(script, Arrays.copyOf(valid, layout.head), script + " of nothing");
        for (int count : new int[] {257, 1000}) {
            Object[] many = Arrays.copyOf(valid, layout.head + count * layout.width);
            for (int i = layout.head + layout.width; i < many.length; i++) {
                many[i] = many[i - layout.width];
            }
            assertRefused(script, many, script + " of " + count);
        }
        Object[] most = Arrays.copyOf(valid, layout.head + 256 * layout.width);
        for (int i = layout.head + layout.width; i < most.length; i++) {
            most[i] = most[i - layout.width];
        }
        assertThat((byte[]) call(script, most)).hasSize(8 + 9 * 256);
    }

    @Test
    void should_stand_foreign_bytes_in_state_and_calls() {
        List<byte[]> garbage = new ArrayList<>();
        garbage.add(new byte[0]);
        garbage.add(new byte[1]);
        garbage.add(new byte[15]);
        garbage.add("garbage of more than forty bytes, which no script of ours has written"
                .getBytes(StandardCharsets.US_ASCII));
        byte[] brief = redisson.<byte[], byte[]>getMap(keys.key("state"), ByteArrayCodec.INSTANCE)
                .get("l1".getBytes(StandardCharsets.US_ASCII));
        assertThat(brief).hasSize(24);
        garbage.add(brief);
        garbage.add(Arrays.copyOf(brief, 23));
        garbage.add(Arrays.copyOf(brief, 39));
        byte[] record = Arrays.copyOf(brief, 40);
        for (double time : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -1, 1e300}) {
            byte[] wrong = record.clone();
            java.nio.ByteBuffer.wrap(wrong)
                    .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                    .putDouble(24, time)
                    .putDouble(32, time);
            garbage.add(wrong);
        }
        for (int priority : new int[] {10, 15, 25, 26, 32, 255}) {
            byte[] wrong = record.clone();
            wrong[3] = (byte) priority;
            garbage.add(wrong);
        }
        int sequence = 100;
        for (byte[] bytes : garbage) {
            redisson.getKeys().delete(keys.key("sessions"));
            redisson.<byte[], byte[]>getMap(keys.key("sessions"), ByteArrayCodec.INSTANCE)
                    .fastPut("foreign".getBytes(StandardCharsets.US_ASCII), bytes);
            for (String id : List.of("l1", "l2", "l3", "l4", "due", "waits", "ended", "stray")) {
                redisson.<byte[], byte[]>getMap(keys.key("state"), ByteArrayCodec.INSTANCE)
                        .fastPut(id.getBytes(StandardCharsets.US_ASCII), bytes);
            }
            for (String id : List.of(dead9, deadOfOne)) {
                redisson.<byte[], byte[]>getMap(keys.dead().key("state"), ByteArrayCodec.INSTANCE)
                        .fastPut(id.getBytes(StandardCharsets.US_ASCII), bytes);
            }
            redisson.<byte[], byte[]>getMap(keys.key("consumers"), ByteArrayCodec.INSTANCE)
                    .fastPut(CONSUMER, bytes);
            redisson.<byte[], byte[]>getMap(keys.key("messages"), ByteArrayCodec.INSTANCE)
                    .fastPut("stray".getBytes(StandardCharsets.US_ASCII), bytes);
            // Both of its times are no numbers.
            byte[] body = new byte[17];
            Arrays.fill(body, (byte) 0xff);
            redisson.<byte[], byte[]>getMap(keys.key("messages"), ByteArrayCodec.INSTANCE)
                    .fastPut("l2".getBytes(StandardCharsets.US_ASCII), body);
            for (LuaScript script : withForeignBytes()) {
                boolean lane = layout(script) != null || script == LuaScript.CLAIM;
                call(script, lane ? with(with(valid(script), 1, sequence), 0, script + "-" + sequence) : valid(script));
                sequence++;
            }
            Map<String, String> before = dump();
            assertThat(before).isNotEmpty();
            redisson.getKeys().delete(before.keySet().toArray(String[]::new));
            fillQueue();
        }
    }

    @Test
    void should_refuse_priorities_that_no_script_has_written() {
        for (String digits : List.of("x", "0", "50", "5x", "55", "59", "123456789", "9876543210", "5 ", "-5", "\0")) {
            redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("priorities", digits);
            for (LuaScript script : withPriorities()) {
                assertRefused(script, valid(script), script + " with priorities '" + digits + "'");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("withFormat")
    void should_refuse_a_queue_of_a_later_format(LuaScript script) {
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("format", "2");
        Map<String, String> before = dump();
        assertThatThrownBy(() -> call(script, valid(script)))
                .hasMessageContaining("this queue has format 2, this client knows format 1");
        assertThat(dump()).isEqualTo(before);
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("format", "1");
        call(script, valid(script));
    }

    @Test
    void should_have_all_keys_of_a_call_in_one_slot() {
        for (String name : List.of("orders", "a:b.c-d_e/f", "ü€😀", "x ")) {
            for (LuaScript script : scripts()) {
                assertThat(keysOf(name, script)).isNotEmpty().allSatisfy(key -> assertThat(ClusterSlot.of((String) key))
                        .isEqualTo(ClusterSlot.of(name)));
            }
        }
    }

    // The answers of Redis to a user who may not do everything (see ACL).

    @ParameterizedTest
    @MethodSource("withSeveralWrites")
    void should_change_nothing_or_everything_for_a_user_who_may_not_do_all_of_it(LuaScript script) throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            redisson = connect(server, null);
            caller = new PatientCaller(redisson);
            RedissonClient admin = redisson;
            try {
                List<String> halfDone = new ArrayList<>();
                for (String denied : commands(script)) {
                    admin.getKeys().flushall();
                    fillQueue();
                    prepare(script);
                    new AclUser(server).denies(denied);
                    Map<String, String> before = dump();
                    RedissonClient user = connect(server, "app");
                    try {
                        new PatientCaller(user)
                                .call(script, keys.of(script), valid(script), 1)
                                .get(20, TimeUnit.SECONDS);
                    } catch (java.util.concurrent.ExecutionException e) {
                        assertThat(e.getCause().getMessage())
                                .containsAnyOf("can't run this command", "NOPERM", "ACL failure in script");
                        if (!dump().equals(before)) {
                            halfDone.add(denied);
                        }
                    } finally {
                        user.shutdown();
                    }
                }
                assertThat(halfDone)
                        .as("commands without which it was half done")
                        .isEmpty();
            } finally {
                admin.shutdown();
            }
        }
    }

    // Permissions and keys that are taken away between two preflights of a session.

    /** Makes the next call of the session of the valid calls one without a preflight, unless a new hour begins meanwhile. */
    void doPreflight() {
        call(LuaScript.SETTLE, "lane", 9, "base", "dead", "none", CLAIM, "extend", 1_000, "");
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

    void assertFindable(LuaScript script, Set<String> before, Set<String> deadBefore, String what) {
        Set<String> after = findable(keys);
        Set<String> deadAfter = findable(keys.dead());
        Set<String> lost = new TreeSet<>(before);
        lost.removeAll(after);
        lost.removeAll(ended(script));
        assertThat(lost).as("messages that no claim finds after " + what).isEmpty();
        Set<String> deadLost = new TreeSet<>(deadBefore);
        deadLost.removeAll(deadAfter);
        deadLost.removeIf(id -> script == LuaScript.REDRIVE && after.contains(DeadLetterId.messageIdOf(id)));
        assertThat(deadLost)
                .as("dead letters that no claim finds after " + what)
                .isEmpty();
        boolean buried = deadAfter.stream().anyMatch(id -> id.startsWith("l2@"));
        assertThat(script != LuaScript.SETTLE || !before.contains("l2") || after.contains("l2") || buried)
                .as("the message that is buried is found after " + what)
                .isTrue();
        assertMore(script, after, what);
        if (script == LuaScript.SETTLE) {
            assertThat(inTwoSets()).as("messages in two sets after " + what).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("withSession")
    void should_leave_each_message_findable_for_a_user_who_loses_a_permission_meanwhile(LuaScript script)
            throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            RedissonClient admin = connect(server, null);
            redisson = admin;
            caller = new PatientCaller(admin);
            new AclUser(server).denies("debug");
            RedissonClient user = connect(server, "app");
            ScriptExecutor users = new PatientCaller(user);
            try {
                for (String denied : commands(script)) {
                    admin.getKeys().flushall();
                    fillQueue();
                    doPreflight();
                    Set<String> before = findable(keys);
                    Set<String> deadBefore = findable(keys.dead());
                    assertThat(before).contains("l1", "l2", "due", "waits", "high");
                    new AclUser(server).denies(denied);
                    try {
                        users.call(script, keys.of(script), valid(script), 1).get(20, TimeUnit.SECONDS);
                    } catch (java.util.concurrent.ExecutionException e) {
                        assertThat(e.getCause().getMessage())
                                .containsAnyOf("can't run this command", "NOPERM", "ACL failure in script");
                        assertFindable(script, before, deadBefore, script + " without " + denied);
                        // It was not executed: it is when it is allowed.
                        call(script, valid(script));
                        assertFindable(script, before, deadBefore, script + " after it was allowed to " + denied);
                    }
                }
            } finally {
                user.shutdown();
                admin.shutdown();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("withSession")
    void should_leave_each_message_findable_where_a_key_becomes_another_one_meanwhile(LuaScript script) {
        for (Object key : keys.of(script)) {
            redisson.getKeys().delete(dump().keySet().toArray(String[]::new));
            fillQueue();
            doPreflight();
            redisson.getKeys().delete((String) key);
            redisson.getBucket((String) key, StringCodec.INSTANCE).set("x");
            Set<String> before = findable(keys);
            Set<String> deadBefore = findable(keys.dead());
            try {
                call(script, valid(script));
            } catch (CallFailed e) {
                assertThat(e).hasMessageContaining("WRONGTYPE");
            }
            assertFindable(script, before, deadBefore, script + " where " + key + " is a string");
        }
    }

    static Set<String> commands(LuaScript script) {
        Set<String> commands = new TreeSet<>();
        Matcher command = Pattern.compile("redis\\.call\\('(\\w+)'").matcher(script.source());
        while (command.find()) {
            commands.add(command.group(1).toLowerCase(java.util.Locale.ROOT));
        }
        return commands;
    }

    static RedissonClient connect(RedisServer server, String user) {
        Config config = new Config();
        // Redisson 3 has these settings only here.
        org.redisson.config.SingleServerConfig single =
                config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
        if (user != null) {
            single.setUsername(user).setPassword("secret");
        }
        return Redisson.create(config);
    }

    // The rules for the scripts' text.

    String file(String name) {
        try (InputStream in = new URL(folder() + "/" + name).openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The code of a script without its comments. */
    String code(String name) {
        return file(name).replaceAll("--[^\\n]*", "");
    }

    @Test
    void should_know_all_scripts() throws Exception {
        Set<String> found = new TreeSet<>();
        Path folder = Path.of(folder().toURI());
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(Files::isRegularFile)
                    .forEach(file -> found.add(folder.relativize(file).toString()));
        }
        assertThat(found).isEqualTo(new TreeSet<>(files()));
        for (LuaScript script : scripts()) {
            assertThat(script.source()).doesNotContain("--@include");
        }
    }

    /** The rest of a file behind its first comment and the lines that follow it. */
    private static final Pattern TOP = Pattern.compile("^(--[^\\n]*\\n)+\\n(--@include \\S+\\n)*\\n?");

    @ParameterizedTest
    @MethodSource("scripts")
    void should_include_on_top_only(LuaScript script) {
        assertThat(TOP.matcher(file(fileOf(script))).replaceFirst("")).doesNotContain("--@include");
    }

    /** The numbered names in the header of a script, such as {@code 1 SCHEDULED}, in their order. */
    List<String> numbered(LuaScript script, int first) {
        List<String> names = new ArrayList<>();
        Matcher name = Pattern.compile("(?m)^-- +(\\d) ([A-Z_]+)\\b").matcher(file(fileOf(script)));
        while (name.find()) {
            assertThat(Integer.parseInt(name.group(1))).isEqualTo(first + names.size());
            names.add(name.group(2));
        }
        return names;
    }

    @Test
    void should_never_format_a_number_in_a_way_that_loses_microseconds() {
        for (String name : files()) {
            String code = code(name);
            assertThat(code).as(name).doesNotContain("tostring(", "cjson", "cmsgpack", "table.concat(leases");
            // A priority has one digit.
            code = code.replace("string.format('%d', record.priority % RECORD_DEAD)", "");
            Matcher format = Pattern.compile("string\\.format\\(([^,]*),").matcher(code);
            while (format.find()) {
                assertThat(format.group(1)).as(name).matches("'\\(?%\\.0f'");
            }
        }
    }

    /** The operands of a {@code ..}: text, never a number that could be a time. */
    private static final Set<String> CONCATENATED = Set.of(
            "", // a text in quotes
            "what",
            "kinds",
            "more_kinds",
            "ARGV[1]", // the name of a session
            "ARGV[i]", // a bound of an outlook as it came
            "ARGV[8]", // a body
            "version",
            "result",
            "base",
            "i", // a position, below 257
            "id",
            "ids[i]",
            "names",
            "r.failure",
            "bodies[i]",
            "body",
            "name",
            "brief", // made by struct.pack, as are the next
            "lengths",
            "due",
            "time",
            "digits",
            "cursor",
            "number", // a position, or nothing
            "id_length", // a small number, as are the next
            "time_length",
            "length",
            "arguments[4 + i]", // a body
            "partitions", // a text already, as are the next
            "last",
            "score");

    @Test
    void should_never_glue_a_time_to_a_text() {
        for (String name : files()) {
            for (String line : code(name).split("\n")) {
                if (!line.contains("..")) {
                    continue;
                }
                String plain = line.replaceAll("'[^']*'", "''");
                // Calls whose result is text.
                String before;
                do {
                    before = plain;
                    plain = plain.replaceAll(
                            "(string\\.format|string\\.rep|struct\\.pack|string\\.sub|math\\.max)\\([^()]*\\)", "''");
                } while (!plain.equals(before));
                // Arguments and assignments end an operand.
                int found = 0;
                for (String expression : plain.split("[(),{}]|==?|\\b(return|and|or|local)\\b")) {
                    String[] operands = expression.split("\\.\\.", -1);
                    for (int i = 0; operands.length > 1 && i < operands.length; i++) {
                        found++;
                        assertThat(CONCATENATED)
                                .as(name + ": " + line.trim())
                                .contains(operands[i].replace("''", "").trim());
                    }
                }
                assertThat(found)
                        .as("operands understood in " + name + ": " + line.trim())
                        .isPositive();
            }
        }
    }

    @Test
    void should_touch_no_key_that_is_not_in_KEYS() {
        Set<String> names = Set.of(("messages delayed leased state config sessions consumers index"
                        + " queue_messages queue_delayed queue_leased queue_state queue_config"
                        + " seen session_key seen_key row_consumers wakeup_waiters"
                        + " dead_messages dead_delayed dead_leased dead_state dead_config dead_consumers"
                        + " dead_waiters dead_index source order ready nothing queues")
                .split(" "));
        // Gives one of KEYS, and parameters that get nothing else.
        Set<String> indirect = Set.of("queue_delayed_set", "set", "waiters");
        for (String name : files()) {
            String code = code(name).replaceAll("=\\n\\s*", "= ");
            Matcher indexes =
                    Pattern.compile("(?<!function )\\bindex_find\\(([^,)]*)").matcher(code);
            while (indexes.find()) {
                assertThat(indexes.group(1)).as(name + ": " + indexes.group()).isIn("index", "dead_index");
            }
            Matcher rooms = Pattern.compile("(?<!function )\\bwakeup_(cover|counted|promises|write)\\(([^,)]*)")
                    .matcher(code);
            while (rooms.find()) {
                assertThat(rooms.group(2))
                        .as(name + ": " + rooms.group())
                        .isIn("waiters", "wakeup_waiters", "dead_waiters");
            }
            Matcher given = Pattern.compile(
                            "(?<!function )\\b(count|look_into|page_begin|none_in|note_used)\\(([^,)]*)")
                    .matcher(code);
            while (given.find()) {
                assertThat(given.group(2))
                        .as(name + ": " + given.group())
                        .isIn(
                                "set",
                                "source",
                                "seen_key",
                                "queue_delayed",
                                "queue_leased",
                                "queue_delayed_set(queue_priorities[i]");
            }
            Matcher call = Pattern.compile("redis\\.p?call\\('(\\w+)'(?:,\\s*([\\w\\[\\]]+))?")
                    .matcher(code);
            int calls = 0;
            while (call.find()) {
                calls++;
                if (Set.of("TIME", "PUBLISH", "INFO").contains(call.group(1))) {
                    continue;
                }
                assertThat(call.group(2))
                        .as(name + ": " + call.group())
                        .satisfiesAnyOf(
                                key -> assertThat(names).contains(key),
                                key -> assertThat(indirect).contains(key),
                                key -> assertThat(key).matches("KEYS\\[(\\d+|i)]"));
            }
            assertThat(calls)
                    .as("calls understood in " + name)
                    .isEqualTo(count(code, "redis.call") + count(code, "redis.pcall"));
            // Each of these names stands for one of KEYS, and for nothing else.
            Matcher assigned = Pattern.compile("(?m)^\\s*(?:local )?([\\w, ]+?) = ([^\\n]*)$")
                    .matcher(code);
            while (assigned.find()) {
                List<String> left = List.of(assigned.group(1).split(", "));
                String[] right = assigned.group(2).split(", ");
                for (int i = 0; i < left.size(); i++) {
                    if (names.contains(left.get(i))) {
                        assertThat(right[i]).as(name + ": " + assigned.group()).matches("KEYS\\[\\d+]");
                    }
                }
            }
        }
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }

    @Test
    void should_unpack_only_tables_that_are_bounded() {
        for (String name : files()) {
            Matcher unpack =
                    Pattern.compile("(?<!struct\\.)unpack\\(([^)]*)\\)").matcher(code(name));
            while (unpack.find()) {
                Set<String> bounded =
                        switch (name) {
                            // 256, 2 * 256 and 11 * 256: should_claim_across_as_many_lost_bodies_as_a_claim_can_meet.
                            case "command/claim.lua" ->
                                Set.of("ids", "leases", "fields", "lengths", "dropped", "due, d, last"); // 64
                            case "include/seen.lua" -> Set.of("old"); // 100
                            // 256, and two or three values for each of 256.
                            case "command/schedule.lua" -> Set.of("items", "ids", "scores", "fields", "answers"); // 5
                            case "command/acknowledge.lua" -> Set.of("ids", "finished", "answers");
                            case "command/settle.lua" ->
                                Set.of("items", "ids", "extended", "kept", "gone", "remembered", "answers"); // 5
                            case "include/wakeup.lua" -> Set.of("promises"); // 2 * (2 + 4 * 16)
                            case "include/plain.lua" -> Set.of("promises", "ids", "scores", "bytes", "answers");
                            case "include/items.lua" -> Set.of("arguments, last + 1, last + count"); // 256
                            case "command/trim.lua" -> Set.of("ids"); // 100
                            case "command/register.lua" -> Set.of("oldest"); // 100
                            case "include/index.lua" -> Set.of("members"); // 256 of settle.lua
                            case "command/outlook.lua" -> Set.of("counts"); // 242
                            case "command/repair.lua" -> Set.of("ids", "members", "lost"); // 256
                            // 256, and two values or elements for each of 256.
                            case "import.lua" ->
                                Set.of("ids", "elements", "heads", "fields", "moved", "dues", "pending", "answers");
                            default -> Set.of();
                        };
                assertThat(bounded).as(name).contains(unpack.group(1));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void should_say_on_top_of_each_script_what_it_takes_answers_and_costs(LuaScript script) {
        String source = file(fileOf(script));
        String head = source.substring(0, source.indexOf("\n\n"));
        assertThat(head.lines()).allMatch(line -> line.startsWith("--"));
        assertThat(head).contains("-- KEYS ", "-- Reply", "-- Errors ", "-- Cost ");
        if (changing().contains(script)) {
            assertThat(head).contains("-- ARGV ");
        }
        String keyLines = head.substring(head.indexOf("-- KEYS"));
        keyLines = keyLines.substring(0, keyLines.indexOf(keyLines.contains("-- ARGV") ? "-- ARGV" : "-- Reply"));
        String common = "1 to 17 see queue.lua";
        int last = keyLines.contains(common) ? 17 : 0;
        Matcher number = Pattern.compile("(\\d+)  ?\\w").matcher(keyLines.replace(common, ""));
        while (number.find()) {
            assertThat(Integer.parseInt(number.group(1))).isEqualTo(++last);
        }
        assertThat(keysOf("q", script)).as("KEYS of " + script).hasSize(last);
    }
}
