// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Figure;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Writes {@code results.md} and its drawings: the targets first, then each experiment. */
public final class Report {

    /** The subject of each experiment, for people who have not read its code. */
    private static final Map<String, String[]> ABOUT = Map.ofEntries(
            Map.entry("rates", new String[] {
                "Scheduling and delivery rates",
                "Scheduling far ahead: by callers that wait for each answer, asynchronously (through Camel `synchronous=false`)"
                        + " with 2 000 messages under way,"
                        + " and in batches of 100. Delivery, each message acknowledged: of a backlog that was due before the"
                        + " consumer started, and of messages with random due times within 200 ms, from the first due time until"
                        + " the queue is empty."
            }),
            Map.entry("link", new String[] {
                "Rates over a link",
                "The same with a proxy between the clients and Redis that holds up everything for so long in each direction."
                        + " RDelayedQueue, which takes one message in a round trip, has a backlog of 2 000 only."
            }),
            Map.entry("mixed", new String[] {
                "Both at once",
                "Messages are scheduled with random delays of 1 to 60 s, and delivered when they are due."
            }),
            Map.entry("mixes", new String[] {
                "Requests of different kinds",
                "One client asks for one kind of change, or for several by turns: schedules, and cancels of other messages that"
                        + " were scheduled before; acknowledgements, and returns with a failure, of deliveries; look-ups (`get`)."
                        + " A shop's mix, of 100 orders: 100 schedules, 70 cancels, 5 reschedules, 5 look-ups and 30 deliveries, of"
                        + " which 3 fail once and come again, all at the same time beside 5 600 orders that wait. Each delivery counts"
                        + " as a request. `RDelayedQueue` has neither acknowledgement nor return. It searches its list for what is"
                        + " cancelled or looked up, so it has 2 000 requests only, and BullMQ 10 000; ours have 60 000, of waiting"
                        + " callers 30 000. Script calls are those that Redis has executed, claims included. The floor has bare"
                        + " scripts, one for each kind, whose client puts together what waits."
            }),
            Map.entry("queues", new String[] {
                "Many queues",
                "200 callers that wait for each answer schedule to one queue, or to 200: the next message to the next queue, or a"
                        + " hundred to each. A call is about one queue."
            }),
            Map.entry(
                    "scale",
                    new String[] {"Scale", "The rates beside a number of messages that wait for a far later time."}),
            Map.entry("scale-cluster", new String[] {
                "Scale over a cluster",
                "One queue with 12 partitions on a Redis Cluster of three nodes, all on the same machine with the client, the queue"
                        + " layer alone. Each row schedules so many more messages that are due hours later, and has 200 000 that are"
                        + " due at once delivered; one run, without rounds. CPU time is that of all nodes, network what goes between"
                        + " them and their clients. In the middle each node gets a replica, two producers schedule 4 000 messages a"
                        + " second each, with delays of 1 to 20 s, and a node is killed; then the replicas go. An acknowledged message"
                        + " that is never delivered is lost: with `waitForReplicas=1` none may be."
            }),
            Map.entry("lateness", new String[] {
                "Lateness",
                "From the time at which a message is due until its processor is entered, in milliseconds. Delays are random,"
                        + " 1 to 3 s, and due times do not depend on how fast anything is (open loop: no coordinated omission)."
                        + " Redis, producer and consumer run on one machine, so its wall clock is the only one: the due time, in"
                        + " microseconds, is in the body, and the processor compares it with the clock. Consumers have their"
                        + " default options; RDelayedQueue has one thread that takes. The floor is a thread of the same JVM that only"
                        + " sleeps for 5 ms: how late it wakes up while the route is measured."
            }),
            Map.entry("lone", new String[] {
                "A lone message",
                "From the call that schedules a message that is due at once until its processor is entered, one message after"
                        + " the other, to a consumer that waits with its default options. A round trip is that of `PING` on a plain"
                        + " connection, one before each message, its median. Redis time: how long Redis executes each script of the"
                        + " queue layer, by its slow log; a claim with nothing due is that of the consumer after the message. Redis sleeps"
                        + " before each of them, so its caches are cold. The floor is a bare script that stores and wakes, and one that"
                        + " hands out, on the thread that reads the answers."
            }),
            Map.entry("fleet", new String[] {
                "Idle and fleet cost",
                "Consumers of one queue, each in a Camel context with a component of its own; and one context with 200 queues."
                        + " They share one Redisson client in a JVM: fifty clients would measure Redisson. Idle: commands that"
                        + " clients sent in a minute, counted with `MONITOR`. Under load: claims and script calls (scheduling and"
                        + " acknowledgement included), and wake-ups (`PUBLISH` by a script). Killed: half of the consumers are in"
                        + " five JVMs, which get a SIGKILL one after the other; lateness is that of first deliveries, what a killed"
                        + " one held comes again when its lease ends."
            }),
            Map.entry("memory", new String[] {
                "Memory",
                "Redis memory (`used_memory`) of a pending message scheduled through the route: text, no headers, a generated id."
                        + " RDelayedQueue holds the same bytes. And the heap that the JVM allocates for a message, client and all."
            }),
            Map.entry("groups", new String[] {
                "Groups",
                "Delivery of a backlog of 100 000 messages, each acknowledged, without groups and in 10 000 groups with one place each,"
                        + " by turns. Redis memory of a message that is due in a day, with an id of 16 characters: without a group; in a"
                        + " group of 16 bytes of its own; and parked behind the first one of ten in such a group. And how late the"
                        + " messages of 100 other groups are, 500 each second, of a route with 16 slots: alone; while 10 000 of a noisy"
                        + " group are due each second; and while 100 000 of it are due at one instant."
            }),
            Map.entry("server", new String[] {
                "One server",
                "Redis memory of a pending message, as in `memory`, and the delivery of a backlog of 100 000 through Camel."
            }),
            Map.entry("recovery", new String[] {
                "Recovery", "Messages leased by a consumer that was killed, delivered again when their leases end."
            }),
            Map.entry("jmh", new String[] {
                "Hot paths in Java (JMH)",
                "The envelope, group commit on a Redis that answers at once, and a delivery without and with meters."
            }),
            Map.entry("before", new String[] {
                "Beside another commit",
                "Both commits by turns, each in JVMs of its own on the same Redis; of each round the ratio, in percent."
            }),
            Map.entry("bounds", new String[] {
                "Beside bare clients",
                "Waiting callers beside bare scripts without any check, put together into one call at a time by a few lines, with and"
                        + " without a route; and the delivery of a backlog beside scripts that are fenced, count attempts and answer"
                        + " repeats, and nothing else."
            }));

