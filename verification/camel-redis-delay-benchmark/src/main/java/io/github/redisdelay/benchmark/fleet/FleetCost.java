// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.fleet;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.lateness.CamelSender;
import io.github.redisdelay.benchmark.lateness.LatenessRecorder;
import io.github.redisdelay.benchmark.lateness.OpenLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.redisson.api.RedissonClient;

/**
 * The cost for Redis of many consumers of one queue, and of one consumer of many queues: while nothing is scheduled,
 * for each message that they deliver, and while some of them are killed.
 */
public final class FleetCost implements Experiment {

    private static final int MANY_QUEUES = 200;
    private static final int KILLED_IN_EACH_PROCESS = 5;

    /** Short enough to see what the killed ones held delivered again, and longer than anything that is worked on. */
    private static final String SHORT_LEASE = "visibilityTimeout=5s";

    private static final long PATIENCE_MILLIS = 60_000;

    private static final int WARM_UP_RATE = 200;

    private static final long WARM_UP_MICROS = TimeUnit.SECONDS.toMicros(2);

    @Override
    public String name() {
        return "fleet";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        List<Integer> sizes = environment.quick() ? List.of(1, 50) : List.of(1, 10, 50);
        List<Integer> rates = environment.quick() ? List.of(100) : List.of(1, 100, 2_000);
        idle(environment, figures, sizes);
        for (int round = 1; round <= environment.rounds(); round++) {
            // One message in a second takes long to measure, and is the same each time.
            int slowest = round == 1 ? 0 : 1;
            List<Integer> measured =
                    rates.stream().filter(rate -> rate > slowest).toList();
            for (int size : sizes) {
                load(environment, figures, "consumers=" + size, size, queues(1), measured, round);
            }
            load(environment, figures, "queues=" + MANY_QUEUES, 1, queues(MANY_QUEUES), measured, round);
        }
        for (int rate : rates) {
            kill(environment, figures, rate);
        }
    }

    private static List<String> queues(int count) {
        return IntStream.range(0, count).mapToObj(i -> "fleet" + i).toList();
    }

    // --- Nothing is scheduled

    /** A server, its fleet, and who listens to what they say. */
    private record Idle(
            String parameter,
            int consumers,
            Environment server,
            RedissonClient redisson,
            Fleet fleet,
            Monitor monitor) {
        void close() throws Exception {
            monitor.close();
            fleet.close();
            redisson.shutdown();
            server.close();
        }
    }

    /** All at the same time, each on a server of its own: they do next to nothing. */
    private void idle(Environment environment, Figures figures, List<Integer> sizes) throws Exception {
        List<Idle> all = new ArrayList<>();
        try {
            for (int size : sizes) {
                all.add(idle(environment.another(), "consumers=" + size, size, queues(1)));
            }
            all.add(idle(environment.another(), "queues=" + MANY_QUEUES, 1, queues(MANY_QUEUES)));
            TimeUnit.SECONDS.sleep(2); // what is sent at the start is no cost of being idle
            List<Map<String, Long>> before =
                    all.stream().map(idle -> idle.monitor().counts()).toList();
            // Twice the longest of the intervals in which each consumer does something, but for those of a large fleet.
            long seconds = environment.quick() ? 15 : 120;
            TimeUnit.SECONDS.sleep(seconds);
            for (int i = 0; i < all.size(); i++) {
                report(figures, all.get(i), before.get(i), all.get(i).monitor().counts(), seconds);
            }
        } finally {
            for (Idle idle : all) {
                idle.close();
            }
        }
    }

    private static Idle idle(Environment server, String parameter, int consumers, List<String> queues)
            throws Exception {
        RedissonClient redisson = server.newRedisson();
        Fleet fleet = Fleet.start(redisson, consumers, queues, "", new LatenessRecorder());
        // A context has a consumer for each queue.
        return new Idle(parameter, consumers * queues.size(), server, redisson, fleet, new Monitor(server.address()));
    }

    private void report(Figures figures, Idle idle, Map<String, Long> before, Map<String, Long> after, long seconds) {
        double commands = 0;
        double keepAlives = 0;
        for (Map.Entry<String, Long> command : after.entrySet()) {
            long calls = command.getValue() - before.getOrDefault(command.getKey(), 0L);
            if (command.getKey().equals("PING")) {
                keepAlives += calls;
            } else {
                commands += calls;
            }
        }
        String parameter = idle.parameter() + " idle";
        add(figures, parameter, 0, "idle commands", commands / seconds, "commands/s");
        add(
                figures,
                parameter,
                0,
                "idle commands of each consumer",
                10 * commands / seconds / idle.consumers(),
                "commands/10 s");
        add(figures, parameter, 0, "keep-alives of Redisson", keepAlives / seconds, "commands/s");
    }

    // --- Messages come

