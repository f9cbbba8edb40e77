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
import io.github.redisdelay.queue.internal.command.RedisDelayQueue;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.ClaimIntent;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.ScheduleReply;
import io.github.redisdelay.queue.internal.format.SettleAction;
import io.github.redisdelay.queue.internal.format.WakeupDuty;
import io.github.redisdelay.queue.internal.format.WireWord;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.test.RedisServer;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The scripts of the queues, by the rules for all scripts and by their own. */
class ScriptSafetyIT extends ScriptSafety {

    @Override
    List<LuaScript> scripts() {
        return List.of(LuaScript.values());
    }

    @Override
    List<LuaScript> changing() {
        return List.of(
                LuaScript.SCHEDULE,
                LuaScript.CHANGE,
                LuaScript.CLAIM,
                LuaScript.SETTLE,
                LuaScript.ACKNOWLEDGE,
                LuaScript.REDRIVE,
                LuaScript.TRIM,
                LuaScript.REPAIR,
                LuaScript.PARTITIONS,
                LuaScript.HEARTBEAT,
                LuaScript.REGISTER);
    }

    @Override
    List<LuaScript> withNumbers() {
        return List.of(
                LuaScript.SCHEDULE,
                LuaScript.CHANGE,
                LuaScript.CLAIM,
                LuaScript.SETTLE,
                LuaScript.ACKNOWLEDGE,
                LuaScript.REDRIVE,
                LuaScript.TRIM,
                LuaScript.BROWSE,
                LuaScript.OUTLOOK,
                LuaScript.PARTITIONS);
    }

    @Override
    List<LuaScript> withArguments() {
        return List.of(
                LuaScript.SCHEDULE,
                LuaScript.CHANGE,
                LuaScript.CLAIM,
                LuaScript.SETTLE,
                LuaScript.ACKNOWLEDGE,
                LuaScript.REDRIVE,
                LuaScript.TRIM,
                LuaScript.REPAIR,
                LuaScript.PARTITIONS,
                LuaScript.GET,
                LuaScript.HEARTBEAT,
                LuaScript.REGISTER,
                LuaScript.QUEUES);
    }

    @Override
    List<LuaScript> withItems() {
        return List.copyOf(LAYOUTS.keySet());
    }

    @Override
    List<LuaScript> withFormat() {
        return List.of(
                LuaScript.SCHEDULE,
                LuaScript.CHANGE,
                LuaScript.CLAIM,
                LuaScript.SETTLE,
                LuaScript.ACKNOWLEDGE,
                LuaScript.REDRIVE,
                LuaScript.TRIM,
                LuaScript.REPAIR,
                LuaScript.PARTITIONS,
                LuaScript.GET,
                LuaScript.BROWSE,
                LuaScript.STATS,
                LuaScript.OUTLOOK);
    }

    @Override
    List<LuaScript> withPriorities() {
        return List.of(
                LuaScript.SCHEDULE,
                LuaScript.CHANGE,
                LuaScript.CLAIM,
                LuaScript.SETTLE,
                LuaScript.REDRIVE,
                LuaScript.REPAIR,
                LuaScript.OUTLOOK);
    }

    @Override
    List<LuaScript> withForeignBytes() {
        return List.of(
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
                LuaScript.TRIM);
    }

    @Override
    List<LuaScript> withSeveralWrites() {
        return List.of(
                LuaScript.SCHEDULE,
                LuaScript.CHANGE,
                LuaScript.CLAIM,
                LuaScript.SETTLE,
                LuaScript.ACKNOWLEDGE,
                LuaScript.REDRIVE,
                LuaScript.TRIM,
                LuaScript.REPAIR,
                LuaScript.PARTITIONS);
    }

    @Override
    List<LuaScript> withSession() {
        return List.of(
                LuaScript.SCHEDULE,
                LuaScript.CHANGE,
                LuaScript.CLAIM,
                LuaScript.SETTLE,
                LuaScript.ACKNOWLEDGE,
                LuaScript.REDRIVE);
    }

    @Override
    Layout layout(LuaScript script) {
        return LAYOUTS.get(script);
    }

    @Override
    List<String> files() {
        return Stream.concat(INCLUDES.stream(), scripts().stream().map(this::fileOf))
                .toList();
    }

    @Override
    String fileOf(LuaScript script) {
        return "command/" + script.command() + ".lua";
    }

    @Override
    URL folder() {
        return LuaScript.class.getResource("/io/github/redisdelay/queue/lua");
    }

