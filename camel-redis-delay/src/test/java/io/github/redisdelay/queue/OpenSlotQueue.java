// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/** A queue in a slot that is open, half of whose keys are on each of two nodes in the end. */
public final class OpenSlotQueue {

    final QueueKeys keys;
    final Node from;
    /** The keys that are not moved yet. */
    final List<String> left = new ArrayList<>();

    private final ClusterServers cluster;
    private final List<LuaScript> scripts;
    private final int slot;
    private final Node to;

    /**
     * @param scripts are called while the slot is open
     * @param all whether each key exists that any of them names; else those of a queue as most are
     */
    OpenSlotQueue(ClusterServers cluster, QueueKeys keys, List<LuaScript> scripts, boolean all) {
        this.cluster = cluster;
        this.keys = keys;
        this.scripts = scripts;
        slot = cluster.slot(keys.base());
        from = cluster.owner(slot);
        to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % 3);
        List<String> few = Stream.of("messages", "delayed", "leased", "state", "sessions")
                .map(keys::key)
                .toList();
        for (String key : all ? allKeys() : few) {
            from.call(fill(key));
            left.add(key);
        }
        cluster.openSlot(slot, from, to);
    }

    private Set<String> allKeys() {
        Set<String> all = new LinkedHashSet<>();
        for (LuaScript script : scripts) {
            keys.of(script).forEach(key -> all.add((String) key));
            keys.dead().of(script).forEach(key -> all.add((String) key));
        }
        all.removeIf(key -> key.endsWith(":none")); // one that is never there
        return all;
    }

    private static List<String> fill(String key) {
        return key.matches(".*:(messages|state|sessions|config|consumers)")
                ? List.of("HSET", key, "field", "1")
                : List.of("ZADD", key, "1", "member");
    }

    /** A node's answer to a script that it is not asked for by name. The script would end at its first look at its arguments. */
    private static String ask(Node node, LuaScript script, List<Object> keys) {
        List<String> command = new ArrayList<>(List.of("EVAL", script.source(), Integer.toString(keys.size())));
        keys.forEach(key -> command.add((String) key));
        // After a standstill of the machine its nodes take one another for failed.
        return await().pollDelay(Duration.ZERO)
                .atMost(Duration.ofSeconds(60))
                .until(() -> node.call(List.of("ASKING"), command), answer -> !answer.startsWith("-CLUSTERDOWN"));
    }

    private static boolean isExecuted(String answer) {
        return !answer.matches("-(TRYAGAIN|ASK|MOVED) .*");
    }

    private void assertNothingIsExecuted(QueueKeys of) {
        for (LuaScript script : scripts) {
            if (of.of(script).size() == 1) {
                continue; // it cannot meet a part of a queue
            }
            List<Object> named = RedissonScriptExecutor.withGuard(of.of(script));
            for (Node node : List.of(from, to)) {
                String answer = ask(node, script, named);
                assertThat(isExecuted(answer))
                        .as("%s is executed with %s left: %s", script, left, answer)
                        .isFalse();
            }
        }
    }

    /** Moves one key after the other. Nothing is executed before the slot is closed; then everything is. */
    void moveAll() {
        long seed = System.nanoTime();
        List<String> order = new ArrayList<>(left);
        Collections.shuffle(order, new Random(seed));
        for (String key : order) {
            assertNothingIsExecuted(keys);
            assertNothingIsExecuted(keys.dead());
            cluster.moveKey(key, from, to);
            left.remove(key);
        }
        assertNothingIsExecuted(keys);
        assertNothingIsExecuted(keys.dead());
        close();
        for (LuaScript script : scripts) {
            assertThat(isExecuted(ask(to, script, RedissonScriptExecutor.withGuard(keys.of(script)))))
                    .as("%s is executed on the new owner", script)
                    .isTrue();
        }
    }

    void close() {
        left.forEach(key -> cluster.moveKey(key, from, to));
        cluster.closeSlot(slot, from, to);
    }
}
