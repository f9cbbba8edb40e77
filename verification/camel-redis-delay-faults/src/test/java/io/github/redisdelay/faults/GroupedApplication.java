// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An application of one route that consumes the events of 100 customers, as a user has it: it runs in three JVMs, one is
 * killed now and then, and the order of each customer's events is read from the lines that they log.
 */
final class GroupedApplication {

    private static final int CUSTOMERS = 100;
    private static final int EVENTS = 20;
    /** Between the events of a customer. */
    private static final long APART_MICROS = 200_000;

    private static final int WORK_MILLIS = 30;
    private static final int KILLS = 2;

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    private GroupedApplication() {}

    /** The application. Its argument is the address of Redis. */
    public static void main(String[] arguments) throws Exception {
        ChildMain.endsItsJvmWhenItFails();
        Main main = new Main();
        main.configure().addRoutesBuilder(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:events?concurrentConsumers=20&visibilityTimeout=3s&address=" + arguments[0])
                        .process(exchange -> log("begins", exchange))
                        .delay(WORK_MILLIS)
                        .process(exchange -> log("ends", exchange));
            }
        });
        System.out.println("starts now");
        main.run();
    }

    private static void log(String what, Exchange exchange) {
        System.out.println(what + " " + exchange.getMessage().getBody(String.class) + " " + System.currentTimeMillis());
        System.out.flush();
    }

    /** A line of a log: the number of a customer's event, and when it began or ended, in milliseconds. */
    private record Line(int event, boolean begins, long written) {}

    static void judge(String title) throws Exception {
        int kills = KILLS * Experiment.rounds();
        int events = EVENTS * Experiment.rounds();
        List<LoggingProcess> all = new ArrayList<>();
        try (RedisServer server = RedisServer.dedicated()) {
            for (int i = 0; i < 3; i++) {
                all.add(LoggingProcess.start(GroupedApplication.class, server.address()));
            }
            schedule(server, events);
            for (int kill = 0; kill < kills; kill++) {
                int before = count(all);
                await("events in the log")
                        .atMost(Duration.ofSeconds(120))
                        .pollInterval(Duration.ofMillis(20))
                        .until(() -> count(all) >= Math.min(before + 500, CUSTOMERS * events));
                // The oldest of three: one that has consumed.
                all.get(kill).kill();
                all.add(LoggingProcess.start(GroupedApplication.class, server.address()));
            }
            await("all events in the log")
                    .atMost(Duration.ofSeconds(120))
                    .pollInterval(Duration.ofMillis(50))
                    .until(() -> lines(all).values().stream()
                            .allMatch(lines -> lines.stream()
                                            .filter(line -> !line.begins)
                                            .map(Line::event)
                                            .distinct()
                                            .count()
                                    == events));
            assertOrder(title, kills, events, lines(all));
        } finally {
            for (LoggingProcess each : all) {
                each.kill();
            }
        }
    }

    private static void schedule(RedisServer server, int events) throws Exception {
        RedissonClient redisson = TestConnections.open(server.address());
        try (DelayQueueClient client = DelayQueueClient.create(redisson, OverloadBench.PATIENT)) {
            DelayQueue queue = client.queue("events");
            List<Submission<ScheduleResult>> sent = new ArrayList<>();
            long begin = 1_000 * System.currentTimeMillis() + 1_000_000;
            for (int i = 0; i < events; i++) {
                for (int customer = 0; customer < CUSTOMERS; customer++) {
                    byte[] body = Envelope.of("customer-" + customer + " " + i).encode();
                    DueTime due = new DueTime(false, begin + i * APART_MICROS);
                    sent.add(queue.schedule(ScheduleRequest.of(null, body, due).withGroup("customer-" + customer)));
                }
            }
            for (Submission<ScheduleResult> each : sent) {
                each.result().get(60, TimeUnit.SECONDS);
            }
        } finally {
            redisson.shutdown();
        }
    }

    private static int count(List<LoggingProcess> all) {
        return all.stream().mapToInt(node -> node.lines("ends").size()).sum();
    }

    private static Map<String, List<Line>> lines(List<LoggingProcess> all) {
        Map<String, List<Line>> lines = new TreeMap<>();
        for (int i = 0; i < CUSTOMERS; i++) {
            lines.put("customer-" + i, new ArrayList<>());
        }
        for (LoggingProcess node : all) {
            for (String what : List.of("begins", "ends")) {
                for (String[] words : node.lines(what)) {
                    lines.get(words[1])
                            .add(new Line(Integer.parseInt(words[2]), what.equals("begins"), Long.parseLong(words[3])));
                }
            }
        }
        return lines;
    }

    /** Each event begins when the one before it has ended; one comes again only where its JVM was killed. */
    private static void assertOrder(String title, int kills, int events, Map<String, List<Line>> all) {
        int again = 0;
        for (Map.Entry<String, List<Line>> customer : all.entrySet()) {
            List<Line> lines = customer.getValue();
            lines.sort(Comparator.comparingLong(Line::written)
                    .thenComparingInt(Line::event)
                    .thenComparing(line -> !line.begins));
            int ended = -1;
            int last = -1;
            for (Line line : lines) {
                int expected = ended + 1;
                // An acknowledgement that was not sent before its JVM died.
                boolean repeats = line.event == ended && line.begins;
                assertThat(line.event == expected || line.event == ended && last == ended)
                        .as("%s of %s in order, %d had ended: %s", line, customer.getKey(), ended, lines)
                        .isTrue();
                again += line.begins && (repeats || last == line.event) ? 1 : 0;
                last = line.event;
                ended = line.begins ? ended : Math.max(ended, line.event);
            }
            assertThat(ended).as("last event of %s", customer.getKey()).isEqualTo(events - 1);
        }
        LOG.info(
                "{}: {} events of {} customers in order; {} came again, after {} kills",
                title,
                events * CUSTOMERS,
                CUSTOMERS,
                again,
                kills);
        Experiment.row(title, kills, (long) events * CUSTOMERS, CUSTOMERS, 0, again, null);
        assertThat(again).as("events that came again").isBetween(1, kills * 20);
    }
}