    @Override
    Object[] valid(LuaScript script) {
        return switch (script.command()) {
            case "schedule" ->
                items(
                        bytes("lane", 10, "base"),
                        bytes("new", "after reject", 100, "", "body"),
                        bytes("due", "at replace", 200, "", "body"),
                        bytes("l1", "after reject", 0, CLAIM, "body"),
                        bytes("waits", "at ignore", 5, "", "body"),
                        bytes("new1", "after reject priority=1 limit=1000", 5, "", "body"),
                        bytes("seen", "after reject limit=1", 5, "", "body"),
                        bytes("high", "after replace priority=0", 5, "", "body"));
            case "change" ->
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
            case "claim" ->
                bytes("lane", 10, CLAIM, 1_000_000, 10, 10, 100_000, "base", "c1 channel", "fill", 30_000_000);
            case "settle" ->
                items(
                        bytes("lane", 10, "base", "dead"),
                        bytes("l1", CLAIM, "extend", 1_000, ""),
                        bytes("l1", CLAIM, "return", 100, "failure"),
                        bytes("l2", CLAIM, "bury", 1_000, "failure"),
                        bytes("l3", CLAIM, "release", 0, ""),
                        bytes("l4", CLAIM, "acknowledge", 1_000, ""),
                        bytes("ended", OTHER_CLAIM, "discard", 0, ""));
            case "acknowledge" -> bytes("lane", 10, "l1", CLAIM, "l2", OTHER_CLAIM, "none", CLAIM, "l3", CLAIM);
            case "redrive" -> bytes("lane", 10, "base", dead9, "", deadOfOne, CLAIM, "none@1", "");
            case "trim" -> bytes(1, 1);
            case "repair" -> bytes("messages", 0, "base", "");
            case "partitions" -> bytes(6);
            case "get" -> bytes("l1");
            case "dead_letters" -> bytes("dead9", "");
            case "browse" -> bytes("delayed", 10, MAX, "", "newest");
            case "outlook" -> bytes(0, 1_000, MAX);
            case "heartbeat" -> bytes(CONSUMER, "again", 1);
            case "register" -> bytes("orders");
            case "queues" -> bytes(10, 0);
            case "consumers", "stats", "server", "replication" -> new Object[0];
            default -> throw new IllegalArgumentException(script.toString());
        };
    }

    @Override
    void prepare(LuaScript script) {
        if (script == LuaScript.REPAIR) {
            redisson.getScoredSortedSet(keys.key("leased"), StringCodec.INSTANCE)
                    .remove("l1");
            redisson.getMap(keys.key("messages"), StringCodec.INSTANCE).put("stray", "scheduled");
            redisson.getMap(keys.key("config"), StringCodec.INSTANCE).remove("priorities");
        }
    }

    @Override
    Set<String> needed(LuaScript script) {
        return switch (script.command()) {
            case "repair" -> {
                Set<String> parts = new TreeSet<>(Set.of("messages", "delayed", "leased", "state", "config", "index"));
                IntStream.rangeClosed(1, 9).forEach(priority -> parts.add("delayed:" + priority));
                yield parts;
            }
            case "get" -> Set.of("messages", "delayed", "leased", "state", "config", "delayed:5", "consumers");
            case "browse" -> Set.of("delayed", "state", "config", "delayed:5");
            case "outlook" -> Set.of("delayed", "config", "delayed:5");
            case "stats" ->
                Set.of(
                        "messages",
                        "delayed",
                        "leased",
                        "config",
                        "delayed:5",
                        "consumers",
                        "dead:delayed",
                        "dead:leased");
            default -> super.needed(script);
        };
    }

    private static final Map<LuaScript, Layout> LAYOUTS = Map.of(
            LuaScript.SCHEDULE, new Layout(3, 5),
            LuaScript.CHANGE, new Layout(3, 3),
            LuaScript.SETTLE, new Layout(4, 5),
            LuaScript.ACKNOWLEDGE, new Layout(2, 2),
            LuaScript.REDRIVE, new Layout(3, 2));

    @Override
    List<Integer> numbers(LuaScript script) {
        return switch (script.command()) {
            case "schedule" -> List.of(1, 5, 10, 15, 20, 25, 30, 35);
            case "change" -> List.of(1, 5, 8, 11, 14, 17, 20, 23, 26, 29);
            case "claim" -> List.of(1, 3, 4, 5, 6, 10);
            case "settle" -> List.of(1, 7, 12, 17, 22, 27, 32);
            case "redrive", "acknowledge" -> List.of(1);
            case "trim" -> List.of(0, 1);
            case "partitions" -> List.of(0);
            case "browse" -> List.of(1);
            case "outlook" -> List.of(0, 1, 2);
            default -> List.of();
        };
    }

    private static Object[] bounds(int number) {
        return bytes(LongStream.range(0, number).boxed().toArray());
    }

    @Override
    void refuseMore(LuaScript script) {
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

    @Override
    Set<String> ended(LuaScript script) {
        return switch (script.command()) {
            case "change" -> Set.of("due", "l2");
            case "settle" -> Set.of("l2", "l4", "ended");
            case "acknowledge" -> Set.of("l1", "l3");
            default -> Set.of();
        };
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
    void should_claim_by_all_priorities_and_forget_them() {
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("priorities", "987654321");
        ClaimReply reply = ClaimReply.parse((List<?>) call(LuaScript.CLAIM, valid(LuaScript.CLAIM)));
        assertThat(reply.messages()).extracting(ClaimReply.ClaimedMessage::id).containsExactly("high", "due", "ended");
        assertThat(redisson.getMap(keys.key("config"), StringCodec.INSTANCE).readAllMap())
                .isEmpty();
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
                assertThat(head).as(script.toString()).containsPattern("\\b" + word + "\\b");
                assertThat(text.substring(head.length())).as(script.toString()).containsPattern("\\b" + word + "\\b");
            }
        });
    }
}
