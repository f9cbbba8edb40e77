// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.faults.FaultProcess.Death;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.history.RareState;
import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import io.github.redisdelay.testkit.SentinelServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Messages of 100 groups: never more of one at a time than the limit says, with a limit of 1 in order, never more in any window
 * than the rates say, never more of the queue at a time than it has places, and none stands still, whoever dies, and whatever
 * Redis loses.
 */
@Tag("faults")
class GroupsFaultsIT {

    private static final QueueLimits IN_ORDER = new QueueLimits(1, true);

    /** Less than what is scheduled for the queue, 200 in a second; a group holds back those that are due close to each other. */
    private static final QueueLimits RATES =
            new QueueLimits(1, true, Rate.of(180, Duration.ofSeconds(1), 10), Rate.of(8, Duration.ofSeconds(1), 1), 0);

    /** Fewer than two consumers would work on; those of a dead one are taken until its leases are over. */
    private static final QueueLimits PLACES = new QueueLimits(0, true, null, null, 16);

    private static final int BATCHES = 4;

    private interface Run {
        void on(Scenario scenario) throws Exception;
    }

    private interface Seeded {
        RareStates with(Scenario scenario, long seed) throws Exception;
    }

    private static Run reach(Where where, Seeded run) {
        return scenario -> Experiment.reach(where, seed -> run.with(scenario, seed));
    }

    private enum Scenario {
        APPLICATION(
                "groups: an application in three JVMs, which are killed",
                scenario -> GroupedApplication.judge(scenario.title)),
        FAILOVER(
                "groups: Sentinel, master killed that was not replicated",
                reach(Where.MASTERS_WITH_GROUPS_LOST, GroupsFaultsIT::failover)),
        KILLS(
                "groups: SIGKILL at random moments",
                reach(Where.PROCESSES_WITH_GROUPS_KILLED, (scenario, seed) -> kills(scenario, IN_ORDER, seed))),
        KILLS_OF_THREE(
                "groups: SIGKILL at random moments, three at a time, retries let others pass",
                reach(
                        Where.PROCESSES_WITH_PLACES_KILLED,
                        (scenario, seed) -> kills(scenario, new QueueLimits(3, false), seed))),
        DEATHS("groups: JVMs die at each step", reach(Where.PROCESSES_WITH_GROUPS_KILLED, GroupsFaultsIT::deaths)),
        RATES_AND_KILLS(
                "rates: SIGKILL at random moments",
                reach(Where.PROCESSES_WITH_RATES_KILLED, (scenario, seed) -> kills(scenario, RATES, seed))),
        RATES_AND_STEPS(
                "rates: server's clock steps 10 min back and forward",
                scenario -> stepped(scenario, RATES, Experiment.newSeed())),
        PLACES_AND_KILLS(
                "queueConcurrency: SIGKILL at random moments",
                reach(Where.PROCESSES_WITH_PLACES_KILLED, (scenario, seed) -> kills(scenario, PLACES, seed))),
        RESTARTS(
                "groups: kill -9 of Redis and restart, appendfsync always",
                reach(Where.GROUPS_DISTURBED, (scenario, seed) -> restarts(scenario, IN_ORDER, seed))),
        RESTARTS_OF_TWO(
                "groups: kill -9 of Redis and restart, appendfsync always, two at a time",
                reach(Where.GROUPS_DISTURBED, (scenario, seed) -> restarts(scenario, new QueueLimits(2, true), seed))),
        DELETED("groups: their keys are deleted by hand", reach(Where.GROUPS_DAMAGED, GroupsFaultsIT::deleted)),
        STEPPED(
                "groups: server's clock steps 10 min back and forward",
                reach(Where.GROUPS_DISTURBED, (scenario, seed) -> stepped(scenario, IN_ORDER, seed)));

        final String title;
        final Run run;

        Scenario(String title, Run run) {
            this.title = title;
            this.run = run;
        }
    }

