// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
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
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

/**
 * While a slot of a cluster is moved, a part of a queue is on one node and the rest on another. Redis executes a script where
 * all of its keys exist, and refuses it in its middle a key that is not there, or not any more. So no script that changes
 * something may be executed at all until the move has ended.
 */
@Timeout(120)
class OpenSlotIT {

    private static ClusterServers cluster;
    private static RedissonClient redisson;

    @BeforeAll
    static void start() {
        cluster = ClusterServers.start(3, 0);
        redisson = cluster.connect();
    }

    @AfterAll
    static void stop() {
        if (redisson != null) {
            redisson.shutdown();
        }
        if (cluster != null) {
            cluster.close();
        }
    }

    /** A queue in a slot that is open, half of whose keys are on each of two nodes in the end. */
    private static final class OpenQueue {
        final QueueKeys keys;
        final int slot;
        final Node from;
        final Node to;
        /** The keys that are not moved yet. */
        final List<String> left = new ArrayList<>();

        /** @param all whether each key exists that any script names; else those of a queue as most are */
        OpenQueue(String name, boolean all) {
            keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, name).importing(name);
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
            for (LuaScript script : LuaScript.values()) {
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

        void move(String key) {
            cluster.moveKey(key, from, to);
            left.remove(key);
        }

        void close() {
            left.forEach(key -> cluster.moveKey(key, from, to));
            cluster.closeSlot(slot, from, to);
        }
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

    private static void assertNothingIsExecuted(OpenQueue queue, QueueKeys keys) {
        for (LuaScript script : LuaScript.values()) {
            if (keys.of(script).size() == 1) {
                continue; // it cannot meet a part of a queue
            }
            List<Object> named = RedissonScriptExecutor.withGuard(keys.of(script));
            for (Node node : List.of(queue.from, queue.to)) {
                String answer = ask(node, script, named);
                assertThat(isExecuted(answer))
                        .as("%s is executed with %s left: %s", script, queue.left, answer)
                        .isFalse();
            }
        }
    }

    private static void moveAll(OpenQueue queue) {
        long seed = System.nanoTime();
        List<String> order = new ArrayList<>(queue.left);
        Collections.shuffle(order, new Random(seed));
        for (String key : order) {
            assertNothingIsExecuted(queue, queue.keys);
            assertNothingIsExecuted(queue, queue.keys.dead());
            queue.move(key);
        }
        assertNothingIsExecuted(queue, queue.keys);
        assertNothingIsExecuted(queue, queue.keys.dead());
        queue.close();
        for (LuaScript script : LuaScript.values()) {
            assertThat(isExecuted(ask(queue.to, script, RedissonScriptExecutor.withGuard(queue.keys.of(script)))))
                    .as("%s is executed on the new owner", script)
                    .isTrue();
        }
    }

    @Test
    void should_execute_nothing_on_a_part_of_a_queue_all_of_whose_keys_exist() {
        moveAll(new OpenQueue("all", true));
    }

    @Test
    void should_execute_nothing_on_a_part_of_a_plain_queue() {
        moveAll(new OpenQueue("plain", false));
    }

    @Test
    void should_execute_nothing_on_a_queue_without_messages() {
        OpenQueue queue = new OpenQueue("empty", false);
        queue.left.forEach(key -> queue.from.call(List.of("DEL", key)));
        queue.left.clear();
        moveAll(queue);
    }

    @Test
    void should_import_from_the_same_slot_only() throws Exception {
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            OldQueue old = new OldQueue(redisson, "{imported}:delayed");
            old.offer("pending", System.currentTimeMillis() + 3_600_000);
            old.ready("ready");
            for (DelayQueue other : List.of(client.queue("another"), client.queue("imported", 3))) {
                assertThatThrownBy(() -> other.importFrom(
                                        new ImportSource(old.name), ConvertedPayload::of, ImportOptions.EVERYTHING)
                                .get(20, TimeUnit.SECONDS))
                        .cause()
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageMatching("queue '(another|imported', partition 1 of 3).*: cannot import from"
                                + " Redisson's queue '\\{imported}:delayed': its keys are in slot "
                                + cluster.slot(old.name) + " of the cluster, those of the queue in slot \\d+: import"
                                + " into a queue with one partition and the name 'imported', if need be with another"
                                + " keyPrefix");
            }
            assertThat(old.size()).isEqualTo(2);
            DelayQueue queue = client.queue("imported");
            ImportReport report = queue.importFrom(
                            new ImportSource(old.name), ConvertedPayload::of, ImportOptions.EVERYTHING)
                    .get(20, TimeUnit.SECONDS);
            assertThat(report.moved()).isEqualTo(2);
            assertThat(queue.stats().get(20, TimeUnit.SECONDS).delayed()).isEqualTo(2);
            assertThat(old.size()).isZero();
        }
    }

