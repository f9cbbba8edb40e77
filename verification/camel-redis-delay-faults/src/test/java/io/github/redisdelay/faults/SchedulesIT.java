// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.faults.FaultProcess.Death;
import io.github.redisdelay.faults.ScheduleFleet.Member;
import io.github.redisdelay.history.RareState;
import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.history.RunChecker;
import io.github.redisdelay.history.RunChecker.Verdict;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.TestClients;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.FaultyProxy.Kind;
import io.github.redisdelay.testkit.RedisSocket;
import io.github.redisdelay.testkit.SentinelServers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;

/**
 * Recurring schedules: each time of a rule has one run that ends, or is caught up by the next one, whoever dies, declares or
 * steps; and no two runs of a schedule have valid leases.
 */
@Tag("faults")
class SchedulesIT {

    private static final Duration STEP = SteppedServer.STEP;
    private static final Duration SKEW = Duration.ofSeconds(5);
    private static final int STARTERS = 20;

    private interface Run {
        void on(Scenario scenario) throws Exception;
    }

    private enum Scenario {
        APPLICATION(
                "schedules: an application in three JVMs, which are killed",
                scenario -> ScheduledApplication.judge(scenario.title)),
        STEPPED("schedules: server's clock steps 10 min forward and back", SchedulesIT::stepped),
        DEATHS("schedules: JVMs die at each step", SchedulesIT::deaths),
        KILLS("schedules: SIGKILL at random moments", SchedulesIT::kills),
        FAILOVER("schedules: Sentinel, master killed that was not replicated", SchedulesIT::failover),
        SAME_RULE("schedules: 20 starters with the same rule", SchedulesIT::sameRule),
        OTHER_RULES("schedules: 20 starters, each with another rule", SchedulesIT::otherRules),
        CHANGES(
                "schedules: upserts, reschedules and promotions of what runs",
                scenario -> Experiment.reach(Where.CHANGED_RUNS, seed -> changes(scenario, seed))),
        SKEWED("schedules: clients' clocks 5 s ahead and behind", SchedulesIT::skewed),
        FLUSHED("schedules: FLUSHALL, two versions side by side", SchedulesIT::flushed);

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
        experiments = new SideBySide<>(4, List.of(Scenario.values()), scenario -> scenario.run.on(scenario));
    }

    @AfterAll
    static void end() {
        experiments.close();
    }

    @ParameterizedTest
    @EnumSource
    void should_run_each_time_once_or_catch_it_up(Scenario scenario) throws Exception {
        experiments.result(scenario);
    }

    /** Some at all seconds together, and others at any time. */
    private static void declareMany(Member member, int each) {
        for (int i = 0; i < each; i++) {
            member.declares("cron-" + i, ScheduleFleet.EACH_SECOND);
            member.declares("every-" + i, "every 1." + (i < 10 ? "00" : "0") + i + "s");
        }
    }

    private static FaultChild start(Experiment experiment, String name, Death death) throws IOException {
        return FaultChild.start(experiment, directory, false, "s-" + name, death);
    }

    private static void deaths(Scenario scenario) throws Exception {
        // In the long form all; else before the claim, under the lease, and between the end's call and its answer.
        List<Death> deaths = Experiment.rounds() > 1
                ? Stream.of(Death.values()).filter(death -> !death.ofProducer()).toList()
                : List.of(
                        Death.BEFORE_THE_CLAIM,
                        Death.AFTER_THE_CLAIM,
                        Death.IN_THE_MIDDLE_OF_WORK,
                        Death.ACKNOWLEDGEMENT_SENT,
                        Death.ACKNOWLEDGED_IN_A_GROUP);
        try (Experiment experiment = new Experiment(scenario.title);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            declareMany(fleet.member("survivor").consumes(5), 30);
            for (int round = 0; round < Experiment.rounds(); round++) {
                for (int i = 0; i < deaths.size(); i += 3) {
                    List<FaultChild> children = new ArrayList<>();
                    try {
                        for (Death death : deaths.subList(i, Math.min(i + 3, deaths.size()))) {
                            children.add(start(experiment, death + "-" + round, death));
                        }
                        for (FaultChild child : children) {
                            assertThat(child.ended()).isEqualTo(FaultChild.KILLED);
                        }
                    } finally {
                        children.forEach(FaultChild::close);
                    }
                }
            }
            fleet.awaitRuns(2);
            Verdict verdict = fleet.end(deaths.size() * Experiment.rounds());
            assertThat(verdict.report().duplicates()).as("again after a kill").isPositive();
        }
    }

