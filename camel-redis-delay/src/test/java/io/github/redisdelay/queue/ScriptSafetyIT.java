// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.ClaimIntent;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.ImportReply;
import io.github.redisdelay.queue.internal.format.ScheduleReply;
import io.github.redisdelay.queue.internal.format.SettleAction;
import io.github.redisdelay.queue.internal.format.WakeupDuty;
import io.github.redisdelay.queue.internal.format.WireWord;
import io.github.redisdelay.queue.internal.queue.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.ClusterSlot;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RType;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A script changes nothing or everything: Redis does not roll back. Wrong data, wrong arguments and a full memory are
 * met before the first write.
 */
class ScriptSafetyIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static final Set<LuaScript> CHANGING = EnumSet.complementOf(EnumSet.of(
            LuaScript.GET,
            LuaScript.BROWSE,
            LuaScript.DEAD_LETTERS,
            LuaScript.CONSUMERS,
            LuaScript.STATS,
            LuaScript.OUTLOOK,
            LuaScript.QUEUES,
            LuaScript.SERVER,
            LuaScript.LOOK));
    private static final long MAX = DueTime.MAX_MICROS;
    private static final byte[] CLAIM = new byte[16];
    private static final byte[] OTHER_CLAIM = new byte[16];
    private static final byte[] CONSUMER = new byte[8];

    static {
        Arrays.fill(CLAIM, (byte) 7);
        Arrays.fill(OTHER_CLAIM, (byte) 8);
    }

    private RedissonClient redisson;
    private ScriptExecutor caller;
    private QueueKeys keys;
    /** Dead letters: one that is leased, and one of a message of priority 9. */
    private String deadOfOne;

    private String dead9;

    /** Something in every key: see the names of the ids. */
    @BeforeEach
    void open() {
        redisson = redis.client();
        caller = new PatientCaller(redisson);
        keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, redis.uniqueQueue())
                .importing(redis.uniqueQueue());
        fillQueue();
    }

    private void fillQueue() {
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
        // Two that wait in Redisson's queue, with one before them in the order that is gone, and two that are ready
        // there.
        redisson.getScoredSortedSet(foreign(17), StringCodec.INSTANCE).addAll(Map.of("e1", 1.0, "e2", 2.0));
        redisson.getList(foreign(18), StringCodec.INSTANCE).addAll(List.of("e0", "e1", "e2"));
        redisson.getList(foreign(19), StringCodec.INSTANCE).addAll(List.of("r1", "r2"));
    }

    /** A key of Redisson's queue: pending messages, their order, ready ones, and the one that is never there. */
    private String foreign(int index) {
        return (String) keys.of(LuaScript.IMPORT).get(index);
    }

    /** A claim of one who does not wait for more. */
    private static Object[] claim(String lane, int sequence, byte[] claim, long lease, int messages, int ended) {
        return bytes(lane, sequence, claim, lease, messages, ended, 1_000_000, "base", "", "fill", 1);
    }

    private String onlyDead() {
        return redisson.<String>getScoredSortedSet(keys.dead().key("delayed"), StringCodec.INSTANCE)
                .first();
    }

    /** A head and items, one behind the other. */
    private static Object[] items(Object[]... parts) {
        return Arrays.stream(parts).flatMap(Arrays::stream).toArray();
    }

    private Object callDead(LuaScript script, Object... arguments) {
        return caller.call(script, keys.dead().of(script), bytes(arguments), 1).join();
    }

    private Object call(LuaScript script, Object... arguments) {
        try {
            return caller.call(script, keys.of(script), bytes(arguments), 1).get(20, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw new CallFailed(e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static final class CallFailed extends RuntimeException {
        CallFailed(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }

    private static Object[] bytes(Object... arguments) {
        return Arrays.stream(arguments)
                .map(a -> a instanceof byte[] ? a : String.valueOf(a).getBytes(StandardCharsets.ISO_8859_1))
                .toArray();
    }

    /** A call that touches every key that the script may touch here, and uses every word. */
    private Object[] valid(LuaScript script) {
        return switch (script) {
            case SCHEDULE ->
                items(
                        bytes("lane", 10, "base"),
                        bytes("new", "after reject", 100, "", "body"),
                        bytes("due", "at replace", 200, "", "body"),
                        bytes("l1", "after reject", 0, CLAIM, "body"),
                        bytes("waits", "at ignore", 5, "", "body"),
                        bytes("new1", "after reject priority=1 limit=1000", 5, "", "body"),
                        bytes("seen", "after reject limit=1", 5, "", "body"),
                        bytes("high", "after replace priority=0", 5, "", "body"));
            case CHANGE ->
                items(
                        bytes("lane", 10, "base"),
                        bytes("due", "cancel", 0),
                        bytes("waits", "reschedule-after", 5),
                        bytes("l1", "reschedule-at", 7),
                        bytes("l2", "cancel", 0),
                        bytes("high", "promote", 0),
                        bytes("l3", "cancel-delayed", 0),
                        bytes("seen", "cancel", 0),
                        bytes("", "resume", 0),
                        bytes("", "pause", 0));
            case CLAIM ->
                bytes("lane", 10, CLAIM, 1_000_000, 10, 10, 100_000, "base", "c1 channel", "fill", 30_000_000);
            case SETTLE ->
                items(
                        bytes("lane", 10, "base", "dead"),
                        bytes("l1", CLAIM, "extend", 1_000, ""),
                        bytes("l1", CLAIM, "return", 100, "failure"),
                        bytes("l2", CLAIM, "bury", 1_000, "failure"),
                        bytes("l3", CLAIM, "release", 0, ""),
                        bytes("l4", CLAIM, "acknowledge", 1_000, ""),
                        bytes("ended", OTHER_CLAIM, "discard", 0, ""));
            case ACKNOWLEDGE -> bytes("lane", 10, "l1", CLAIM, "l2", OTHER_CLAIM, "none", CLAIM, "l3", CLAIM);
            case REDRIVE -> bytes("lane", 10, "base", dead9, "", deadOfOne, CLAIM, "none@1", "");
            case TRIM -> bytes(1, 1);
            case REPAIR -> bytes("messages", 0, "base", "");
            case PARTITIONS -> bytes(6);
            case GET -> bytes("l1");
            case DEAD_LETTERS -> bytes("dead9", "");
            case BROWSE -> bytes("delayed", 10, MAX, "", "newest");
            case OUTLOOK -> bytes(0, 1_000, MAX);
            case HEARTBEAT -> bytes(CONSUMER, "again", 1);
            case REGISTER -> bytes("orders");
            case QUEUES -> bytes(10, 0);
            case CONSUMERS, STATS, SERVER, REPLICATION -> new Object[0];
            case LOOK -> bytes("all", 10, 1000, 0, 10, "-inf", "");
            case IMPORT ->
                items(
                        bytes("lane", 10, "base"),
                        bytes("new", "pending=0", "e1", "body"),
                        bytes("new5", "pending=999 priority=5 limit=1000", "e3", "body"),
                        bytes("ready1", "ready=0 priority=1", "r1", "body"),
                        bytes("due", "ready=1", "r2", "body"),
                        bytes("waits", "pending=0 limit=1", "e2", "body"));
        };
    }

    /** Gives a check something to do: an id in no set with a record and one without, and a priority that nobody looks at. */
    private void prepare(LuaScript script) {
        if (script == LuaScript.REPAIR) {
            redisson.getScoredSortedSet(keys.key("leased"), StringCodec.INSTANCE)
                    .remove("l1");
            redisson.getMap(keys.key("messages"), StringCodec.INSTANCE).put("stray", "scheduled");
            redisson.getMap(keys.key("config"), StringCodec.INSTANCE).remove("priorities");
        }
    }

    /** The keys whose kinds the valid call of a script checks: all of its keys, or those that it has to look at. */
    private Set<String> needed(LuaScript script) {
        return switch (script) {
            case REPAIR -> {
                Set<String> parts = new TreeSet<>(Set.of("messages", "delayed", "leased", "state", "config", "index"));
                IntStream.rangeClosed(1, 9).forEach(priority -> parts.add("delayed:" + priority));
                yield parts;
            }
            case GET -> Set.of("messages", "delayed", "leased", "state", "config", "delayed:5", "consumers");
            case BROWSE -> Set.of("delayed", "state", "config", "delayed:5");
            case OUTLOOK -> Set.of("delayed", "config", "delayed:5");
            case STATS ->
                Set.of(
                        "messages",
                        "delayed",
                        "leased",
                        "config",
                        "delayed:5",
                        "consumers",
                        "dead:delayed",
                        "dead:leased");
            default -> keys.of(script).stream().map(this::part).collect(Collectors.toSet());
        };
    }

    /** A key without the base; one of Redisson's queue as it is. */
    private String part(Object key) {
        String name = (String) key;
        return name.startsWith(keys.base()) ? name.substring(keys.base().length() + 1) : name;
    }

    /** The right type of a key. */
    private String type(String part) {
        if (part.equals(foreign(18)) || part.equals(foreign(19))) {
            return "list";
        }
        return part.equals(foreign(17)) || part.matches("(dead:)*(delayed(:\\d)?|leased|seen|waiters|index|queues)")
                ? "zset"
                : "hash";
    }

    /** Everything that the queue holds, byte for byte. */
    private Map<String, String> dump() {
        Map<String, String> all = new TreeMap<>();
        for (String key : redisson.getKeys().getKeysByPattern(keys.base().replace("[", "\\[") + "*")) {
            all.put(key, dump(key));
        }
        keys.of(LuaScript.IMPORT).stream()
                .map(String.class::cast)
                .filter(key -> redisson.getKeys().countExists(key) > 0)
                .forEach(key -> all.put(key, dump(key)));
        return all;
    }

    private String dump(String key) {
        return HexFormat.of()
                .formatHex(redisson.getBucket(key, ByteArrayCodec.INSTANCE).dump());
    }

    private void assertRefused(LuaScript script, Object[] arguments, String what) {
        Map<String, String> before = dump();
        assertThatThrownBy(() -> call(script, arguments)).as(what).isInstanceOf(CallFailed.class);
        assertThat(dump()).as("the queue after " + what).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(
            value = LuaScript.class,
            names = {
                "SCHEDULE",
                "CHANGE",
                "CLAIM",
                "SETTLE",
                "ACKNOWLEDGE",
                "REDRIVE",
                "TRIM",
                "REPAIR",
                "PARTITIONS",
                "HEARTBEAT",
                "REGISTER",
                "IMPORT"
            })
    void should_execute_the_valid_call_that_these_tests_are_made_of(LuaScript script) {
        prepare(script);
        Map<String, String> before = dump();
        call(script, valid(script));
        assertThat(dump()).isNotEqualTo(before);
    }

    static Stream<Arguments> keysOfScripts() {
        return Arrays.stream(LuaScript.values())
                .filter(script -> script != LuaScript.SERVER) // reads no key
                .flatMap(script -> IntStream.range(0, keysOf("q", script).size())
                        .boxed()
                        .flatMap(key -> Stream.of("string", "list", "set", "hash", "zset")
                                .map(type -> Arguments.of(script, key, type))));
    }

    private static List<Object> keysOf(String queue, LuaScript script) {
        return QueueKeys.of("p", queue).importing(queue).of(script);
    }

    @ParameterizedTest
    @MethodSource("keysOfScripts")
    void should_change_nothing_where_a_key_has_a_wrong_type(LuaScript script, int index, String type) {
        String key = (String) keys.of(script).get(index);
        String part = part(key);
        if (type.equals(type(part)) || script == LuaScript.IMPORT && part.equals(foreign(20))) {
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
    private record Layout(int head, int width) {}

    private static final Map<LuaScript, Layout> LAYOUTS = Map.of(
            LuaScript.SCHEDULE, new Layout(3, 5),
            LuaScript.CHANGE, new Layout(3, 3),
            LuaScript.SETTLE, new Layout(4, 5),
            LuaScript.ACKNOWLEDGE, new Layout(2, 2),
            LuaScript.REDRIVE, new Layout(3, 2),
            LuaScript.IMPORT, new Layout(3, 4));

    /** Positions of numbers in the valid calls. */
    private static List<Integer> numbers(LuaScript script) {
        return switch (script) {
            case SCHEDULE -> List.of(1, 5, 10, 15, 20, 25, 30, 35);
            case CHANGE -> List.of(1, 5, 8, 11, 14, 17, 20, 23, 26, 29);
            case CLAIM -> List.of(1, 3, 4, 5, 6, 10);
            case SETTLE -> List.of(1, 7, 12, 17, 22, 27, 32);
            case REDRIVE, ACKNOWLEDGE, IMPORT -> List.of(1);
            case LOOK -> List.of(1, 2, 3, 4);
            case TRIM -> List.of(0, 1);
            case PARTITIONS -> List.of(0);
            case BROWSE -> List.of(1);
            case OUTLOOK -> List.of(0, 1, 2);
            default -> List.of();
        };
    }

    private static Object[] bounds(int number) {
        return bytes(LongStream.range(0, number).boxed().toArray());
    }

    private static Object[] with(Object[] arguments, int index, Object value) {
        Object[] changed = arguments.clone();
        changed[index] = bytes(value)[0];
        return changed;
    }

    @ParameterizedTest
    @EnumSource(
            value = LuaScript.class,
            names = {
                "SCHEDULE",
                "CHANGE",
                "CLAIM",
                "SETTLE",
                "ACKNOWLEDGE",
                "REDRIVE",
                "TRIM",
                "BROWSE",
                "OUTLOOK",
                "PARTITIONS",
                "LOOK",
                "IMPORT"
            })
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
        if (script == LuaScript.TRIM) {
            return;
        }
        if (script == LuaScript.PARTITIONS) {
            assertRefused(script, with(valid(script), 0, 0), "0 partitions");
            assertRefused(script, with(valid(script), 0, 65), "65 partitions");
            return;
        }
        assertRefused(script, with(valid(script), 1, 0), script + " with sequence, limit or second bound 0");
        if (script == LuaScript.OUTLOOK) {
            for (int number : new int[] {0, 1, 242, 300}) {
                assertRefused(script, bounds(number), number + " bounds");
            }
            call(script, bounds(241));
            return;
        }
        if (script == LuaScript.BROWSE) {
            assertRefused(script, with(valid(script), 1, 257), "257 messages wanted");
            // Any score, as others may have written it, but a number.
            for (String value : List.of("", " ", "x", "1x", "nan", "NaN", "-nan")) {
                assertRefused(script, with(valid(script), 2, value), "browse from '" + value + "'");
            }
        } else if (script == LuaScript.CLAIM) {
            assertRefused(script, with(valid(script), 3, 0), "a lease of 0");
            assertRefused(script, with(valid(script), 4, 257), "257 messages wanted");
            assertRefused(script, with(valid(script), 5, 257), "257 expired ones wanted");
            assertRefused(script, with(valid(script), 6, 0), "no bytes wanted");
            assertRefused(script, with(valid(script), 10, 0), "a safety interval of 0");
        } else if (script == LuaScript.SETTLE) {
            assertRefused(script, with(valid(script), 7, 0), "a lease of 0");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = LuaScript.class,
            names = {
                "SCHEDULE",
                "CHANGE",
                "CLAIM",
                "SETTLE",
                "ACKNOWLEDGE",
                "REDRIVE",
                "TRIM",
                "REPAIR",
                "PARTITIONS",
                "GET",
                "HEARTBEAT",
                "REGISTER",
                "QUEUES",
                "LOOK",
                "IMPORT"
            })
    void should_refuse_missing_arguments(LuaScript script) {
        Object[] valid = valid(script);
        Layout layout = LAYOUTS.get(script);
        for (int length = 0; length < valid.length; length++) {
            if (layout != null && length > layout.head && (length - layout.head) % layout.width == 0) {
                continue; // fewer items, all whole
            }
            assertRefused(script, Arrays.copyOf(valid, length), script + " with " + length + " arguments");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = LuaScript.class,
            names = {"SCHEDULE", "CHANGE", "SETTLE", "ACKNOWLEDGE", "REDRIVE", "IMPORT"})
    void should_refuse_no_items_and_more_than_256(LuaScript script) {
        Object[] valid = valid(script);
        Layout layout = LAYOUTS.get(script);
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
    void should_refuse_claim_ids_that_are_none() {
        List<byte[]> bad = List.of(
                new byte[0],
                new byte[1],
                new byte[15],
                new byte[17],
                new byte[16],
                "x".repeat(32).getBytes(StandardCharsets.US_ASCII));
        for (byte[] claim : bad) {
            String what = " with a claim id of " + claim.length + " bytes";
            assertRefused(LuaScript.CLAIM, with(valid(LuaScript.CLAIM), 2, claim), "claim" + what);
            assertRefused(LuaScript.SETTLE, with(valid(LuaScript.SETTLE), 30, claim), "settle" + what);
            if (claim.length != 0 && claim.length != 16) {
                assertRefused(LuaScript.SCHEDULE, with(valid(LuaScript.SCHEDULE), 16, claim), "schedule" + what);
            }
        }
    }

    /** An acknowledgement under a claim id of before, behind the one that finishes the message: a client may send both at once. */
    @Test
    void should_tell_who_held_a_message_before_the_call() {
        prepare(LuaScript.ACKNOWLEDGE);
        String one = "010000000000000000", held = "030000000000000000", gone = "020000000000000000";

        byte[] acknowledged =
                (byte[]) call(LuaScript.ACKNOWLEDGE, "lane", 1, "l1", CLAIM, "l1", OTHER_CLAIM, "l1", CLAIM);
        byte[] settled = (byte[]) call(
                LuaScript.SETTLE,
                items(
                        bytes("lane", 2, "base", "dead"),
                        bytes("l2", CLAIM, "acknowledge", 0, ""),
                        bytes("l2", OTHER_CLAIM, "acknowledge", 0, ""),
                        bytes("l2", CLAIM, "acknowledge", 0, "")));

        assertThat(List.of(acknowledged, settled))
                .extracting(reply -> HexFormat.of().formatHex(reply, 8, reply.length))
                .containsOnly(one + held + gone);
    }

    @Test
    void should_grant_nothing_for_a_claim_id_of_zeros() {
        // A message that waits has zeros in its record: they are no claim.
        call(LuaScript.SETTLE, "lane", 1, "base", "dead", "l1", CLAIM, "return", 0, "");
        byte[] reply =
                (byte[]) call(LuaScript.SCHEDULE, "lane", 2, "base", "l1", "after reject", 0, new byte[16], "body");
        assertThat(reply[8]).as("outcome: in use, delayed").isEqualTo((byte) 4);
    }

    @Test
    void should_refuse_unknown_words_and_empty_ids() {
        for (String flags : List.of(
                "",
                "after",
                "reject",
                "after x",
                "x reject",
                "reject after",
                "after reject ",
                "after  reject",
                "after reject\n",
                "AFTER REJECT",
                "after %",
                "\0\0",
                "after\0reject",
                "dr",
                "after reject limit=",
                "after reject limit=0",
                "after reject priority=",
                "after reject priority=10",
                "after reject priority=x",
                "after reject priority=-1",
                "after reject priority=5 limit=",
                "after reject priority=5 limit=0",
                "after reject priority=5 limit=x",
                "after reject priority=5 limit=-1",
                "after reject priority=5 limit=1.5",
                "after reject priority=5 limit=1e3",
                "after reject limit=10 priority=5",
                "after reject priority=5 priority=5",
                "after reject priority=5 limit=10 ",
                "after reject limit=10 limit=10",
                "after reject limit=9007199254740992",
                "after rejectpriority=5",
                "after reject priority=5\n")) {
            assertRefused(LuaScript.SCHEDULE, with(valid(LuaScript.SCHEDULE), 19, flags), "schedule '" + flags + "'");
        }
        for (String place : List.of(
                "",
                "x",
                "pending",
                "pending=",
                "pending=-1",
                "pending=1.5",
                "pending=1000",
                "pending=0 ",
                " pending=0",
                "Pending=0",
                "ready=",
                "ready=x",
                "ready=9007199254740992",
                "ready=0 limit=0",
                "ready=0 priority=10",
                "ready=0 limit=1 priority=5",
                "ready=0\n")) {
            assertRefused(LuaScript.IMPORT, with(valid(LuaScript.IMPORT), 8, place), "import '" + place + "'");
        }
        for (String until :
                List.of("", "x", "All", "all\n", "ahead=", "ahead=-1", "ahead=9007199254740992", "until=x")) {
            assertRefused(LuaScript.LOOK, with(valid(LuaScript.LOOK), 0, until), "look '" + until + "'");
        }
        assertRefused(LuaScript.LOOK, with(valid(LuaScript.LOOK), 5, "x"), "look from 'x'");
        assertRefused(LuaScript.LOOK, with(valid(LuaScript.LOOK), 1, 257), "look at 257");
        assertRefused(LuaScript.IMPORT, with(valid(LuaScript.IMPORT), 7, ""), "import without id");
        for (String action : List.of(
                "", "x", "c", "cancelcancel", "Cancel", "\n", "%", "cancel\n", "pause", "resume", "cancel pause")) {
            assertRefused(LuaScript.CHANGE, with(valid(LuaScript.CHANGE), 13, action), "change '" + action + "'");
        }
        for (String action : List.of("", "x", "a", "acknowledge acknowledge", "Acknowledge", "\n", "%", "bury\n")) {
            assertRefused(LuaScript.SETTLE, with(valid(LuaScript.SETTLE), 31, action), "settle '" + action + "'");
        }
        for (String intent : List.of("", "x", "fillfill", "Fill", "\n", "%", "fill\n")) {
            assertRefused(LuaScript.CLAIM, with(valid(LuaScript.CLAIM), 9, intent), "claim '" + intent + "'");
        }
        for (String walk : List.of("", "x", "m", "Messages", "messages\n", "index")) {
            assertRefused(LuaScript.REPAIR, with(valid(LuaScript.REPAIR), 0, walk), "check '" + walk + "'");
        }
        for (String cursor : List.of("", " ", "x", "-1", "1.5", "1\n", "1".repeat(30))) {
            assertRefused(LuaScript.REPAIR, with(valid(LuaScript.REPAIR), 1, cursor), "check from '" + cursor + "'");
        }
        assertRefused(LuaScript.SCHEDULE, with(valid(LuaScript.SCHEDULE), 18, ""), "schedule without id");
        assertRefused(LuaScript.CHANGE, with(valid(LuaScript.CHANGE), 12, ""), "change without id");
        assertRefused(LuaScript.CHANGE, with(valid(LuaScript.CHANGE), 15, ""), "promote without id");
        assertRefused(LuaScript.CHANGE, with(valid(LuaScript.CHANGE), 27, "due"), "pause with an id");
        assertRefused(LuaScript.REDRIVE, with(valid(LuaScript.REDRIVE), 5, ""), "redrive without id");
        assertRefused(LuaScript.REDRIVE, with(valid(LuaScript.REDRIVE), 6, "short"), "redrive with part of a claim id");
        assertRefused(LuaScript.REDRIVE, with(valid(LuaScript.REDRIVE), 6, new byte[16]), "redrive with no claim id");
        assertRefused(LuaScript.HEARTBEAT, with(valid(LuaScript.HEARTBEAT), 0, "1234567"), "a short consumer's id");
        assertRefused(LuaScript.HEARTBEAT, with(valid(LuaScript.HEARTBEAT), 0, "123456789"), "a long consumer's id");
        assertRefused(LuaScript.HEARTBEAT, with(valid(LuaScript.HEARTBEAT), 1, "x".repeat(4097)), "a long name");
        assertRefused(LuaScript.HEARTBEAT, with(valid(LuaScript.HEARTBEAT), 2, "x"), "no time");
        assertRefused(LuaScript.REGISTER, bytes(""), "a queue without a name");
        assertRefused(LuaScript.REGISTER, bytes("x".repeat(201)), "a long name of a queue");
        for (String limit : List.of("", "x", "0", "501", "1.5", "-1", "nan")) {
            assertRefused(LuaScript.QUEUES, bytes(limit, 0), "queues up to '" + limit + "'");
        }
        for (String offset : List.of("", "x", "10001", "1.5", "-1")) {
            assertRefused(LuaScript.QUEUES, bytes(10, offset), "queues behind '" + offset + "'");
        }
        assertRefused(LuaScript.BROWSE, with(valid(LuaScript.BROWSE), 0, "x"), "browse of no state");
        assertRefused(LuaScript.BROWSE, bytes("delayed", 10, 0, "", "oldest"), "browse in no direction");
        assertRefused(LuaScript.SETTLE, with(valid(LuaScript.SETTLE), 29, ""), "settle without id");
    }

    @Test
    void should_keep_due_times_exact_up_to_the_last_microsecond() {
        long now = System.currentTimeMillis() * 1000;
        for (long due : new long[] {1_700_000_000_123_457L, now + 1, MAX - 1, MAX}) {
            call(LuaScript.SCHEDULE, "exact" + due, 1, "base", "m" + due, "at reject", due, "", "x");
            assertThat(score("delayed", "m" + due)).isEqualTo(due);
            call(LuaScript.CHANGE, "exact" + due, 2, "base", "m" + due, "reschedule-at", due - 1);
            assertThat(score("delayed", "m" + due)).isEqualTo(due - 1);
        }
        call(LuaScript.SETTLE, "exact", 1, "base", "dead", "l1", CLAIM, "extend", MAX, "");
        assertThat(score("leased", "l1")).isEqualTo(MAX);
        call(LuaScript.SETTLE, "exact", 2, "base", "dead", "l1", CLAIM, "return", MAX, "");
        assertThat(score("delayed", "l1")).isEqualTo(MAX);
        call(LuaScript.CLAIM, claim("exact", 3, CLAIM, MAX, 1, 0));
        assertThat(score("leased", "high")).isEqualTo(MAX);
    }

    private long score(String part, String id) {
        return (long) (double) redisson.getScoredSortedSet(keys.key(part), StringCodec.INSTANCE)
                .getScore(id);
    }

    @Test
    void should_give_a_message_once_that_is_in_several_sets() {
        redisson.getScoredSortedSet(keys.key("leased"), StringCodec.INSTANCE).add(1, "due");
        redisson.getScoredSortedSet(keys.key("leased"), StringCodec.INSTANCE).add(2, "high");
        redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE).add(3, "high");
        ClaimReply reply =
                ClaimReply.parse((List<?>) call(LuaScript.CLAIM, claim("twice", 1, CLAIM, 3_600_000_000L, 10, 10)));
        assertThat(reply.messages())
                .extracting(ClaimReply.ClaimedMessage::id)
                .containsExactlyInAnyOrder("high", "due", "ended");
        assertThat(inTwoSets()).isEmpty();
        assertThat(held(keys, "leased")).contains("high", "due");
    }

    @Test
    void should_tell_a_repeat_the_same_of_each_message_that_the_first_answer_did() {
        // One for the first time, one with priority, one whose lease expired, and one of another client's.
        redisson.<byte[], byte[]>getMap(keys.key("messages"), ByteArrayCodec.INSTANCE)
                .fastPut("foreign".getBytes(StandardCharsets.US_ASCII), new byte[15]);
        redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE).add(2, "foreign");
        Object[] claim = claim("again", 1, CLAIM, 3_600_000_000L, 10, 10);
        List<?> first = (List<?>) call(LuaScript.CLAIM, claim);
        List<?> again = (List<?>) call(LuaScript.CLAIM, claim);
        assertThat((byte[]) again.get(4))
                .as("records")
                .isEqualTo((byte[]) first.get(4))
                .hasSize(24 + 24 + 40 + 40);
        List<ClaimReply.ClaimedMessage> messages = ClaimReply.parse(first).messages();
        assertThat(messages)
                .extracting(ClaimReply.ClaimedMessage::id)
                .containsExactlyInAnyOrder("high", "due", "ended", "foreign");
        assertThat(ClaimReply.parse(again).messages())
                .usingRecursiveComparison()
                .isEqualTo(messages);
    }

    @Test
    void should_claim_across_as_many_lost_bodies_as_a_claim_can_meet() {
        int sequence = 1;
        for (int priority = -1; priority <= ScheduleRequest.MAX_PRIORITY; priority++) {
            Object[] many = new Object[3 + 256 * 5];
            System.arraycopy(bytes("lost", sequence++, "base"), 0, many, 0, 3);
            String flags = "at reject priority=" + Math.max(0, priority);
            for (int i = 0; i < 256; i++) {
                System.arraycopy(bytes("lost" + priority + "-" + i, flags, 0, "", "x"), 0, many, 3 + 5 * i, 5);
            }
            call(LuaScript.SCHEDULE, many);
            if (priority < 0) {
                redisson.getKeys().delete(keys.key("delayed:5")); // "high" would come first
                call(LuaScript.CLAIM, claim("lost", sequence++, CLAIM, 1, 256, 0));
            }
        }
        redisson.getKeys().delete(keys.key("messages"));
        List<?> reply = (List<?>) call(LuaScript.CLAIM, claim("lost", sequence, OTHER_CLAIM, 1000, 256, 256));
        ClaimReply parsed = ClaimReply.parse(reply);
        assertThat(parsed.messages()).isEmpty();
        assertThat(parsed.dropped()).hasSize(11 * 256);
        QueueSnapshot left = QueueSnapshot.read(redisson, keys);
        assertThat(left.keys().get("delayed")).hasSize(2);
        assertThat(left.keys().get("config")).isEmpty();
        assertThat(left.keys().get("state").keySet())
                .isEqualTo(left.keys().get("leased").keySet());
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
            for (LuaScript script : List.of(
                    LuaScript.GET,
                    LuaScript.BROWSE,
                    LuaScript.STATS,
                    LuaScript.REPAIR,
                    LuaScript.CONSUMERS,
                    LuaScript.HEARTBEAT,
                    LuaScript.SETTLE,
                    LuaScript.CHANGE,
                    LuaScript.CLAIM,
                    LuaScript.SCHEDULE,
                    LuaScript.REDRIVE,
                    LuaScript.TRIM,
                    LuaScript.IMPORT)) {
                boolean lane = LAYOUTS.containsKey(script) || script == LuaScript.CLAIM;
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
            for (LuaScript script : List.of(
                    LuaScript.SCHEDULE,
                    LuaScript.CHANGE,
                    LuaScript.CLAIM,
                    LuaScript.SETTLE,
                    LuaScript.REDRIVE,
                    LuaScript.REPAIR,
                    LuaScript.OUTLOOK,
                    LuaScript.IMPORT)) {
                assertRefused(script, valid(script), script + " with priorities '" + digits + "'");
            }
        }
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("priorities", "987654321");
        ClaimReply reply = ClaimReply.parse((List<?>) call(LuaScript.CLAIM, valid(LuaScript.CLAIM)));
        assertThat(reply.messages()).extracting(ClaimReply.ClaimedMessage::id).containsExactly("high", "due", "ended");
        assertThat(redisson.getMap(keys.key("config"), StringCodec.INSTANCE).readAllMap())
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = LuaScript.class,
            names = {
                "SCHEDULE",
                "CHANGE",
                "CLAIM",
                "SETTLE",
                "ACKNOWLEDGE",
                "REDRIVE",
                "TRIM",
                "REPAIR",
                "PARTITIONS",
                "GET",
                "BROWSE",
                "STATS",
                "OUTLOOK",
                "IMPORT"
            })
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
    void should_tell_callers_and_consumers_of_a_later_format() throws Exception {
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("format", "2");
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            String name = keys.base()
                    .substring(keys.base().indexOf('{') + 1, keys.base().length() - 1);
            DelayQueue queue = client.queue(name);
            for (CompletableFuture<?> refused : List.of(
                    queue.schedule(ScheduleRequest.of("new", new byte[0], DueTime.now())),
                    queue.cancel("due"),
                    queue.reschedule("due", DueTime.now()))) {
                assertThatThrownBy(() -> refused.get(20, TimeUnit.SECONDS))
                        .cause()
                        .isInstanceOf(DelayQueueException.class)
                        .hasMessageContaining("queue '" + name + "'")
                        .hasMessageContaining("format 2");
            }
            BlockingQueue<Throwable> errors = new LinkedBlockingQueue<>();
            queue.consume(ConsumerOptions.DEFAULTS, Runnable::run, new DeliveryHandler() {
                @Override
                public void handle(Delivery delivery) {}

                @Override
                public void claimsFailing(Throwable error) {
                    errors.add(error);
                }
            });
            assertThat(errors.poll(10, TimeUnit.SECONDS)).hasMessageContaining("format 2");
        }
    }

    @Test
    void should_have_all_keys_of_a_call_in_one_slot() {
        for (String name : List.of("orders", "a:b.c-d_e/f", "ü€😀", "x ")) {
            for (LuaScript script : LuaScript.values()) {
                assertThat(keysOf(name, script)).isNotEmpty().allSatisfy(key -> assertThat(ClusterSlot.of((String) key))
                        .isEqualTo(ClusterSlot.of(name)));
            }
        }
    }

    // The answers of Redis when its memory is full.

    @Test
    void should_refuse_only_schedule_when_the_memory_is_full() throws Exception {
        try (RedisServer server = RedisServer.dedicated("maxmemory-policy noeviction")) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(2);
            redisson = Redisson.create(config);
            try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                RedisDelayQueue queue = (RedisDelayQueue) client.queue("full");
                keys = queue.address().keys();
                for (int i = 0; i < 8; i++) {
                    get(queue.schedule(new ScheduleRequest(
                            "m" + i,
                            DueTime.now(),
                            new byte[100],
                            DuplicatePolicy.REJECT,
                            null,
                            i == 7 ? 3 : 0,
                            i == 7 ? 100 : 0)));
                }
                get(queue.schedule(ScheduleRequest.of("later", new byte[100], DueTime.after(Duration.ofHours(1)))));
                get(queue.schedule(ScheduleRequest.of("last", new byte[100], DueTime.after(Duration.ofHours(2)))));
                // One of whose messages nothing is special: see plain.lua.
                RedisDelayQueue plain = (RedisDelayQueue) client.queue("plain");
                for (String id : List.of("first", "later")) {
                    get(plain.schedule(ScheduleRequest.of(id, new byte[100], DueTime.after(Duration.ofHours(1)))));
                }
                redisson.getRedisNodes(RedisNodes.SINGLE).getInstance().setConfig("maxmemory", "1");

                for (RedisDelayQueue any : List.of(queue, plain)) {
                    QueueSnapshot before =
                            QueueSnapshot.read(redisson, any.address().keys());
                    for (DuplicatePolicy policy : DuplicatePolicy.values()) {
                        for (String id : List.of("new", "later")) {
                            assertThatThrownBy(() -> any.schedule(
                                                    new ScheduleRequest(id, DueTime.now(), new byte[1], policy, null))
                                            .get(20, TimeUnit.SECONDS))
                                    .cause()
                                    .isInstanceOf(DelayQueueException.class)
                                    .hasMessageContaining("queue '" + any.name()
                                            + "': Redis has no memory left (maxmemory is reached), nothing was stored");
                        }
                    }
                    List<CompletableFuture<?>> several = new ArrayList<>();
                    any.together(() -> {
                        for (int i = 0; i < 3; i++) {
                            several.add(any.schedule(ScheduleRequest.of("new" + i, new byte[1], DueTime.now())));
                        }
                        return several;
                    });
                    assertThat(several).allSatisfy(each -> assertThatThrownBy(() -> each.get(20, TimeUnit.SECONDS))
                            .hasMessageContaining("nothing was stored"));
                    assertThat(QueueSnapshot.read(redisson, any.address().keys()))
                            .isEqualTo(before);
                }

                ClaimCalls claims = ClientAccess.consumers(client).newClaims(queue.address(), error -> {});
                ClaimId claimId = FakeHost.randomClaimId();
                ClaimReply reply = get(claims.claim(new ClaimRequest(claimId, 60_000_000, 8, 8, ClaimIntent.LEAVE, 1)));
                List<ClaimedDelivery> held = reply.messages().stream()
                        .map(m -> new ClaimedDelivery(
                                queue, m, claimId, reply.timeMicros(), 0, 0, new FakeTimers(), (d, w) -> {}))
                        .sorted(Comparator.comparing(ClaimedDelivery::id))
                        .toList();
                assertThat(held).hasSize(8);
                assertThat(get(queue.settle(held.get(0), SettleAction.EXTEND, 120_000_000, new byte[0])))
                        .isEqualTo(Settlement.DONE);
                assertThat(get(held.get(0).acknowledge())).isEqualTo(Settlement.DONE);
                assertThat(get(held.get(1).negativeAcknowledge(Duration.ofHours(1), new byte[1000])))
                        .isEqualTo(Settlement.DONE);
                assertThat(get(held.get(2).release())).isEqualTo(Settlement.DONE);
                assertThat(get(held.get(3).bury(new byte[1000]))).isEqualTo(Settlement.DONE);
                assertThat(get(held.get(4).discard())).isEqualTo(Settlement.DONE);
                assertThat(get(queue.cancel("m5")).previousState()).isEqualTo(MessageState.LEASED);
                assertThat(get(queue.cancel("last")).previousState()).isEqualTo(MessageState.DELAYED);
                assertThat(get(queue.reschedule("later", DueTime.now())).previousState())
                        .isEqualTo(MessageState.DELAYED);
                // Nothing to do is no reason to be refused either.
                assertThat(get(queue.settle(held.get(0), SettleAction.ACKNOWLEDGE, 0, new byte[0])))
                        .isEqualTo(Settlement.STALE_GONE);
                assertThat(get(queue.settle(held.get(2), SettleAction.RETURN, 0, new byte[0])))
                        .isEqualTo(Settlement.STALE_HELD);
                assertThat(get(queue.settle(held.get(0), SettleAction.EXTEND, 1_000_000, new byte[0])))
                        .isEqualTo(Settlement.STALE_GONE);
                assertThat(get(queue.cancel("none")).previousState()).isEqualTo(MessageState.NONE);
                assertThat(get(queue.reschedule("none", DueTime.now())).previousState())
                        .isEqualTo(MessageState.NONE);
                assertThat(get(queue.stats()).dead()).isEqualTo(1);
                assertThat(get(queue.pause())).isTrue();
                assertThat(get(queue.resume())).isTrue();
                assertThat(get(queue.promote("later")).previousState()).isEqualTo(MessageState.DELAYED);
                MessageInfo dead = get(queue.deadLetters().browse(MessageState.DELAYED, PageStart.first(), 1))
                        .messages()
                        .get(0);
                assertThat(get(queue.redrive(dead.id()))).isEqualTo(RedriveOutcome.REDRIVEN);
                assertThat(get(queue.redrive(dead.id()))).isEqualTo(RedriveOutcome.NONE);
                assertThat(get(queue.trimDeadLetters(Duration.ZERO, 1))).isZero();
                assertThat(get(queue.get("later"))).isPresent();
                // With a priority, whose set is new, and remembered.
                assertThat(get(held.get(6).bury(new byte[1000], Duration.ofHours(1))))
                        .isEqualTo(Settlement.DONE);
                assertThat(get(held.get(7).negativeAcknowledge(Duration.ZERO, new byte[0])))
                        .isEqualTo(Settlement.DONE);
                assertThat(get(queue.trimDeadLetters(Duration.ofNanos(1), 0))).isEqualTo(1);
                redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE)
                        .remove("m1");
                assertThat(get(queue.check())).isEqualTo(new CheckResult(5, 1, 0, 0));

                QueueSnapshot after = QueueSnapshot.read(redisson, keys);
                after.assertOneStateAtATime(false);
                assertThat(after.keys().get("delayed").keySet()).containsExactly("later", "m1", "m2", "m3");
                assertThat(after.keys().get("delayed:3").keySet()).containsExactly("m7");
                assertThat(after.keys().get("seen").keySet()).containsExactly("m6");
                assertThat(after.keys().get("leased")).isEmpty();
                // The first call of a lane, and an empty claim.
                ClaimCalls others = ClientAccess.consumers(client).newClaims(queue.address(), error -> {});
                assertThat(get(others.claim(new ClaimRequest(
                                        FakeHost.randomClaimId(), 60_000_000, 8, 8, ClaimIntent.LEAVE, 1)))
                                .messages())
                        .hasSize(4);
                assertThat(get(others.claim(new ClaimRequest(
                                        FakeHost.randomClaimId(), 60_000_000, 8, 8, ClaimIntent.LEAVE, 1)))
                                .messages())
                        .isEmpty();
            } finally {
                redisson.shutdown();
            }
        }
    }

    // The answers of Redis to a user who may not do everything (see ACL).

    @ParameterizedTest
    @EnumSource(
            value = LuaScript.class,
            names = {
                "SCHEDULE",
                "CHANGE",
                "CLAIM",
                "SETTLE",
                "ACKNOWLEDGE",
                "REDRIVE",
                "TRIM",
                "REPAIR",
                "PARTITIONS",
                "IMPORT"
            })
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

    private static final String[] WITH_SESSION = {
        "SCHEDULE", "CHANGE", "CLAIM", "SETTLE", "ACKNOWLEDGE", "REDRIVE", "IMPORT"
    };

    /** Makes the next call of the session of the valid calls one without a preflight, unless a new hour begins meanwhile. */
    private void doPreflight() {
        call(LuaScript.SETTLE, "lane", 9, "base", "dead", "none", CLAIM, "extend", 1_000, "");
    }

    /** The members or fields of a key; none if it has another kind. */
    private Set<String> held(QueueKeys of, String part) {
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
    private Set<String> findable(QueueKeys of) {
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

    /** The ids that the valid call of a script may end: they are done, or are where the call moves them. */
    private static Set<String> ended(LuaScript script) {
        return switch (script) {
            case CHANGE -> Set.of("due", "l2");
            case SETTLE -> Set.of("l2", "l4", "ended");
            case ACKNOWLEDGE -> Set.of("l1", "l3");
            default -> Set.of();
        };
    }

    /** The ids that are in more than one set. */
    private Set<String> inTwoSets() {
        Set<String> once = new TreeSet<>();
        return Stream.concat(
                        Stream.of("delayed", "leased"),
                        IntStream.rangeClosed(1, 9).mapToObj(priority -> "delayed:" + priority))
                .flatMap(part -> held(keys, part).stream())
                .filter(id -> !once.add(id))
                .collect(Collectors.toSet());
    }

    /** True if Redisson's queue has a message, or if the test has put something else in the place of that key. */
    private boolean isThere(String key, String type, String message) {
        RType found = redisson.getKeys().getType(key);
        return type.equals("zset")
                ? found == RType.OBJECT
                        || redisson.getScoredSortedSet(key, StringCodec.INSTANCE)
                                .contains(message)
                : found == RType.OBJECT
                        || redisson.getList(key, StringCodec.INSTANCE).contains(message);
    }

    private void assertFindable(LuaScript script, Set<String> before, Set<String> deadBefore, String what) {
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
        if (script == LuaScript.IMPORT) {
            assertThat(after.contains("new") || isThere(foreign(17), "zset", "e1"))
                    .as("the pending message is here or there after " + what)
                    .isTrue();
            assertThat(after.contains("ready1") || isThere(foreign(19), "list", "r1"))
                    .as("the ready message is here or there after " + what)
                    .isTrue();
        }
        if (script == LuaScript.SETTLE) {
            assertThat(inTwoSets()).as("messages in two sets after " + what).isEmpty();
        }
    }

    @ParameterizedTest
    @FieldSource("WITH_SESSION")
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
    @FieldSource("WITH_SESSION")
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

    /** Plain messages go their own way (plain.lua): they are stored as a whole by a call, or by the call that is sent again. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_store_plain_messages_when_their_call_is_sent_again_after_it_was_refused(int count) throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            RedissonClient admin = connect(server, null);
            redisson = admin;
            caller = new PatientCaller(admin);
            new AclUser(server).denies("debug");
            RedissonClient user = connect(server, "app");
            ScriptExecutor users = new PatientCaller(user);
            List<String> ids = List.of("lone", "two1", "two2").subList(0, count);
            Object[] plain = items(
                    bytes("lane", 10, "base"),
                    items(ids.stream()
                            .map(id -> bytes(id, "at reject", 12345, "", "body"))
                            .toArray(Object[][]::new)));
            Set<String> refused = new TreeSet<>();
            try {
                for (String denied : commands(LuaScript.SCHEDULE)) {
                    admin.getKeys().flushall();
                    call(LuaScript.SCHEDULE, "lane", 9, "base", "before", "at reject", 1, "", "body");
                    // As eviction leaves it behind.
                    admin.getMap(keys.key("state"), StringCodec.INSTANCE).put("lone", "x");
                    new AclUser(server).denies(denied);
                    try {
                        users.call(LuaScript.SCHEDULE, keys.of(LuaScript.SCHEDULE), plain, 1)
                                .get(20, TimeUnit.SECONDS);
                    } catch (java.util.concurrent.ExecutionException e) {
                        assertThat(e.getCause().getMessage())
                                .containsAnyOf("can't run this command", "NOPERM", "ACL failure in script");
                        refused.add(denied);
                        call(LuaScript.SCHEDULE, plain);
                    }
                    Set<String> stored = new TreeSet<>(ids);
                    stored.add("before");
                    assertThat(findable(keys)).as("without " + denied).isEqualTo(stored);
                    assertThat(held(keys, "state")).as("without " + denied).isEmpty();
                    assertThat(redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE)
                                    .getScore("lone"))
                            .isEqualTo(12345);
                }
                assertThat(refused).contains("exists", "hdel", "zadd", "hset");
                assertThat(refused)
                        .contains(count == 1 ? new String[] {"hsetnx", "hexists"} : new String[] {"zmscore", "hmget"});
            } finally {
                user.shutdown();
                admin.shutdown();
            }
        }
    }

    private static Set<String> commands(LuaScript script) {
        Set<String> commands = new TreeSet<>();
        Matcher command = Pattern.compile("redis\\.call\\('(\\w+)'").matcher(script.source());
        while (command.find()) {
            commands.add(command.group(1).toLowerCase(java.util.Locale.ROOT));
        }
        return commands;
    }

    private static RedissonClient connect(RedisServer server, String user) {
        Config config = new Config();
        // Redisson 3 has these settings only here.
        org.redisson.config.SingleServerConfig single =
                config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
        if (user != null) {
            single.setUsername(user).setPassword("secret");
        }
        return Redisson.create(config);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    @Test
    void should_notice_nothing_when_the_scripts_are_forgotten() throws Exception {
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            DelayQueue queue = client.queue(redis.uniqueQueue());
            BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
            queue.consume(ConsumerOptions.DEFAULTS, Runnable::run, received::add);
            for (int i = 0; i < 5; i++) {
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                get(queue.schedule(ScheduleRequest.of("a", new byte[1], DueTime.after(Duration.ofHours(1)))));
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                get(queue.reschedule("a", DueTime.now()));
                Delivery delivery = received.poll(10, TimeUnit.SECONDS);
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                assertThat(get(delivery.acknowledge())).isEqualTo(Settlement.DONE);
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.NONE);
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                assertThat(get(queue.stats()).delayed()).isZero();
            }
        }
    }

    // The rules for the scripts' text.

    private static final List<String> INCLUDES = List.of(
            "include/call.lua",
            "include/items.lua",
            "include/session.lua",
            "include/plain.lua",
            "include/record.lua",
            "include/queue.lua",
            "include/place.lua",
            "include/seen.lua",
            "include/wakeup.lua",
            "include/row.lua",
            "include/page.lua",
            "include/index.lua");

    /** All that is sent, and nothing else: see {@link #should_know_all_scripts}. */
    private static final List<String> FILES = Stream.concat(
                    INCLUDES.stream(), Arrays.stream(LuaScript.values()).map(ScriptSafetyIT::fileOf))
            .toList();

    private static String fileOf(LuaScript script) {
        return "command/" + script.name().toLowerCase(java.util.Locale.ROOT) + ".lua";
    }

    private static String file(String name) {
        try (InputStream in = LuaScript.class.getResourceAsStream("/io/github/redisdelay/queue/lua/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The code of a script without its comments. */
    private static String code(String name) {
        return file(name).replaceAll("--[^\\n]*", "");
    }

    @Test
    void should_know_all_scripts() throws Exception {
        Set<String> found = new TreeSet<>();
        Path folder = Path.of(
                LuaScript.class.getResource("/io/github/redisdelay/queue/lua").toURI());
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(Files::isRegularFile)
                    .forEach(file -> found.add(folder.relativize(file).toString()));
        }
        assertThat(found).isEqualTo(new TreeSet<>(FILES));
        for (LuaScript script : LuaScript.values()) {
            assertThat(script.source()).doesNotContain("--@include");
        }
    }

    /** The rest of a file behind its first comment and the lines that follow it. */
    private static final Pattern TOP = Pattern.compile("^(--[^\\n]*\\n)+\\n(--@include \\S+\\n)*\\n?");

    @ParameterizedTest
    @EnumSource(LuaScript.class)
    void should_include_on_top_only(LuaScript script) {
        assertThat(TOP.matcher(file(fileOf(script))).replaceFirst("")).doesNotContain("--@include");
    }

    @Test
    void should_begin_each_name_of_an_include_with_the_name_of_its_file() {
        for (String name : INCLUDES) {
            String prefix = name.replaceAll(".*/|\\.lua", "") + "_";
            Matcher defined = Pattern.compile("(?m)^local (?:function )?(\\w+(?:, \\w+)*)")
                    .matcher(code(name));
            while (defined.find()) {
                assertThat(defined.group(1).split(", ")).as(name).allMatch(each -> each.toLowerCase(
                                java.util.Locale.ROOT)
                        .startsWith(prefix));
            }
        }
    }

    /** The numbered names in the header of a script, such as {@code 1 SCHEDULED}, in their order. */
    private static List<String> numbered(LuaScript script, int first) {
        List<String> names = new ArrayList<>();
        Matcher name = Pattern.compile("(?m)^-- +(\\d) ([A-Z_]+)\\b").matcher(file(fileOf(script)));
        while (name.find()) {
            assertThat(Integer.parseInt(name.group(1))).isEqualTo(first + names.size());
            names.add(name.group(2));
        }
        return names;
    }

    @Test
    void should_number_outcomes_and_duties_as_the_header_of_the_script_does() {
        assertThat(numbered(LuaScript.SCHEDULE, 1))
                .containsExactlyElementsOf(
                        Arrays.stream(ScheduleReply.values()).map(Enum::name).toList())
                .allSatisfy(name -> assertThat(
                                ScheduleReply.of(1 + ScheduleReply.valueOf(name).ordinal()))
                        .hasToString(name));
        assertThat(numbered(LuaScript.CLAIM, 0))
                .containsExactlyElementsOf(
                        Arrays.stream(WakeupDuty.values()).map(Enum::name).toList());
        assertThat(numbered(LuaScript.IMPORT, 1))
                .containsExactlyElementsOf(
                        Arrays.stream(ImportReply.values()).map(Enum::name).toList());
        assertThat(code("command/import.lua"))
                .contains("local " + String.join(", ", numbered(LuaScript.IMPORT, 1)) + " = 1, 2, 3, 4, 5\n");
        for (int outcome : List.of(0, 6)) {
            assertThatThrownBy(() -> ImportReply.of(outcome)).hasMessage("script IMPORT answered " + outcome);
        }
        String names = String.join(", ", numbered(LuaScript.SCHEDULE, 1));
        assertThat(code("command/schedule.lua")).contains("local " + names + " = 1, 2, 3, 4, 5, 6, 7, 8, 9\n");
        assertThat(code("include/wakeup.lua"))
                .contains("local WAKEUP_" + String.join(", WAKEUP_", numbered(LuaScript.CLAIM, 0)) + " = 0, 1, 2, 3\n");
        for (int outcome : List.of(-1, 0, 10)) {
            assertThatThrownBy(() -> ScheduleReply.of(outcome)).hasMessage("script SCHEDULE answered " + outcome);
        }
    }

    /** The words that Java sends: each stands in the header and in the code of the script that takes it. */
    @Test
    void should_send_the_words_that_the_scripts_know() {
        Map<LuaScript, Enum<?>[]> words = Map.of(
                LuaScript.SCHEDULE, DuplicatePolicy.values(),
                LuaScript.CHANGE, ChangeAction.values(),
                LuaScript.SETTLE, SettleAction.values(),
                LuaScript.CLAIM, ClaimIntent.values());
        words.forEach((script, constants) -> {
            String text = file(fileOf(script));
            String head = text.substring(0, text.indexOf("\n\n"));
            for (Enum<?> constant : constants) {
                String word = WireWord.text(constant);
                assertThat(head).as(script.name()).containsPattern("\\b" + word + "\\b");
                assertThat(text.substring(head.length())).as(script.name()).containsPattern("\\b" + word + "\\b");
            }
        });
    }

    @Test
    void should_never_format_a_number_in_a_way_that_loses_microseconds() {
        for (String name : FILES) {
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
        for (String name : FILES) {
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
        for (String name : FILES) {
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
        for (String name : FILES) {
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
                            case "command/import.lua" ->
                                Set.of("ids", "elements", "heads", "fields", "moved", "dues", "pending", "answers");
                            default -> Set.of();
                        };
                assertThat(bounded).as(name).contains(unpack.group(1));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(LuaScript.class)
    void should_say_on_top_of_each_script_what_it_takes_answers_and_costs(LuaScript script) {
        String source = file(fileOf(script));
        String head = source.substring(0, source.indexOf("\n\n"));
        assertThat(head.lines()).allMatch(line -> line.startsWith("--"));
        assertThat(head).contains("-- KEYS ", "-- Reply", "-- Errors ", "-- Cost ");
        if (CHANGING.contains(script)) {
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
