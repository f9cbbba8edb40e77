// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** A node of a cluster is away, and nobody takes its place: the partitions on the other nodes are served meanwhile. */
@Tag("faults")
class PartitionsClusterIT {

    private static final int PARTITIONS = 3;
    private static final byte[] BODY = new byte[10];

    /** The ids of what was delivered. */
    private final Set<String> received = ConcurrentHashMap.newKeySet();

    @Test
    void should_serve_the_other_partitions_while_a_node_is_away() throws Exception {
        ExecutorService executor = Executors.newCachedThreadPool();
        try (ClusterServers cluster = ClusterServers.start(
                3, 0, "appendonly yes", "appendfsync always", "cluster-require-full-coverage no")) {
            RedissonClient redisson = cluster.connect();
            ClientOptions options = ClientOptions.DEFAULTS;
            try (DelayQueueClient consumers = DelayQueueClient.create(redisson, options);
                    DelayQueueClient producers = DelayQueueClient.create(redisson, options)) {
                // A single slot: a partition without an answer must not keep it.
                consumers
                        .queue(Experiment.QUEUE, PARTITIONS)
                        .consume(
                                ConsumerOptions.DEFAULTS
                                        .withMaxMessagesPerPoll(10)
                                        .withVisibilityTimeout(Duration.ofSeconds(10)),
                                executor,
                                delivery -> {
                                    received.add(delivery.id());
                                    delivery.settle(Settlement.ACKNOWLEDGE);
                                });
                DelayQueue queue = producers.queue(Experiment.QUEUE, PARTITIONS);
                Set<String> all = schedule(queue, "before-", 30);
                assertThat(all).as("stored while all nodes are there").hasSize(30);
                await().atMost(Duration.ofSeconds(60)).until(() -> received.containsAll(all));

                assertLooks(queue);
                // Not the one that holds the number of partitions: whoever begins needs that.
                Node home = cluster.owner(cluster.slot("{" + Experiment.QUEUE + "}"));
                Node lost = cluster.nodes().stream()
                        .filter(node -> node != home)
                        .findFirst()
                        .orElseThrow();
                lost.kill();
                Set<String> stored;
                try (DelayQueueClient fresh = DelayQueueClient.create(redisson, options)) {
                    stored = schedule(fresh.queue(Experiment.QUEUE, PARTITIONS), "meanwhile-", 30);
                }
                // About a third of them belongs to the lost node.
                assertThat(stored).as("stored meanwhile").hasSizeBetween(10, 29);
                await().atMost(Duration.ofSeconds(60)).until(() -> received.containsAll(stored));

                lost.start();
                cluster.awaitOk();
                await().atMost(Duration.ofSeconds(60))
                        .ignoreExceptions()
                        .until(() ->
                                queue.admin().stats().get(5, TimeUnit.SECONDS).delayed() == 0);
                Set<String> after = schedule(queue, "after-", 30);
                assertThat(after).as("stored after all").hasSize(30);
                await().atMost(Duration.ofSeconds(90)).until(() -> received.containsAll(after));
            } finally {
                redisson.shutdown();
            }
        } finally {
            executor.shutdownNow();
        }
    }

    /** A queue on several nodes looks like one on a single node, in both directions. */
    private static void assertLooks(DelayQueue queue) throws Exception {
        long day = DueTime.MAX_MICROS - 1_000;
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            ids.add("look-" + i);
            queue.schedule(ScheduleRequest.of(ids.get(i), BODY, new DueTime(false, day + i)))
                    .result()
                    .get(20, TimeUnit.SECONDS);
        }
        Outlook outlook = queue.admin()
                .outlook(Outlook.bounds(day + 5, Duration.ofNanos(10_000), 3))
                .get(20, TimeUnit.SECONDS);
        assertThat(outlook.counts()).containsExactly(10L, 10L, 10L);
        assertThat(outlook.before()).isEqualTo(5);
        assertThat(outlook.after()).isEqualTo(5);
        List<String> back = new ArrayList<>();
        for (PageStart from = PageStart.newest(); from != null; ) {
            MessagePage page = queue.admin().list(MessageState.DELAYED, from, 7).get(20, TimeUnit.SECONDS);
            page.messages().forEach(message -> back.add(0, message.id()));
            from = page.next() == null ? null : PageStart.next(page.next());
        }
        assertThat(back).isEqualTo(ids);
        assertThat(queue.admin()
                        .list(MessageState.DELAYED, PageStart.at(day + 30), 256)
                        .get(20, TimeUnit.SECONDS)
                        .messages())
                .extracting(MessageInfo::id)
                .isEqualTo(ids.subList(30, 40));
        assertThat(queue.admin().cancelAll(message -> true, Long.MAX_VALUE).get(20, TimeUnit.SECONDS))
                .isEqualTo(40);
    }

    /** Schedules messages for now, all at once; answers which of them were stored. */
    private static Set<String> schedule(DelayQueue queue, String prefix, int count) {
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(prefix + i);
            sent.add(queue.schedule(ScheduleRequest.of(ids.get(i), BODY, DueTime.now())));
        }
        Set<String> stored = new HashSet<>();
        for (int i = 0; i < count; i++) {
            String id = ids.get(i);
            sent.get(i)
                    .result()
                    .handle((result, error) -> error == null && stored.add(id))
                    .join();
        }
        return stored;
    }
}
