// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at a soak every few seconds, and writes down what it sees as lines of a CSV file. */
final class SoakSamples implements AutoCloseable {

    /** The metrics of a sample. */
    enum Metric {
        HEAP("heap after a collection", "MB"),
        /** Missing where the operating system does not tell. */
        RESIDENT("resident memory of this JVM", "MB"),
        THREADS("threads", ""),
        CONNECTIONS("connections at the server", ""),
        REDIS_MEMORY("Redis memory", "MB"),
        BOOKKEEPING("of it records of clients", "MB"),
        KEYS("keys", ""),
        PENDING("messages in all queues", ""),
        DELIVERED("first deliveries", "1/s"),
        LATENESS_P50("lateness p50", "ms"),
        LATENESS_P99("lateness p99", "ms"),
        LATENESS_MAX("lateness max", "ms");

        final String title;
        final String unit;

        Metric(String title, String unit) {
            this.title = title;
            this.unit = unit;
        }

        private String column() {
            return name().toLowerCase(Locale.ROOT) + (unit.isEmpty() ? "" : " [" + unit + "]");
        }
    }

    /** Values at a time; those that could not be had are missing. */
    record Sample(double seconds, Map<Metric, Double> values) {}

    /**
     * The contents of a server.
     *
     * @param bookkeeping bytes of the records that clients leave about themselves, which are dropped a day after their
     *     last use
     * @param pending messages that wait or are being delivered, dead letters included
     */
    record Holdings(long keys, long bookkeeping, long pending) {}

    /** Redis finds what it counts by the names of the keys: there are few. */
    private static final String COUNT = "local bytes, pending = 0, 0\n"
            + "local keys = redis.call('KEYS', '*')\n"
            + "for _, key in ipairs(keys) do\n"
            + "  if string.find(key, ':sessions$') or string.find(key, ':consumers$') or string.find(key, ':waiters$') then\n"
            + "    bytes = bytes + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')\n"
            + "  elseif string.find(key, ':delayed') or string.find(key, ':leased$') then\n"
            + "    pending = pending + redis.call('ZCARD', key)\n"
            + "  end\n"
            + "end\n"
            + "return #keys .. ' ' .. bytes .. ' ' .. pending";

    private static final double MB = 1e6;
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Pattern VM_RSS = Pattern.compile("VmRSS:\\s+(\\d+) kB");
    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    private final String address;
    private final List<SoakNode> nodes;
    private final Path file;
    private final long beginNanos = System.nanoTime();
    private long lastNanos = beginNanos; // used by the clock's thread only
    private final List<Sample> samples = new ArrayList<>(); // guarded by this

    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "soak-samples");
        thread.setDaemon(true);
        return thread;
    });

    /** Begins to look. */
    SoakSamples(String address, List<SoakNode> nodes, Path file, Duration interval) {
        this.address = address;
        this.nodes = List.copyOf(nodes);
        this.file = file;
        write("seconds," + Stream.of(Metric.values()).map(Metric::column).collect(Collectors.joining(",")));
        this.nodes.forEach(SoakNode::takeLateness); // from before
        clock.scheduleWithFixedDelay(this::sample, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** The seconds of this run. */
    double seconds() {
        return (System.nanoTime() - beginNanos) / 1e9;
    }

    /** The samples so far. */
    synchronized List<Sample> all() {
        return List.copyOf(samples);
    }

    /** The values of a metric from one time to another, both in seconds. */
    double[] values(Metric metric, double from, double to) {
        return all().stream()
                .filter(sample -> sample.seconds() >= from && sample.seconds() <= to)
                .filter(sample -> sample.values().containsKey(metric))
                .mapToDouble(sample -> sample.values().get(metric))
                .sorted()
                .toArray();
    }

    /** The median of a metric from one time to another, both in seconds; 0 if it was not seen. */
    double median(Metric metric, double from, double to) {
        double[] sorted = values(metric, from, to);
        return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
    }

    private void sample() {
        try {
            Map<Metric, Double> values = new EnumMap<>(Metric.class);
            System.gc();
            values.put(
                    Metric.HEAP,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / MB);
            putResident(values);
            values.put(Metric.THREADS, (double) threads());
            putLateness(values);
            try {
                putServer(values);
            } catch (IOException e) {
                LOG.debug("The server cannot be asked now", e);
            }
            add(new Sample(seconds(), values));
        } catch (RuntimeException e) {
            LOG.error("A sample could not be taken", e); // else the timer would end without a word
        }
    }

    private void add(Sample sample) {
        synchronized (this) {
            samples.add(sample);
        }
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%.1f", sample.seconds()));
        for (Metric metric : Metric.values()) {
            Double value = sample.values().get(metric);
            line.append(',').append(value == null ? "" : String.format(Locale.ROOT, "%.3f", value));
        }
        write(line.toString());
    }

    private void write(String line) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void putResident(Map<Metric, Double> values) {
        try (Stream<String> lines = Files.lines(STATUS)) {
            lines.map(VM_RSS::matcher)
                    .filter(Matcher::matches)
                    .forEach(line -> values.put(Metric.RESIDENT, Long.parseLong(line.group(1)) * 1024 / MB));
        } catch (IOException e) {
            LOG.debug("This operating system does not tell how much memory is resident", e);
        }
    }

    /** Those of the proxies belong to the test, and come and go with the connections. */
    static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("proxy-"))
                .count();
    }

    private void putLateness(Map<Metric, Double> values) {
        long now = System.nanoTime();
        double[] sorted = nodes.stream()
                .flatMap(node -> node.takeLateness().stream())
                .mapToDouble(micros -> micros / 1000.0)
                .sorted()
                .toArray();
        values.put(Metric.DELIVERED, sorted.length * 1e9 / Math.max(1, now - lastNanos));
        lastNanos = now;
        if (sorted.length > 0) {
            values.put(Metric.LATENESS_P50, sorted[sorted.length / 2]);
            values.put(Metric.LATENESS_P99, sorted[(int) (sorted.length * 0.99)]);
            values.put(Metric.LATENESS_MAX, sorted[sorted.length - 1]);
        }
    }

    private void putServer(Map<Metric, Double> values) throws IOException {
        String info;
        try (RedisSocket server = RedisSocket.open(address)) {
            info = server.text("INFO");
        }
        values.put(Metric.CONNECTIONS, number(info, "connected_clients") - 1); // but this one
        values.put(Metric.REDIS_MEMORY, number(info, "used_memory") / MB);
        Holdings holdings = read(address);
        values.put(Metric.KEYS, (double) holdings.keys());
        values.put(Metric.BOOKKEEPING, holdings.bookkeeping() / MB);
        values.put(Metric.PENDING, (double) holdings.pending());
    }

    private static double number(String info, String name) throws IOException {
        Matcher matcher =
                Pattern.compile("^" + name + ":(\\d+)", Pattern.MULTILINE).matcher(info);
        if (!matcher.find()) {
            throw new IOException("INFO does not say " + name);
        }
        return Double.parseDouble(matcher.group(1));
    }

    /** Asks a server what it holds. */
    static Holdings read(String address) throws IOException {
        try (RedisSocket server = RedisSocket.open(address)) {
            String head = server.send(List.of("EVAL", COUNT, "0"));
            if (head == null || !head.startsWith("$")) {
                throw new IOException("The server cannot count: " + head);
            }
            String[] counts = server.next().split(" ");
            return new Holdings(Long.parseLong(counts[0]), Long.parseLong(counts[1]), Long.parseLong(counts[2]));
        }
    }

    /** Looks no more. */
    @Override
    public void close() {
        clock.shutdownNow();
    }
}
