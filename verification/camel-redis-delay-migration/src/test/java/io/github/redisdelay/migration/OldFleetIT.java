// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.migration.Fleet.Member;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;

/**
 * Producers and consumers of two old releases work on a queue while importers that are killed again and again move it, and a consumer of the
 * component that is killed, too, takes over: nothing is lost, and nothing comes twice without a cause. {@code -Dfaults.rounds=5} has five
 * times the load and the kills, and tries more pairs.
 */
@Tag("faults")
class OldFleetIT {

    private static final int ROUNDS = Integer.getInteger("faults.rounds", 1);
    /** How many importers are killed for each pair. The producers go on until then. */
    private static final int KILLS = 4 * ROUNDS;
    /** The load of each of the two producers. */
    private static final int PER_SECOND = 100;

    private static final int LONGEST_DELAY = 4_000;
    /** So long an importer lives at the most, in milliseconds. */
    private static final int LONGEST_LIFE = 700;

    private static RedisServer server;
    private static RedissonClient redisson;
    private static DelayQueueClient client;

    @TempDir
    Path folder;

    /**
     * Two releases side by side.
     *
     * @param codec {@code default} for what both have by default, or {@code string}
     * @param written the name of that codec
     * @param mixed whether only one of them has the format of elements before 3.21.1: each fails to transfer what the other offers
     * @param ahead {@code due} or {@code everything}
     */
    record Pair(String one, String other, String codec, String written, boolean mixed, String ahead) {

        Pair with(String otherAhead) {
            return new Pair(one, other, codec, written, mixed, otherAhead);
        }
    }

    static List<Pair> pairs() {
        List<Pair> pairs = List.of(
                new Pair("3.12.5", "3.16.8", "string", "string", false, "everything"),
                new Pair("3.20.1", "3.21.1", "default", "kryo5", true, "due"),
                new Pair("3.52.0", "4.7.0", "default", "kryo5", false, "everything"));
        if (ROUNDS == 1) {
            return pairs;
        }
        List<Pair> more = List.of(
                new Pair("3.12.5", "3.12.5", "default", "fst", false, "everything"),
                new Pair("3.16.8", "3.16.8", "default", "marshalling", false, "everything"),
                new Pair("3.16.8", "3.20.1", "string", "string", false, "everything"),
                new Pair("3.21.1", "3.52.0", "string", "string", false, "everything"),
                new Pair("3.20.1", "4.7.0", "string", "string", true, "everything"));
        return Stream.concat(pairs.stream(), more.stream())
                .flatMap(pair -> Stream.of(pair.with("everything"), pair.with("due")))
                .toList();
    }

    @BeforeAll
    static void open() {
        server = RedisServer.dedicated();
        redisson = NewQueueProcess.connect(server.address());
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
    }

    @AfterAll
    static void close() {
        client.close();
        redisson.shutdown();
        server.close();
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void should_lose_nothing_and_move_nothing_twice(Pair pair) throws Exception {
        long seed = Long.getLong("faults.seed", System.nanoTime());
        String queue = "fleet-" + pair.one() + "-" + pair.other() + "-" + pair.codec() + "-" + pair.ahead();
        try (Fleet fleet = new Fleet(folder, server.address(), queue)) {
            long failedBefore = fleet.failedScripts();
            Run run = new Run(fleet, pair, new Random(seed));
            run.load();
            run.drain(queue);
            run.judge("seed " + seed, fleet.failedScripts() - failedBefore);
        }
    }

    /** One run; of one thread. */
    private static final class Run {
        private final Fleet fleet;
        private final Pair pair;
        private final Random random;
        private final List<Member> producers = new ArrayList<>();
        private final List<Member> oldConsumers = new ArrayList<>();
        private final List<Member> newConsumers = new ArrayList<>();
        private Member importer;

        Run(Fleet fleet, Pair pair, Random random) {
            this.fleet = fleet;
            this.pair = pair;
            this.random = random;
        }

        /** Old consumers end in the middle, and importers and the first new consumer are killed. */
        void load() throws Exception {
            for (String release : List.of(pair.one(), pair.other())) {
                oldConsumers.add(fleet.old(release, "consume", pair.codec()));
                producers.add(fleet.produce(release, pair.codec(), Integer.MAX_VALUE, PER_SECOND, 0, LONGEST_DELAY));
            }
            for (Member consumer : oldConsumers) {
                Fleet.until(() -> !consumer.read().isEmpty());
            }
            newConsumers.add(fleet.current("consume"));
            importer = startImporter();
            for (int kill = 1; kill <= KILLS; kill++) {
                Member next = startImporter();
                begun(importer);
                TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_LIFE)); // the moment of death
                importer.kill();
                importer = next;
                if (kill == KILLS / 2) {
                    replaceConsumers();
                }
            }
        }

