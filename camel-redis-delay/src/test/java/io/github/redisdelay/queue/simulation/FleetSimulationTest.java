// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.fake.FakeTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cost of fifty consumers of one queue, on a virtual clock: claims and wake-ups for each message and how late messages
 * are, beside what one consumer costs for the same messages.
 *
 * <p>{@code -Dfleet.seed=...} decides all that is random.
 */
class FleetSimulationTest {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.fleet");
    private static final long QUICK = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int CONSUMERS = 50;

    private final long seed = Long.getLong("fleet.seed", 1);

    /** Messages at random times, at a rate, each due a while later. */
    private static int messages(int rate) {
        return rate == 1 ? 300 : rate == 100 ? 3_000 : 20_000;
    }

    private record Load(int rate, int slots, long workNanos, long killEveryNanos) {}

    /** The result of a run. */
    private record Figures(int messages, long claims, long leaves, long wakeUps, long[] lateNanos) {
        double claimsPerMessage() {
            return (claims + leaves) / (double) messages;
        }

        double wakeUpsPerMessage() {
            return wakeUps / (double) messages;
        }

        Duration late(double quantile) {
            return Duration.ofNanos(lateNanos[(int) Math.ceil(quantile * lateNanos.length) - 1]);
        }

        @Override
        public String toString() {
            return String.format(
                    "%.2f claims a message (of these %.2f to leave), %.2f wake-ups, late p50 %.2f ms, p99 %.2f ms,"
                            + " at most %.2f ms",
                    claimsPerMessage(),
                    leaves / (double) messages,
                    wakeUpsPerMessage(),
                    late(0.5).toNanos() / 1e6,
                    late(0.99).toNanos() / 1e6,
                    late(1).toNanos() / 1e6);
        }
    }

    /** The groups of the messages. Then some messages fail, and who is killed has worked on some. */
    private record Groups(int count, int limit, boolean strict) {}

    private Figures run(int consumers, Load load) {
        return run(consumers, load, null, null);
    }

