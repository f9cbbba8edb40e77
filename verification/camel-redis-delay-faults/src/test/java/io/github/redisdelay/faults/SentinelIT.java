// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Report;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.testkit.FaultyProxy.Kind;
import io.github.redisdelay.testkit.SentinelServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sentinel makes a replica the master: what a failover loses without {@code waitForReplicas}, that it loses nothing
 * confirmed with it, and that deliveries go on by themselves.
 */
@Tag("faults")
class SentinelIT {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    static final ClientOptions WAITING = ClientOptions.DEFAULTS
            .withRequestTimeout(Experiment.OPTIONS.requestTimeout())
            .withDurability(new Durability(1, false, Duration.ofMillis(500)));

    /**
     * The sign of a lost acknowledgement, or of a lost claim: the message comes again. These never wait for replicas.
     */
    static final Set<Rule> COMES_AGAIN = EnumSet.of(Rule.TWICE, Rule.ATTEMPTS);

    private enum Scenario {
        KILLED("Sentinel: master killed, waitForReplicas=1", WAITING) {
            @Override
            void run(Bench bench) throws Exception {
                bench.loadThroughFailover(false);
                assertOnly(bench.end(), COMES_AGAIN);
            }
        },
        KILLED_BEHIND_WAITING("Sentinel: master killed that was not replicated, waitForReplicas=1", WAITING) {
            @Override
            void run(Bench bench) throws Exception {
                bench.loadThroughFailover(true);
                // Those that only the lost master had were never confirmed by it.
                assertOnly(bench.end(), COMES_AGAIN);
            }
        },
        KILLED_BEHIND("Sentinel: master killed that was not replicated, without waitForReplicas", Experiment.OPTIONS) {
            @Override
            void run(Bench bench) throws Exception {
                bench.loadThroughFailover(true);
                Report report = bench.end();
                // Not what anybody wants; it is what asynchronous replication means: schedules and cancellations are
                // lost.
                assertThat(report.lost()).as("confirmed and lost").isPositive();
                Set<Rule> lost = EnumSet.copyOf(COMES_AGAIN);
                lost.addAll(EnumSet.of(Rule.LOST, Rule.CANCELLED));
                assertOnly(report, lost);
            }
        },
        PARTITIONED("Sentinel: master cut off, with a producer on its side", Experiment.OPTIONS) {
            @Override
            void run(Bench bench) throws Exception {
                bench.splitBrain();
            }
        },
        ROUTES("Sentinel: master killed, Camel routes with a Redisson YAML", WAITING) {
            @Override
            void run(Bench bench) throws Exception {
                bench.routesThroughFailover();
            }
        };

        final String name;
        final ClientOptions options;

        Scenario(String name, ClientOptions options) {
            this.name = name;
            this.options = options;
        }

        abstract void run(Bench bench) throws Exception;
    }

    private static SideBySide<Scenario> experiments;

    @BeforeAll
    static void begin() {
        experiments = new SideBySide<>(5, List.of(Scenario.values()), SentinelIT::run);
    }

    @AfterAll
    static void end() {
        experiments.close();
    }

    @ParameterizedTest
    @EnumSource
    void should_lose_nothing_that_was_confirmed_by_replicas_and_go_on(Scenario scenario) throws Exception {
        experiments.result(scenario);
    }

    private static void run(Scenario scenario) throws Exception {
        for (int round = 0; round < Experiment.rounds(); round++) {
            if (scenario == Scenario.KILLED_BEHIND) {
                Experiment.reach(Where.MASTERS_LOST, seed -> run(scenario, seed));
            } else {
                run(scenario, Experiment.newSeed());
            }
        }
    }

    private static RareStates run(Scenario scenario, long seed) throws Exception {
        SentinelServers servers = new SentinelServers();
        try (Experiment experiment = new Experiment(scenario.name, seed, new Site(servers, scenario.options))) {
            scenario.run(new Bench(servers, scenario.options, experiment, scenario.name));
            return experiment.reached();
        }
    }

    /** Fails if a history is wrong in any other way than these. */
    static void assertOnly(Report report, Set<Rule> rules) {
        new Report(
                        report.problems().stream()
                                .filter(problem -> !rules.contains(problem.rule()))
                                .toList(),
                        report.confirmed(),
                        report.uncertain(),
                        report.deliveries(),
                        report.causes())
                .assertClean();
        assertThat(report.confirmed()).as("confirmed messages").isPositive();
    }

    /** The servers that an experiment is about. */
    record Site(SentinelServers servers, ClientOptions options) implements ExperimentSite {

        @Override
        public RedissonClient connect() {
            return servers.connect();
        }

