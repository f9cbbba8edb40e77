// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.faults.History.Event;
import io.github.redisdelay.faults.History.What;
import io.github.redisdelay.faults.HistoryChecker.Report;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueClient;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Redis server with one queue, the histories of those who use it, and an observer whose connection no fault reaches.
 *
 * <p>{@code -Dfaults.rounds=} says how often each fault is tried, 1 by default; {@code -Dfaults.seed=} repeats the random
 * choices of a run that has printed its seed.
 */
final class Experiment implements AutoCloseable {

    /** Long enough for a busy machine, short enough that many end in a test. */
    static final Duration LEASE = Duration.ofSeconds(3);

    static final ClientOptions OPTIONS = new ClientOptions(ClientOptions.DEFAULT_KEY_PREFIX, Duration.ofSeconds(2));
    static final String QUEUE = "orders";

    /** A consumer that hears of nothing looks by itself after this long, and may then have to connect again. */
    static final Duration SAFETY_INTERVAL = Duration.ofSeconds(30);

    private static final Duration SLACK = Duration.ofSeconds(10);
    /** In the module's directory, where Maven runs the tests. */
    private static final Path TABLE = Path.of("target", "faults.md");

    private static final String HEADER =
            "| fault | tried | messages | in flight | lost | duplicated | recovery |\n|---|---|---|---|---|---|---|\n";
    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    final RedisServer server;
    final long seed;
    final Random random;
    /** What the test itself does to the others. */
    final History history = new History("test", History.MACHINE_CLOCK);

    private final String name;
    private final List<Supplier<List<Event>>> histories = new ArrayList<>();
    private final List<Long> heals = new ArrayList<>();
    private final RedissonClient redisson;
    private final DelayQueueClient client;
    private final DelayQueue queue;

    Experiment(String name) {
        this.name = name;
        seed = Long.getLong("faults.seed", System.nanoTime());
        random = new Random(seed);
        LOG.info("{}: -Dfaults.seed={} -Dfaults.rounds={}", name, seed, rounds());
        server = RedisServer.dedicated();
        redisson = TestConnections.open(server.address());
        client = DelayQueueClient.create(redisson, OPTIONS);
        queue = client.queue(QUEUE);
        histories.add(history::events);
    }

    /** How often each fault is tried; six times as often for kills at random moments. */
    static int rounds() {
        return Integer.getInteger("faults.rounds", 1);
    }

    /** A history in memory that is judged with the others. */
    History newHistory(String source) {
        History added = new History(source, History.MACHINE_CLOCK);
        histories.add(added::events);
        return added;
    }

    /** A history that another process writes. */
    void addHistory(Supplier<List<Event>> source) {
        histories.add(source);
    }

    List<Event> events() {
        return histories.stream().flatMap(source -> source.get().stream()).toList();
    }

    /** How many messages wait or are being delivered. */
    long inFlight() throws Exception {
        QueueStats stats = queue.stats().get(20, TimeUnit.SECONDS);
        return stats.delayed() + stats.leased();
    }

    /** Lets a load run for a while. */
    void run(Duration duration) {
        await().pollDelay(duration).atMost(duration.plusSeconds(60)).until(() -> true);
    }

    /** Waits until consumers have emptied the queue by themselves: all that wait is due soon. */
    void awaitEmpty() {
        await().atMost(SAFETY_INTERVAL.plus(SLACK).plusSeconds(20))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> inFlight() == 0);
    }

    /** Schedules one message for now while the consumers have nothing else to wake up for, and waits for it. */
    void probe(String id) throws Exception {
        history.scheduling(id, 0);
        history.scheduled(
                id,
                queue.schedule(ScheduleRequest.of(id, LoadProducer.body(id), DueTime.now()))
                        .get(20, TimeUnit.SECONDS));
        await().atMost(SAFETY_INTERVAL.plus(SLACK))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> find(What.DELIVERED, id) != null);
        awaitEmpty();
    }

    private Event find(What what, String id) {
        return events().stream()
                .filter(event -> event.what() == what && event.id().equals(id))
                .findFirst()
                .orElse(null);
    }

    /** The fault is over: until now a delivery could not be expected. */
    void healed() {
        heals.add(history.now());
        awaitDelivery(heals.get(heals.size() - 1));
    }

    /** Waits until a message is delivered after a moment. */
    private void awaitDelivery(long afterMicros) {
        await().atMost(SAFETY_INTERVAL.plus(SLACK))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> deliveries(afterMicros).findAny().isPresent());
    }

    private LongStream deliveries(long afterMicros) {
        return events().stream()
                .filter(event -> event.what() == What.DELIVERED && event.micros() > afterMicros)
                .mapToLong(Event::micros);
    }

    /**
     * The longest time that a message was late when it came first, counted from its due time, or from the end of the last fault
     * before it came.
     */
    private Duration recovery(List<Event> events) {
        Map<String, Long> due = new HashMap<>();
        Map<String, Long> first = new HashMap<>();
        for (Event event : events) {
            if (event.what() == What.SCHEDULED) {
                due.merge(event.id(), event.due(), Math::max);
            } else if (event.what() == What.DELIVERED) {
                first.merge(event.id(), event.micros(), Math::min);
            }
        }
        return micros(due.entrySet().stream()
                .filter(message -> first.containsKey(message.getKey()))
                .mapToLong(message -> {
                    long delivered = first.get(message.getKey());
                    long healed = heals.stream()
                            .filter(heal -> heal <= delivered)
                            .max(Long::compare)
                            .orElse(0L);
                    return delivered - Math.max(message.getValue(), healed);
                })
                .max()
                .orElse(0));
    }

    /**
     * Judges, with what Redis still holds, and adds a line to {@code target/faults.md}. All clients must have ended.
     *
     * @param tried how often the fault was tried
     * @param inFlight how many messages were in the queue when it came
     */
    Report judge(int tried, long inFlight) {
        List<String> leftovers = StreamSupport.stream(
                        redisson.getKeys().getKeys().spliterator(), false)
                .filter(HistoryChecker::isLeftover)
                .toList();
        List<Event> events = events();
        Report report = HistoryChecker.check(events, LEASE, leftovers);
        Duration recovery = recovery(events);
        write(String.format(
                "| %s | %d | %d | %d | %d | %d | %d ms |",
                name, tried, report.confirmed(), inFlight, report.lost(), report.duplicates(), recovery.toMillis()));
        LOG.info(
                "{}: {} deliveries, {} uncertain, again because: {}",
                name,
                report.deliveries(),
                report.uncertain(),
                report.causes());
        report.assertClean();
        assertThat(report.confirmed()).as("confirmed messages").isPositive();
        assertThat(recovery).as("how late messages were at the most").isLessThan(SAFETY_INTERVAL.plus(SLACK));
        return report;
    }

    /** A line of the table that the documentation shows. */
    private static synchronized void write(String row) {
        LOG.info(row);
        try {
            boolean begin = !Files.exists(TABLE);
            Files.createDirectories(TABLE.getParent());
            Files.writeString(
                    TABLE, (begin ? HEADER : "") + row + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Duration micros(long micros) {
        return Duration.ofNanos(micros * 1000);
    }

    @Override
    public void close() {
        client.close();
        redisson.shutdown();
        server.close();
    }
}