    /**
     * @param batch what every second consumer has; null if none has
     * @param groups null for none. With them a message is late from the time when its group has a place for it
     */
    private Figures run(int consumers, Load load, ConsumerOptions.Batch batch, Groups groups) {
        FakeTimers timers = new FakeTimers();
        Random random = new Random(seed);
        SimulatedQueue queue = new SimulatedQueue(
                timers, random, () -> TimeUnit.MICROSECONDS.toNanos(50 + random.nextInt(250)), SwarmFaults.NONE);
        if (groups != null) {
            queue.limit = groups.limit;
            queue.strict = groups.strict;
        }
        List<SimulatedConsumer> fleet = new ArrayList<>();
        ConsumerOptions options = ConsumerOptions.DEFAULTS.withConcurrentConsumers(load.slots);
        int messages = messages(load.rate);
        long[] late = new long[messages];
        int[] deliveries = {0};
        Runnable start = () -> {
            ConsumerOptions its = options.withBatch(fleet.size() % 2 == 0 ? batch : null);
            SimulatedConsumer consumer = new SimulatedConsumer(queue, fleet.size(), its, delivery -> {
                if (delivery.attempt() == 1) { // a repeat is late by the lease of one who was killed
                    long since = groups == null
                            ? delivery.dueMicros()
                            : Math.max(delivery.dueMicros(), queue.pending.get(delivery.id()).availableSince);
                    late[deliveries[0]++] = (queue.micros() - since) * 1_000;
                }
                return groups != null && random.nextInt(50) == 0 ? -load.workNanos : load.workNanos;
            });
            fleet.add(consumer);
            consumer.loop.resume();
        };
        for (int i = 0; i < consumers; i++) {
            start.run();
        }
        timers.advance(Duration.ofSeconds(40)); // their safety intervals are spread by then
        long claims = queue.claims;
        long leaves = queue.leaves;
        long wakeUps = queue.wakeUps;
        long at = 0;
        for (int i = 0; i < messages; i++) {
            String id = "m" + i;
            at += (long) (-Math.log(1 - random.nextDouble()) * 1e9 / load.rate);
            String group = groups == null ? null : "g" + random.nextInt(groups.count);
            timers.schedule(at, () -> queue.schedule(id, group, 500_000 + random.nextInt(1_000_000)));
        }
        if (load.killEveryNanos > 0) {
            for (long when = load.killEveryNanos; when < at; when += load.killEveryNanos) {
                timers.schedule(when, () -> {
                    SimulatedConsumer victim = groups == null
                            ? queue.consumer(queue.waiters.first())
                            : fleet.stream()
                                    .filter(one -> !one.dead)
                                    .max(Comparator.comparingInt(one -> one.working))
                                    .orElse(null);
                    if (victim != null && !victim.dead) {
                        victim.dead = true;
                        timers.schedule(TimeUnit.SECONDS.toNanos(1), start);
                    }
                });
            }
        }
        while (queue.done.size() < messages) {
            timers.advance(Duration.ofMillis(100));
            assertThat(queue.failure).isNull();
        }
        Figures figures = new Figures(
                messages,
                queue.claims - claims,
                queue.leaves - leaves,
                queue.wakeUps - wakeUps,
                Arrays.stream(late, 0, deliveries[0]).sorted().toArray());
        // One that was given to a consumer that was killed comes first with its second attempt.
        int killed = (int) fleet.stream().filter(one -> one.dead).count();
        assertThat(deliveries[0])
                .isBetween(messages - (groups == null ? 2 * fleet.size() : killed * 2 * load.slots), messages);
        assertThat(queue.groups.values()).allSatisfy(group -> assertThat(group.begun + group.parked.size())
                .isZero());
        LOG.info("{} of {}: {}", consumers, load, figures);
        return figures;
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "100, 1", "2000, 1", "1, 10", "100, 10", "2000, 10"})
    void should_cost_at_most_three_times_the_claims_of_one_consumer_for_quick_work(int rate, int slots) {
        Load load = new Load(rate, slots, QUICK, 0);
        Figures one = run(1, load);
        Figures fleet = run(CONSUMERS, load);
        assertThat(fleet.claimsPerMessage()).isLessThanOrEqualTo(3 * one.claimsPerMessage());
        assertThat(fleet.wakeUpsPerMessage()).isLessThanOrEqualTo(2);
        assertThat(fleet.late(0.99)).isLessThanOrEqualTo(Duration.ofMillis(5));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "100, 1", "2000, 1", "1, 10", "100, 10", "2000, 10"})
    void should_not_be_late_for_slow_work(int rate, int slots) {
        Load load = new Load(rate, slots, SLOW, 0);
        if (rate * SLOW < slots * 500_000_000L) {
            run(1, load);
        }
        Figures fleet = run(CONSUMERS, load);
        assertThat(fleet.claimsPerMessage()).isLessThanOrEqualTo(3);
        assertThat(fleet.wakeUpsPerMessage()).isLessThanOrEqualTo(2);
        assertThat(fleet.late(0.99)).isLessThanOrEqualTo(Duration.ofMillis(5));
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 5", "100, 1, 1", "2000, 1, 4", "1, 10, 5", "100, 10, 1", "2000, 10, 4"})
    void should_be_late_by_little_when_those_who_have_promised_to_come_are_killed(int rate, int slots, int seconds) {
        Load load = new Load(rate, slots, QUICK, TimeUnit.SECONDS.toNanos(seconds));
        Figures fleet = run(CONSUMERS, load);
        assertThat(fleet.wakeUpsPerMessage()).isLessThanOrEqualTo(2);
        // Where one is killed for every hundred messages, one in a hundred is late.
        assertThat(fleet.late(rate == 2000 ? 0.99 : 0.75)).isLessThanOrEqualTo(Duration.ofMillis(5));
        assertThat(fleet.late(1)).isLessThanOrEqualTo(Duration.ofSeconds(4));
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 0", "100, 1, 0", "1, 1, 5", "100, 10, 1", "2000, 10, 4"})
    void should_be_late_by_the_wait_for_a_batch_where_every_second_consumer_has_batches(
            int rate, int slots, int seconds) {
        ConsumerOptions.Batch batch = new ConsumerOptions.Batch(20, Duration.ofMillis(500));
        Figures fleet = run(CONSUMERS, new Load(rate, slots, QUICK, TimeUnit.SECONDS.toNanos(seconds)), batch, null);
        assertThat(fleet.claimsPerMessage()).isLessThanOrEqualTo(3);
        assertThat(fleet.wakeUpsPerMessage()).isLessThanOrEqualTo(2);
        assertThat(fleet.late(1)).isLessThanOrEqualTo(Duration.ofMillis(505).plusSeconds(seconds == 0 ? 0 : 4));
    }

    /** A thousand groups: from the time when its group has a place, a message waits as one without a group does. */
    @ParameterizedTest
    @CsvSource({
        "100, 1, 1, true, 0",
        "2000, 10, 1, true, 0",
        "2000, 10, 3, false, 0",
        "100, 10, 1, true, 1",
        "2000, 10, 1, true, 1",
        "2000, 10, 3, false, 1"
    })
    void should_let_each_group_go_on_whoever_is_killed(int rate, int slots, int limit, boolean strict, int seconds) {
        Groups groups = new Groups(1_000, limit, strict);
        Figures fleet = run(CONSUMERS, new Load(rate, slots, SLOW, TimeUnit.SECONDS.toNanos(seconds)), null, groups);
        assertThat(fleet.claimsPerMessage()).isLessThanOrEqualTo(3);
        assertThat(fleet.wakeUpsPerMessage()).isLessThanOrEqualTo(2);
        assertThat(fleet.late(0.99)).isLessThanOrEqualTo(Duration.ofMillis(5));
        assertThat(fleet.late(1)).isLessThanOrEqualTo(seconds == 0 ? Duration.ofMillis(20) : Duration.ofSeconds(4));
    }

    @Test
    void should_be_late_by_two_turns_when_the_one_that_comes_is_killed_and_others_have_left_before_their_turns() {
        for (int run = 0; run < 30; run++) {
            FakeTimers timers = new FakeTimers();
            Random random = new Random(seed + run);
            SimulatedQueue queue = new SimulatedQueue(timers, random, () -> 100_000, SwarmFaults.NONE);
            long[] lateMicros = {-1};
            for (int i = 0; i < 10; i++) {
                new SimulatedConsumer(queue, i, ConsumerOptions.DEFAULTS, delivery -> {
                            if (delivery.id().equals("m")) {
                                lateMicros[0] = queue.micros() - delivery.dueMicros();
                            }
                            return TimeUnit.MINUTES.toNanos(10);
                        })
                        .loop.resume();
            }
            timers.advance(Duration.ofSeconds(40));
            for (int i = 0; i < 8; i++) {
                queue.schedule("long-" + i, 0);
                timers.advance(Duration.ofMillis(100));
            }
            timers.advance(Duration.ofMillis(random.nextInt(2_000)));
            queue.schedule("m", 500_000);
            timers.advance(Duration.ofMillis(490));
            assertThat(queue.waiters.promises()).hasSize(2);
            queue.consumer(queue.waiters.first()).dead = true;
            timers.advance(Duration.ofSeconds(30));
            assertThat(lateMicros[0]).as("late, run %d", run).isBetween(1L, 4_000_000L);
        }
    }

    @Test
    void should_have_a_claim_every_four_seconds_whoever_is_killed() {
        FakeTimers timers = new FakeTimers();
        Random random = new Random(seed);
        SimulatedQueue queue = new SimulatedQueue(timers, random, () -> 100_000, SwarmFaults.NONE);
        List<SimulatedConsumer> fleet = new ArrayList<>();
        for (int i = 0; i < CONSUMERS; i++) {
            fleet.add(new SimulatedConsumer(queue, i, ConsumerOptions.DEFAULTS, delivery -> QUICK));
            fleet.get(i).loop.resume();
        }
        for (int killed = 0; killed < CONSUMERS - 1; killed++) {
            timers.advance(Duration.ofSeconds(4));
            SimulatedConsumer next = queue.consumer(queue.waiters.first());
            (next.dead ? fleet.stream().filter(one -> !one.dead).findFirst().orElseThrow() : next).dead = true;
            for (int second = 0; second < 60; second += 4) {
                long before = queue.claims;
                timers.advance(Duration.ofSeconds(4));
                assertThat(queue.claims)
                        .as("claims after %d were killed", killed + 1)
                        .isGreaterThan(before);
            }
        }
    }

    @Test
    void should_cost_nothing_but_turns_while_nothing_happens() {
        FakeTimers timers = new FakeTimers();
        Random random = new Random(seed);
        for (int consumers : new int[] {1, 3, CONSUMERS}) {
            SimulatedQueue queue = new SimulatedQueue(timers, random, () -> 100_000, SwarmFaults.NONE);
            for (int i = 0; i < consumers; i++) {
                new SimulatedConsumer(queue, i, ConsumerOptions.DEFAULTS, delivery -> QUICK).loop.resume();
            }
            timers.advance(Duration.ofHours(1));
            // More than a queue has turns come now and then.
            assertThat(queue.claims)
                    .as("claims of %d", consumers)
                    .isBetween(
                            3600_000L / 1_900, 3600_000L / 1_805 + consumers + (consumers > 24 ? 26 * 3600 / 43 : 0));
            assertThat(queue.wakeUps).isZero();
            assertThat(queue.leaves).isZero();
        }
    }
}