    private static void kills(Scenario scenario) throws Exception {
        int kills = 3 * Experiment.rounds() - 1;
        try (Experiment experiment = new Experiment(scenario.title);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            declareMany(fleet.member("declares"), 20);
            List<FaultChild> running = new ArrayList<>();
            try {
                for (int i = 0; i < 3; i++) {
                    running.add(start(experiment, "kill-" + i, null));
                }
                for (FaultChild child : running) {
                    child.awaitWork();
                }
                for (int kill = 0; kill < kills; kill++) {
                    experiment.run(Duration.ofMillis(experiment.random.nextInt(1_000)));
                    running.remove(0).kill();
                    if (running.size() == 1 && kill + 1 < kills) {
                        running.add(0, start(experiment, "again-" + kill, null).awaitWork());
                    }
                }
                fleet.awaitRuns(2);
                fleet.end(kills);
                for (FaultChild child : running) {
                    child.end();
                }
            } finally {
                running.forEach(FaultChild::close);
            }
        }
    }

    private static void failover(Scenario scenario) throws Exception {
        SentinelServers servers = new SentinelServers();
        ExperimentSite site = new SentinelIT.Site(servers, Experiment.OPTIONS);
        try (Experiment experiment = new Experiment(scenario.title, site);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            declareMany(fleet.member("one").consumes(5), 5);
            declareMany(fleet.member("other").consumes(5), 5);
            for (int round = 0; round < Experiment.rounds(); round++) {
                fleet.awaitRuns(2);
                SentinelServers.Node old = servers.master();
                experiment.history.losingFaultBegins(scenario.title);
                old.proxy.swallow(Kind.REPLICATION);
                fleet.awaitRuns(2);
                old.server.kill();
                old.proxy.heal();
                SentinelServers.Node promoted = servers.awaitFailover(old);
                fleet.awaitRuns(1);
                experiment.history.faultEnds(scenario.title);
                fleet.awaitRuns(2);
                old.restart();
                old.follow(promoted);
                SentinelServers.until(old::isLinked);
            }
            Verdict verdict = fleet.end(Experiment.rounds());
            assertThat(verdict.report().causes()).containsKey("lost with the server");
        }
    }

    private static void sameRule(Scenario scenario) throws Exception {
        try (Experiment experiment = new Experiment(scenario.title);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            List<Member> starters = starters(fleet);
            starters.parallelStream().forEach(member -> declareMany(member.consumes(2), 5));
            fleet.awaitRuns(3);
            assertThat(experiment.inFlight()).as("one of each").isEqualTo(10);
            fleet.awaitRuns(3 * Experiment.rounds());
            fleet.end(STARTERS);
        }
    }

    private static List<Member> starters(ScheduleFleet fleet) {
        return IntStream.range(0, STARTERS)
                .mapToObj(i -> fleet.member("starter-" + i))
                .toList();
    }

    private static void otherRules(Scenario scenario) throws Exception {
        try (Experiment experiment = new Experiment(scenario.title);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            List<Member> starters = starters(fleet);
            IntStream.range(0, STARTERS).parallel().forEach(i -> {
                for (int id = 0; id < 3; id++) {
                    starters.get(i).consumes(1).declares("s-" + id, "cron 0-" + (59 - i) + " * * * * * Europe/Berlin");
                }
            });
            fleet.awaitRuns(2);
            Map<String, String> rules = fleet.rules();
            assertThat(rules).hasSize(3);
            for (int beat = 0; beat < 2 * Experiment.rounds(); beat++) {
                experiment.run(Duration.ofMillis(2_200));
                assertThat(fleet.rules()).as("nobody fights").isEqualTo(rules);
            }
            fleet.awaitRuns(2);
            fleet.end(STARTERS);
        }
    }

    private static RareStates changes(Scenario scenario, long seed) throws Exception {
        List<String> rules =
                List.of(ScheduleFleet.EACH_SECOND, "every 1s", "every 1.5s", "cron 0 0 2 1 1 * Europe/Berlin");
        try (Experiment experiment = new Experiment(scenario.title, seed);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            Member member = fleet.member("changes").consumes(10);
            fleet.member("other").consumes(10);
            declareMany(member, 5);
            fleet.awaitRuns(1);
            member.stopDeclaring();
            int changes = 500 * Experiment.rounds();
            int made = 0;
            while (made < changes || (made < 10 * changes && !hasReachedAll(experiment))) {
                for (int i = 0; i < 50; i++) {
                    change(experiment, fleet, member, rules);
                }
                made += 50;
            }
            for (int i = 0; i < 5; i++) {
                declare(member, "cron-" + i, ScheduleFleet.EACH_SECOND, 0);
                declare(member, "every-" + i, "every 1s", 0);
            }
            fleet.awaitRuns(2);
            return fleet.end(made).reached();
        }
    }

    private static boolean hasReachedAll(Experiment experiment) {
        return RunChecker.check(experiment.events(), Experiment.LEASE)
                .reached()
                .hasReached(RareState.RUN_BY_OTHER_RULE);
    }