    private void load(
            Environment environment,
            Figures figures,
            String parameter,
            int consumers,
            List<String> queues,
            List<Integer> rates,
            int round)
            throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson();
        LatenessRecorder recorder = new LatenessRecorder();
        try (Fleet fleet = Fleet.start(redisson, consumers, queues, "", recorder);
                CamelSender sender = CamelSender.start(redisson, queues)) {
            // Consumers that have never worked do not know yet how long it takes, and go about it in another way.
            new OpenLoop(WARM_UP_RATE, WARM_UP_MICROS, new Random(0))
                    .run(recorder, (number, due, body) -> sender.sendAt((int) (number % queues.size()), due, body));
            sender.awaitStored();
            awaitEmpty(environment, queues);
            for (int rate : rates) {
                long window = windowMicros(environment, rate);
                Counts before = Counts.of(environment, fleet, List.of());
                OpenLoop.Sent sent = new OpenLoop(rate, window, new Random(round))
                        .run(recorder, (number, due, body) -> sender.sendAt((int) (number % queues.size()), due, body));
                sender.awaitStored();
                awaitEmpty(environment, queues);
                recorder.check(sent.messages());
                report(
                        figures,
                        parameter + " rate=" + rate,
                        round,
                        sent.messages(),
                        before,
                        Counts.of(environment, fleet, List.of()),
                        recorder.lateness());
            }
        } finally {
            redisson.shutdown();
        }
    }

    private static long windowMicros(Environment environment, int rate) {
        return TimeUnit.SECONDS.toMicros(environment.quick() ? 2 : rate < 10 ? 20 : 4);
    }

    // --- Some of them are killed

    private void kill(Environment environment, Figures figures, int rate) throws Exception {
        environment.clear();
        int processes = environment.quick() ? 2 : 5;
        int others = 50 - processes * KILLED_IN_EACH_PROCESS;
        List<String> queues = queues(1);
        RedissonClient redisson = environment.newRedisson();
        LatenessRecorder recorder = new LatenessRecorder();
        List<FleetProcess> victims = new ArrayList<>();
        try (Fleet fleet = Fleet.start(redisson, others, queues, SHORT_LEASE, recorder);
                CamelSender sender = CamelSender.start(redisson, queues)) {
            for (int i = 0; i < processes; i++) {
                victims.add(
                        FleetProcess.start(environment.address(), queues.get(0), KILLED_IN_EACH_PROCESS, SHORT_LEASE));
            }
            for (FleetProcess victim : victims) {
                victim.awaitReady();
            }
            TimeUnit.SECONDS.sleep(1); // until their JVMs are calm
            long window = TimeUnit.SECONDS.toMicros(2L * processes);
            Counts before = Counts.of(environment, fleet, victims);
            Thread killer = killer(victims, TimeUnit.SECONDS.toMillis(2));
            OpenLoop.Sent sent = new OpenLoop(rate, window, new Random(rate))
                    .run(recorder, (number, due, body) -> sender.sendAt(0, due, body));
            sender.awaitStored();
            killer.join();
            awaitEmpty(environment, queues);
            String parameter = "consumers=50 rate=" + rate + " killed=" + processes * KILLED_IN_EACH_PROCESS;
            victims.forEach(victim -> victim.addTo(recorder));
            report(
                    figures,
                    parameter,
                    0,
                    sent.messages(),
                    before,
                    Counts.of(environment, fleet, victims),
                    recorder.lateness());
            add(figures, parameter, 0, "delivered again", fleet.redelivered(), "messages");
        } finally {
            for (FleetProcess victim : victims) {
                victim.close();
            }
            redisson.shutdown();
        }
    }

    /** Kills one after the other, the first when all delays are due. */
    private static Thread killer(List<FleetProcess> victims, long intervalMillis) {
        Thread killer = new Thread(
                () -> {
                    try {
                        TimeUnit.SECONDS.sleep(3);
                        for (FleetProcess victim : victims) {
                            TimeUnit.MILLISECONDS.sleep(intervalMillis / 2);
                            victim.kill();
                            TimeUnit.MILLISECONDS.sleep(intervalMillis / 2);
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "fleet-killer");
        killer.start();
        return killer;
    }

    // --- Both

    /** The counts of what had been sent to Redis up to a moment. */
    private record Counts(long claims, long scripts, long published, long publishedByClients) {

        static Counts of(Environment environment, Fleet fleet, List<FleetProcess> victims) {
            Map<String, String> commands = environment.info("commandstats");
            return new Counts(
                    fleet.claims()
                            + victims.stream().mapToLong(FleetProcess::claims).sum(),
                    calls(commands, "evalsha"),
                    calls(commands, "publish"),
                    fleet.published()
                            + victims.stream()
                                    .mapToLong(FleetProcess::published)
                                    .sum());
        }

        private static long calls(Map<String, String> commands, String name) {
            String value = commands.get("cmdstat_" + name);
            return value == null ? 0 : Long.parseLong(value.replaceAll("calls=([0-9]+),.*", "$1"));
        }
    }

    /** Waits until every message is acknowledged: what a killed consumer held, when its lease has expired. */
    private static void awaitEmpty(Environment environment, List<String> queues) throws InterruptedException {
        String[] keys = queues.stream()
                .map(queue -> "redis-delay:{" + queue + "}:messages")
                .toArray(String[]::new);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        while (environment.control().getKeys().countExists(keys) > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(
                        "messages were not delivered within " + PATIENCE_MILLIS + " ms after the last was scheduled");
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private void report(
            Figures figures,
            String parameter,
            int round,
            long messages,
            Counts before,
            Counts after,
            Histogram lateness) {
        double wakeUps =
                after.published() - before.published() - (after.publishedByClients() - before.publishedByClients());
        add(figures, parameter, round, "claims", (double) (after.claims() - before.claims()) / messages, "per message");
        add(figures, parameter, round, "wake-ups", wakeUps / messages, "per message");
        add(
                figures,
                parameter,
                round,
                "script calls",
                (double) (after.scripts() - before.scripts()) / messages,
                "per message");
        add(figures, parameter, round, "p50", lateness.getValueAtPercentile(50) / 1e3, "ms");
        add(figures, parameter, round, "p99", lateness.getValueAtPercentile(99) / 1e3, "ms");
        add(figures, parameter, round, "max", lateness.getMaxValue() / 1e3, "ms");
    }

    private void add(Figures figures, String parameter, int round, String metric, double value, String unit) {
        figures.add(name(), Subject.CAMEL, parameter, round, metric, value, unit);
    }
}