    @TempDir
    static Path directory;

    private static SideBySide<Scenario> experiments;

    @BeforeAll
    static void begin() {
        experiments = new SideBySide<>(3, List.of(Scenario.values()), scenario -> scenario.run.on(scenario));
    }

    @AfterAll
    static void end() {
        experiments.close();
    }

    @ParameterizedTest
    @EnumSource
    void should_keep_the_order_and_the_limit_of_each_group_and_go_on(Scenario scenario) throws Exception {
        experiments.result(scenario);
    }

    private static RareStates kills(Scenario scenario, QueueLimits limits, long seed) throws Exception {
        Path own = Files.createDirectory(directory.resolve(scenario.name() + seed));
        try (Experiment experiment = new Experiment(scenario.title, seed).withLimits(limits)) {
            FaultChild.killAtRandom(experiment, own, experiment.server.address(), 1, 4 * Experiment.rounds());
            return experiment.reached();
        }
    }

    private static RareStates deaths(Scenario scenario, long seed) throws Exception {
        Path own = Files.createDirectory(directory.resolve(scenario.name() + seed));
        try (Experiment experiment = new Experiment(scenario.title, seed).withLimits(IN_ORDER)) {
            long inFlight = 0;
            try (Survivors survivors = new Survivors(experiment).produce()) {
                survivors.consume();
                for (int round = 0; round < Experiment.rounds(); round++) {
                    for (int i = 0; i < BATCHES; i++) {
                        List<FaultChild> children = new ArrayList<>();
                        try {
                            for (Death death : batch(i)) {
                                String name = "g-" + death + "-" + round;
                                children.add(FaultChild.start(experiment, own, death.ofProducer(), name, death));
                            }
                            for (FaultChild child : children) {
                                assertThat(child.ended()).isEqualTo(FaultChild.KILLED);
                                inFlight += experiment.inFlightUnderLoad();
                            }
                        } finally {
                            children.forEach(FaultChild::close);
                        }
                    }
                }
                end(experiment, survivors);
            }
            experiment.judge(Death.values().length * Experiment.rounds(), inFlight);
            return experiment.reached();
        }
    }

    /** Some that are tried at the same time, with no more than one of a producer. */
    private static List<Death> batch(int number) {
        return Stream.of(Death.values())
                .filter(death -> death.ordinal() % BATCHES == number)
                .toList();
    }

    private static void end(Experiment experiment, Survivors survivors) {
        experiment.healed();
        experiment.runQuietly();
        survivors.endProducer();
        experiment.awaitEmpty();
        experiment.probeEach("probes");
    }

    private static RareStates failover(Scenario scenario, long seed) throws Exception {
        RareStates reached = new RareStates();
        for (int round = 0; round < Experiment.rounds(); round++) {
            SentinelServers servers = new SentinelServers();
            SentinelIT.Site site = new SentinelIT.Site(servers, Experiment.OPTIONS);
            try (Experiment experiment = new Experiment(scenario.title, seed + round, site).withLimits(IN_ORDER)) {
                SentinelIT.Bench bench = new SentinelIT.Bench(servers, Experiment.OPTIONS, experiment, scenario.title);
                bench.loadThroughFailover(true);
                Set<Rule> lost = EnumSet.copyOf(SentinelIT.COMES_AGAIN);
                lost.addAll(EnumSet.of(Rule.LOST, Rule.CANCELLED));
                SentinelIT.assertOnly(bench.end(), lost);
                reached.add(experiment.reached());
            }
        }
        return reached;
    }

    /** What happens to a queue under load. */
    private interface Fault {
        void happen(Experiment experiment) throws Exception;
    }

    private static long underLoad(Experiment experiment, int times, Fault fault) throws Exception {
        long inFlight = 0;
        try (Survivors survivors = new Survivors(experiment).produce();
                OtherConsumer other = new OtherConsumer(experiment)) {
            survivors.consume();
            for (int i = 0; i < times; i++) {
                experiment.run(Duration.ofMillis(500 + experiment.random.nextInt(500)));
                inFlight += experiment.inFlightUnderLoad();
                fault.happen(experiment);
                experiment.healed();
            }
            end(experiment, survivors);
        }
        return inFlight;
    }

