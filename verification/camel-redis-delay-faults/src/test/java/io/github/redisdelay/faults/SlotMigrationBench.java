// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.ClusterServers.Node;
import io.github.redisdelay.testkit.LogLines;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures for how long a producer and consumers of a queue with many delayed messages stand still while the slot of the
 * queue is moved: by the servers, where they can, and key by key. Fails if a message is lost. The figures go to {@code
 * target/slots.md}. {@code -Dslots.messages=} says how many are delayed, {@code -Dslots.moves=} how often the slot is moved
 * in each way, {@code -Dpowercut.servers=} by which servers, {@code -Dslots.nodeTimeout=} the {@code
 * cluster-node-timeout}. For a machine that does nothing else.
 */
@Tag("faults")
class SlotMigrationBench {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");
    private static final int MESSAGES = Integer.getInteger("slots.messages", 1_000_000);
    private static final int MOVES = Integer.getInteger("slots.moves", 3);
    /** 15 s are Redis' default. A large key moves for longer than a short one, and its nodes are taken for dead. */
    private static final int NODE_TIMEOUT = Integer.getInteger("slots.nodeTimeout", 15_000);

    private static final int IN_FLIGHT = 2000;
    private static final int CONSUMERS = 2;
    /** 200 a second. */
    private static final long TICK_MILLIS = 5;

    private static final long WORK_MILLIS = 50;
    /** Every other message is due after it, so that consumers have work while the producer stands still. */
    private static final Duration DELAY = Duration.ofSeconds(20);
    /** What the load does without a move, and after one. */
    private static final Duration CALM = Duration.ofSeconds(10);
    /** What a move may cost, and deliveries after it. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final byte[] BODY = new byte[200];
    private static final Path TABLE = Path.of("target", "slots.md");

    private interface Move {
        void begin(int slot, Node from, Node to);
    }

    private final ScheduledExecutorService producer = Executors.newSingleThreadScheduledExecutor();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(4);
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final Queue<Received> received = new ConcurrentLinkedQueue<>();
    private final Map<String, AtomicInteger> deliveries = new ConcurrentHashMap<>();
    private final Set<String> confirmed = ConcurrentHashMap.newKeySet();
    private final Map<String, AtomicInteger> errors = new ConcurrentHashMap<>();
    private final AtomicInteger staleAcknowledgements = new AtomicInteger();
    private final AtomicInteger underWay = new AtomicInteger();
    /** Used by the producer's thread only. */
    private int number;

    /** The outcome of a schedule, whether or not its caller was told in time; in nanoseconds. */
    private record Answer(long sent, long known, boolean failed) {}

    /** A delivery; in nanoseconds. */
    private record Received(long at, long lateness, boolean again) {}

    static List<PowerCut.Binary> servers() throws Exception {
        return PowerCut.servers();
    }

