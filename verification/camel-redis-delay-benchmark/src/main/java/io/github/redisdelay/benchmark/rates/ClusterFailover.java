// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.Waiting;
import io.github.redisdelay.benchmark.contender.Message;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;
import org.redisson.connection.CRC16;

/**
 * A node that dies while two producers schedule and a consumer works, beside the pending messages. Each master gets a
 * replica for that time only. One producer has {@code waitForReplicas=1}, and must lose nothing; the other one has not,
 * and what it loses is counted.
 */
final class ClusterFailover {

    private static final int RATE = 4000; // of each producer
    private static final int SECONDS_BEFORE = 10;
    private static final int SECONDS_AFTER = 30;
    private static final int SENT = RATE * (SECONDS_BEFORE + SECONDS_AFTER);

    private final ClusterNodes nodes;
    private final RedissonClient redisson;
    private final String queueName;
    private final int pending;
    private final Set<Integer> killed; // partitions
    private final List<Producer> producers = new ArrayList<>();
    private final Standstill deliveries = new Standstill();
    private final AtomicInteger again = new AtomicInteger();

    ClusterFailover(ClusterNodes nodes, RedissonClient redisson, String queueName, int pending) {
        this.nodes = nodes;
        this.redisson = redisson;
        this.queueName = queueName;
        this.pending = pending;
        this.killed = nodes.partitions(nodes.masters().get(0)).keySet();
    }

    void run(Figures figures) throws Exception {
        long begin = System.nanoTime();
        List<Node> replicas = nodes.masters().stream().map(nodes::addReplica).toList();
        add(figures, "replicas of all nodes have everything after", seconds(begin), "s");
        double replicated = replicated();
        try (DelayQueueClient waiting = client(Durability.replicas(1));
                DelayQueueClient plain = client(Durability.NONE)) {
            producers.add(new Producer("with waitForReplicas=1", waiting.queue(queueName, ClusterScale.PARTITIONS), 0));
            producers.add(new Producer("without", plain.queue(queueName, ClusterScale.PARTITIONS), SENT));
            DelayQueue queue = plain.queue(queueName, ClusterScale.PARTITIONS);
            DelayQueueConsumer consumer = queue.consume(ClusterScale.CONSUMER, Runnable::run, delivery -> {
                int number = (int) Message.number(delivery.body());
                producers.get(number / SENT).arrived(number % SENT);
                delivery.settle(Settlement.ACKNOWLEDGE);
            });
            ScheduledExecutorService threads = Executors.newScheduledThreadPool(producers.size());
            try {
                producers.forEach(
                        producer -> threads.scheduleAtFixedRate(producer::sendSome, 0, 10, TimeUnit.MILLISECONDS));
                TimeUnit.SECONDS.sleep(SECONDS_BEFORE);
                failOver(figures, replicas.get(0));
                Waiting.until(Duration.ofMinutes(3), "all calls are answered", () -> producers.stream()
                        .allMatch(Producer::answered));
                Waiting.until(
                        Duration.ofMinutes(3),
                        "only the pending ones are left",
                        () -> ClusterScale.remaining(queue) == pending);
            } finally {
                threads.shutdownNow();
                consumer.stop(false);
                report(figures, ClusterScale.remaining(queue));
                double bytes = replicated() - replicated;
                long messages =
                        producers.stream().mapToLong(Producer::survivors).sum();
                add(figures, "to a replica of the other nodes", bytes / messages, "bytes/message");
            }
        }
        // From here on without replicas again.
        nodes.cluster().nodes().stream()
                .filter(node -> node.isRunning() && !nodes.masters().contains(node))
                .forEach(Node::kill);
    }

    /** How much the nodes that do not die have sent to each of their replicas. */
    private double replicated() {
        return nodes.masters().stream()
                .skip(1)
                .mapToDouble(node -> Double.parseDouble(node.info("replication", "master_repl_offset")))
                .sum();
    }

    private boolean killed(String id) {
        int partition = CRC16.crc16(id.getBytes(StandardCharsets.US_ASCII)) % ClusterScale.PARTITIONS;
        return killed.contains(partition);
    }

    private DelayQueueClient client(Durability durability) {
        return DelayQueueClient.create(redisson, ClusterScale.OPTIONS.withDurability(durability));
    }

    private void failOver(Figures figures, Node replica) {
        Node victim = nodes.masters().get(0);
        long begin = System.nanoTime();
        victim.kill();
        nodes.cluster().awaitPromoted(replica);
        add(figures, "promoted after", seconds(begin), "s");
        nodes.replace(victim, replica);
        victim.start(); // the promoted one needs a replica, too, or nothing is known to be replicated
        victim.awaitReplicating();
        add(figures, "the killed node is a replica after", seconds(begin), "s");
    }

