// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.redisson.client.codec.StringCodec;

/** The arguments of the scripts of the queues. */
class ScriptArgumentsIT extends ScriptArgumentRules {

    private static final long MAX = DueTime.MAX_MICROS;

    ScriptArgumentsIT() {
        super(new ComponentScripts());
    }

    private static Object[] bounds(int number) {
        return bytes(LongStream.range(0, number).boxed().toArray());
    }

    @Override
    void refuseMore(LuaScript script) {
        if (script == LuaScript.PARTITIONS) {
            assertRefused(script, named(script).with("number", 0), "0 partitions");
            assertRefused(script, named(script).with("number", 65), "65 partitions");
            return;
        }
        if (script == LuaScript.OUTLOOK) {
            assertRefused(script, named(script).with("bound2", 0), "a second bound of 0");
            for (int number : new int[] {0, 1, 242, 300}) {
                assertRefused(script, bounds(number), number + " bounds");
            }
            call(script, bounds(241));
            return;
        }
        if (script == LuaScript.BROWSE) {
            assertRefused(script, named(script).with("limit", 0), "no message wanted");
            assertRefused(script, named(script).with("limit", 257), "257 messages wanted");
            // Any score, as others may have written it, but a number.
            for (String value : List.of("", " ", "x", "1x", "nan", "NaN", "-nan")) {
                assertRefused(script, named(script).with("score", value), "browse from '" + value + "'");
            }
            return;
        }
        if (script == LuaScript.GROUP) {
            assertRefused(script, named(script).with("limit", 257), "257 messages wanted");
            return;
        }
        assertRefused(script, named(script).with("sequence", 0), script + " with sequence 0");
        if (script == LuaScript.CLAIM) {
            assertRefused(script, named(script).with("lease", 0), "a lease of 0");
            assertRefused(script, named(script).with("messages", 257), "257 messages wanted");
            assertRefused(script, named(script).with("expired", 257), "257 expired ones wanted");
            assertRefused(script, named(script).with("bytes", 0), "no bytes wanted");
            assertRefused(script, named(script).with("safety", 0), "a safety interval of 0");
        } else if (script == LuaScript.SETTLE) {
            assertRefused(script, named(script).with("l1", "time", 0), "a lease of 0");
        }
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
            assertRefused(LuaScript.CLAIM, named(LuaScript.CLAIM).with("claim", claim), "claim" + what);
            assertRefused(LuaScript.SETTLE, named(LuaScript.SETTLE).with("ended", "claim", claim), "settle" + what);
            if (claim.length != 0 && claim.length != 16) {
                assertRefused(
                        LuaScript.SCHEDULE, named(LuaScript.SCHEDULE).with("l1", "claim", claim), "schedule" + what);
            }
        }
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
            assertRefused(
                    LuaScript.SCHEDULE,
                    named(LuaScript.SCHEDULE).with("waits", "words", flags),
                    "schedule '" + flags + "'");
        }
        for (String action : List.of(
                "", "x", "c", "cancelcancel", "Cancel", "\n", "%", "cancel\n", "pause", "resume", "cancel pause")) {
            assertRefused(
                    LuaScript.CHANGE, named(LuaScript.CHANGE).with("l2", "action", action), "change '" + action + "'");
        }
        for (String action : List.of("", "x", "a", "acknowledge acknowledge", "Acknowledge", "\n", "%", "drop\n")) {
            assertRefused(
                    LuaScript.SETTLE,
                    named(LuaScript.SETTLE).with("ended", "action", action),
                    "settle '" + action + "'");
        }
        for (String quick : List.of("", "x", "2", "-1", "\n", "%")) {
            assertRefused(LuaScript.CLAIM, named(LuaScript.CLAIM).with("quick", quick), "quick '" + quick + "'");
        }
        for (String walk : List.of("", "x", "m", "Messages", "messages\n", "index")) {
            assertRefused(LuaScript.REPAIR, named(LuaScript.REPAIR).with("walk", walk), "check '" + walk + "'");
        }
        for (String cursor : List.of("", " ", "x", "-1", "1.5", "1\n", "1".repeat(30))) {
            assertRefused(
                    LuaScript.REPAIR, named(LuaScript.REPAIR).with("cursor", cursor), "check from '" + cursor + "'");
        }
        assertRefused(LuaScript.SCHEDULE, named(LuaScript.SCHEDULE).with("waits", "id", ""), "schedule without id");
        assertRefused(LuaScript.CHANGE, named(LuaScript.CHANGE).with("l2", "id", ""), "change without id");
        assertRefused(LuaScript.CHANGE, named(LuaScript.CHANGE).with("high", "id", ""), "promote without id");
        assertRefused(LuaScript.CHANGE, named(LuaScript.CHANGE).with("", "id", "due"), "pause with an id");
        assertRefused(
                LuaScript.REDRIVE, named(LuaScript.REDRIVE).with(filled.deadOfOne(), "id", ""), "redrive without id");
        assertRefused(
                LuaScript.REDRIVE,
                named(LuaScript.REDRIVE).with(filled.deadOfOne(), "claim", "short"),
                "redrive with part of a claim id");
        assertRefused(
                LuaScript.REDRIVE,
                named(LuaScript.REDRIVE).with(filled.deadOfOne(), "claim", new byte[16]),
                "redrive with no claim id");
        assertRefused(
                LuaScript.HEARTBEAT, named(LuaScript.HEARTBEAT).with("consumer", "1234567"), "a short consumer's id");
        assertRefused(
                LuaScript.HEARTBEAT, named(LuaScript.HEARTBEAT).with("consumer", "123456789"), "a long consumer's id");
        assertRefused(LuaScript.HEARTBEAT, named(LuaScript.HEARTBEAT).with("name", "x".repeat(4097)), "a long name");
        assertRefused(LuaScript.HEARTBEAT, named(LuaScript.HEARTBEAT).with("seen", "x"), "no time");
        assertRefused(LuaScript.REGISTER, bytes(""), "a queue without a name");
        assertRefused(LuaScript.REGISTER, bytes("x".repeat(201)), "a long name of a queue");
        for (String limit : List.of("", "x", "0", "501", "1.5", "-1", "nan")) {
            assertRefused(LuaScript.QUEUES, bytes(limit, 0), "queues up to '" + limit + "'");
        }
        for (String offset : List.of("", "x", "10001", "1.5", "-1")) {
            assertRefused(LuaScript.QUEUES, bytes(10, offset), "queues behind '" + offset + "'");
        }
        assertRefused(LuaScript.BROWSE, named(LuaScript.BROWSE).with("state", "x"), "browse of no state");
        assertRefused(LuaScript.BROWSE, bytes("delayed", 10, 0, "", "oldest"), "browse in no direction");
        assertRefused(LuaScript.SETTLE, named(LuaScript.SETTLE).with("ended", "id", ""), "settle without id");
    }

    @Test
    void should_grant_nothing_for_a_claim_id_of_zeros() {
        // A message that waits has zeros in its record: they are no claim.
        call(LuaScript.SETTLE, "session", 1, "base", "dead", "l1", CLAIM, "retry", 0, "");
        byte[] reply =
                (byte[]) call(LuaScript.SCHEDULE, "session", 2, "base", "l1", "after reject", 0, new byte[16], "body");
        assertThat(reply[8]).as("outcome: in use, delayed").isEqualTo((byte) 4);
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
        call(LuaScript.SETTLE, "exact", 2, "base", "dead", "l1", CLAIM, "retry", MAX, "");
        assertThat(score("delayed", "l1")).isEqualTo(MAX);
        call(LuaScript.CLAIM, claim("exact", 3, CLAIM, MAX, 1, 0));
        assertThat(score("leased", "high")).isEqualTo(MAX);
    }

    private long score(String part, String id) {
        return (long) (double) redisson.getScoredSortedSet(keys.key(part), StringCodec.INSTANCE)
                .getScore(id);
    }
}