    @ParameterizedTest
    @MethodSource("servers")
    void should_lose_nothing_while_the_slot_of_many_messages_is_moved(PowerCut.Binary server) throws Exception {
        ClusterServers cluster = ClusterServers.start(server.path(), 3, 0, "cluster-node-timeout " + NODE_TIMEOUT);
        List<RedissonClient> connected = new ArrayList<>();
        List<DelayQueueClient> clients = new ArrayList<>();
        try (LogLines logs = new LogLines("io.github.redisdelay")) {
            for (int i = 0; i <= CONSUMERS; i++) {
                connected.add(cluster.connect());
                clients.add(DelayQueueClient.create(connected.get(i), ClientOptions.DEFAULTS));
            }
            DelayQueue queue = clients.get(0).queue(Experiment.QUEUE);
            fill(queue);
            ConsumerOptions options = ConsumerOptions.DEFAULTS.withConcurrentConsumers(20);
            for (DelayQueueClient client : clients.subList(1, clients.size())) {
                client.queue(Experiment.QUEUE).consume(options, timer, this::receive);
            }
            producer.scheduleAtFixedRate(() -> schedule(queue), 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
            run(CALM); // thrown away
            StringBuilder table = new StringBuilder(server + ", " + MESSAGES
                    + " messages\n\n| the slot is moved | within | a schedule took | a delivery was late by | schedules failed |"
                    + " came again |\n|---|---|---|---|---|---|\n");
            long begin = System.nanoTime();
            run(CALM);
            table.append(row("not", begin, System.nanoTime(), System.nanoTime()));
            for (int i = 0; cluster.canMoveSlots() && i < MOVES; i++) {
                table.append(move(cluster, "by the servers", cluster::moveSlot));
            }
            for (int i = 0; i < MOVES; i++) {
                table.append(move(cluster, "key by key", (slot, from, to) -> {
                    emptySlot(cluster, slot, from, to);
                    cluster.closeSlot(slot, from, to);
                }));
            }
            end(queue);
            table.append("\nErrors of schedules: ").append(errors).append("\nStale acknowledgements: ");
            table.append(staleAcknowledgements).append("\nWARN: ");
            table.append(counted(logs.of(Level.WARN))).append("\nERROR: ").append(counted(logs.of(Level.ERROR)));
            LOG.info("{}", table.append('\n'));
            Files.createDirectories(TABLE.getParent());
            Files.writeString(TABLE, table + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } finally {
            producer.shutdownNow();
            timer.shutdownNow();
            clients.forEach(DelayQueueClient::close);
            connected.forEach(RedissonClient::shutdown);
            cluster.close();
        }
    }

    private static void fill(DelayQueue queue) throws Exception {
        Semaphore room = new Semaphore(IN_FLIGHT);
        AtomicInteger failed = new AtomicInteger();
        for (int i = 0; i < MESSAGES; i++) {
            assertThat(room.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            queue.schedule(ScheduleRequest.of(null, BODY, DueTime.after(Duration.ofDays(1))))
                    .result()
                    .whenComplete((result, error) -> {
                        if (error != null) {
                            failed.incrementAndGet();
                        }
                        room.release();
                    });
        }
        assertThat(room.tryAcquire(IN_FLIGHT, 20, TimeUnit.SECONDS)).isTrue();
        assertThat(failed.get()).as("failed").isZero();
    }

    private void schedule(DelayQueue queue) {
        String id = "live-" + number++;
        DueTime due = number % 2 == 0 ? DueTime.now() : DueTime.after(DELAY);
        underWay.incrementAndGet();
        long sent = System.nanoTime();
        Submission<ScheduleResult> submission = queue.schedule(ScheduleRequest.of(id, BODY, due));
        submission.result().whenComplete((result, error) -> {
            if (error != null) {
                count(errors, digitless(ErrorText.of(error)));
            }
            submission.outcome().whenComplete((stored, failure) -> {
                if (failure == null) {
                    confirmed.add(id);
                }
                answers.add(new Answer(sent, System.nanoTime(), error != null));
                underWay.decrementAndGet();
            });
        });
    }

    private void receive(Delivery delivery) {
        long lateness = System.currentTimeMillis() * 1_000_000 - delivery.dueMicros() * 1000;
        boolean again = count(deliveries, delivery.id()) > 1;
        received.add(new Received(System.nanoTime(), lateness, again));
        timer.schedule(
                () -> delivery.settle(Settlement.ACKNOWLEDGE).outcome().thenAccept(result -> {
                    if (result != SettleResult.DONE) {
                        staleAcknowledgements.incrementAndGet();
                    }
                }),
                WORK_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    private static int count(Map<String, AtomicInteger> counts, String name) {
        return counts.computeIfAbsent(name, key -> new AtomicInteger()).incrementAndGet();
    }

    private static String digitless(String text) {
        return text.replaceAll("\\d+", "#");
    }

    private static Map<String, AtomicInteger> counted(List<String> lines) {
        Map<String, AtomicInteger> counts = new TreeMap<>();
        lines.forEach(line -> count(counts, digitless(line)));
        return counts;
    }

    private String move(ClusterServers cluster, String how, Move move) {
        int slot = cluster.slot("{" + Experiment.QUEUE + "}");
        Node from = cluster.owner(slot);
        Node to = cluster.nodes()
                .get((cluster.nodes().indexOf(from) + 1) % cluster.nodes().size());
        long begin = System.nanoTime();
        move.begin(slot, from, to);
        long end = System.nanoTime();
        long before = System.nanoTime();
        await("deliveries after the move").atMost(PATIENCE).until(() -> received.stream()
                .anyMatch(each -> each.at > before
                        && each.lateness < Duration.ofSeconds(1).toNanos()));
        run(CALM);
        return row(how, begin, end, System.nanoTime());
    }

    /** As an operator, who repeats what a node refuses because it takes the cluster for dead. */
    private static void emptySlot(ClusterServers cluster, int slot, Node from, Node to) {
        await("move key by key").atMost(PATIENCE).pollDelay(Duration.ZERO).untilAsserted(() -> {
            try {
                cluster.emptySlot(slot, from, to, new Random(slot), () -> {});
            } catch (AssertionError e) {
                LOG.info("moved again after: {}", e.getMessage());
                throw e;
            }
        });
    }

    /** @param until what happens until then is counted, because of clients that are late to know of the move */
    private String row(String how, long begin, long moved, long until) {
        List<Answer> asked = answers.stream()
                .filter(each -> each.known > begin && each.sent < until)
                .toList();
        List<Received> came = received.stream()
                .filter(each -> each.at > begin && each.at < until)
                .toList();
        String row = String.format(
                Locale.ROOT,
                "| %s | %.2f s | %.2f s | %.2f s | %d of %d | %d of %d |%n",
                how,
                (moved - begin) / 1e9,
                asked.stream().mapToLong(each -> each.known - each.sent).max().orElseThrow() / 1e9,
                came.stream()
                                .filter(each -> !each.again)
                                .mapToLong(Received::lateness)
                                .max()
                                .orElseThrow()
                        / 1e9,
                asked.stream().filter(Answer::failed).count(),
                asked.size(),
                came.stream().filter(Received::again).count(),
                came.size());
        LOG.info("{}", row);
        return row;
    }

    /** Ends the load, and looks for each message. */
    private void end(DelayQueue queue) throws Exception {
        producer.shutdown();
        assertThat(producer.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        await("answers to all schedules").atMost(PATIENCE).until(() -> underWay.get() == 0);
        await("deliveries of all").atMost(PATIENCE).untilAsserted(() -> {
            assertThat(deliveries.keySet()).containsAll(confirmed);
            QueueStats stats = queue.admin().stats().get(20, TimeUnit.SECONDS);
            assertThat(stats.leased()).as("leased").isZero();
            assertThat(stats.delayed()).as("delayed").isEqualTo(MESSAGES);
        });
        CheckResult check = queue.admin().check().get(10, TimeUnit.MINUTES);
        assertThat(check).isEqualTo(new CheckResult(MESSAGES, 0, 0, 0));
    }

    private static void run(Duration duration) {
        await().pollDelay(duration).atMost(duration.plusSeconds(60)).until(() -> true);
    }
}
