// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Many consumers of one queue on a virtual clock, with random schedules, handlers and faults: every message is delivered,
 * none early, none later than the design allows, and with a bounded number of claims.
 *
 * <p>A failure names its seed; {@code -Dsimulation.seed=...} runs that one again, {@code -Dsimulation.runs=...} decides
 * how many there are.
 */
class ConsumersSimulationTest {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.simulation");

    /** The faults. */
    private enum Faults {
        NONE,
        /** Consumers die, but no second one before it was noticed that the first has. */
        KILLS,
        /** Consumers die and pause; requests, answers and wake-ups are lost. */
        ALL
    }

    @Test
    void should_deliver_at_once_while_nothing_fails() {
        run(Faults.NONE);
    }

    @Test
    void should_deliver_soon_while_consumers_are_killed() {
        run(Faults.KILLS);
    }

    @Test
    void should_deliver_everything_within_the_safety_interval_whatever_fails() {
        run(Faults.ALL);
    }

    private static void run(Faults faults) {
        long first = RandomTests.seed("simulation.seed");
        boolean again = Long.getLong("simulation.seed") != null;
        int runs = again ? Integer.getInteger("simulation.runs", 1) : RandomTests.amount("simulation.runs", 40, 150);
        LOG.info("simulation with faults {}: seeds {} to {}", faults, first, first + runs - 1);
        long claims = 0;
        long leaves = 0;
        long wakeUps = 0;
        long messages = 0;
        long longest = 0;
        for (int i = 0; i < runs; i++) {
            Simulation simulation = new Simulation(first + i, faults);
            try {
                simulation.run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        "simulation with faults " + faults + ", run again with -Dsimulation.seed=" + (first + i) + ": "
                                + e.getMessage(),
                        e);
            }
            claims += simulation.queue.claims;
            leaves += simulation.queue.leaves;
            wakeUps += simulation.queue.wakeUps;
            messages += simulation.deliveries;
            longest = Math.max(longest, simulation.longestNanos);
        }
        LOG.info(
                "faults {}: {} deliveries, {} claims, {} leaves, {} wake-ups; a message waited for {} ms at the most"
                        + " while a consumer had room",
                faults,
                messages,
                claims,
                leaves,
                wakeUps,
                longest / 1_000_000);
    }

    /** One run. */
    private static final class Simulation {
        private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

        final FakeTimers timers = new FakeTimers();
        final Random random;
        final Faults faults;
        final SimulatedQueue queue;
        final long leaseMicros;
        /** Whether consumers with batches are beside those without. */
        final boolean batches;

        /** How many groups messages have; 0 for none. Never beside batches. */
        final int groups;

        /** For how long a message may wait for others. */
        long batchNanos;

        final List<SimulatedConsumer> nodes = new ArrayList<>();
        boolean over;
        long deliveries;
        long longestNanos;

        Simulation(long seed, Faults faults) {
            this.random = new Random(seed);
            this.faults = faults;
            this.queue = new SimulatedQueue(
                    timers,
                    random,
                    () -> TimeUnit.MICROSECONDS.toNanos(100 + random.nextInt(2_900)),
                    probability -> faults == Faults.ALL && !over && random.nextDouble() < probability);
            this.leaseMicros = random.nextBoolean() ? 30_000_000 : 5_000_000;
            this.batches = random.nextBoolean();
            this.groups = batches || random.nextBoolean() ? 0 : 1 + random.nextInt(30);
            queue.limit = 1 + random.nextInt(3);
            queue.strict = random.nextBoolean();
        }

        void run() {
            int consumers = 1 + random.nextInt(4);
            for (int i = 0; i < consumers; i++) {
                startNode();
            }
            int messages = 20 + random.nextInt(300);
            long spread = TimeUnit.SECONDS.toNanos(5 + random.nextInt(300));
            long at = 0;
            for (int i = 0; i < messages; i++) {
                String id = "m" + i;
                long delay = random.nextInt(3) == 0
                        ? 0
                        : random.nextInt(3) == 0 ? random.nextInt(60_000_000) : random.nextInt(1_000_000);
                // Half of them follow another one closely, so that wake-ups meet claims that are under way.
                at = i > 0 && random.nextBoolean()
                        ? at + TimeUnit.MICROSECONDS.toNanos(random.nextInt(8_000))
                        : (long) (random.nextDouble() * spread);
                String group = groups == 0 || random.nextInt(5) == 0 ? null : "g" + random.nextInt(groups);
                timers.schedule(at, () -> queue.schedule(id, group, delay));
            }
            if (faults != Faults.NONE) {
                for (int i = random.nextInt(6); i > 0; i--) {
                    timers.schedule((long) (random.nextDouble() * spread), this::killSomeone);
                }
            }
            if (faults == Faults.ALL) {
                for (int i = random.nextInt(6); i > 0; i--) {
                    timers.schedule((long) (random.nextDouble() * spread), this::suspendSomeone);
                }
            }
            long start = timers.nanoTime();
            long limit = start + spread + Duration.ofHours(3).toNanos();
            while (queue.done.size() < messages) {
                // The time of the next event, or a little later where it waits for nothing.
                Duration next = timers.next();
                timers.advance(Duration.ofNanos(Math.max(STEP_NANOS, next == null ? 0 : next.toNanos())));
                checkNobodyIsIdleWhileAMessageWaits();
                assertThat(queue.failure).isNull();
                assertThat(timers.nanoTime() - limit)
                        .as("time in which all is delivered; left: " + queue.pending.keySet())
                        .isNegative();
            }
            assertThat(queue.pending).isEmpty();
            long seconds = TimeUnit.NANOSECONDS.toSeconds(timers.nanoTime() - start);
            // Not for each consumer: only those come that are asked to.
            assertThat(queue.claims)
                    .as("claims of %d consumers for %d events in %d s", nodes.size(), queue.events, seconds)
                    .isLessThanOrEqualTo(4L * queue.events + nodes.size() * 10 + 3 * seconds);
            // At a standstill: nothing but the safety interval.
            over = true;
            timers.advance(Duration.ofMinutes(2));
            long before = queue.claims;
            long wakeUpsBefore = queue.wakeUps;
            timers.advance(Duration.ofHours(1));
            long alive = nodes.stream().filter(node -> !node.dead).count();
            assertThat(queue.claims - before)
                    .as("claims in an idle hour")
                    .isBetween(alive == 0 ? 0 : 3600_000L / 1_900, alive == 0 ? 0 : 3600_000L / 1_805 + 1);
            assertThat(queue.wakeUps).as("wake-ups in an idle hour").isEqualTo(wakeUpsBefore);
            assertThat(timers.waiting()).as("timers at a standstill").isLessThanOrEqualTo((int) (alive * 2));
            assertThat(queue.waiters.promises()).as("idle consumers").hasSize((int) alive);
            nodes.forEach(node -> node.loop.stop(true));
            timers.advance(Duration.ofMinutes(1));
            assertThat(timers.waiting()).as("timers after all are stopped").isZero();
            assertThat(queue.waiters.promises())
                    .as("idle consumers after all are stopped")
                    .isEmpty();
        }

        void startNode() {
            ConsumerOptions options = ConsumerOptions.DEFAULTS
                    .withConcurrentConsumers(1 + random.nextInt(5))
                    .withMaxMessagesPerPoll(1 + random.nextInt(50))
                    .withVisibilityTimeout(Duration.ofNanos(leaseMicros * 1_000));
            if (batches && random.nextBoolean()) {
                Duration timeout = Duration.ofMillis(random.nextInt(3_000));
                options = options.withBatch(new ConsumerOptions.Batch(1 + random.nextInt(20), timeout));
                batchNanos = Math.max(batchNanos, timeout.toNanos() + TimeUnit.MILLISECONDS.toNanos(50));
            }
            int slowest = new int[] {1, 20, 500, 12_000}[random.nextInt(4)];
            SimulatedConsumer node = new SimulatedConsumer(queue, nodes.size(), options, delivery -> {
                deliveries++;
                boolean fails = random.nextInt(20) == 0;
                long nanos = 1 + (long) (random.nextDouble() * slowest * 1_000_000);
                return fails ? -nanos : nanos;
            });
            nodes.add(node);
            node.loop.resume();
        }

        void killSomeone() {
            SimulatedConsumer node = nodes.get(random.nextInt(nodes.size()));
            if (faults == Faults.KILLS && aDeadOneCounts()) {
                if (!over) {
                    timers.schedule(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(50)), this::killSomeone);
                }
                return;
            }
            node.dead = true;
            timers.schedule(random.nextInt(10) * TimeUnit.SECONDS.toNanos(1), this::startNode);
        }

        /** Tells whether a dead one is still among the waiters: no claim has noticed it. */
        private boolean aDeadOneCounts() {
            return queue.waiters.promises().keySet().stream().anyMatch(member -> queue.consumer(member).dead);
        }

        void suspendSomeone() {
            SimulatedConsumer node = nodes.get(random.nextInt(nodes.size()));
            if (!node.dead) {
                node.suspended = true;
                node.loop.suspend();
                node.timers().schedule(random.nextInt(5_000) * 1_000_000L, () -> {
                    node.suspended = false;
                    node.roomSince = timers.nanoTime();
                    node.loop.resume();
                });
            }
        }

        /**
         * A message that could be claimed waits no longer than the design says while a consumer has a free slot: a few
         * round trips; or until the turn after that of a dead one (and for a repeated call, where wake-ups and answers are
         * lost).
         */
        void checkNobodyIsIdleWhileAMessageWaits() {
            long bound = batchNanos
                    + switch (faults) {
                        case NONE -> TimeUnit.MILLISECONDS.toNanos(20);
                        case KILLS -> TimeUnit.MILLISECONDS.toNanos(4_000);
                        case ALL -> TimeUnit.SECONDS.toNanos(4 + 15);
                    };
            Map<SimulatedConsumer, Long> suspicious = new HashMap<>();
            for (SimulatedQueue.Message message : queue.pending.values()) {
                if (message.leased && message.lost >= 2) {
                    // Its holder begins it alone and leaves its other slots empty until then.
                    suspicious.put(message.holder, timers.nanoTime());
                }
            }
            suspicious.forEach((node, now) -> node.roomSince = now);
            for (SimulatedQueue.Message message : queue.pending.values()) {
                if (queue.isParked(message)) {
                    continue;
                }
                long since = message.leased ? message.leaseEnds : message.availableSince;
                long waitsNanos = (queue.micros() - since) * 1_000;
                for (SimulatedConsumer node : nodes) {
                    long roomNanos = node.hasRoom() ? timers.nanoTime() - node.roomSince : 0;
                    long idleNanos = Math.min(waitsNanos, roomNanos);
                    longestNanos = Math.max(longestNanos, idleNanos);
                    if (idleNanos > bound) {
                        queue.fail(message.id + (message.leased ? ", whose lease expired," : "") + " waits for "
                                + waitsNanos / 1_000_000 + " ms while consumer " + node.number + " has waiters for "
                                + roomNanos / 1_000_000 + " ms; idle consumers: " + queue.waiters.promises() + " at "
                                + queue.micros() + "; "
                                + nodes.stream()
                                        .map(n -> n.number
                                                + (n.dead
                                                        ? " dead"
                                                        : " working on " + n.working + " of "
                                                                + n.options.concurrentConsumers()))
                                        .toList());
                    }
                }
            }
        }
    }
}