    private static RareStates restarts(Scenario scenario, QueueLimits limits, long seed) throws Exception {
        RedisServer server = RedisServer.dedicated("appendonly yes", "appendfsync always");
        ExperimentSite site = ExperimentSite.of(server);
        try (Experiment experiment = new Experiment(scenario.title, seed, site).withLimits(limits)) {
            int times = 3 * Experiment.rounds();
            long inFlight = underLoad(experiment, times, each -> {
                each.history.faultBegins("restart");
                server.kill();
                server.start();
                each.history.faultEnds("restart");
            });
            experiment.judge(times, inFlight);
            return experiment.reached();
        }
    }

    /** What is deleted by hand. */
    private interface Deletion {
        void in(Experiment experiment, RedisSocket direct) throws IOException;
    }

    private static RareStates deleted(Scenario scenario, long seed) throws Exception {
        RareStates reached = new RareStates();
        List<Deletion> deletions = List.of(
                (experiment, direct) -> delete("groups", direct),
                (experiment, direct) -> delete("config", direct),
                (experiment, direct) -> reached.add(loseParked(experiment, direct)));
        for (int round = 0; round < Experiment.rounds(); round++) {
            try (Experiment experiment = new Experiment(scenario.title, seed + round).withLimits(IN_ORDER)) {
                Iterator<Deletion> next = deletions.iterator();
                long inFlight = underLoad(experiment, deletions.size(), each -> {
                    each.history.losingFaultBegins(scenario.title);
                    try (RedisSocket direct = RedisSocket.open(each.server.address())) {
                        next.next().in(each, direct);
                    }
                    each.history.faultEnds(scenario.title);
                });
                experiment.judge(deletions.size(), inFlight);
                reached.add(experiment.reached());
            }
        }
        return reached;
    }

    private static String key(String name) {
        return "redis-delay:{" + Experiment.QUEUE + "}:" + name;
    }

    private static void delete(String key, RedisSocket direct) throws IOException {
        assertThat(direct.call("DEL " + key(key))).as(key).isEqualTo(":1");
    }

    /**
     * Some parked messages are lost from their set. Not those that may be cancelled: a cancel of a message that is in no set
     * removes it and says "none", which the judge calls a loss.
     */
    private static RareStates loseParked(Experiment experiment, RedisSocket direct) {
        RareStates lost = new RareStates();
        await("parked messages that nobody changes any more")
                .atMost(Experiment.SAFETY_INTERVAL)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    Set<String> ids = experiment.settledDown();
                    ids.retainAll(direct.texts("ZRANGE " + key("parked") + " 0 -1"));
                    for (String id : ids) {
                        String removed = direct.call("ZREM " + key("parked") + " " + id);
                        lost.countIf(removed.equals(":1"), RareState.PARKED_LOST);
                    }
                    return lost.hasReached(RareState.PARKED_LOST);
                });
        return lost;
    }

    private static RareStates stepped(Scenario scenario, QueueLimits limits, long seed) throws Exception {
        SteppedServer site = new SteppedServer();
        try (Experiment experiment = new Experiment(scenario.title, seed, site).withLimits(limits)) {
            long inFlight = underLoad(experiment, Experiment.rounds(), each -> {
                each.history.clockSteps(SteppedServer.STEP.negated());
                site.step(SteppedServer.STEP.negated());
                each.run(Experiment.LEASE);
                site.forward(each, "server's clock is set right");
                each.run(Duration.ofMillis(500));
                site.forward(each, "server's clock steps 10 min forward");
            });
            site.forget();
            experiment.judge(3 * Experiment.rounds(), inFlight);
            return experiment.reached();
        }
    }
}
