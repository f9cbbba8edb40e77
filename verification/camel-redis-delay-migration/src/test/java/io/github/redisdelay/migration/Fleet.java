// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.testkit.RedisSocket;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The processes around one queue, and the lines that they write. */
final class Fleet implements AutoCloseable {

    private final Path folder;
    private final String address;
    private final String queue;
    private final List<Member> members = new ArrayList<>();

    /** A process. */
    record Member(String name, Process process, Path lines, Path log) {

        /** What it has written so far; a line that a kill cut short is left out. */
        List<String> read() throws IOException {
            if (!Files.exists(lines)) {
                return List.of();
            }
            String text = Files.readString(lines);
            return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        }

        /** Lets it end in an orderly way. */
        void end() throws IOException, InterruptedException {
            process.getOutputStream().close();
            assertThat(process.waitFor(1, TimeUnit.MINUTES))
                    .as(name + " has ended")
                    .isTrue();
            assertThat(process.exitValue()).as(() -> name + ":\n" + logged()).isZero();
        }

        /** Kills it with SIGKILL. */
        void kill() throws InterruptedException {
            process.destroyForcibly();
            assertThat(process.waitFor(1, TimeUnit.MINUTES))
                    .as(name + " has ended")
                    .isTrue();
            assertThat(process.exitValue()).as(() -> name + ":\n" + logged()).isEqualTo(137);
        }

        private String logged() {
            try {
                return Files.readString(log);
            } catch (IOException e) {
                return e.toString();
            }
        }
    }

    Fleet(Path folder, String address, String queue) {
        this.folder = folder;
        this.address = address;
        this.queue = queue;
    }

    /** Starts a producer of an old release; see {@link OldQueueProcess}. */
    Member produce(String release, String codec, int count, int perSecond, int shortest, int longest) throws Exception {
        String start = "m" + members.size() + "-" + release + "-";
        return old(release, "produce", codec, start, "" + count, "" + perSecond, "" + shortest, "" + longest);
    }

    /** Starts a process of an old release that has no texts of its own; see {@link OldQueueProcess}. */
    Member old(String release, String role, String codec, String... more) throws Exception {
        String name = "m" + members.size() + "-" + role + "-" + release;
        Path log = folder.resolve(name + ".log");
        Path lines = folder.resolve(name + ".lines");
        List<String> arguments = new ArrayList<>(List.of(role, address, queue, codec, lines.toString()));
        arguments.addAll(Arrays.asList(more));
        return add(new Member(
                name,
                OldRedissons.start(release, log, OldQueueProcess.class, arguments.toArray(String[]::new)),
                lines,
                log));
    }

    /** Starts a process of the component; see {@link NewQueueProcess}. */
    Member current(String role, String... more) throws IOException {
        String name = "m" + members.size() + "-" + role;
        Path log = folder.resolve(name + ".log");
        Path lines = folder.resolve(name + ".lines");
        List<String> command = new ArrayList<>(OldRedissons.JAVA);
        command.addAll(List.of(
                "-cp",
                Stream.of(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                                .split(File.pathSeparator))
                        .distinct()
                        .reduce((one, other) -> one + File.pathSeparator + other)
                        .orElseThrow(),
                NewQueueProcess.class.getName(),
                role,
                address,
                queue,
                lines.toString()));
        command.addAll(Arrays.asList(more));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        return add(new Member(name, process, lines, log));
    }

    private Member add(Member member) {
        members.add(member);
        return member;
    }

    /** How many messages the old queue has, pending and ready. */
    long oldSize() throws IOException {
        try (RedisSocket redis = RedisSocket.open(address)) {
            return number(redis.call("ZCARD " + Backlog.pendingKey(queue))) + number(redis.call("LLEN " + queue));
        }
    }

    /** How many calls of scripts have failed, but for those of scripts that the server had not seen yet. */
    long failedScripts() throws IOException {
        try (RedisSocket redis = RedisSocket.open(address)) {
            long failed = redis.text("INFO commandstats")
                    .lines()
                    .filter(line -> line.matches("cmdstat_eval(sha)?:.*"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll(".*failed_calls=(\\d+).*", "$1")))
                    .sum();
            long unseen = redis.text("INFO errorstats")
                    .lines()
                    .filter(line -> line.startsWith("errorstat_NOSCRIPT"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll(".*count=(\\d+).*", "$1")))
                    .sum();
            return failed - unseen;
        }
    }

    private static long number(String reply) {
        assertThat(reply).startsWith(":");
        return Long.parseLong(reply.substring(1).trim());
    }

    static void until(Callable<Boolean> condition) {
        await().atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }

    @Override
    public void close() {
        members.forEach(member -> member.process().destroyForcibly());
    }
}
