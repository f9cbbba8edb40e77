// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.ManyProcesses;
import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** The processes around one queue, which has the same name in Redisson and here. Each of them has a name of its own. */
final class Fleet implements AutoCloseable {

    private final Path folder;
    private final List<String> addresses;
    private final String queue;
    private final List<Member> members = new ArrayList<>();

    /**
     * A process.
     *
     * @param file what it writes
     * @param log what it prints
     */
    record Member(String name, Process process, Path file, Path log) {

        /** The lines that it has written so far; one that a kill cut short is left out. */
        List<String> read() {
            return lines(file);
        }

        /** The texts of an old process's lines of one kind. */
        List<String> texts(OldQueueProcess.Line kind) {
            return read().stream()
                    .map(line -> line.split(" "))
                    .filter(words -> words[0].equals(kind.name()))
                    .map(words -> words[2])
                    .toList();
        }

        /** Waits until it has done something. */
        Member begun() {
            until(() -> {
                assertThat(process.isAlive()).as(this::logged).isTrue();
                return read().size() > 20;
            });
            return this;
        }

        /** Lets it do less; what its class says. */
        void tell() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }

        /** Lets it end in an orderly way. */
        void end() throws IOException, InterruptedException {
            process.getOutputStream().close();
            ended(0);
        }

        /** Kills it with SIGKILL. */
        void kill() throws InterruptedException {
            process.destroyForcibly();
            ended(137);
        }

        private void ended(int value) throws InterruptedException {
            assertThat(process.waitFor(3, TimeUnit.MINUTES))
                    .as(name + " has ended")
                    .isTrue();
            assertThat(process.exitValue()).as(this::logged).isEqualTo(value);
        }

        /** The history that a process with Camel has written. */
        List<Event> history() {
            return Files.exists(file) ? History.read(file) : List.of();
        }

        /** The lines of a process with Camel on messages whose ids are no texts. */
        List<String> names() {
            return lines(Path.of(file + CamelProcess.NAMES));
        }

        /** The text that it has printed. */
        String logged() {
            try {
                return name + ":\n" + Files.readString(log);
            } catch (IOException e) {
                return e.toString();
            }
        }

        private static List<String> lines(Path path) {
            try {
                String text = Files.exists(path) ? Files.readString(path) : "";
                return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** @param addresses of one server, or of a cluster's nodes */
    Fleet(Path folder, List<String> addresses, String queue) {
        this.folder = folder;
        this.addresses = addresses;
        this.queue = queue;
    }

    /** Starts a process of an old release; see {@link OldQueueProcess}. */
    Member old(String release, OldQueueProcess.Role role, String codec, int count, int shortest, int longest)
            throws Exception {
        String name = "m" + members.size() + "-" + release;
        Path log = folder.resolve(name + ".log");
        Path lines = folder.resolve(name + ".lines");
        Process process = OldRedissons.start(
                release,
                log,
                OldQueueProcess.class,
                role.name(),
                String.join(",", addresses),
                queue,
                codec,
                lines.toString(),
                name + "-",
                Integer.toString(count),
                "100",
                Integer.toString(shortest),
                Integer.toString(longest));
        return add(new Member(name, process, lines, log));
    }

    /** Starts an old process that offers nothing. */
    Member old(String release, OldQueueProcess.Role role, String codec) throws Exception {
        return old(release, role, codec, 0, 0, 0);
    }

    /** Starts a process with Camel. @param more its arguments from the third on, see {@link CamelProcess} */
    Member camel(String... more) throws IOException {
        String name = "m" + members.size() + "-camel";
        Path log = folder.resolve(name + ".log");
        Path history = folder.resolve(name + ".history");
        List<String> arguments = new ArrayList<>(List.of(name, history.toString()));
        arguments.addAll(Arrays.asList(more));
        Process process = new ProcessBuilder(
                        ManyProcesses.command(CamelProcess.class, arguments.toArray(String[]::new)))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        return add(new Member(name, process, history, log));
    }

    private Member add(Member member) {
        members.add(member);
        return member;
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
