// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.faults.SoakSamples.Metric;
import io.github.redisdelay.history.GroupChecker;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.HistoryChecker;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Report;
import io.github.redisdelay.history.RareStates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One run of {@link SoakIT}. */
final class Soak {

    private static final double MINUTES = Double.parseDouble(System.getProperty("soak.minutes", "0.3"));
    private static final int RATE = Integer.getInteger("soak.rate", 40);

    /** Shorter ones are over before a JVM has loaded all that it needs: whether something grows cannot be told. */
    private static final boolean LONG = MINUTES >= 5;

    /** In less time a single fault is a good part of a third of it: whether messages get later cannot be told. */
    static final boolean STEADY = MINUTES >= 15;

    private static final Duration LENGTH = Duration.ofMillis((long) (MINUTES * 60_000));
    /** Without faults, at the beginning and at the end: to compare. */
    private static final Duration QUIET = LONG ? Duration.ofSeconds(60) : Duration.ofSeconds(3);

    private static final Duration SAMPLES_EACH = LONG ? Duration.ofSeconds(10) : Duration.ofSeconds(1);
    private static final Duration WINDOW = LONG ? Duration.ofSeconds(60) : Duration.ofSeconds(5);
    private static final int MAX_DELAY_MILLIS = LONG ? 20_000 : 3_000;
    private static final int MAX_PAUSE_MILLIS = LONG ? 15_000 : 1_000;

    /** The most megabytes that a client of the delay queue may leave about itself in Redis, for a day. */
    private static final double MAX_MB_PER_CLIENT = 0.064;

    private static final Path DIRECTORY = Path.of("target", "soak");
    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    private final long seed;
    private final Random random;
    private final long beginMillis = System.currentTimeMillis();

    private final List<Double> faultSeconds = new ArrayList<>();
    private final Map<SoakFault, List<Duration>> recoveries = new TreeMap<>();
    private long inFlight;

    /** The problems of all windows. */
    private final List<Problem> problems = new ArrayList<>();

    private final Map<String, Integer> causes = new TreeMap<>();
    private long confirmed;
    private long deliveries;
    private long duplicates;
    private long lost;
    private final RareStates reached = new RareStates();

    Soak(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
    }

