// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker;
import io.github.redisdelay.history.HistoryChecker.Report;
import io.github.redisdelay.migration.Fleet.Member;
import io.github.redisdelay.migration.OldQueueProcess.Line;
import io.github.redisdelay.migration.OldQueueProcess.Role;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Applications with old releases of Redisson and such with Camel routes share a queue, and those with routes are killed
 * again and again: nothing is lost, nothing comes early, and nothing comes twice without a cause.
 * {@code -Dfaults.rounds=5} kills five times as many, and tries each fleet in each way.
 */
@Tag("faults")
@Execution(ExecutionMode.CONCURRENT)
class KilledRoutesIT {

    private static final String QUEUE = "orders";
    private static final int ROUNDS = Integer.getInteger("faults.rounds", 1);
    /** How many are killed in each run. */
    private static final int KILLS = 2 * ROUNDS;

    private static final int LONGEST_DELAY = 3_000;
    /** So long after its first message one that is to be killed lives at the most, in milliseconds. */
    private static final int LONGEST_LIFE = 700;

    /** How messages are taken over. */
    enum Way {
        /** Consumers take what is due. */
        BRIDGE("due", "&import.from=" + QUEUE, ""),
        /** Consumers take everything. */
        BRIDGE_AHEAD("`import.ahead=1d`", "&import.from=" + QUEUE + "&import.ahead=1d", ""),
        /** A producer takes everything, again and again. */
        OPERATION("`operation=import`", "", "&operation=import&import.from=" + QUEUE);

        private final String label;
        private final String consuming;
        private final String importing;

        Way(String label, String consuming, String importing) {
            this.label = label;
            this.consuming = consuming;
            this.importing = importing;
        }

        private static String with(String options, String codec) {
            return options.isEmpty() ? "" : options + "&import.codec=" + codec;
        }
    }

    /** Where the queue is. */
    enum Place {
        SERVER("one server", 1),
        PARTITIONS("3 partitions", 3),
        CLUSTER("cluster", 1);

        private final String label;
        private final int partitions;

        Place(String label, int partitions) {
            this.label = label;
            this.partitions = partitions;
        }
    }

    /**
     * The applications that share a queue.
     *
     * @param releases of the old applications
     * @param codec of theirs, see {@link OldQueueProcess}
     * @param importCodec its name here
     */
    record Setting(List<String> releases, String codec, String importCodec, Place place, Way way) {

        Stream<Setting> inEachWay() {
            return Arrays.stream(Way.values()).map(each -> new Setting(releases, codec, importCodec, place, each));
        }

        @Override
        public String toString() {
            return String.join(", ", releases) + " | " + importCodec + " | " + place.label + " | " + way.label;
        }

        /**
         * Some have the format of elements before 3.21.1, others the one since then: each fails to transfer the
         * other's.
         */
        boolean mixed() {
            return releases.stream()
                            .map(OldRedissons::hasOldElements)
                            .distinct()
                            .count()
                    > 1;
        }
    }

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path folder;

    private final long seed = Long.getLong("faults.seed", System.nanoTime());
    private final Random random = new Random(seed);
    /** The history of the kills. */
    private final History history = new History("test", History.MACHINE_CLOCK);

    private final List<Member> old = new ArrayList<>();
    private final List<Member> camel = new ArrayList<>();
    private final Set<Member> killed = new HashSet<>();

    static Stream<Setting> settings() {
        Stream<Setting> settings = Stream.of(
                new Setting(List.of("3.12.5", "3.16.8"), "string", "string", Place.SERVER, Way.BRIDGE_AHEAD),
                new Setting(List.of("3.12.5"), "default", "fst", Place.SERVER, Way.BRIDGE),
                new Setting(List.of("3.16.8"), "default", "marshalling", Place.SERVER, Way.OPERATION),
                new Setting(List.of("3.20.1", "3.21.1"), "default", "kryo5", Place.SERVER, Way.BRIDGE),
                new Setting(List.of("3.52.0", "4.7.0"), "default", "kryo5", Place.PARTITIONS, Way.BRIDGE_AHEAD),
                new Setting(List.of("3.52.0"), "json", "json", Place.SERVER, Way.OPERATION),
                new Setting(List.of("4.7.0"), "default", "kryo5", Place.CLUSTER, Way.BRIDGE));
        return ROUNDS == 1 ? settings : settings.flatMap(Setting::inEachWay);
    }

    @ParameterizedTest
    @MethodSource("settings")
    void should_lose_nothing_when_consumers_come_first(Setting setting) throws Exception {
        try (Servers servers = setting.place() == Place.CLUSTER ? Servers.cluster(folder) : Servers.single();
                Fleet fleet = new Fleet(folder, servers.addresses(), QUEUE)) {
            for (String release : setting.releases()) {
                old.add(fleet.old(release, Role.WORK, setting.codec(), Integer.MAX_VALUE, 0, LONGEST_DELAY));
            }
            String uri = "redis-delay:" + QUEUE + "?partitions=" + setting.place().partitions;
            String consuming = Way.with(setting.way().consuming, setting.importCodec());
            String importing = Way.with(setting.way().importing, setting.importCodec());
            awaitTaken(); // while nobody imports: later the routes may take all, and leave a slow one nothing
            killAgainAndAgain(() -> fleet.camel(servers.configuration(), uri, consuming, importing, ""), old);
            for (Member member : old) {
                member.end();
            }
            endScheduling();
            Fleet.until(() -> alive().size() == 2
                    && servers.oldSize(QUEUE) == 0
                    && servers.newSize(QUEUE, setting.place().partitions) == 0);
            endAll();
            judge(setting, servers);
        }
    }