        private void replaceConsumers() throws Exception {
            for (Member consumer : oldConsumers) {
                consumer.end();
            }
            Fleet.until(() -> newConsumers.get(0).read().size() > 20);
            newConsumers.get(0).kill();
            newConsumers.add(fleet.current("consume"));
        }

        private Member startImporter() throws IOException {
            return fleet.current("import", pair.written(), pair.ahead());
        }

        private static void begun(Member importer) {
            Fleet.until(() -> !importer.read().isEmpty());
        }

        /** Until neither queue has a message. */
        void drain(String queue) throws Exception {
            for (Member producer : producers) {
                producer.end();
            }
            begun(importer);
            Fleet.until(() -> fleet.oldSize() == 0);
            importer.end();
            Fleet.until(() -> {
                QueueStats stats = client.queue(queue).stats().get(10, TimeUnit.SECONDS);
                return stats.delayed() + stats.leased() == 0;
            });
            newConsumers.get(1).end();
        }

        /** Looks for each text that was offered. */
        void judge(String seed, long failedScripts) throws IOException {
            Set<String> offered = new HashSet<>();
            for (Member producer : producers) {
                offered.addAll(producer.read());
            }
            offered.remove("end");
            Map<String, Integer> taken = new HashMap<>();
            int byOld = 0;
            for (Member consumer : oldConsumers) {
                for (String text : consumer.read()) {
                    taken.merge(text, 1, Integer::sum);
                    byOld++;
                }
            }
            // A text, an id, an attempt and a due time: a message comes again when its consumer was killed, with
            // another attempt.
            Set<String> deliveries = new HashSet<>();
            Set<String> messages = new HashSet<>();
            Set<String> dues = new HashSet<>();
            for (Member consumer : newConsumers) {
                for (String line : consumer.read()) {
                    assertThat(deliveries.add(line)).as(line).isTrue();
                    String[] words = line.split(" ");
                    if (messages.add(words[1])) {
                        taken.merge(words[0], 1, Integer::sum);
                        // What a failed transfer has handed over is due when it is imported, and not when it was
                        // before.
                        assertThat(dues.add(words[0] + " " + words[3]))
                                .as(line + " was imported twice")
                                .isTrue();
                    }
                }
            }
            Set<String> lost = new HashSet<>(offered);
            lost.removeAll(taken.keySet());
            List<String> twice = taken.entrySet().stream()
                    .filter(entry -> entry.getValue() > 1)
                    .map(entry -> entry.getKey() + " " + entry.getValue() + " times")
                    .toList();
            String what = pair + ": " + offered.size() + " offered, " + byOld + " taken by old consumers, "
                    + messages.size() + " by new ones, " + (deliveries.size() - messages.size())
                    + " again after the kill, " + KILLS + " importers killed, " + failedScripts
                    + " transfers failed, " + lost.size() + " lost, " + twice.size() + " twice, " + seed;
            System.out.println(what);
            assertThat(offered).as(what).containsAll(taken.keySet());
            assertThat(lost).as(what).isEmpty();
            assertThat(byOld).as(what).isPositive();
            assertThat(messages).as(what).isNotEmpty();
            if (!pair.mixed()) {
                assertThat(twice).as(what).isEmpty();
                assertThat(failedScripts).as(what).isZero();
            } else if (failedScripts == 0) {
                // Only a transfer that fails in its middle leaves behind what it has handed over.
                assertThat(twice).as(what).isEmpty();
            }
        }
    }
}
