// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.ClusterServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rates and lateness of a queue with 1, 3 and 6 partitions on a Redis Cluster of three nodes on this machine. It
 * asserts only that each message was acknowledged; the figures go to {@code target/partitions.md}.
 * {@code -Dfaults.rounds=} says how many times the messages of the short form there are.
 */
@Tag("faults")
class PartitionRatesBench {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");
    private static final int[] PARTITIONS = {1, 3, 6};
    private static final int MESSAGES = 3000;
    private static final int LATENESS_MESSAGES = 200;
    /** How many are scheduled in a second when the lateness is measured. */
    private static final int LATENESS_RATE = 200;

    private static final int IN_FLIGHT = 2000;
    private static final byte[] BODY = new byte[200];
    private static final Path TABLE = Path.of("target", "partitions.md");

    @Test
    void should_serve_one_three_and_six_partitions() throws Exception {
        StringBuilder table = new StringBuilder(
                "| partitions | nodes with messages | scheduled/s | claimed and acknowledged/s | lateness p50 | p99 |\n|---|---|---|---|---|---|\n");
        try (ClusterServers cluster = ClusterServers.start(3, 0)) {
            RedissonClient redisson = cluster.connect();
            try {
                measure(cluster, redisson, 3, 1, "warm-up-"); // thrown away
                for (int partitions : PARTITIONS) {
                    table.append(measure(cluster, redisson, partitions, Experiment.rounds(), "orders-"));
                }
            } finally {
                redisson.shutdown();
            }
        }
        LOG.info("rates with partitions\n{}", table);
        Files.createDirectories(TABLE.getParent());
        Files.writeString(TABLE, table + "\n", StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
    }

    private static String measure(
            ClusterServers cluster, RedissonClient redisson, int partitions, int rounds, String prefix)
            throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(4);
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            DelayQueue queue = client.queue(prefix + partitions, partitions);
            int count = MESSAGES * rounds;
            double scheduled = schedule(queue, count);
            long nodes = StreamSupport.stream(
                            redisson.getKeys()
                                    .getKeysByPattern("*" + queue.name() + "*:messages")
                                    .spliterator(),
                            false)
                    .map(key -> cluster.owner(cluster.slot(key)))
                    .distinct()
                    .count();
            double worked = work(queue, count, executor);
            long[] lateness = lateness(queue, LATENESS_MESSAGES * rounds, executor);
            return String.format(
                    Locale.ROOT,
                    "| %d | %d | %,.0f | %,.0f | %.1f ms | %.1f ms |%n",
                    partitions,
                    nodes,
                    scheduled,
                    worked,
                    lateness[lateness.length / 2] / 1000.0,
                    lateness[lateness.length * 99 / 100] / 1000.0);
        } finally {
            executor.shutdownNow();
        }
    }

    /** Schedules as fast as it can, all for now; answers how many in a second. */
    private static double schedule(DelayQueue queue, int count) throws Exception {
        queue.admin().stats().get(20, TimeUnit.SECONDS);
        java.util.concurrent.Semaphore room = new java.util.concurrent.Semaphore(IN_FLIGHT);
        AtomicInteger failed = new AtomicInteger();
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            assertThat(room.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            queue.schedule(ScheduleRequest.of(null, BODY, DueTime.now()))
                    .result()
                    .whenComplete((result, error) -> {
                        if (error != null) {
                            failed.incrementAndGet();
                        }
                        room.release();
                    });
        }
        assertThat(room.tryAcquire(IN_FLIGHT, 20, TimeUnit.SECONDS)).isTrue();
        double seconds = (System.nanoTime() - begin) / 1e9;
        assertThat(failed.get()).as("failed").isZero();
        return count / seconds;
    }

    /** Counts down for each message that is acknowledged, which counts once. */
    private static void acknowledge(Delivery delivery, Set<String> acknowledged, CountDownLatch left) {
        delivery.settle(Settlement.ACKNOWLEDGE).result().whenComplete((settlement, error) -> {
            if (settlement == SettleResult.DONE && acknowledged.add(delivery.id())) {
                left.countDown();
            }
        });
    }

    private static void assertEmpty(DelayQueue queue) throws Exception {
        QueueStats stats = queue.admin().stats().get(20, TimeUnit.SECONDS);
        assertThat(stats.delayed() + stats.leased()).as("what is left in Redis").isZero();
    }

    /** Receives and acknowledges all; answers how many in a second. */
    private static double work(DelayQueue queue, int count, ExecutorService executor) throws Exception {
        CountDownLatch left = new CountDownLatch(count);
        Set<String> acknowledged = ConcurrentHashMap.newKeySet();
        long begin = System.nanoTime();
        DelayQueueConsumer consumer = queue.consume(
                ConsumerOptions.DEFAULTS.withConcurrentConsumers(64).withMaxMessagesPerPoll(256),
                executor,
                delivery -> acknowledge(delivery, acknowledged, left));
        assertThat(left.await(120, TimeUnit.SECONDS)).as("all received").isTrue();
        double seconds = (System.nanoTime() - begin) / 1e9;
        consumer.stop(false);
        assertEmpty(queue);
        return count / seconds;
    }

    /** How late single messages are claimed, in microseconds, sorted. */
    private static long[] lateness(DelayQueue queue, int count, ExecutorService executor) throws Exception {
        AtomicLongArray late = new AtomicLongArray(count);
        AtomicInteger received = new AtomicInteger();
        CountDownLatch left = new CountDownLatch(count);
        Set<String> acknowledged = ConcurrentHashMap.newKeySet();
        DelayQueueConsumer consumer =
                queue.consume(ConsumerOptions.DEFAULTS.withConcurrentConsumers(4), executor, delivery -> {
                    if (delivery.attempt() == 1) {
                        late.set(received.getAndIncrement(), delivery.claimedMicros() - delivery.dueMicros());
                    }
                    acknowledge(delivery, acknowledged, left);
                });
        Random random = new Random(1);
        List<Submission<ScheduleResult>> sent = new java.util.ArrayList<>();
        for (int i = 0; i < count; i++) {
            // At random times after those of the scheduling itself.
            sent.add(queue.schedule(ScheduleRequest.of(
                    null,
                    BODY,
                    DueTime.after(Duration.ofMillis(500)
                            .plusNanos(random.nextLong(1_000_000_000L * count / LATENESS_RATE))))));
        }
        for (Submission<?> each : sent) {
            each.result().get(20, TimeUnit.SECONDS);
        }
        assertThat(left.await(120, TimeUnit.SECONDS)).as("all received").isTrue();
        consumer.stop(false);
        assertEmpty(queue);
        long[] sorted = new long[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = late.get(i);
        }
        Arrays.sort(sorted);
        return sorted;
    }
}
