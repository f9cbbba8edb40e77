// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.faults.PowerCut.Binary;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.MasterAndReplica;
import io.github.redisdelay.testkit.RedisSocket;
import io.github.redisdelay.testkit.SentinelServers;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.redisson.api.RedissonClient;

/**
 * A stopped server with some messages in its append-only file, a part of them as RDB and a part as commands, and all of
 * them in an RDB file. A test damages the files and starts it, again and again.
 */
final class DamagedServer implements AutoCloseable {

    static final int MESSAGES = 300;

    /** Patient, on a busy machine. */
    private static final ClientOptions OPTIONS = ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(50));

    private static final String KEY = "redis-delay:{" + Experiment.QUEUE + "}:";
    /** The program behind the loader of a script that runs one. */
    private static final Pattern PROGRAM = Pattern.compile("(\\S+) \"\\$@\"");

    /** What a server has after its start. */
    record Stored(Map<String, String> messages, Map<String, String> dueTimes) {

        int lost(Stored before) {
            return (int) before.messages.keySet().stream()
                    .filter(id -> !messages.containsKey(id))
                    .count();
        }

        /** How many messages have other bytes or another due time, or were not there. */
        int changed(Stored before) {
            return (int) messages.keySet().stream()
                    .filter(id -> !messages.get(id).equals(before.messages.get(id))
                            || !String.valueOf(dueTimes.get(id)).equals(before.dueTimes.get(id)))
                    .count();
        }
    }

    /** A file from one byte to another. */
    record Part(Path file, long from, long to) {

        long length() {
            return to - from;
        }

        /** Turns one bit. */
        void turn(long at, int bit) throws IOException {
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                bytes.seek(from + at);
                int value = bytes.read();
                bytes.seek(from + at);
                bytes.write(value ^ 1 << bit);
            }
        }

        /** Ends the file within it, or lets zeros follow. */
        void end(long at) throws IOException {
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                bytes.setLength(from + at);
            }
        }
    }

    private final Binary binary;
    private final Path settings = Files.createTempFile("damaged", ".conf");
    private final Path saved = Files.createTempDirectory("damaged");
    private final Path folder;
    private final RedisServer server;
    /** What was stored before the last call, and after it. */
    final Stored beforeLast;

    final Stored all;
    /** Of the append-only file: what is RDB, the calls since then but for the last, and the last. */
    final Part base;

    final Part calls;
    final Part last;
    /** The RDB file. */
    final Part rdb;

    DamagedServer(Binary binary) throws Exception {
        this.binary = binary;
        server = RedisServer.process(
                binary.path(), "appendonly yes", "appendfsync always", "include " + settings.toAbsolutePath());
        RedissonClient redisson = TestConnections.open(server.address());
        try (DelayQueueClient client = DelayQueueClient.create(redisson, OPTIONS)) {
            try (RedisSocket socket = RedisSocket.open(server.address())) {
                folder = Path.of(socket.texts("CONFIG GET dir").get(1));
                schedule(client, "early-", MESSAGES);
                // The client writes this behind its first change. Before Redis 7.0 it could follow the RDB in the same
                // file.
                SentinelServers.until(
                        () -> socket.call("EXISTS redis-delay:queues").equals(":1"));
                socket.call("BGREWRITEAOF");
            }
            SentinelServers.until(() -> MasterAndReplica.info(server, "persistence")
                            .contains("aof_rewrite_in_progress:0\naof_rewrite_scheduled:0")
                    && Files.size(find(".base.rdb")) > 0);
            long rewritten = Files.size(find(".base.rdb"));
            long begin = find(".base.rdb").equals(find(".incr.aof")) ? rewritten : 0;
            schedule(client, "late-", MESSAGES);
            beforeLast = stored();
            long lastBegin = Files.size(find(".incr.aof"));
            schedule(client, "last-", 1);
            all = stored();
            base = new Part(find(".base.rdb"), 0, rewritten);
            calls = new Part(find(".incr.aof"), begin, lastBegin);
            last = new Part(find(".incr.aof"), lastBegin, Files.size(find(".incr.aof")));
        } finally {
            redisson.shutdown();
        }
        MasterAndReplica.ask(server, "SAVE", "+OK");
        server.stop();
        rdb = new Part(folder.resolve("dump.rdb"), 0, Files.size(folder.resolve("dump.rdb")));
        for (Path file : data(folder)) {
            Path copy = saved.resolve(folder.relativize(file));
            Files.createDirectories(copy.getParent());
            Files.copy(file, copy);
        }
    }

    private static void schedule(DelayQueueClient client, String prefix, int messages) throws Exception {
        List<CompletableFuture<?>> sent = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            byte[] body = String.format("%-200s", prefix + i).getBytes(StandardCharsets.US_ASCII);
            sent.add(client.queue(Experiment.QUEUE)
                    .schedule(ScheduleRequest.of(prefix + i, body, DueTime.after(Duration.ofHours(1))))
                    .result());
        }
        for (CompletableFuture<?> each : sent) {
            each.get(60, TimeUnit.SECONDS);
        }
    }

    private static List<Path> data(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().matches(".*\\.(aof|rdb|manifest)"))
                    .toList();
        }
    }

    /** The newest file of this kind; before Redis 7.0 there is one for all. */
    private Path find(String suffix) throws IOException {
        return data(folder).stream()
                .filter(file -> file.toString().endsWith(suffix))
                .max(Comparator.naturalOrder())
                .orElse(folder.resolve("appendonly.aof"));
    }

    /** The files as they were, and further lines of its configuration. */
    void reset(String... configLines) throws IOException {
        Files.write(settings, List.of(configLines));
        for (Path file : data(folder)) {
            Files.delete(file);
        }
        for (Path file : data(saved)) {
            Files.copy(file, folder.resolve(saved.relativize(file)), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** The file that names the others; null before Redis 7.0. */
    Path manifest() throws IOException {
        Path found = find(".manifest");
        return found.toString().endsWith(".manifest") ? found : null;
    }

    /** Starts it; what it says where it does not start, else null. */
    String refusal() {
        try {
            server.start();
            return null;
        } catch (RuntimeException e) {
            return e.getMessage();
        }
    }

    void stop() {
        server.stop();
    }

    Stored stored() throws IOException {
        try (RedisSocket socket = RedisSocket.open(server.address())) {
            return new Stored(
                    pairs(socket.texts("HGETALL " + KEY + "messages")),
                    pairs(socket.texts("ZRANGE " + KEY + "delayed 0 -1 WITHSCORES")));
        }
    }

    private static Map<String, String> pairs(List<String> texts) {
        Map<String, String> pairs = new HashMap<>();
        for (int i = 0; i < texts.size(); i += 2) {
            pairs.put(texts.get(i), texts.get(i + 1));
        }
        return pairs;
    }

    /** What a check of the queue finds. */
    CheckResult check() throws Exception {
        RedissonClient redisson = TestConnections.open(server.address());
        try (DelayQueueClient client = DelayQueueClient.create(redisson, OPTIONS)) {
            return client.queue(Experiment.QUEUE).admin().check().get(60, TimeUnit.SECONDS);
        } finally {
            redisson.shutdown();
        }
    }

    /** Runs {@code redis-check-aof --fix}, which each server has in it; what it says. */
    String fix() throws Exception {
        Path tool = Files.createTempDirectory("tool")
                .resolve(binary.version().startsWith("V") ? "valkey-check-aof" : "redis-check-aof");
        List<String> command = new ArrayList<>();
        try {
            if (isScript(binary.path())) {
                // It may run the program with a loader, so the name has to be changed there.
                String script = Files.readString(binary.path());
                Matcher program = PROGRAM.matcher(script);
                assertThat(program.find()).as("a program in " + script).isTrue();
                String changed = script.replace(program.group(), "'" + tool + "' \"$@\"")
                        .replaceFirst(
                                "(?m)^exec ",
                                Matcher.quoteReplacement("ln -s " + program.group(1) + " '" + tool + "'\nexec "));
                command.addAll(List.of("sh", "-c", changed, binary.path().toString()));
            } else {
                Files.createSymbolicLink(tool, binary.path().toAbsolutePath());
                command.add(tool.toString());
            }
            // Not the manifest: with it the tool of Valkey 9.1 takes the RDB of Valkey for a broken file.
            command.addAll(List.of("--fix", last.file().toString()));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().write('y');
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return output;
        } finally {
            Files.deleteIfExists(tool);
            Files.delete(tool.getParent());
        }
    }

    private static boolean isScript(Path file) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "r")) {
            return bytes.read() == '#';
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.delete(settings);
        try (Stream<Path> files = Files.walk(saved)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
