// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.internal.redis.ClusterSlot;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/** The rules for keys, and for what others have written into them. */
public abstract class ScriptKeyRules extends ScriptRules {

    ScriptKeyRules(ScriptSet set) {
        super(set);
    }

    /** The keys whose kinds the valid call of a script checks: all of its keys, or those that it has to look at. */
    Set<String> needed(LuaScript script) {
        return keys.of(script).stream().map(this::part).collect(Collectors.toSet());
    }

    /** The right type of a key. */
    String type(String part) {
        return part.matches("(dead:)*(delayed(:\\d)?|leased|seen|waiters|index|queues|parked|groups|opens)")
                ? "zset"
                : "hash";
    }

    Stream<Arguments> keysOfScripts() {
        return scripts()
                .filter(script -> script != LuaScript.SERVER) // reads no key
                .flatMap(script ->
                        IntStream.range(0, keysOf("q", script).size()).mapToObj(key -> Arguments.of(script, key)));
    }

    private List<Object> keysOf(String queue, LuaScript script) {
        return set.keys("p", queue).of(script);
    }

    @ParameterizedTest
    @MethodSource("keysOfScripts")
    void should_change_nothing_where_a_key_has_a_wrong_type(LuaScript script, int index) {
        String key = (String) keys.of(script).get(index);
        String part = part(key);
        if (part.endsWith(":none")) {
            return; // the one that is never there
        }
        for (String type : List.of("string", "list", "set", "hash", "zset")) {
            if (!type.equals(type(part))) {
                assertUnchanged(script, key, type);
            }
        }
    }

    private void assertUnchanged(LuaScript script, String key, String type) {
        redisson.getKeys().delete(key);
        switch (type) {
            case "string" -> redisson.getBucket(key, StringCodec.INSTANCE).set("x");
            case "list" -> redisson.getList(key, StringCodec.INSTANCE).add("x");
            case "set" -> redisson.getSet(key, StringCodec.INSTANCE).add("x");
            case "hash" -> redisson.getMap(key, StringCodec.INSTANCE).put("x", "y");
            default -> redisson.getScoredSortedSet(key, StringCodec.INSTANCE).add(1, "x");
        }
        Map<String, String> before = dump();
        if (needed(script).contains(part(key))) {
            assertThatThrownBy(() -> call(script, valid(script)))
                    .as("key '%s' is a %s", key, type)
                    .isInstanceOf(CallFailed.class)
                    .hasMessageContaining("WRONGTYPE");
            assertThat(dump()).as("key '%s' is a %s", key, type).isEqualTo(before);
        } else {
            // Such as the set of a priority that is not in use.
            call(script, valid(script));
            assertThat(dump()).as("key '%s' is a %s", key, type).containsEntry(key, before.get(key));
            redisson.getKeys().delete(dump().keySet().toArray(String[]::new));
            fillQueue();
        }
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
            for (String id : List.of(filled.dead9(), filled.deadOfOne())) {
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
            for (LuaScript script : withForeignBytes().toList()) {
                ScriptCall valid = named(script);
                if (valid.has("session")) {
                    valid = valid.with("sequence", sequence).with("session", script + "-" + sequence);
                }
                call(script, valid.arguments());
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
            for (LuaScript script : withPriorities().toList()) {
                assertRefused(script, valid(script), script + " with priorities '" + digits + "'");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("withNeeds")
    void should_refuse_a_queue_that_needs_a_feature_it_does_not_know(LuaScript script) {
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("needs", "groups=0.2 rates=0.3");
        Map<String, String> before = dump();
        assertThatThrownBy(() -> call(script, valid(script)))
                .hasMessageContaining("REDISDELAY needs: groups=0.2 rates=0.3");
        assertThat(dump()).isEqualTo(before);
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).remove("needs");
        call(script, valid(script));
    }

    @Test
    void should_have_all_keys_of_a_call_in_one_slot() {
        for (String name : List.of("orders", "a:b.c-d_e/f", "ü€😀", "x ")) {
            for (LuaScript script : set.scripts()) {
                assertThat(keysOf(name, script)).isNotEmpty().allSatisfy(key -> assertThat(ClusterSlot.of((String) key))
                        .isEqualTo(ClusterSlot.of(name)));
            }
        }
    }
}
