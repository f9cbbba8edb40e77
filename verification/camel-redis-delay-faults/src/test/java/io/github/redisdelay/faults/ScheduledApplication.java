// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An application of one route with a cron expression, as a user has it: it runs in three JVMs, some are killed, and the
 * lines that it logs are counted.
 */
final class ScheduledApplication {

    private static final String RULE = "cron */5 * * * * * UTC";
    private static final int WORK_MILLIS = 300;

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    private ScheduledApplication() {}

    /** The application. Its argument is the address of Redis. */
    public static void main(String[] arguments) throws Exception {
        ChildMain.endsItsJvmWhenItFails();
        Main main = new Main();
        main.configure().addRoutesBuilder(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:nightly?cron=*/5 * * * * *&visibilityTimeout=3s&address=" + arguments[0])
                        .process(exchange -> log("begins", exchange))
                        .delay(WORK_MILLIS)
                        .process(exchange -> log("run", exchange));
            }
        });
        main.run();
    }

    private static void log(String what, Exchange exchange) {
        Object time = exchange.getMessage().getHeader(RedisDelayConstants.RUN_TIME);
        System.out.println(what + " " + time + " " + System.currentTimeMillis());
        System.out.flush();
    }

    /** A line of a log: the time of a run, and when it was written, both in milliseconds. */
    private record Line(long time, long written) {}

    private static List<Line> lines(LoggingProcess node, String what) {
        return node.lines(what).stream()
                .map(words -> new Line(Long.parseLong(words[1]), Long.parseLong(words[2])))
                .toList();
    }

    /** One of three is killed while it works on nothing, and then the one that works. */
    static void judge(String title) throws Exception {
        List<LoggingProcess> all = new ArrayList<>();
        try (RedisServer server = RedisServer.dedicated()) {
            for (int i = 0; i < 3; i++) {
                all.add(LoggingProcess.start(ScheduledApplication.class, server.address()));
            }
            int kills = 0;
            int atWork = 0;
            for (int round = 0; round < Experiment.rounds(); round++) {
                awaitRuns(all, 2);
                all.get(all.size() - 1 - round % 3).kill();
                kills++;
                awaitRuns(all, 1);
                Set<Line> before = new HashSet<>(lines(all, "begins"));
                await().atMost(Duration.ofSeconds(120))
                        .pollInterval(Duration.ofMillis(10))
                        .until(() -> !before.containsAll(lines(all, "begins")));
                for (LoggingProcess node : all) {
                    if (!before.containsAll(lines(node, "begins"))) {
                        node.kill();
                        kills++;
                        atWork++;
                    }
                }
                awaitRuns(all, 2);
                while (all.stream().filter(node -> node.isAlive()).count() < 3) {
                    all.add(LoggingProcess.start(ScheduledApplication.class, server.address()));
                }
                // The last three are those that live.
                all.sort((one, other) -> Boolean.compare(one.isAlive(), other.isAlive()));
            }
            count(title, kills, atWork, lines(all, "run"));
        } finally {
            for (LoggingProcess node : all) {
                node.kill();
            }
        }
    }

    private static List<Line> lines(List<LoggingProcess> all, String what) {
        return all.stream().flatMap(node -> lines(node, what).stream()).toList();
    }

    private static void awaitRuns(List<LoggingProcess> all, int count) {
        int before = lines(all, "run").size();
        await("runs in the log")
                .atMost(Duration.ofSeconds(120))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> lines(all, "run").size() >= before + count);
        // Until the last one has ended as well.
        await().pollDelay(Duration.ofMillis(300)).until(() -> true);
    }

    /** Each time is there once; one that is not passed before the run before it had ended, where its JVM had died. */
    private static void count(String title, int kills, int atWork, List<Line> lines) {
        Schedule rule = Schedule.parse(RULE);
        Map<Long, Line> runs = new TreeMap<>();
        int duplicates = 0;
        for (Line line : lines) {
            duplicates += runs.put(line.time, line) == null ? 0 : 1;
        }
        int missed = 0;
        int lost = 0;
        Line before = null;
        for (Line line : runs.values()) {
            for (long time = before == null ? line.time : next(rule, before.time);
                    time < line.time;
                    time = next(rule, time)) {
                missed++;
                // The next time is taken when the run has ended, soon after its line.
                lost += time > before.written + 1_000 ? 1 : 0;
            }
            before = line;
        }
        LOG.info(
                "{}: {} times, each once; {} missed and caught up; {} kills, {} of them at work",
                title,
                runs.size(),
                missed,
                kills,
                atWork);
        Experiment.row(title, kills, runs.size(), 1, lost, duplicates, null);
        assertThat(duplicates).as("times that the log shows twice").isZero();
        assertThat(lost).as("times that passed by").isZero();
        assertThat(missed)
                .as("times that passed while nobody came for a run, or the lease of the dead JVM ran")
                .isLessThanOrEqualTo(kills);
        assertThat(runs).hasSizeGreaterThanOrEqualTo(5 * Experiment.rounds());
    }

    private static long next(Schedule rule, long millis) {
        return rule.next(0, 1_000 * millis) / 1_000;
    }
}
