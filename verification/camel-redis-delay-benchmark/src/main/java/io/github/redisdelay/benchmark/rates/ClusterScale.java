// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.Waiting;
import io.github.redisdelay.benchmark.contender.Arrivals;
import io.github.redisdelay.benchmark.contender.Message;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.redisson.api.RedissonClient;

/**
 * {@link Scale} for one queue with partitions, on a Redis Cluster of three nodes on this machine: each step schedules so
 * many more messages that are due hours later, and then delivers some that are due at once. In the middle a node is
 * killed, which is {@link ClusterFailover}.
 */
public final class ClusterScale implements Experiment {

    static final String NAME = "scale-cluster";
    static final int PARTITIONS = 12;
    static final ConsumerOptions CONSUMER =
            ConsumerOptions.DEFAULTS.withConcurrentConsumers(256 * PARTITIONS).withMaxMessagesPerPoll(256);

    /** A fail-over is waited for. */
    static final ClientOptions OPTIONS = ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(60));

    private static final int NODES = 3;
    private static final int STEPS = 15;
    private static final int UNDER_WAY = 512 * PARTITIONS;
    private static final int MOST = 15_000_000;
    private static final int MOST_QUICK = 300_000;
    private static final long FIRST_MICROS = Duration.ofHours(3).toMillis() * 1000;
    private static final long SPREAD_MICROS = Duration.ofHours(24).toMillis() * 1000;

    private final Random random = new Random(1);

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        String wanted = System.getProperty("benchmark.pending", "").trim();
        int most = wanted.isEmpty() ? environment.quick() ? MOST_QUICK : MOST : Integer.parseInt(wanted);
        int step = most / STEPS;
        // The cluster takes the same server.
        System.setProperty("redis.server", environment.binary());
        try (ClusterNodes nodes = ClusterNodes.start(NODES)) {
            RedissonClient redisson = nodes.cluster().connect();
            try (DelayQueueClient client = DelayQueueClient.create(redisson, OPTIONS)) {
                DelayQueue queue = client.queue("scale", PARTITIONS);
                schedule(queue, 20_000, DueTime.after(Duration.ZERO)); // for the compiler of the JVM
                deliver(queue, new Arrivals(20_000), 0);
                long[] empty = nodes.masters().stream().mapToLong(nodes::memory).toArray();
                for (int i = 1; i <= STEPS; i++) {
                    step(figures, nodes, queue, step, i, empty);
                    if (i == STEPS / 2) {
                        new ClusterFailover(nodes, redisson, queue.name(), step * i).run(figures);
                    }
                }
            } finally {
                redisson.shutdown();
            }
        }
    }

    private void step(Figures figures, ClusterNodes nodes, DelayQueue queue, int step, int i, long[] empty)
            throws Exception {
        int pending = step * i;
        String parameter = "pending=" + pending;
        ClusterNodes.Usage begin = nodes.usage();
        schedule(queue, step, null);
        begin.until(nodes.usage(), figures, parameter, "schedule", step);
        memory(figures, nodes, parameter, pending, empty);

        int count = Math.min(200_000, step);
        schedule(queue, count, DueTime.after(Duration.ZERO));
        ClusterNodes.Usage due = nodes.usage();
        deliver(queue, new Arrivals(count), pending);
        due.until(nodes.usage(), figures, parameter, "delivery", count);
    }

    /** @param due null for some hours from now; then the messages have no number */
    private void schedule(DelayQueue queue, int count, DueTime due) throws Exception {
        InFlight inFlight = new InFlight(UNDER_WAY);
        for (int i = 0; i < count; i++) {
            inFlight.begin();
            Message message = due == null ? pending() : Message.of(i, due);
            queue.schedule(ScheduleRequest.of(null, message.body(), message.due()))
                    .result()
                    .whenComplete((result, error) -> inFlight.end(error));
        }
        inFlight.awaitAll();
    }

    private Message pending() {
        return Message.of(-1, new DueTime(true, FIRST_MICROS + (long) (random.nextDouble() * SPREAD_MICROS)));
    }

    private static void deliver(DelayQueue queue, Arrivals arrivals, long left) throws Exception {
        DelayQueueConsumer consumer = queue.consume(CONSUMER, Runnable::run, delivery -> {
            arrivals.arrived(delivery.body());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        try {
            arrivals.await(Duration.ofMinutes(2));
            Waiting.until(Duration.ofSeconds(20), "all are acknowledged", () -> remaining(queue) == left);
        } finally {
            consumer.stop(false);
        }
        arrivals.check();
    }

    static long remaining(DelayQueue queue) {
        QueueStats stats = queue.admin().stats().join();
        return stats.delayed() + stats.leased() + stats.dead();
    }

    private static void memory(Figures figures, ClusterNodes nodes, String parameter, int pending, long[] empty) {
        double sum = 0;
        List<Node> masters = nodes.masters();
        for (int i = 0; i < masters.size(); i++) {
            double bytes = nodes.memory(masters.get(i));
            sum += bytes - empty[i];
            figures.add(NAME, Subject.QUEUE, parameter, 1, "memory of node " + (i + 1), bytes / (1 << 20), "MiB");
        }
        figures.add(NAME, Subject.QUEUE, parameter, 1, "memory", sum / pending, "bytes/message");
        List<Collection<Long>> partitions =
                masters.stream().map(node -> nodes.partitions(node).values()).toList();
        double partition = all(partitions)
                .mapToDouble(size -> Math.abs(100.0 * PARTITIONS * size / pending - 100))
                .max()
                .orElse(0);
        figures.add(NAME, Subject.QUEUE, parameter, 1, "the most uneven partition", partition, "% from the mean");
        double node = partitions.stream()
                .mapToLong(sizes -> sizes.stream().mapToLong(Long::longValue).sum())
                .mapToDouble(size -> 100.0 * NODES * size / pending - 100)
                .max()
                .orElse(0);
        figures.add(NAME, Subject.QUEUE, parameter, 1, "the fullest node", node, "% above the mean");
    }

    private static LongStream all(List<Collection<Long>> partitions) {
        return partitions.stream().flatMap(Collection::stream).mapToLong(Long::longValue);
    }
}
