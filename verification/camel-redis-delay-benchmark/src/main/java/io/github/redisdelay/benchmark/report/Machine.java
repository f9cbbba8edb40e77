// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import io.github.redisdelay.benchmark.Environment;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.redisson.Redisson;

/**
 * On what it was measured: names and values, for people. Kept beside {@code raw.csv}, so that a report can be made
 * again.
 */
record Machine(Map<String, String> facts) {

    private static final String FILE = "machine.txt";
    private static final Path CPU = Path.of("/proc/cpuinfo");
    private static final Path MEMORY = Path.of("/proc/meminfo");
    private static final Path DISTRIBUTION = Path.of("/etc/os-release");

    /**
     * This machine, and the servers that run on it.
     *
     * @param otherQueues their names and versions
     */
    static Machine of(Environment environment, Map<String, String> otherQueues) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("processor", value(CPU, "model name", System.getProperty("os.arch")));
        facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("memory", memory());
        facts.put(
                "system",
                value(DISTRIBUTION, "PRETTY_NAME", System.getProperty("os.name"))
                                .replace("\"", "") + ", kernel "
                        + System.getProperty("os.version").replaceFirst("-.*", ""));
        facts.put(
                "JDK",
                System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version") + ", "
                        + String.join(" ", flags()));
        facts.put("Redis", environment.version() + ", " + environment.binary() + ", no persistence");
        facts.put("Redisson", version(Redisson.class));
        facts.put("Camel", version(org.apache.camel.CamelContext.class));
        otherQueues.forEach((name, version) -> facts.put(Tables.subject(name), version));
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        return new Machine(facts);
    }

    private static List<String> flags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("-X"))
                .toList();
    }

    private static String version(Class<?> type) {
        String version = type.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }

    private static String memory() {
        String kilobytes = value(MEMORY, "MemTotal", "").replaceAll("[^0-9]", "");
        return kilobytes.isEmpty()
                ? "unknown"
                : String.format(Locale.ROOT, "%.1f GiB", Long.parseLong(kilobytes) / 1024.0 / 1024.0);
    }

    /** The value of the first line {@code name : value} or {@code name=value}. */
    private static String value(Path file, String name, String otherwise) {
        if (!Files.isReadable(file)) {
            return otherwise; // not Linux
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.split("[:=]", 2))
                    .filter(parts -> parts.length == 2)
                    .map(parts -> parts[1].strip())
                    .findFirst()
                    .orElse(otherwise);
        } catch (IOException e) {
            return otherwise;
        }
    }

    void save(Path folder) throws IOException {
        Files.write(
                folder.resolve(FILE),
                facts.entrySet().stream()
                        .map(fact -> fact.getKey() + ": " + fact.getValue())
                        .toList());
    }

    /** The text that {@link #save} wrote; empty if there is none. */
    static Machine load(Path folder) throws IOException {
        Map<String, String> facts = new LinkedHashMap<>();
        Path file = folder.resolve(FILE);
        if (Files.exists(file)) {
            for (String line : Files.readAllLines(file)) {
                String[] parts = line.split(": ", 2);
                facts.put(parts[0], parts.length == 2 ? parts[1] : "");
            }
        }
        return new Machine(facts);
    }
}