        @Override
        public void close() {
            servers.close();
        }
    }

    /** The servers, and who uses them. */
    static final class Bench {
        final SentinelServers servers;
        final ClientOptions options;
        final Experiment experiment;
        final String fault;
        private long inFlight;

        Bench(SentinelServers servers, ClientOptions options, Experiment experiment, String fault) {
            this.servers = servers;
            this.options = options;
            this.experiment = experiment;
            this.fault = fault;
        }

        /**
         * The master is killed under load, and comes back as a replica.
         *
         * @param behind whether its replica has not received its last changes, and never will
         */
        void loadThroughFailover(boolean behind) throws Exception {
            SentinelServers.Node old = servers.master();
            try (Survivors load = new Survivors(experiment).produce()) {
                load.consume();
                experiment.run(Duration.ofMillis(800 + experiment.random.nextInt(400)));
                inFlight = experiment.inFlightUnderLoad();
                if (behind) {
                    experiment.history.losingFaultBegins(fault);
                    old.proxy.swallow(Kind.REPLICATION);
                    // A message that is scheduled from now on is on one server only; a producer that waits for replicas
                    // is told so.
                    experiment.run(Duration.ofSeconds(1));
                    if (options.durability().waits()) {
                        SentinelServers.until(this::isToldUnreplicated);
                    }
                } else {
                    experiment.history.faultBegins(fault);
                }
                old.server.kill();
                old.proxy.heal();
                SentinelServers.Node promoted = servers.awaitFailover(old);
                experiment.history.faultEnds(fault);
                experiment.healed();
                old.restart();
                old.follow(promoted); // the Sentinels would tell it in a while, see the one that was cut off
                SentinelServers.until(old::isLinked);
                experiment.run(Duration.ofSeconds(2));
                experiment.runQuietly();
                try {
                    load.endProducer();
                    experiment.awaitEmpty();
                } finally {
                    if (servers.master() != promoted) {
                        LOG.warn("{}: the Sentinels have chosen again: the new master was silent for too long", fault);
                    }
                }
            }
        }

        private boolean isToldUnreplicated() {
            return experiment.events().stream()
                    .anyMatch(event -> event.what() == What.UNKNOWN
                            && event.detail()
                                    .contains("is stored, not known to be replicated: 0 of 1 replicas within 500 ms"));
        }

        Report end() throws Exception {
            return experiment.report(1, inFlight);
        }

