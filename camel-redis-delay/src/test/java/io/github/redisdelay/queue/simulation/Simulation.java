// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import static java.util.Comparator.comparingInt;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.fake.FakeTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** One run of {@link ConsumersSimulationTest}: a queue, its consumers and what happens to them. A seed decides all of it. */
final class Simulation {

    /** The faults. */
    enum Faults {
        NONE,
        /** Consumers die, but no second one before it was noticed that the first has. */
        KILLS,
        /** Consumers die and pause; calls, answers and wake-ups are lost. */
        ALL,
        /**
         * The same and worse: any number dies, most calls may be lost, clocks are wrong or step. Then a core of the fleet is
         * healed, Redis and one consumer. The others stay as broken as they are, for ever.
         */
        CORE
    }

    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** How far apart the turns of idle consumers are at the most. */
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(1_900);

    private static final long SLOWEST_NANOS = TimeUnit.SECONDS.toNanos(12);
    private static final long LONGEST_DELAY_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** Of a clock that is wrong. */
    private static final double[] SPEEDS = {0.25, 0.5, 2, 4};

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

    /** How often work fails, and how often the clock of a machine is wrong. */
    private final double failing;

    private final double wrongClocks;

    final List<SimulatedConsumer> nodes = new ArrayList<>();
    /** The consumer that was healed; null before. */
    private SimulatedConsumer core;

    private long healedNanos;
    private boolean over;
    long deliveries;
    long longestNanos;

    Simulation(long seed, Faults faults, RareStates reached) {
        this.random = new Random(seed);
        this.faults = faults;
        this.queue = new SimulatedQueue(
                timers,
                random,
                () -> TimeUnit.MICROSECONDS.toNanos(100 + random.nextInt(2_900)),
                switch (faults) {
                    case NONE, KILLS -> SwarmFaults.NONE;
                    case ALL -> SwarmFaults.usual(random);
                    case CORE -> SwarmFaults.wild(random);
                });
        queue.reached = reached;
        this.leaseMicros = random.nextBoolean() ? 30_000_000 : 5_000_000;
        this.batches = random.nextBoolean();
        this.groups = batches || random.nextBoolean() ? 0 : 1 + random.nextInt(random.nextBoolean() ? 3 : 30);
        queue.limit = 1 + random.nextInt(3);
        queue.strict = random.nextBoolean();
        this.failing = random.nextInt(3) == 0 ? 0 : 0.15 * random.nextDouble();
        this.wrongClocks = faults != Faults.CORE || random.nextInt(3) == 0 ? 0 : random.nextDouble();
    }

    void run() {
        int consumers = 1 + random.nextInt(4);
        for (int i = 0; i < consumers; i++) {
            startNode();
        }
        int messages = 20 + random.nextInt(300);
        long spread = TimeUnit.SECONDS.toNanos(5 + random.nextInt(300));
        schedule(messages, spread);
        plan(spread);
        long start = timers.nanoTime();
        while (queue.done.size() < messages) {
            // The time of the next event, or a little later where it waits for nothing.
            Duration next = timers.next();
            timers.advance(Duration.ofNanos(Math.max(STEP_NANOS, next == null ? 0 : next.toNanos())));
            checkNobodyIsIdleWhileAMessageWaits();
            assertThat(queue.failure).isNull();
            assertThat(timers.nanoTime() - end(start + spread, messages))
                    .as(() -> "time in which all is delivered; left: " + queue.pending.keySet())
                    .isNegative();
        }
        assertThat(queue.pending).isEmpty();
        if (faults != Faults.CORE) {
            checkClaims(TimeUnit.NANOSECONDS.toSeconds(timers.nanoTime() - start));
            checkStandstill();
        }
    }

    private void schedule(int messages, long spread) {
        long at = 0;
        for (int i = 0; i < messages; i++) {
            String id = "m" + i;
            long delay = random.nextInt(3) == 0
                    ? 0
                    : random.nextInt(3) == 0
                            ? random.nextInt((int) (LONGEST_DELAY_NANOS / 1_000))
                            : random.nextInt(1_000_000);
            // Half of them follow another one closely, so that wake-ups meet claims that are under way.
            at = i > 0 && random.nextBoolean()
                    ? at + TimeUnit.MICROSECONDS.toNanos(random.nextInt(8_000))
                    : (long) (random.nextDouble() * spread);
            String group = groups == 0 || random.nextInt(5) == 0 ? null : "g" + random.nextInt(groups);
            timers.schedule(at, () -> queue.schedule(id, group, delay));
        }
    }