    /** Starts something. */
    private interface Start {
        Member get() throws IOException;
    }

    /** Two are at work at any time. @param leaving old consumers that stop in the middle */
    private void killAgainAndAgain(Start start, List<Member> leaving) throws Exception {
        for (int i = 0; i < 2; i++) {
            camel.add(start.get());
        }
        awaitTaken();
        for (int kill = 1; kill <= KILLS; kill++) {
            Member victim = alive().get(random.nextInt(2));
            camel.add(start.get());
            victim.begun();
            TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_LIFE)); // the moment of death
            history.killed(victim.name(), "SIGKILL");
            victim.kill();
            history.dead(victim.name());
            killed.add(victim);
            if (kill == (KILLS + 1) / 2) {
                for (Member member : leaving) {
                    member.tell();
                }
            }
        }
        for (Member member : alive()) {
            member.begun();
        }
    }

    private void awaitTaken() throws Exception {
        for (Member member : old) {
            Fleet.until(() -> !member.texts(Line.TAKEN).isEmpty());
        }
    }

    /** Those that were not killed: they must live. */
    private List<Member> alive() {
        List<Member> alive =
                camel.stream().filter(member -> !killed.contains(member)).toList();
        assertThat(alive).allSatisfy(member -> assertThat(member.process().isAlive())
                .as(member::logged)
                .isTrue());
        return alive;
    }

    private void endScheduling() throws IOException {
        for (Member member : alive()) {
            member.tell();
        }
    }

    private void endAll() throws Exception {
        for (Member member : alive()) {
            member.end();
        }
    }

    private void judge(Setting setting, Servers servers) throws IOException {
        FleetHistory fleet = new FleetHistory(history, old, camel);
        long failed = setting.mixed() ? servers.failedScripts() : 0;
        Report report = HistoryChecker.check(
                failed > 0 ? fleet.eventsWithCopies() : fleet.events(), CamelProcess.LEASE, servers.leftovers());
        print(setting.toString(), report, fleet.takenByOld().count(), fleet.imported(), fleet.copies());
        report.assertClean();
        assertThat(fleet.importedTwice()).isEmpty();
        assertThat(fleet.takenByOld()).isNotEmpty();
        assertThat(fleet.imported()).isPositive();
        assertThat(camel).allSatisfy(member -> assertThat(member.logged())
                .doesNotContain("it cannot be imported", "left there:"));
    }

    /** The other order: producers have Camel, and a route gives what is due to consumers that do not. */
    @Test
    void should_lose_nothing_when_producers_come_first() throws Exception {
        try (Servers servers = Servers.single();
                Fleet fleet = new Fleet(folder, servers.addresses(), QUEUE)) {
            for (String release : List.of("3.20.1", "4.7.0")) {
                old.add(fleet.old(release, Role.TAKE, "default"));
            }
            String uri = "redis-delay:" + QUEUE + "?partitions=1";
            killAgainAndAgain(() -> fleet.camel(servers.configuration(), uri, "", "", QUEUE), List.of());
            endScheduling();
            Fleet.until(() -> alive().size() == 2 && servers.newSize(QUEUE, 1) == 0 && servers.oldSize(QUEUE) == 0);
            endAll();
            for (Member member : old) {
                member.end();
            }
            judgeReverse(servers);
        }
    }

    private void judgeReverse(Servers servers) {
        List<Event> events = new FleetHistory(history, List.of(), camel).events();
        Report report = HistoryChecker.check(events, CamelProcess.LEASE, servers.leftovers());
        Map<String, Long> given = events.stream()
                .filter(event -> event.what() == What.DELIVERED)
                .collect(Collectors.groupingBy(Event::id, Collectors.counting()));
        Map<String, Long> taken = old.stream()
                .flatMap(member -> member.texts(Line.TAKEN).stream())
                .collect(Collectors.groupingBy(text -> text, Collectors.counting()));
        long twice = taken.values().stream().filter(times -> times > 1).count();
        print("3.20.1, 4.7.0 | kryo5 | one server | reverse", report, taken.size(), 0, twice);
        report.assertClean();
        // The judge has a cause for each delivery of the route, and each of them gives it at the most once.
        assertThat(taken.keySet()).isEqualTo(given.keySet());
        assertThat(taken).allSatisfy((text, times) -> assertThat(times).as(text).isLessThanOrEqualTo(given.get(text)));
    }

    /**
     * A line of a table. @param copies that are Redisson's, or what old consumers have got twice from the reverse route
     */
    private void print(String what, Report report, long takenByOld, int imported, long copies) {
        System.out.printf(
                "| %s | %d | %d | %d | %d | %d | %d | %d | -Dfaults.seed=%d%n",
                what,
                KILLS,
                report.confirmed(),
                takenByOld,
                imported,
                report.lost(),
                report.duplicates(),
                copies,
                seed);
    }
}