    /** Looks, the beginning of a check and the first use of a partitioned queue go on by themselves. */
    @Test
    void should_answer_what_is_asked_while_a_slot_is_open_when_it_is_closed() throws Exception {
        ClientOptions options = new ClientOptions(ClientOptions.DEFAULT_KEY_PREFIX, Duration.ofSeconds(60));
        try (DelayQueueClient client = DelayQueueClient.create(redisson, options)) {
            DelayQueue queue = client.queue("looked");
            queue.schedule(ScheduleRequest.of("a", new byte[] {1}, DueTime.after(Duration.ofHours(1))))
                    .get(20, TimeUnit.SECONDS);
            QueueKeys keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, "looked");
            int slot = cluster.slot(keys.base());
            Node from = cluster.owner(slot);
            Node to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % 3);
            cluster.openSlot(slot, from, to);
            cluster.moveKey(keys.key("messages"), from, to);
            List<CompletableFuture<?>> asked = List.of(
                    queue.get("a"),
                    queue.browse(MessageState.DELAYED, PageStart.first(), 10),
                    queue.check(),
                    queue.outlook(0, Duration.ofHours(2), 1),
                    // Its number is kept with the keys of the whole queue.
                    client.queue("looked", 3).get("a").handle((found, error) -> ErrorText.unwrap(error)));
            await().during(Duration.ofMillis(300)).until(() -> asked.stream().noneMatch(CompletableFuture::isDone));
            from.keys(slot).forEach(key -> cluster.moveKey(key, from, to));
            cluster.closeSlot(slot, from, to);
            assertThat((Optional<?>) asked.get(0).get(60, TimeUnit.SECONDS)).isPresent();
            assertThat(((MessagePage) asked.get(1).get(60, TimeUnit.SECONDS)).messages())
                    .hasSize(1);
            assertThat(((CheckResult) asked.get(2).get(60, TimeUnit.SECONDS)).messages())
                    .isOne();
            assertThat(((Outlook) asked.get(3).get(60, TimeUnit.SECONDS)).counts())
                    .containsExactly(1L);
            assertThat(asked.get(4).get(60, TimeUnit.SECONDS))
                    .as("used as a whole already")
                    .isInstanceOf(PartitionMismatchException.class);
        }
    }

    /** Why: without the key that is never there, a script that empties a key may end in its middle. */
    @Test
    void should_know_that_redis_ends_a_script_that_has_emptied_one_of_its_keys() {
        OpenQueue queue = new OpenQueue("emptied", false);
        String leased = queue.keys.key("leased");
        String calls = queue.keys.key("sessions");
        String script = "redis.call('ZREM', KEYS[1], 'member') redis.call('HSET', KEYS[2], 'field', '2') "
                + "redis.call('ZCARD', KEYS[1]) return 'done'";
        assertThat(queue.from.call(List.of("EVAL", script, "2", leased, calls))).contains("non local key");
        assertThat(queue.from.call(List.of("EXISTS", leased)))
                .as("what it did stays done")
                .startsWith("-ASK");
        queue.left.remove(leased);
        queue.close();
    }
}