    private static void change(Experiment experiment, ScheduleFleet fleet, Member member, List<String> rules) {
        Random random = experiment.random;
        String id = (random.nextBoolean() ? "cron-" : "every-") + random.nextInt(5);
        switch (random.nextInt(6)) {
            case 0, 1 -> declare(member, id, rules.get(random.nextInt(4)), random.nextInt(3));
            case 2 -> declare(member, id, fleet.rules().get(id), random.nextInt(3));
            case 3, 4 -> member.queue.reschedule(id, DueTime.after(Duration.ofMillis(random.nextInt(2_000))));
            default -> member.queue.promote(id);
        }
        experiment.run(Duration.ofMillis(random.nextInt(30)));
    }

    private static void declare(Member member, String id, String rule, int body) {
        Schedule schedule = Schedule.parse(rule);
        long first = schedule.isGrid() ? schedule.next(0, 0) : 0;
        member.queue.schedule(
                ScheduleRequest.of(id, new byte[body], new DueTime(true, first)).recurring(schedule, 0));
    }

    private static void skewed(Scenario scenario) throws Exception {
        try (Experiment experiment = new Experiment(scenario.title);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            RedissonClient redisson = experiment.connect();
            try {
                for (Duration ahead : List.of(SKEW, SKEW.negated())) {
                    DelayQueueClient client = TestClients.skewed(redisson, Experiment.OPTIONS, ahead);
                    declareMany(fleet.member("ahead-" + ahead, client, 30).consumes(10), 10);
                }
                fleet.awaitRuns(5 * Experiment.rounds());
                fleet.end(1);
            } finally {
                redisson.shutdown();
            }
        }
    }

    private static void stepped(Scenario scenario) throws Exception {
        SteppedServer site = new SteppedServer();
        String step = "step of the server's clock";
        try (Experiment experiment = new Experiment(scenario.title, site);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            declareMany(fleet.member("one").consumes(5), 5);
            declareMany(fleet.member("other").consumes(5), 5);
            for (int round = 0; round < Experiment.rounds(); round++) {
                fleet.awaitRuns(2);
                site.step(experiment, step, STEP);
                fleet.awaitRuns(2);
                // Set right: the next declaration pulls back what is due in ten minutes.
                site.step(experiment, step, STEP.negated());
                fleet.awaitRuns(2);
                // Wrong by as much in the other direction: by the server's clock nothing is due, until it is set right.
                site.step(experiment, step, STEP.negated());
                experiment.run(Experiment.LEASE);
                site.step(experiment, step, STEP);
            }
            fleet.awaitRuns(2);
            site.forget();
            fleet.end(4 * Experiment.rounds());
        }
    }

    private static void flushed(Scenario scenario) throws Exception {
        String older = ScheduleFleet.EACH_SECOND;
        String newer = "every 1s";
        // In the long form the minute is one.
        long shorter = Experiment.rounds() > 1 ? 1 : 30;
        try (Experiment experiment = new Experiment(scenario.title);
                ScheduleFleet fleet = new ScheduleFleet(experiment, scenario.title)) {
            RedissonClient redisson = experiment.connect();
            try {
                List<DelayQueueClient> clients = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    clients.add(DelayQueueClient.create(redisson, ClientOptions.DEFAULTS));
                }
                for (String rule : List.of(older, older, newer)) {
                    Member member = fleet.member("version-" + clients.size(), clients.remove(0), shorter)
                            .consumes(5);
                    for (int i = 0; i < 5; i++) {
                        member.declares("s-" + i, rule);
                    }
                    fleet.awaitRuns(2);
                }
                for (int round = 0; round < Experiment.rounds(); round++) {
                    experiment.history.losingFaultBegins("FLUSHALL");
                    try (RedisSocket direct = RedisSocket.open(experiment.server.address())) {
                        assertThat(direct.call("FLUSHALL")).isEqualTo("+OK");
                    }
                    Duration minute = Duration.ofSeconds(60 / shorter);
                    await("declared again")
                            .atMost(minute.plusSeconds(5))
                            .pollInterval(Duration.ofMillis(50))
                            .untilAsserted(
                                    () -> assertThat(fleet.rules()).hasSize(5).allSatisfy((id, rule) -> assertThat(rule)
                                            .isEqualTo(newer)));
                    experiment.history.faultEnds("FLUSHALL");
                    for (int beat = 0; beat < 5; beat++) {
                        experiment.run(minute.dividedBy(4));
                        assertThat(fleet.rules()).as("the newer version's").allSatisfy((id, rule) -> assertThat(rule)
                                .isEqualTo(newer));
                    }
                    fleet.awaitRuns(2);
                }
                fleet.end(Experiment.rounds());
            } finally {
                redisson.shutdown();
            }
        }
    }
}