    /** What happens to the consumers, and when. */
    private void plan(long spread) {
        if (faults != Faults.NONE) {
            sometimes(spread, this::killSomeone);
        }
        if (faults == Faults.ALL || faults == Faults.CORE) {
            sometimes(spread, this::suspendSomeone);
        }
        if (faults == Faults.CORE) {
            if (random.nextInt(3) == 0) {
                sometimes(spread, () -> {
                    if (core == null) {
                        queue.stepClock(random.nextInt(60_000_000));
                    }
                });
            }
            timers.schedule((long) (random.nextDouble() * spread), this::healCore);
        }
    }

    private void sometimes(long spread, Runnable what) {
        for (int i = random.nextInt(6); i > 0; i--) {
            timers.schedule((long) (random.nextDouble() * spread), what);
        }
    }

    private void startNode() {
        startNode(random.nextDouble() < wrongClocks ? SPEEDS[random.nextInt(SPEEDS.length)] : 1);
    }

    /** @param speed how fast its machine's clock runs */
    private SimulatedConsumer startNode(double speed) {
        Duration lease = Duration.ofNanos(leaseMicros * 1_000);
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(1 + random.nextInt(5))
                .withMaxMessagesPerPoll(1 + random.nextInt(50))
                .withVisibilityTimeout(lease)
                .withMaximumVisibilityExtension(faults == Faults.CORE ? lease.multipliedBy(2) : Duration.ofHours(1));
        if (batches && random.nextBoolean()) {
            Duration timeout = Duration.ofMillis(random.nextInt(3_000));
            options = options.withBatch(new ConsumerOptions.Batch(1 + random.nextInt(20), timeout));
            batchNanos = Math.max(batchNanos, timeout.toNanos() + TimeUnit.MILLISECONDS.toNanos(50));
        }
        int slowest = new int[] {1, 20, 500, (int) (SLOWEST_NANOS / 1_000_000)}[random.nextInt(4)];
        SimulatedConsumer node = new SimulatedConsumer(
                queue, nodes.size(), options, speed, delivery -> work(delivery, slowest * 1_000_000L));
        nodes.add(node);
        node.loop.resume();
        return node;
    }

    /** As {@link SimulatedConsumer} has it. */
    private long work(Delivery delivery, long slowest) {
        deliveries++;
        boolean fails = random.nextDouble() < failing
                || (faults == Faults.CORE && delivery.id().endsWith("7"));
        long nanos = 1 + (long) (random.nextDouble() * (core == null ? slowest : 20_000_000));
        return fails ? -nanos : nanos;
    }