    private final Path folder;
    private final Results results;
    private final Machine machine;
    private final String command;

    private Report(Path folder, List<Figure> figures, Machine machine, String command) {
        this.folder = folder;
        this.results = new Results(figures);
        this.machine = machine;
        this.command = command;
    }

    /**
     * Writes the report of a run.
     *
     * @param folder where {@code raw.csv} is
     * @param otherQueues the names and versions of those that were measured, too
     */
    public static void write(
            Path folder,
            List<Figure> figures,
            List<String> failed,
            Environment environment,
            Map<String, String> otherQueues)
            throws IOException {
        Machine machine = Machine.of(environment, otherQueues);
        machine.save(folder);
        String note = failed.isEmpty() ? "" : " (failed, and so without a result: " + String.join(", ", failed) + ")";
        new Report(folder, figures, machine, command(environment.quick()) + note).write();
    }

    /**
     * Writes the report of an earlier run again.
     *
     * @param arguments the folder where its {@code raw.csv} is
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        new Report(folder, RawFile.read(folder.resolve("raw.csv")), Machine.load(folder), command(false)).write();
    }

    private static String command(boolean quick) {
        String only = System.getProperty("benchmark.only", "").trim();
        String link = System.getProperty("benchmark.link", "").trim();
        String contenders = System.getProperty("benchmark.contenders", "").trim();
        String pending = System.getProperty("benchmark.pending", "").trim();
        String before = System.getProperty("benchmark.before", "").trim();
        return "mvn -B -ntp -Pbenchmark -DskipTests -pl :camel-redis-delay-benchmark -am verify"
                + (quick ? " -Dbenchmark.quick=true" : "")
                + (only.isEmpty() ? "" : " -Dbenchmark.only=" + only)
                + (link.isEmpty() ? "" : " -Dbenchmark.link=" + link)
                + (contenders.isEmpty() ? "" : " -Dbenchmark.contenders=" + contenders)
                + (before.isEmpty() ? "" : " -Dbenchmark.before=" + before)
                + (pending.isEmpty() ? "" : " -Dbenchmark.pending=" + pending);
    }

    private void write() throws IOException {
        try (DirectoryStream<Path> old = Files.newDirectoryStream(folder, "*.png")) {
            for (Path drawing : old) {
                Files.delete(drawing); // of an earlier run with other experiments
            }
        }
        StringBuilder text = new StringBuilder();
        text.append("# Benchmark results\n\n");
        text.append("Measured with one command in one run, everything that needs a Redis on the same one:\n\n    ")
                .append(command)
                .append("\n\n");
        machine.facts().forEach((name, value) -> text.append("- ")
                .append(name)
                .append(": ")
                .append(value)
                .append('\n'));
        text.append(
                "\nBodies have 200 bytes unless it says otherwise. A value is the median of the rounds; in brackets the smallest"
                        + " and the largest.\n\n");
        targets(text);
        for (String experiment : results.experiments()) {
            section(text, experiment);
        }
        Files.writeString(folder.resolve("results.md"), text);
    }

    private void targets(StringBuilder text) {
        text.append("## Targets\n\n").append(Tables.row(List.of("", "target", "measured", "")));
        text.append("|---|---:|---:|---|\n");
        for (Target target : Targets.of(results)) {
            text.append(
                    Tables.row(List.of(target.text(), target.limitText(), target.measuredText(), target.verdict())));
        }
        text.append('\n');
    }

    private void section(StringBuilder text, String experiment) throws IOException {
        String[] about = ABOUT.getOrDefault(experiment, new String[] {experiment, ""});
        text.append("## ").append(about[0]).append("\n\n");
        if (!about[1].isEmpty()) {
            text.append(about[1]).append("\n\n");
        }
        for (Plots.Plot plot : Plots.draw(folder, results, experiment)) {
            text.append("![")
                    .append(plot.title())
                    .append("](")
                    .append(plot.file())
                    .append(")\n\n");
        }
        text.append(Tables.of(experiment, results)).append('\n');
    }
}