        /** The master is cut off, not dead: one producer is on its side, and takes it for the master. */
        void splitBrain() throws Exception {
            SentinelServers.Node old = servers.master();
            RedissonClient oldSide = TestConnections.open(old.server.address());
            RedissonClient newSide = servers.connect();
            try (DelayQueueClient believing = DelayQueueClient.create(oldSide, Experiment.OPTIONS);
                    DelayQueueClient waiting = DelayQueueClient.create(oldSide, WAITING);
                    DelayQueueClient others = DelayQueueClient.create(newSide, WAITING)) {
                DelayQueue queue = believing.queue(Experiment.QUEUE);
                replicated(waiting.queue(Experiment.QUEUE)
                        .schedule(ScheduleRequest.of("before", new byte[1], DueTime.after(Duration.ofHours(1)))));
                experiment.history.faultBegins(fault);
                old.proxy.cut();

                // Confirmed by a master that the others no longer have.
                List<String> lost = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    lost.add("lost-" + i);
                    confirmed(queue, "lost-" + i);
                }
                assertThat(failure(waiting.queue(Experiment.QUEUE), "unconfirmed"))
                        .isInstanceOf(ReplicationTimeoutException.class)
                        .hasMessageEndingWith(
                                "message 'unconfirmed' is stored, not known to be replicated: 0 of 1 replicas within 500 ms");
                // With this, it refuses what it cannot replicate.
                old.done("CONFIG SET min-replicas-to-write 1");
                assertThat(failure(queue, "refused"))
                        .isInstanceOf(RequestTimeoutException.class)
                        .hasMessageContaining("NOREPLICAS");

                servers.awaitFailover(old);
                DelayQueue after = others.queue(Experiment.QUEUE);
                await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> after.get("before")
                        .get(5, TimeUnit.SECONDS)
                        .isPresent());
                old.proxy.heal();
                SentinelServers.until(old::isLinked); // by the Sentinels alone
                experiment.history.faultEnds(fault);
                // It has forgotten what it had confirmed, and has a replica's data: for all of them.
                assertThat(after.get("before").get(20, TimeUnit.SECONDS)).isPresent();
                for (String id : lost) {
                    assertThat(after.get(id).get(20, TimeUnit.SECONDS)).as(id).isEmpty();
                }
                replicated(after.schedule(ScheduleRequest.of("after", new byte[1], DueTime.now())));
                replicated(after.cancel("before"));
                replicated(after.cancel("after"));
                Report report = experiment.report(1, 1);
                assertThat(report.problems().stream()
                                .filter(problem -> problem.rule() == Rule.LOST)
                                .map(Problem::id)
                                .collect(Collectors.toSet()))
                        .containsAll(lost);
            } finally {
                oldSide.shutdown();
                newSide.shutdown();
            }
        }

        private void confirmed(DelayQueue queue, String id) throws Exception {
            Duration delay = Duration.ofHours(1);
            if (id.startsWith("lost")) {
                experiment.history.scheduling(id, delay.toNanos() / 1000);
            }
            ScheduleResult result = get(queue.schedule(ScheduleRequest.of(id, new byte[1], DueTime.after(delay))));
            if (id.startsWith("lost")) {
                experiment.history.scheduled(id, result);
            }
        }

        /** A busy machine may take longer for it than a producer waits at a time. */
        private static void replicated(Submission<?> sent) throws Exception {
            long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            CompletableFuture<?> answer = sent.outcome();
            while (isUnconfirmed(answer) && System.nanoTime() - deadline < 0) {
                answer = sent.confirm();
            }
            get(answer);
        }

        private static boolean isUnconfirmed(CompletableFuture<?> answer) throws Exception {
            return get(answer.handle((result, error) ->
                    error != null && ErrorText.unwrap(error) instanceof ReplicationTimeoutException));
        }

        private static Throwable failure(DelayQueue queue, String id) throws Exception {
            try {
                get(queue.schedule(ScheduleRequest.of(id, new byte[1], DueTime.after(Duration.ofHours(1)))));
                return null;
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }

        private static <T> T get(Submission<T> sent) throws Exception {
            return get(sent.result());
        }

        private static <T> T get(CompletableFuture<T> future) throws Exception {
            return future.get(30, TimeUnit.SECONDS);
        }

        /** Routes that know no more than a Redisson configuration file: each exchange that succeeds is delivered. */
        void routesThroughFailover() throws Exception {
            SentinelServers.Node old = servers.master();
            Path yaml = Files.createTempFile("redisson", ".yaml");
            Files.writeString(yaml, yaml());
            AtomicInteger number = new AtomicInteger();
            Set<String> confirmed = ConcurrentHashMap.newKeySet();
            Set<String> received = ConcurrentHashMap.newKeySet();
            try (DefaultCamelContext context = new DefaultCamelContext()) {
                context.addRoutes(new RouteBuilder() {
                    @Override
                    public void configure() {
                        errorHandler(
                                defaultErrorHandler().maximumRedeliveries(-1).redeliveryDelay(200));
                        from("timer:load?period=20&delay=0")
                                .routeId("producer")
                                .process(exchange -> exchange.getMessage().setBody("m" + number.incrementAndGet()))
                                .to(
                                        "redis-delay:orders?delay=500ms&waitForReplicas=1&replicationTimeout=500ms&requestTimeout=2s"
                                                + "&configurationUri=" + yaml.toUri())
                                .process(exchange ->
                                        confirmed.add(exchange.getMessage().getBody(String.class)));
                        from("redis-delay:orders?concurrentConsumers=5&configurationUri=" + yaml.toUri())
                                .process(exchange ->
                                        received.add(exchange.getMessage().getBody(String.class)));
                    }
                });
                context.start();
                await().atMost(Duration.ofSeconds(30)).until(() -> received.size() > 20);
                old.server.kill();
                SentinelServers.Node promoted = servers.awaitFailover(old);
                old.restart();
                old.follow(promoted);
                SentinelServers.until(old::isLinked);
                int before = confirmed.size();
                await().atMost(Duration.ofSeconds(60)).until(() -> confirmed.size() > before + 20);
                context.getRouteController().stopRoute("producer");
                await().atMost(Duration.ofSeconds(60))
                        .untilAsserted(() -> assertThat(received).containsAll(confirmed));
            } finally {
                Files.delete(yaml);
            }
        }

        private String yaml() {
            StringBuilder text = new StringBuilder("sentinelServersConfig:\n  masterName: " + SentinelServers.MASTER
                    + "\n  readMode: MASTER\n  scanInterval: 500\n  sentinelAddresses:\n");
            servers.sentinelAddresses()
                    .forEach(address -> text.append("  - \"").append(address).append("\"\n"));
            return text.toString();
        }
    }
}
