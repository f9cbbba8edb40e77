// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.history.GroupChecker;
import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker;
import io.github.redisdelay.history.HistoryChecker.Report;
import io.github.redisdelay.history.RareState;
import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.history.RateChecker;
import io.github.redisdelay.history.ServerClock;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Redis server with one queue, the histories of those who use it, and an observer whose connection no fault reaches.
 *
 * <p>{@code -Dfaults.rounds=} says how often each fault is tried, 1 by default; {@code -Dfaults.seed=} repeats the
 * random choices of a run that has printed its seed.
 */
final class Experiment implements AutoCloseable {

    /** Long enough for a busy machine, short enough that many end in a test. */
    static final Duration LEASE = Duration.ofSeconds(3);

    static final ClientOptions OPTIONS = ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(2));
    static final String QUEUE = "orders";

    /** A consumer that hears of nothing looks by itself after this long, and may then have to connect again. */
    static final Duration SAFETY_INTERVAL = Duration.ofSeconds(30);

    private static final Duration SLACK = Duration.ofSeconds(10);
    private static final int GROUPS = 100;
    /** For how long a message may wait though its group has a place: those that have lost two leases are begun alone. */
    private static final Duration LONGEST_WAIT = SAFETY_INTERVAL.plus(SLACK);
    /** Where a rate says when. */
    private static final Duration AT_ANY_TIME = Duration.ofDays(1);
    /**
     * How many messages a consumer works on at a time. It then ends 800 in a second, four times what a producer schedules:
     * what has waited for a consumer to start soon comes, too.
     */
    static final int SLOTS = 100;

    /** More than a consumer takes at once. */
    private static final int PROBES = 2 * SLOTS;
    /** How often each place of a queue is given on: one turn for all places, every 2 s, would take too long for {@link #awaitEmpty}. */
    private static final int TIMES_GIVEN_ON = 40;
    /** In the module's directory, where Maven runs the tests. */
    private static final Path TABLE = Path.of("target", "faults.md");

    private static final String HEADER =
            "| fault | tried | messages | in flight | lost | duplicated | recovery |\n|---|---|---|---|---|---|---|\n";
    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    /** The server, where the experiment has just one of its own, else null. */
    final RedisServer server;

    final long seed;
    final Random random;
    /** The faults that the test makes. */
    final History history = new History("test", History.MACHINE_CLOCK);

    private static final String SEED = "faults.seed";

    private final String name;
    private final ExperimentSite site;
    private RareStates reached;
    private final List<Supplier<List<Event>>> histories = new ArrayList<>();
    /** The sources that consume, those included that have died. */
    private final Set<String> consumers = new LinkedHashSet<>();

    private final List<Long> heals = new ArrayList<>();
    private final RedissonClient redisson;
    private final DelayQueueClient client;
    private final DelayQueue queue;
    private final List<DelayQueue> queues;
    /** The limits of the queue; null if it has none. */
    private QueueLimits limits;

    /** Tells of leases that a busy machine costs; null where the site is not watched. */
    private final SoakWatch watch;

    /**
     * On a server of its own.
     *
     * @param configLines as of {@link RedisServer#dedicated}
     */
    Experiment(String name, String... configLines) {
        this(name, newSeed(), RedisServer.dedicated(configLines));
    }

    /** The same with a seed, see {@link #reach}. */
    Experiment(String name, long seed) {
        this(name, seed, RedisServer.dedicated());
    }

    private Experiment(String name, long seed, RedisServer server) {
        this(name, seed, server, ExperimentSite.of(server));
    }

    /** On the caller's servers; the experiment closes the site in the end. */
    Experiment(String name, ExperimentSite site) {
        this(name, newSeed(), site);
    }

    /** The same with a seed, see {@link #reach}. */
    Experiment(String name, long seed, ExperimentSite site) {
        this(name, seed, null, site);
    }

    private Experiment(String name, long seed, RedisServer server, ExperimentSite site) {
        this.name = name;
        this.server = server;
        this.site = site;
        this.seed = seed;
        random = new Random(seed);
        LOG.info("{}: -Dfaults.seed={} -Dfaults.rounds={}", name, seed, rounds());
        redisson = site.connect();
        client = site.open(redisson);
        queue = site.queue(client);
        queues = site.queues(client);
        histories.add(history::events);
        watch = site.watched() == null ? null : new SoakWatch(site.watched(), history, List.of());
    }

    /** The seed of an experiment that must reach no rare state. */
    static long newSeed() {
        return Long.getLong(SEED, System.nanoTime());
    }

    /** One try of an experiment. */
    interface Try {

        /** Returns the rare states that it has reached. */
        RareStates with(long seed) throws Exception;
    }

    /** Does an experiment, once more with the next seed if it does not reach each rare state that it must, and then fails. */
    static void reach(Where where, Try experiment) {
        RareStates.reach(where, SEED, (seed, reached) -> reached.add(experiment.with(seed)));
    }

    /** The rare states that were reached, after {@link #report}. */
    RareStates reached() {
        return reached;
    }

    /** Gives the queue limits, and the messages of producers groups, if these have limits; the judges ask for these, too. */
    Experiment withLimits(QueueLimits given) {
        limits = given;
        await("limits of the queue")
                .atMost(SAFETY_INTERVAL.plus(SLACK))
                .ignoreExceptions() // a busy machine may not answer in time
                .until(() -> queue.admin().limit(limits).get(20, TimeUnit.SECONDS) != null);
        return this;
    }

    /** The messages that were stored so long ago that their producer changes them no more. */
    Set<String> settledDown() {
        long before = history.now() - LoadProducer.CHANGED_WITHIN.toNanos() / 1_000;
        Set<String> ids = new HashSet<>();
        for (Event event : events()) {
            if (event.what() == What.SCHEDULED && event.micros() < before) {
                ids.add(event.id());
            }
        }
        return ids;
    }

    /** How many groups messages have; 0 for none. */
    int groups() {
        return limits == null || limits.groupConcurrency() == 0 ? 0 : GROUPS;
    }

    /** How many messages a producer schedules in a second: fewer where the places of the queue decide how many are worked on. */
    int perSecond() {
        return limits == null || limits.queueConcurrency() == 0 ? 200 : 100;
    }

    /** How often each fault is tried; six times as often for kills at random moments. */
    static int rounds() {
        return Integer.getInteger("faults.rounds", 1);
    }

    /** A new client as the experiment's site makes it. The caller shuts it down. */
    RedissonClient connect() {
        return site.connect();
    }

    /** A client of the delay queue as the experiment's site makes it. The caller closes it. */
    DelayQueueClient open(RedissonClient connected) {
        return site.open(connected);
    }

    /** The queue that the experiment is about. */
    DelayQueue queue(DelayQueueClient opened) {
        return site.queue(opened);
    }

    /** A history in memory that is judged with the others. */
    History newHistory(String source) {
        History added = new History(source, History.MACHINE_CLOCK);
        histories.add(added::events);
        return added;
    }

    /** The same for one that consumes: it has to go on after each fault, see {@link #healed} and {@link #probeEach}. */
    History newConsumer(String source) {
        consumers.add(source);
        return newHistory(source);
    }

    /** A history that another process writes. */
    void addHistory(Supplier<List<Event>> source) {
        histories.add(source);
    }

    /** The same for a process that consumes, as {@link #newConsumer}. */
    void addConsumer(String source, Supplier<List<Event>> events) {
        consumers.add(source);
        addHistory(events);
    }

    List<Event> events() {
        return histories.stream().flatMap(source -> source.get().stream()).toList();
    }

    /** All events, as if the server's clock had been the one of the histories. */
    private List<Event> inMachineTime() {
        List<Event> events = events();
        return ServerClock.of(events).inMachineTime(events);
    }

    /** How many messages are delayed or leased. */
    long inFlight() throws Exception {
        long messages = 0;
        for (DelayQueue each : queues) {
            QueueStats stats = each.admin().stats().get(20, TimeUnit.SECONDS);
            // Where its keys are deleted, a message may be in no set for a moment.
            messages += limits == null ? stats.delayed() + stats.leased() : stats.stored();
        }
        return messages;
    }

    /**
     * The same as a fault comes under load: waits until it is some, if producers still suffer from the fault before.
     */
    long inFlightUnderLoad() {
        AtomicLong messages = new AtomicLong();
        await("messages in flight as the fault comes")
                .atMost(SAFETY_INTERVAL.plus(SLACK))
                .ignoreExceptions() // as in awaitEmpty
                .until(() -> {
                    messages.set(inFlight());
                    return messages.get() > 0;
                });
        return messages.get();
    }

    /** Waits until so many consumers have begun, those included that have died. */
    void awaitConsumers(int number) {
        await("consumers")
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> queue.admin().stats().get(20, TimeUnit.SECONDS).consumers() >= number);
    }

    /** Writes down that a client is dead whose process has ended: what it had sent comes before what Redis answers now. */
    void dead(String source) {
        await("an answer after the end of " + source)
                .pollDelay(Duration.ZERO)
                .atMost(SAFETY_INTERVAL.plus(SLACK))
                .ignoreExceptions() // as in awaitEmpty
                .until(() -> inFlight() >= 0);
        history.dead(source);
    }

    /**
     * Lets a load of groups run so long that for some seconds no fault is near enough to cost a claim its room, before or after
     * it: all groups are asked for after some claims then.
     */
    void runQuietly() {
        if (groups() > 0) {
            run(LEASE.multipliedBy(2).plusSeconds(3));
        }
    }

    /** Lets a load run for a while. */
    void run(Duration duration) {
        await().pollDelay(duration).atMost(duration.plusSeconds(60)).until(() -> true);
    }

    /** Waits until consumers have emptied the queue by themselves: all that wait is due soon. */
    void awaitEmpty() {
        await().atMost(SAFETY_INTERVAL.plus(SLACK).plusSeconds(20))
                .pollInterval(Duration.ofMillis(50))
                .ignoreExceptions() // where the fault was the server's, this client's connections may be dead, too
                .until(() -> inFlight() == 0);
    }

    /** Schedules one message for now while the consumers have nothing else to wake up for, and waits for it. */
    void probe(String id) throws Exception {
        probe(queue, id);
    }

    /** The same in one of several queues. */
    void probe(DelayQueue queue, String id) throws Exception {
        history.scheduling(id, 0);
        history.scheduled(
                id,
                queue.schedule(ScheduleRequest.of(id, LoadProducer.body(id), DueTime.now()))
                        .result()
                        .get(20, TimeUnit.SECONDS));
        await().atMost(SAFETY_INTERVAL.plus(SLACK))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> find(What.DELIVERED, id) != null);
        awaitEmpty();
    }

    /**
     * Schedules messages for now, many at once and again and again, until each consumer has received one: also those
     * that do not get what the others take first.
     */
    void probeEach(String id) {
        long begin = history.now();
        AtomicInteger number = new AtomicInteger();
        await().atMost(SAFETY_INTERVAL.plus(SLACK))
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions() // as in awaitEmpty
                .untilAsserted(() -> {
                    boolean more = !waitingConsumers(begin).isEmpty() && inFlight() < PROBES;
                    for (int i = 0; more && i < PROBES; i++) {
                        schedule(id + "-" + number.incrementAndGet());
                    }
                    assertEachHasReceived(begin);
                });
        awaitEmpty();
    }

    /** Where the queue has places, schedules far more messages for now than it has, so that each place is given on at once. */
    void schedulePile(String id) {
        int pile = limits == null ? 0 : TIMES_GIVEN_ON * limits.queueConcurrency();
        for (int i = 0; i < pile; i++) {
            schedule(id + "-" + i);
        }
    }

    private void schedule(String id) {
        history.scheduling(id, 0);
        queue.schedule(ScheduleRequest.of(id, LoadProducer.body(id), DueTime.now()))
                .result()
                .whenComplete((result, error) -> {
                    if (error == null) {
                        history.scheduled(id, result);
                    } else {
                        history.unknown(id, String.valueOf(error.getMessage()));
                    }
                });
    }

    /** The consumers that live and have received nothing after a moment. */
    private Set<String> waitingConsumers(long afterMicros) {
        Set<String> waiting = new LinkedHashSet<>(consumers);
        for (Event event : events()) {
            if (event.what() == What.KILLED) {
                waiting.remove(event.id());
            } else if (event.what() == What.DELIVERED && event.micros() > afterMicros) {
                waiting.remove(event.source());
            }
        }
        return waiting;
    }

    private void assertEachHasReceived(long afterMicros) {
        assertThat(waitingConsumers(afterMicros))
                .as("consumers without a delivery since")
                .isEmpty();
    }

    private Event find(What what, String id) {
        return events().stream()
                .filter(event -> event.what() == what && event.id().equals(id))
                .findFirst()
                .orElse(null);
    }

    /** The fault is over: until now a delivery could not be expected. */
    void over() {
        heals.add(history.now());
    }

    /** The fault is over, and each consumer is given a message. There must be a load. */
    void healed() {
        over();
        awaitEachConsumer(heals.get(heals.size() - 1));
    }

    /** Waits until each consumer that lives has received a message after a moment. */
    private void awaitEachConsumer(long afterMicros) {
        await().atMost(SAFETY_INTERVAL.plus(SLACK))
                .pollInterval(Duration.ofMillis(200))
                .untilAsserted(() -> assertEachHasReceived(afterMicros));
    }

    /** From the beginning of a fault to its end, in microseconds. */
    record Outage(long begin, long end) {

        long overlap(long from, long to) {
            return Math.max(0, Math.min(end, to) - Math.max(begin, from));
        }
    }

    /** Those that are over, in order. */
    private List<Outage> outages(List<Event> events) {
        Map<Long, Long> begins = new TreeMap<>();
        for (Event event : events) {
            boolean fault = event.what() == What.FAULT_BEGINS && !event.detail().equals(SoakWatch.STANDSTILL);
            if (fault || event.what() == What.KILLED) {
                heals.stream()
                        .filter(heal -> heal >= event.micros())
                        .findFirst()
                        .ifPresent(heal -> begins.merge(heal, event.micros(), Math::min));
            }
        }
        return begins.entrySet().stream()
                .map(outage -> new Outage(outage.getValue(), outage.getKey()))
                .toList();
    }

    /**
     * The longest time that a message was late when it came first, counted from its due time, the new one if it was
     * rescheduled, without the first fault that it has waited for the end of.
     */
    static Duration recovery(List<Event> events, List<Outage> outages) {
        Map<String, Long> due = new HashMap<>();
        Map<String, Long> first = new HashMap<>();
        for (Event event : events) {
            if (event.what() == What.SCHEDULED || event.what() == What.MOVED) {
                due.merge(event.id(), event.due(), Math::max);
            } else if (event.what() == What.DELIVERED) {
                first.merge(event.id(), event.micros(), Math::min);
            }
        }
        return micros(due.entrySet().stream()
                .filter(message -> first.containsKey(message.getKey()))
                .mapToLong(message -> late(message.getValue(), first.get(message.getKey()), outages))
                .max()
                .orElse(0));
    }

    private static long late(long due, long delivered, List<Outage> outages) {
        long waited = outages.stream()
                .filter(outage -> outage.end() > due && outage.end() <= delivered)
                .findFirst()
                .map(outage -> outage.overlap(due, delivered))
                .orElse(0L);
        return delivered - due - waited;
    }

    /**
     * Judges, with what Redis still holds, adds a line to {@code target/faults.md}, and fails if anything is wrong. All
     * clients must have ended.
     *
     * @param tried how often the fault was tried
     * @param inFlight how many messages were in the queue when it came
     */
    Report judge(int tried, long inFlight) {
        Report report = report(tried, inFlight);
        report.assertClean();
        assertThat(confirmedOfLoad())
                .as("confirmed messages, against those of which nobody knows")
                .isPositive()
                .isGreaterThanOrEqualTo(report.uncertain());
        assertEachHasReceived(heals.isEmpty() ? 0 : heals.get(heals.size() - 1));
        if (limits == null) { // else a message may wait for all others of its group; the judge asks for more
            List<Event> events = inMachineTime();
            assertThat(recovery(events, outages(events)))
                    .as("how late messages were at the most")
                    .isLessThan(SAFETY_INTERVAL.plus(SLACK));
        }
        return report;
    }

    /** Like {@link #judge}, but whoever asks decides what is wrong: for what is known not to be promised. */
    Report report(int tried, long inFlight) {
        List<String> leftovers = StreamSupport.stream(
                        redisson.getKeys().getKeys().spliterator(), false)
                .filter(HistoryChecker::isLeftover)
                .map(this::described)
                .toList();
        List<Event> events = inMachineTime();
        reached = RareStates.in(events);
        Report report = judgeLimits(HistoryChecker.check(events, site.lease(), leftovers));
        reached.countIf(report.lost() > 0, RareState.LOST_WITH_MASTER);
        Duration recovery = recovery(events, outages(events));
        row(name, tried, report.confirmed(), inFlight, report.lost(), report.duplicates(), recovery);
        LOG.info(
                "{}: {} scheduled, {} confirmed, {} deliveries, {} uncertain, again because: {}; rare states: {}",
                name,
                events.stream()
                        .filter(event -> event.what() == What.SCHEDULING)
                        .map(Event::id)
                        .distinct()
                        .count(),
                report.confirmed(),
                report.deliveries(),
                report.uncertain(),
                report.causes(),
                reached);
        return report;
    }

    private Report judgeLimits(Report report) {
        if (limits == null) {
            return report;
        }
        if (limits.queueConcurrency() > 0) {
            return judgePlaces(report);
        }
        boolean rates = limits.rate() != null || limits.groupRate() != null;
        return rates ? judgeRates(judgeGroups(report, 0, AT_ANY_TIME)) : judgeGroups(report, room(), LONGEST_WAIT);
    }

    /** How many messages a claim has room for: one from one partition has none for messages of another. */
    private int room() {
        return ((RedisDelayQueue) queue).partitions().size() > 1 ? 0 : SLOTS;
    }

    private Report judgeGroups(Report report, int room, Duration longest) {
        GroupChecker.Verdict verdict = GroupChecker.check(
                events(),
                site.lease(),
                new GroupChecker.Terms(limits.groupConcurrency(), limits.strict(), room, longest));
        LOG.info(
                "{}: {} groups; all of them were asked for after {} claims; with a place for it a message waited for {} ms"
                        + " at the most",
                name,
                verdict.groups(),
                verdict.claims(),
                verdict.longest().toMillis());
        reached.countIf(verdict.claims() > 0, RareState.ROOM_FOR_MORE);
        return report.with(verdict.problems());
    }

    private Report judgePlaces(Report report) {
        GroupChecker.Verdict verdict =
                GroupChecker.checkQueue(events(), site.lease(), limits.queueConcurrency(), SLOTS, SLACK);
        LOG.info(
                "{}: {}; all places were asked for after {} claims; with a place for it a message waited for {} ms at the most",
                name,
                limits,
                verdict.claims(),
                verdict.longest().toMillis());
        reached.countIf(verdict.claims() > 0, RareState.ROOM_FOR_MORE);
        return report.with(verdict.problems());
    }

    private Report judgeRates(Report report) {
        RateChecker.Verdict verdict = RateChecker.check(events(), limits, site.lease(), SLACK);
        LOG.info(
                "{}: {}; {} deliveries, {} of them at a known moment; while messages were ready, {} % of the rate; one waited"
                        + " for {} ms at the most",
                name,
                limits,
                verdict.deliveries(),
                verdict.exact(),
                Math.round(100 * verdict.reached()),
                verdict.longest().toMillis());
        assertThat(verdict.reached())
                .as("share of the rate that was reached while messages were ready")
                .isGreaterThan(0.5);
        return report.with(verdict.problems());
    }

    /** A key that is left, with some of the messages in it and what happened to these. */
    private String described(String key) {
        if (!key.matches(".*:(delayed|leased|parked)")) {
            return key;
        }
        Collection<String> ids =
                redisson.<String>getScoredSortedSet(key, StringCodec.INSTANCE).valueRange(0, 2);
        return events().stream()
                .filter(event -> ids.contains(event.id()))
                .sorted(Comparator.comparingLong(Event::micros))
                .map(Event::toString)
                .collect(Collectors.joining("\n  ", key + " with " + ids + "\n  ", "\n"));
    }

    /** Adds a line to the table that the documentation shows. */
    static void row(
            String name, int tried, long messages, long inFlight, long lost, long duplicated, Duration recovery) {
        write(String.format(
                "| %s | %d | %d | %d | %d | %d | %s |",
                name,
                tried,
                messages,
                inFlight,
                lost,
                duplicated,
                recovery == null ? "–" : recovery.toMillis() + " ms"));
    }

    private static synchronized void write(String row) {
        LOG.info(row);
        try {
            Files.createDirectories(TABLE.getParent());
            try {
                Files.writeString(TABLE, versions() + HEADER, StandardOpenOption.CREATE_NEW);
            } catch (FileAlreadyExistsException e) {
                // The tests of another JVM may have begun it as well.
            }
            Files.writeString(TABLE, row + "\n", StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The line before the table: on which server and Java its experiments have run. */
    private static String versions() throws IOException {
        try (RedisServer server = RedisServer.dedicated();
                RedisSocket socket = RedisSocket.open(server.address())) {
            String versions = socket.text("INFO server")
                    .lines()
                    .filter(line -> line.matches("(redis|valkey)_version:.*"))
                    .collect(Collectors.joining(", "));
            return versions + ", Java " + Runtime.version() + "\n\n";
        }
    }

    /** How many messages of others than the test itself were confirmed. */
    private long confirmedOfLoad() {
        Set<Event> probes = Set.copyOf(history.events());
        return events().stream()
                .filter(event -> event.what() == What.SCHEDULED && !probes.contains(event))
                .map(Event::id)
                .distinct()
                .count();
    }

    private static Duration micros(long micros) {
        return Duration.ofNanos(micros * 1000);
    }

    @Override
    public void close() {
        client.close();
        redisson.shutdown();
        site.close();
        if (watch != null) {
            watch.close();
        }
    }
}
