// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.fake.FromNow;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * While a slot of a cluster is moved, a part of a queue is on one node and the rest on another. Redis executes a script where
 * all of its keys exist, and refuses it in its middle a key that is not there, or not any more. So no script that changes
 * something may be executed at all until the move has ended.
 */
class OpenSlotIT extends ClusterIT {

    private static OpenSlotQueue open(String name, boolean all) {
        QueueKeys keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, name);
        return new OpenSlotQueue(cluster, keys, List.of(LuaScript.values()), all);
    }

    @Test
    void should_execute_nothing_on_a_part_of_a_queue_all_of_whose_keys_exist() {
        open("all", true).moveAll();
    }

    @Test
    void should_execute_nothing_on_a_part_of_a_plain_queue() {
        open("plain", false).moveAll();
    }

    @Test
    void should_execute_nothing_on_a_queue_without_messages() {
        OpenSlotQueue queue = open("empty", false);
        queue.left.forEach(key -> queue.from.call(List.of("DEL", key)));
        queue.left.clear();
        queue.moveAll();
    }

    /** Looks, the beginning of a check and the first use of a partitioned queue go on by themselves. */
    @Test
    void should_answer_what_is_asked_while_a_slot_is_open_when_it_is_closed() throws Exception {
        ClientOptions options = ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(60));
        try (DelayQueueClient client = DelayQueueClient.create(redisson, options)) {
            DelayQueue queue = client.queue("looked");
            queue.schedule(ScheduleRequest.of("a", new byte[] {1}, DueTime.after(Duration.ofHours(1))))
                    .result()
                    .get(20, TimeUnit.SECONDS);
            QueueKeys keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, "looked");
            int slot = cluster.slot(keys.base());
            Node from = cluster.owner(slot);
            Node to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % 3);
            cluster.openSlot(slot, from, to);
            cluster.moveKey(keys.key("messages"), from, to);
            List<CompletableFuture<?>> asked = List.of(
                    queue.get("a"),
                    queue.admin().list(MessageState.DELAYED, PageStart.first(), 10),
                    queue.admin().check(),
                    FromNow.outlook(queue.admin(), Duration.ofHours(2), 1),
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
        OpenSlotQueue queue = open("emptied", false);
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