    /** Any of them; or one that is needed: it works, or has promised to come, or is being given messages. */
    private void killSomeone() {
        if (core != null) {
            return;
        }
        if (mustWait()) {
            if (!over) {
                timers.schedule(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(50)), this::killSomeone);
            }
            return;
        }
        String first = queue.waiters.first();
        SimulatedConsumer any = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(4)) {
            case 0 -> kill(any);
            case 1 ->
                kill(nodes.stream()
                        .max(comparingInt(node -> node.dead ? -1 : node.working))
                        .orElse(any));
            case 2 -> kill(first == null ? any : queue.consumer(first));
            default ->
                nodes.forEach(node -> node.whenGiven = () -> {
                    nodes.forEach(other -> other.whenGiven = null);
                    if (core == null && !mustWait()) {
                        kill(node);
                    }
                });
        }
    }

    /** Whether it has to be noticed first that another one has died. */
    private boolean mustWait() {
        return faults == Faults.KILLS && aDeadOneCounts();
    }

    private void kill(SimulatedConsumer node) {
        node.dead = true;
        timers.schedule(random.nextInt(10) * TimeUnit.SECONDS.toNanos(1), () -> {
            if (core == null) {
                startNode();
            }
        });
    }

    /** Tells whether a dead one is still among the waiters: no claim has noticed it. */
    private boolean aDeadOneCounts() {
        return queue.waiters.promises().keySet().stream().anyMatch(member -> queue.consumer(member).dead);
    }

    private void suspendSomeone() {
        SimulatedConsumer node = nodes.get(random.nextInt(nodes.size()));
        if (!node.dead && node != core) {
            node.suspended = true;
            node.loop.suspend();
            node.timers().schedule(random.nextInt(5_000) * 1_000_000L, () -> {
                if (core == null) {
                    node.suspended = false;
                    node.roomSince = timers.nanoTime();
                    node.loop.resume();
                }
            });
        }
    }

    /** One consumer and its connection are as they should be from now on, and no other one gets better. */
    private void healCore() {
        SimulatedConsumer healed = nodes.stream()
                .filter(node -> !node.dead && node.speed == 1)
                .findFirst()
                .orElse(null);
        if (healed == null) {
            healed = startNode(1);
        }
        for (SimulatedConsumer node : nodes) {
            if (node == healed) {
                node.heal();
            } else {
                node.dead |= random.nextInt(3) == 0;
                node.breakDown(SwarmFaults.forEver(random), random.nextInt(3) == 0);
            }
        }
        core = healed;
        healedNanos = timers.nanoTime();
    }

    // What is asked for.

    /** When all has to be over. @param scheduled when the last message is scheduled */
    private long end(long scheduled, int messages) {
        if (core == null) {
            return scheduled + Duration.ofHours(3).toNanos();
        }
        long broken = nodes.stream()
                .filter(node -> node != core)
                .mapToInt(node -> node.options.concurrentConsumers())
                .sum();
        long longestHold = nodes.stream().mapToLong(this::longestHold).max().orElseThrow();
        // One after the other: each slot that is broken keeps a message of one group, and each message is tried as
        // often as it may be.
        return Math.max(scheduled, healedNanos)
                + LONGEST_DELAY_NANOS
                + SLOWEST_NANOS
                + (broken + 1) * (longestHold + idleBound())
                + messages * TimeUnit.MILLISECONDS.toNanos(100)
                + SimulatedConsumer.ATTEMPTS
                        * (TimeUnit.MILLISECONDS.toNanos(SimulatedConsumer.RETRY_MILLIS) + idleBound());
    }

    /** For how long a consumer may keep a message that it does not finish. */
    private long longestHold(SimulatedConsumer node) {
        long lease = leaseMicros * 1_000;
        long extended = lease / 2 + node.options.maximumVisibilityExtension().toNanos();
        return lease + SimulatedConsumer.REPEAT_NANOS + (node.dead ? 0 : (long) (extended / Math.min(1, node.speed)));
    }

    /** For how long a message may wait while a consumer has room that is asked to take it. */
    private long idleBound() {
        return batchNanos
                + switch (faults) {
                    case NONE -> TimeUnit.MILLISECONDS.toNanos(20);
                    case KILLS -> TimeUnit.MILLISECONDS.toNanos(4_000);
                    case ALL -> TimeUnit.SECONDS.toNanos(4 + 15);
                    case CORE -> coreIdleBound();
                };
    }

    /** Once a call is repeated that was lost before: the turns of the others that live, and at first of the dead, and then its own. */
    private long coreIdleBound() {
        long dead = nodes.stream().filter(node -> node.dead).count();
        long others = nodes.size() - dead - 1;
        long atFirst = dead * TURN_NANOS - (timers.nanoTime() - healedNanos);
        return SimulatedConsumer.REPEAT_NANOS + (2 + others) * TURN_NANOS + Math.max(0, atFirst);
    }

    /**
     * A message that could be claimed waits no longer than the design says while a consumer has a free slot: a few round trips; or
     * until the turn after that of a dead one (and for a repeated call, where wake-ups and answers are lost). Of a fleet with a
     * core that was healed, only the core is asked.
     */
    private void checkNobodyIsIdleWhileAMessageWaits() {
        if (faults == Faults.CORE && core == null) {
            return;
        }
        Collection<SimulatedConsumer> asked = core == null ? nodes : List.of(core);
        long bound = idleBound();
        Map<SimulatedConsumer, Long> suspicious = new HashMap<>();
        for (SimulatedQueue.Message message : queue.pending.values()) {
            if (message.leased && message.lost >= 2) {
                // Its holder begins it alone and leaves its other slots empty until then.
                suspicious.put(message.holder, timers.nanoTime());
            }
        }
        suspicious.forEach((node, now) -> node.roomSince = now);
        for (SimulatedQueue.Message message : queue.pending.values()) {
            checkLease(message);
            if (queue.isParked(message)) {
                continue;
            }
            long since = message.leased ? message.leaseEnds : message.availableSince;
            long waitsNanos = (queue.micros() - since) * 1_000;
            for (SimulatedConsumer node : asked) {
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

    /** No consumer keeps a message for longer than it may, once a core was healed. */
    private void checkLease(SimulatedQueue.Message message) {
        if (core == null || !message.leased || message.leaseEnds <= queue.micros()) {
            return;
        }
        long keptNanos = timers.nanoTime() - Math.max(message.claimedNanos, healedNanos);
        if (keptNanos > longestHold(message.holder)) {
            queue.fail(message.id + " is kept by consumer " + message.holder.number + " for " + keptNanos / 1_000_000
                    + " ms");
        }
    }

    /** Not for each consumer: only those come that are asked to. */
    private void checkClaims(long seconds) {
        assertThat(queue.claims)
                .as("claims of %d consumers for %d events in %d s", nodes.size(), queue.events, seconds)
                .isLessThanOrEqualTo(4L * queue.events + nodes.size() * 10 + 3 * seconds);
    }

    /** At a standstill there is nothing but turns. */
    private void checkStandstill() {
        over = true;
        queue.faults = SwarmFaults.NONE;
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
}