    private void report(Figures figures, long left) {
        for (Producer producer : producers) {
            producer.report(figures);
        }
        add(
                figures,
                "longest time without a delivery of the killed node's partitions",
                deliveries.killedSeconds(),
                "s");
        add(figures, "longest time without a delivery of the others", deliveries.othersSeconds(), "s");
        add(figures, "delivered again", again.get(), "messages");
        add(figures, "pending messages lost", pending - left, "messages");
        if (left != pending || producers.get(0).lost() != 0) {
            throw new IllegalStateException(left + " messages are left of " + pending + " pending ones, "
                    + producers.get(0).lost() + " are lost that were known to be replicated");
        }
    }

    private void add(Figures figures, String metric, double value, String unit) {
        figures.add(ClusterScale.NAME, Subject.QUEUE, "a node dies", 1, metric, value, unit);
    }

    private static double seconds(long begin) {
        return (System.nanoTime() - begin) / 1e9;
    }

    /** The longest time without an event, of the partitions of the killed node and of all others. */
    private final class Standstill {

        private final long[] last = new long[2]; // 0: there was none
        private final long[] longest = new long[2];

        synchronized void event(String id) {
            int kind = killed(id) ? 0 : 1;
            long now = System.nanoTime();
            longest[kind] = Math.max(longest[kind], last[kind] == 0 ? 0 : now - last[kind]);
            last[kind] = now;
        }

        synchronized double killedSeconds() {
            return longest[0] / 1e9;
        }

        synchronized double othersSeconds() {
            return longest[1] / 1e9;
        }
    }

    /** Schedules at a steady rate, whatever is answered, with delays of 1 to 20 s. */
    private final class Producer {

        private final String name;
        private final DelayQueue queue;
        private final int first;
        private final long begin = System.nanoTime();
        private final Random random = new Random(1);
        private final AtomicIntegerArray acknowledged = new AtomicIntegerArray(SENT);
        private final AtomicIntegerArray arrived = new AtomicIntegerArray(SENT);
        private final AtomicInteger answers = new AtomicInteger();
        private final AtomicInteger failed = new AtomicInteger();
        private final Standstill schedules = new Standstill();
        private int next; // of its thread

        Producer(String name, DelayQueue queue, int first) {
            this.name = name;
            this.queue = queue;
            this.first = first;
        }

        void sendSome() {
            double due = seconds(begin) * RATE;
            while (next < due && next < SENT) {
                int number = next++;
                Message message =
                        Message.of(first + number, DueTime.after(Duration.ofMillis(1000 + random.nextInt(19_000))));
                queue.schedule(ScheduleRequest.of(id(number), message.body(), message.due()))
                        .result()
                        .whenComplete((result, error) -> {
                            if (error == null) {
                                acknowledged.set(number, 1);
                                schedules.event(id(number));
                            } else if (failed.getAndIncrement() == 0) {
                                System.out.println(name + ", the first failure: " + error);
                            }
                            answers.incrementAndGet();
                        });
            }
        }

        private String id(int number) {
            return "failover-" + (first + number);
        }

        boolean answered() {
            return answers.get() == SENT;
        }

        void arrived(int number) {
            if (arrived.getAndIncrement(number) > 0) {
                again.incrementAndGet();
            }
            deliveries.event(id(number));
        }

        /** Messages of nodes that do not die. */
        long survivors() {
            return IntStream.range(0, SENT).filter(i -> !killed(id(i))).count();
        }

        long lost() {
            return IntStream.range(0, SENT)
                    .filter(i -> acknowledged.get(i) == 1 && arrived.get(i) == 0)
                    .count();
        }

        void report(Figures figures) {
            long confirmed = IntStream.range(0, SENT)
                    .filter(i -> acknowledged.get(i) == 1)
                    .count();
            add(figures, name + ": acknowledged", confirmed, "messages");
            add(figures, name + ": acknowledged and lost", lost(), "messages");
            add(figures, name + ": failed", failed.get(), "messages");
            long unknown = IntStream.range(0, SENT)
                    .filter(i -> acknowledged.get(i) == 0 && arrived.get(i) > 0)
                    .count();
            add(figures, name + ": failed and delivered", unknown, "messages");
            add(
                    figures,
                    name + ": longest time without an answer of the killed node's partitions",
                    schedules.killedSeconds(),
                    "s");
            add(figures, name + ": longest time without an answer of the others", schedules.othersSeconds(), "s");
        }
    }
}