    /** Returns the rare states that it has reached. */
    RareStates judged() throws Exception {
        LOG.info("soak: -Dfaults.seed={} -Dsoak.minutes={} -Dsoak.rate={}", seed, MINUTES, RATE);
        delete(DIRECTORY);
        Set<Thread> before = componentThreads();
        SoakNode.silence();
        try {
            run();
        } finally {
            SoakNode.speak();
        }
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            Set<Thread> left = componentThreads();
            left.removeAll(before);
            assertThat(left).as("threads of the component and of its clients").isEmpty();
        });
        delete(DIRECTORY.resolve("histories"));
        return reached;
    }

    private void run() throws Exception {
        Path histories = DIRECTORY.resolve("histories");
        SoakNode.Settings settings = new SoakNode.Settings(
                "", "", histories, beginMillis, WINDOW.toMillis(), RATE, MAX_DELAY_MILLIS, random.nextLong());
        try (SoakBench bench = new SoakBench(settings);
                SoakWatch watch = new SoakWatch(bench.server.address(), bench.history, List.of());
                SoakSamples samples = new SoakSamples(
                        bench.server.address(), bench.nodes, DIRECTORY.resolve("samples.csv"), SAMPLES_EACH)) {
            pause(QUIET);
            // A busy machine may have looked at nothing yet.
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> samples.values(Metric.CONNECTIONS, 0, samples.seconds()).length > 0);
            double quietSeconds = samples.seconds();
            int tried = faults(bench, samples);
            double endSeconds = samples.seconds();
            long endMicros = bench.history.now();
            awaitBaseline(samples, quietSeconds);
            double baselineSeconds = samples.seconds();
            pause(QUIET);
            samples.close();
            bench.awaitEachConsumer(endMicros, LONG);
            bench.drain();
            int clients = bench.clients();
            double bookkeeping = SoakSamples.read(bench.server.address()).bookkeeping() / 1e6;
            bench.endNodes();
            watch.close();
            List<String> leftovers =
                    bench.keys().stream().filter(HistoryChecker::isLeftover).toList();
            judge(bench, leftovers);
            Duration recovery = recoveries.values().stream()
                    .flatMap(List::stream)
                    .max(Comparator.naturalOrder())
                    .orElse(Duration.ZERO);
            String name = String.format(Locale.ROOT, "soak: %.1f minutes of mixed load, random faults", MINUTES);
            Experiment.row(name, tried, confirmed, inFlight, lost, duplicates, recovery);
            summarize(samples, quietSeconds, endSeconds, clients, bookkeeping);
            draw(samples);
            new Report(problems, (int) confirmed, 0, (int) deliveries, causes).assertClean();
            assertThat(confirmed).as("confirmed messages").isPositive();
            if (recoveries.containsKey(SoakFault.ANSWERS_LOST)) {
                assertThat(bench.lostAnswers()).as("answers lost").isPositive();
            }
            assertThat(recovery).as("the longest recovery").isLessThan(Duration.ofSeconds(60));
            assertThat(bookkeeping).as("MB of records of %s clients", clients).isLessThan(clients * MAX_MB_PER_CLIENT);
            if (LONG) {
                assertNothingGrows(samples, quietSeconds, endSeconds);
                assertNoSlower(
                        "after the faults against before",
                        1000, // a minute each, and others may keep the machine busy in one of them
                        metric -> new Medians(
                                samples.median(metric, 0, quietSeconds),
                                samples.median(metric, baselineSeconds, Double.MAX_VALUE)));
            }
            if (STEADY) {
                assertNoSlower(
                        "last third against the first",
                        500,
                        metric -> Medians.ofThirds(samples, metric, quietSeconds, endSeconds));
            }
        }
    }

    // ---- faults

    private int faults(SoakBench bench, SoakSamples samples) throws Exception {
        long end = System.nanoTime() + LENGTH.minus(QUIET.multipliedBy(2)).toNanos();
        List<SoakFault> kinds = new ArrayList<>();
        int tried = 0;
        int watched = 0;
        do {
            if (kinds.isEmpty()) {
                kinds.addAll(LONG ? List.of(SoakFault.values()) : SoakFault.brief());
                Collections.shuffle(kinds, random);
            }
            SoakFault fault = kinds.remove(0);
            inFlight += SoakSamples.read(bench.server.address()).pending();
            faultSeconds.add(samples.seconds());
            LOG.debug("{} s: {}", (long) samples.seconds(), fault);
            fault.record(bench);
            fault.begin(bench);
            pause(fault.duration());
            fault.end(bench);
            long healed = System.nanoTime();
            boolean brief = fault.tail().isZero();
            if (brief) {
                bench.history.faultEnds(fault.text());
            }
            bench.awaitRecovery(healed);
            recoveries
                    .computeIfAbsent(fault, key -> new ArrayList<>())
                    .add(Duration.ofNanos(System.nanoTime() - healed));
            bench.awaitChild();
            if (!brief) {
                pause(fault.tail());
                bench.history.faultEnds(fault.text());
            }
            tried++;
            pause(Duration.ofMillis(random.nextInt(MAX_PAUSE_MILLIS)));
            watched = watch(bench, watched);
        } while (System.nanoTime() - end < 0);
        return tried;
    }

    /**
     * Looks at a window in which everything should be over, so that a long run tells early of what it will fail for.
     */
    private int watch(SoakBench bench, int watched) {
        int window = window() - 4;
        if (!LONG || window <= watched) {
            return watched;
        }
        Report report = check(bench, window, List.of());
        LOG.info(
                "soak, window {}: {} messages, {} deliveries, {} problems, again because: {}",
                window,
                report.confirmed(),
                report.deliveries(),
                report.problems().size(),
                report.causes());
        report.problems().stream().limit(3).forEach(problem -> LOG.warn("{} {}", problem.rule(), problem.text()));
        return window;
    }

    private static void pause(Duration duration) {
        if (!duration.isZero()) {
            await().pollDelay(duration).atMost(duration.plusSeconds(60)).until(() -> true);
        }
    }

    // ---- judging

    private int window() {
        return (int) ((System.currentTimeMillis() - beginMillis) / WINDOW.toMillis());
    }

    private static Report check(SoakBench bench, int window, List<String> leftovers) {
        List<Event> events = events(bench, window);
        Report report = HistoryChecker.check(events, Experiment.LEASE, leftovers, true);
        // Faults never end here: a claim that had room is not known, and a group waits for whom they hit.
        GroupChecker.Verdict groups =
                GroupChecker.check(events, Experiment.LEASE, new GroupChecker.Terms(1, true, 0, Duration.ofMinutes(1)));
        return report.with(groups.problems());
    }

    private static List<Event> events(SoakBench bench, int window) {
        List<Event> events = new ArrayList<>(WindowedHistory.read(bench.directory(), window));
        events.addAll(bench.faults());
        return events;
    }

    private void judge(SoakBench bench, List<String> leftovers) {
        int last = window();
        for (int window = 0; window <= last; window++) {
            reached.add(RareStates.in(events(bench, window)));
            Report report = check(bench, window, window == last ? leftovers : List.of());
            problems.addAll(report.problems());
            report.causes().forEach((cause, times) -> causes.merge(cause, times, Integer::sum));
            confirmed += report.confirmed();
            deliveries += report.deliveries();
            duplicates += report.duplicates();
            lost += report.lost();
        }
    }

    // ---- growth

    /**
     * After the faults: pools that grew under them shrink again when their threads and connections were idle for a
     * while.
     */
    private static void awaitBaseline(SoakSamples samples, double quietSeconds) {
        await().atMost(Duration.ofSeconds(120))
                .pollInterval(Duration.ofSeconds(1))
                .untilAsserted(() -> {
                    double now = samples.seconds();
                    double since = now - 3 * SAMPLES_EACH.toSeconds();
                    assertThat(samples.median(Metric.THREADS, since, now))
                            .as("threads after the faults")
                            .isPositive()
                            .isLessThan(largest(samples, Metric.THREADS, quietSeconds) * 1.1 + 10);
                    assertThat(samples.median(Metric.CONNECTIONS, since, now))
                            .as("connections after the faults")
                            .isPositive()
                            .isLessThan(largest(samples, Metric.CONNECTIONS, quietSeconds) * 1.1 + 10);
                });
    }

    private static double largest(SoakSamples samples, Metric metric, double toSeconds) {
        double[] sorted = samples.values(metric, 0, toSeconds);
        return sorted.length == 0 ? 0 : sorted[sorted.length - 1];
    }

    /** Of a metric at two times. */
    private record Medians(double first, double last) {

        static Medians ofThirds(SoakSamples samples, Metric metric, double fromSeconds, double toSeconds) {
            double third = (toSeconds - fromSeconds) / 3;
            return new Medians(
                    samples.median(metric, fromSeconds, fromSeconds + third),
                    samples.median(metric, toSeconds - third, toSeconds));
        }
    }

    /** Compares the first and the last third of the time with faults. */
    private static void assertNothingGrows(SoakSamples samples, double from, double to) {
        assertFlat(samples, Metric.HEAP, from, to, 1.2, 5);
        if (samples.values(Metric.RESIDENT, from, to).length > 0) {
            assertFlat(samples, Metric.RESIDENT, from, to, 1.3, 60);
        }
        assertFlat(samples, Metric.THREADS, from, to, 1.1, 5);
        assertFlat(samples, Metric.CONNECTIONS, from, to, 1.1, 5);
        assertFlat(samples, Metric.KEYS, from, to, 1.1, 5);
        // About 90 all the time: what is produced in a second, times the mean delay.
        assertFlat(samples, Metric.PENDING, from, to, 1.5, 60);
        Medians memory = Medians.ofThirds(samples, Metric.REDIS_MEMORY, from, to);
        Medians records = Medians.ofThirds(samples, Metric.BOOKKEEPING, from, to);
        assertThat(memory.last() - records.last())
                .as("MB of Redis memory without the records of clients, last third")
                .isLessThan((memory.first() - records.first()) * 1.2 + 1);
    }

    /** Compares how late messages are, and how many come in a second, of one time with those of an earlier one. */
    private static void assertNoSlower(String when, int plusMillis, Function<Metric, Medians> medians) {
        Medians p50 = medians.apply(Metric.LATENESS_P50);
        assertThat(p50.last()).as("lateness p50, %s", when).isPositive().isLessThan(p50.first() * 3 + 100);
        Medians p99 = medians.apply(Metric.LATENESS_P99);
        assertThat(p99.last()).as("lateness p99, %s", when).isPositive().isLessThan(p99.first() * 3 + plusMillis);
        Medians rate = medians.apply(Metric.DELIVERED);
        assertThat(rate.last()).as("deliveries in a second, %s", when).isGreaterThan(rate.first() * 0.8);
    }

    private static void assertFlat(
            SoakSamples samples, Metric metric, double from, double to, double times, double plus) {
        Medians medians = Medians.ofThirds(samples, metric, from, to);
        assertThat(medians.last())
                .as(metric.title + ", median of the last third against that of the first")
                .isPositive()
                .isLessThan(medians.first() * times + plus);
    }

    // ---- what is left for people

    private void summarize(SoakSamples samples, double from, double to, int clients, double bookkeeping)
            throws IOException {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "-Dfaults.seed=%d -Dsoak.minutes=%s -Dsoak.rate=%d: %d messages, %d deliveries, %d lost, %d duplicates, %d clients"
                        + " with %.3f MB of records in the end.%n%n",
                seed,
                MINUTES,
                RATE,
                confirmed,
                deliveries,
                lost,
                duplicates,
                clients,
                bookkeeping));
        text.append(
                "| figure | before the faults | first third | last third | after the faults |\n|---|---|---|---|---|\n");
        for (Metric metric : Metric.values()) {
            if (samples.values(metric, 0, Double.MAX_VALUE).length == 0) {
                continue;
            }
            Medians medians = Medians.ofThirds(samples, metric, from, to);
            text.append(String.format(
                    Locale.ROOT,
                    "| %s%s | %.1f | %.1f | %.1f | %.1f |%n",
                    metric.title,
                    metric.unit.isEmpty() ? "" : " [" + metric.unit + "]",
                    samples.median(metric, 0, from),
                    medians.first(),
                    medians.last(),
                    samples.median(metric, to, Double.MAX_VALUE)));
        }
        text.append("\n| fault | tried | longest recovery | median |\n|---|---|---|---|\n");
        recoveries.forEach((fault, times) -> {
            List<Duration> sorted = times.stream().sorted().toList();
            text.append(String.format(
                    "| %s | %d | %d ms | %d ms |%n",
                    fault.text(),
                    sorted.size(),
                    sorted.get(sorted.size() - 1).toMillis(),
                    sorted.get(sorted.size() / 2).toMillis()));
        });
        text.append("\n| delivered again because | times |\n|---|---|\n");
        causes.forEach((cause, times) -> text.append("| " + cause + " | " + times + " |\n"));
        Files.createDirectories(DIRECTORY);
        Files.writeString(DIRECTORY.resolve("summary.md"), text);
        LOG.info("soak; rare states: {}\n{}", reached, text);
    }

    private void draw(SoakSamples samples) throws IOException {
        try {
            String title = String.format(Locale.ROOT, "%.1f minutes of mixed load; a grey line is a fault", MINUTES);
            SoakChart.draw(DIRECTORY.resolve("soak.png"), title, samples.all(), faultSeconds);
        } catch (LinkageError | InternalError e) {
            // A JDK without fonts draws nothing; samples.csv has it all.
            LOG.warn("No picture can be drawn here: {}", e.toString());
        }
    }

    /** Threads that end with the contexts. */
    private static Set<Thread> componentThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("(?i).*(redis-?delay|redisson|netty|camel).*"))
                .collect(Collectors.toCollection(HashSet::new));
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> {
                try {
                    Files.delete(path);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
