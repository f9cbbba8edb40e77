// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/** Routes, and consumers that sleep, on a Redis Cluster. */
@Tag("faults")
@Timeout(120)
class ClusterRoutesIT {

    private static final int MESSAGES = 20;
    /** Far below the safety interval: who comes so soon was woken. */
    private static final Duration WOKEN = Duration.ofSeconds(10);

    private static ClusterServers cluster;
    /** One on each node, for routes. */
    private static List<String> queues;
    /** One on each node, for consumers that sleep. */
    private static List<String> sleeping;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        cluster = ClusterServers.start(3, 0);
        List<String> two = cluster.queues(2);
        queues = List.of(two.get(0), two.get(2), two.get(4));
        sleeping = List.of(two.get(1), two.get(3), two.get(5));
    }

    @AfterAll
    static void stop() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    void should_run_routes_by_a_configuration_file_while_a_slot_is_moved() throws Exception {
        Path yaml = Files.writeString(folder.resolve("redisson.yaml"), cluster.yaml());
        Map<String, Integer> received = new ConcurrentHashMap<>();
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            RedisDelayConfiguration configuration = context.getComponent("redis-delay", RedisDelayComponent.class)
                    .getConfiguration();
            configuration.setConfigurationUri("file:" + yaml);
            // Nobody is to give up while the slot is moved.
            configuration.setRequestTimeout("60s");
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    for (String queue : queues) {
                        from("redis-delay:" + queue + "?concurrentConsumers=4")
                                .process(exchange ->
                                        received.merge(exchange.getMessage().getBody(String.class), 1, Integer::sum));
                    }
                }
            });
            context.start();
            ProducerTemplate producer = context.createProducerTemplate();
            for (int i = 0; i < MESSAGES; i++) {
                for (String queue : queues) {
                    producer.sendBody("redis-delay:" + queue + "?delay=" + 100 * i, queue + " " + i);
                }
            }
            String moved = queues.get(0);
            int slot = cluster.slot("{" + moved + "}");
            Node from = cluster.owner(slot);
            Node to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % 3);
            List<CompletableFuture<Object>> sent = new ArrayList<>();
            cluster.emptySlot(slot, from, to, new Random(1), () -> {
                long refused = cluster.refused();
                sent.add(producer.asyncSendBody("redis-delay:" + moved, moved + " while open " + sent.size()));
                // One or two calls are under way at a time, and repeated more and more slowly.
                if (sent.size() <= 3) {
                    await().atMost(Duration.ofSeconds(70))
                            .until(() ->
                                    cluster.refused() > refused || sent.stream().allMatch(CompletableFuture::isDone));
                }
            });
            cluster.closeSlot(slot, from, to);
            for (CompletableFuture<Object> each : sent) {
                each.get(70, TimeUnit.SECONDS);
            }
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> received.size() == MESSAGES * queues.size() + sent.size());
            // None of the leases can have ended: they last for 30 s.
            assertThat(received.values()).containsOnly(1);
        }
    }

    @Test
    void should_wake_up_a_consumer_that_is_subscribed_to_another_node() throws Exception {
        RedissonClient consuming = cluster.connect();
        RedissonClient producing = cluster.connect();
        ExecutorService executor = Executors.newCachedThreadPool();
        try (DelayQueueClient consumer = DelayQueueClient.create(consuming, Experiment.OPTIONS);
                DelayQueueClient producer = DelayQueueClient.create(producing, Experiment.OPTIONS)) {
            Set<String> received = ConcurrentHashMap.newKeySet();
            ConsumerOptions options = ConsumerOptions.DEFAULTS.withMaxMessagesPerPoll(1);
            for (String queue : sleeping) {
                consumer.queue(queue).consume(options, executor, delivery -> {
                    received.add(delivery.id());
                    delivery.settle(Settlement.ACKNOWLEDGE);
                });
            }
            // With nothing to do each of them sleeps for its safety interval, once it has said so in the waiting room.
            for (String queue : sleeping) {
                await().atMost(Duration.ofSeconds(60)).until(() -> producing
                        .getScoredSortedSet("redis-delay:{" + queue + "}:waiters")
                        .isExists());
            }
            for (String id : List.of("one", "two")) {
                for (String queue : sleeping) {
                    producer.queue(queue)
                            .schedule(ScheduleRequest.of(queue + id, new byte[0], DueTime.now()))
                            .result()
                            .get(20, TimeUnit.SECONDS);
                    await().atMost(WOKEN)
                            .pollInterval(Duration.ofMillis(10))
                            .until(() -> received.contains(queue + id));
                }
            }
        } finally {
            executor.shutdownNow();
            consuming.shutdown();
            producing.shutdown();
        }
    }
}
