// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
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
class TransferSimulationTest {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.simulation");
    private static final int RUNS = 150;

    @Test
    void should_deliver_at_once_while_nothing_fails() {
        run("calm", false);
    }

    @Test
    void should_deliver_everything_within_the_safety_interval_whatever_fails() {
        run("rough", true);
    }

    private static void run(String name, boolean rough) {
        Long seed = Long.getLong("simulation.seed");
        long first = seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40);
        int runs = Integer.getInteger("simulation.runs", seed != null ? 1 : RUNS);
        LOG.info("{} simulation: seeds {} to {}", name, first, first + runs - 1);
        long claims = 0;
        long messages = 0;
        for (int i = 0; i < runs; i++) {
            Simulation simulation = new Simulation(first + i, rough);
            try {
                simulation.run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        name + " simulation, run again with -Dsimulation.seed=" + (first + i) + ": " + e.getMessage(),
                        e);
            }
            claims += simulation.claims;
            messages += simulation.deliveries;
        }
        LOG.info("{} simulation: {} deliveries, {} claims", name, messages, claims);
    }

    /** A message as Redis has it. */
    private static final class Message {
        String id;
        long due;
        long firstDue;
        long availableSince;
        int attempts;
        int lost;
        boolean leased;
        long leaseEnds;
        ClaimId claim;
        Node holder;
    }

    /** One run. */
    private static final class Simulation {
        private static final long OFFSET_MICROS = 1_700_000_000_000_000L;
        private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

        final FakeTimers timers = new FakeTimers();
        final Random random;
        final boolean rough;
        boolean faults;
        final long leaseMicros;
        final Map<String, Message> pending = new LinkedHashMap<>();
        final Set<String> done = new HashSet<>();
        final List<Node> nodes = new ArrayList<>();
        int scheduled;
        int events;
        long claims;
        long deliveries;
        String failure;

        Simulation(long seed, boolean rough) {
            this.random = new Random(seed);
            this.rough = rough;
            this.faults = rough;
            this.leaseMicros = random.nextBoolean() ? 30_000_000 : 5_000_000;
        }

        long serverMicros() {
            return OFFSET_MICROS + Math.floorDiv(timers.nanoTime(), 1_000L);
        }

        long latency() {
            return TimeUnit.MICROSECONDS.toNanos(100 + random.nextInt(2_900));
        }

        boolean happens(double probability) {
            return faults && random.nextDouble() < probability;
        }

        void fail(String what) {
            if (failure == null) {
                failure = what;
            }
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
                timers.schedule(at, () -> schedule(id, delay));
            }
            if (rough) {
                for (int i = random.nextInt(6); i > 0; i--) {
                    timers.schedule((long) (random.nextDouble() * spread), this::killSomeone);
                }
                for (int i = random.nextInt(6); i > 0; i--) {
                    timers.schedule((long) (random.nextDouble() * spread), this::suspendSomeone);
                }
            }
            long limit = timers.nanoTime() + spread + Duration.ofHours(3).toNanos();
            while (done.size() < messages) {
                timers.advance(Duration.ofNanos(STEP_NANOS));
                checkNobodyIsIdleWhileAMessageWaits();
                assertThat(failure).isNull();
                assertThat(timers.nanoTime() - limit)
                        .as("time in which all is delivered; left: " + pending.keySet())
                        .isNegative();
            }
            long busyNanos =
                    timers.nanoTime() - limit + spread + Duration.ofHours(3).toNanos();
            assertThat(pending).isEmpty();
            long seconds = TimeUnit.NANOSECONDS.toSeconds(busyNanos);
            assertThat(claims)
                    .as("claims of %d consumers for %d events in %d s", nodes.size(), events, seconds)
                    .isLessThanOrEqualTo((long) nodes.size() * (3L * events + seconds / 3 + 10));
            // At a standstill: nothing but the safety interval.
            faults = false;
            timers.advance(Duration.ofMinutes(2));
            long before = claims;
            timers.advance(Duration.ofHours(1));
            long alive = nodes.stream().filter(node -> !node.dead).count();
            assertThat(claims - before).as("claims in an idle hour").isBetween(alive * 119, alive * 135);
            assertThat(timers.waiting()).as("timers at a standstill").isLessThanOrEqualTo((int) (alive * 2));
            nodes.forEach(node -> node.task.stop(true));
            timers.advance(Duration.ofMinutes(1));
            assertThat(timers.waiting()).as("timers after all are stopped").isZero();
        }

        void schedule(String id, long delayMicros) {
            Message message = new Message();
            message.id = id;
            message.due = serverMicros() + delayMicros;
            message.firstDue = message.due;
            message.availableSince = message.due;
            wakeUp(message.due);
            pending.put(id, message);
            scheduled++;
            events++;
        }

        /** As the scripts do it: only when it becomes the earliest of those that wait. */
        void wakeUp(long due) {
            boolean earliest = pending.values().stream().filter(m -> !m.leased).allMatch(m -> due < m.due);
            if (!earliest) {
                return;
            }
            long wait = Math.max(0, due - serverMicros());
            for (Node node : nodes) {
                if (!happens(0.1)) {
                    node.timers.schedule(latency(), () -> node.task.wakeUp(wait));
                }
            }
        }

        void startNode() {
            Node node = new Node(this, nodes.size());
            nodes.add(node);
            node.task.resume();
        }

        void killSomeone() {
            Node node = nodes.get(random.nextInt(nodes.size()));
            node.dead = true;
            timers.schedule(random.nextInt(10) * TimeUnit.SECONDS.toNanos(1), this::startNode);
        }

        void suspendSomeone() {
            Node node = nodes.get(random.nextInt(nodes.size()));
            if (!node.dead) {
                node.suspended = true;
                node.task.suspend();
                node.timers.schedule(random.nextInt(5_000) * 1_000_000L, () -> {
                    node.suspended = false;
                    node.roomSince = timers.nanoTime();
                    node.task.resume();
                });
            }
        }

        ClaimReply claim(Node node, ClaimRequest request, boolean repeat) {
            long now = serverMicros();
            List<ClaimReply.ClaimedMessage> given = new ArrayList<>();
            if (repeat) {
                for (Message message : pending.values()) {
                    if (message.leased && message.claim.equals(request.claimId())) {
                        given.add(described(message));
                    }
                }
            } else {
                int ended = 0;
                List<Message> candidates = pending.values().stream()
                        .filter(m -> (m.leased ? m.leaseEnds : m.due) <= now)
                        .sorted(Comparator.comparingLong(m -> m.leased ? m.leaseEnds : m.due))
                        .toList();
                for (Message message : candidates) {
                    if (given.size() == request.messages()) {
                        break;
                    }
                    if (message.leased && ended++ >= request.ended()) {
                        continue;
                    }
                    message.lost = message.leased ? message.lost + 1 : message.lost;
                    message.leased = true;
                    message.leaseEnds = now + request.leaseMicros();
                    message.claim = request.claimId();
                    message.holder = node;
                    message.attempts++;
                    events++;
                    given.add(described(message));
                }
            }
            long nextDue = -1;
            long nextEnd = -1;
            for (Message message : pending.values()) {
                if (message.leased) {
                    long wait = Math.max(0, message.leaseEnds - now);
                    nextEnd = nextEnd < 0 ? wait : Math.min(nextEnd, wait);
                } else {
                    long wait = Math.max(0, message.due - now);
                    nextDue = nextDue < 0 ? wait : Math.min(nextDue, wait);
                }
            }
            return new ClaimReply(now, nextDue, nextEnd, given, List.of());
        }

        private static ClaimReply.ClaimedMessage described(Message message) {
            return new ClaimReply.ClaimedMessage(
                    message.id,
                    message.id.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                    new byte[0],
                    message.attempts,
                    message.lost,
                    RedeliveryReason.NONE,
                    0,
                    message.firstDue,
                    message.due,
                    message.firstDue,
                    new byte[0]);
        }

        Settlement settle(String id, ClaimId claim, char action, long micros) {
            Message message = pending.get(id);
            if (message == null) {
                return Settlement.STALE_GONE;
            }
            if (!message.leased || !message.claim.equals(claim)) {
                return Settlement.STALE_HELD;
            }
            if (action == 'a') {
                pending.remove(id);
                done.add(id);
                return Settlement.DONE;
            }
            if (action == 'n') {
                message.lost = 0;
                message.due = serverMicros() + micros;
            } else {
                message.attempts--;
            }
            events++;
            wakeUp(message.due);
            message.leased = false;
            message.availableSince = Math.max(message.due, serverMicros());
            return Settlement.DONE;
        }

        Settlement extend(String id, ClaimId claim, long micros) {
            Message message = pending.get(id);
            if (message == null) {
                return Settlement.STALE_GONE;
            }
            if (!message.leased || !message.claim.equals(claim)) {
                return Settlement.STALE_HELD;
            }
            message.leaseEnds = serverMicros() + micros;
            return Settlement.DONE;
        }

        /**
         * A message that could be claimed waits no longer than the design says while a consumer has a free slot: a few
         * round trips, or the safety interval (and a repeated call) where wake-ups and answers are lost.
         */
        void checkNobodyIsIdleWhileAMessageWaits() {
            long bound = rough ? TimeUnit.SECONDS.toNanos(30 + 15) : TimeUnit.MILLISECONDS.toNanos(20);
            Map<Node, Long> suspicious = new HashMap<>();
            for (Message message : pending.values()) {
                if (message.leased && message.lost >= 2) {
                    // Its holder begins it alone and leaves its other slots empty until then.
                    suspicious.put(message.holder, timers.nanoTime());
                }
            }
            suspicious.forEach((node, now) -> node.roomSince = now);
            for (Message message : pending.values()) {
                long since = message.leased ? message.leaseEnds : message.availableSince;
                long waitsNanos = (serverMicros() - since) * 1_000;
                for (Node node : nodes) {
                    long roomNanos = node.hasRoom() ? timers.nanoTime() - node.roomSince : 0;
                    if (Math.min(waitsNanos, roomNanos) > bound) {
                        fail(message.id + (message.leased ? ", whose lease ended," : "") + " waits for "
                                + waitsNanos / 1_000_000 + " ms while consumer " + node.number + " has room for "
                                + roomNanos / 1_000_000 + " ms");
                    }
                }
            }
        }
    }

    /** One JVM with a consumer. */
    private static final class Node implements Settlements, Claims, DeliveryHandler {
        final Simulation simulation;
        final int number;
        final NodeTimers timers;
        final LeaseKeeper leases;
        final ConsumerOptions options;
        final TransferTask task;
        final int slowest;
        boolean dead;
        boolean suspended;
        int working;
        long roomSince;
        boolean claiming;

        /** The machine's own clock, and its threads: both end with it. */
        private final class NodeTimers implements Timers {
            private final long skew = simulation.random.nextLong(1L << 50) - (1L << 49);

            @Override
            public long nanoTime() {
                return simulation.timers.nanoTime() + skew;
            }

            @Override
            public Timer schedule(long delayNanos, Runnable work) {
                return simulation.timers.schedule(delayNanos, () -> {
                    if (!dead) {
                        work.run();
                    }
                });
            }
        }

        Node(Simulation simulation, int number) {
            this.simulation = simulation;
            this.number = number;
            Random random = simulation.random;
            this.timers = new NodeTimers();
            this.leases = new LeaseKeeper(timers);
            this.options = new ConsumerOptions(
                    1 + random.nextInt(5),
                    1 + random.nextInt(50),
                    Duration.ofNanos(simulation.leaseMicros * 1_000),
                    true,
                    Duration.ofHours(1));
            this.slowest = new int[] {1, 20, 500, 12_000}[random.nextInt(4)];
            this.roomSince = simulation.timers.nanoTime();
            this.task = new TransferTask(
                    this,
                    options,
                    this,
                    this::nextClaimId,
                    timers,
                    random,
                    work -> timers.schedule(0, work),
                    this,
                    () -> CompletableFuture.completedFuture(new QueueStats(0, 0, 0, 0, 0, 0, -1, 0, false, 0)),
                    () -> {});
        }

        private ClaimId nextClaimId() {
            byte[] bytes = new byte[ClaimId.LENGTH];
            simulation.random.nextBytes(bytes);
            return ClaimId.of(bytes);
        }

        boolean hasRoom() {
            return !dead && !suspended && working < options.concurrentConsumers();
        }

        @Override
        public CompletableFuture<ClaimReply> claim(ClaimRequest request) {
            if (claiming) {
                simulation.fail("two claims at a time");
            }
            claiming = true;
            if (request.messages() < 1
                    || request.messages() > options.maxMessagesPerPoll()
                    || request.ended() > options.concurrentConsumers() - working) {
                simulation.fail("claim of " + request + " with " + working + " under way");
            }
            CompletableFuture<ClaimReply> answer = new CompletableFuture<>();
            send(request, answer, false);
            return answer;
        }

        private void send(ClaimRequest request, CompletableFuture<ClaimReply> answer, boolean executed) {
            simulation.claims++;
            if (simulation.happens(0.02)) {
                timers.schedule(simulation.latency(), () -> {
                    claiming = false;
                    answer.completeExceptionally(new IllegalStateException("refused"));
                });
                return;
            }
            boolean requestLost = simulation.happens(0.02);
            boolean answerLost = simulation.happens(0.02);
            boolean[] done = {executed};
            // What was sent arrives though its sender has died.
            simulation.timers.schedule(simulation.latency(), () -> {
                if (requestLost) {
                    return;
                }
                ClaimReply reply = simulation.claim(this, request, done[0]);
                done[0] = true;
                if (!answerLost) {
                    timers.schedule(simulation.latency(), () -> {
                        claiming = false;
                        answer.complete(reply);
                    });
                }
            });
            if (requestLost || answerLost) {
                timers.schedule(TimeUnit.SECONDS.toNanos(3), () -> {
                    task.attemptFailed(new IllegalStateException("no answer"));
                    send(request, answer, done[0]);
                });
            }
        }

        private long lastBegunNanos = Long.MIN_VALUE / 2;

        @Override
        public void handle(Delivery delivery) {
            simulation.deliveries++;
            working++;
            if (working > options.concurrentConsumers()) {
                simulation.fail(working + " messages under way in " + options.concurrentConsumers() + " slots");
            }
            long quarter = TimeUnit.MICROSECONDS.toNanos(simulation.leaseMicros / 4);
            if (delivery.lostLeases() >= 2 && working > 1 && simulation.timers.nanoTime() - lastBegunNanos < quarter) {
                simulation.fail(delivery + " lost two leases and is begun beside what was begun lately");
            }
            lastBegunNanos = simulation.timers.nanoTime();
            if (delivery.dueMicros() > simulation.serverMicros()) {
                simulation.fail(delivery + " is early");
            }
            Message message = simulation.pending.get(delivery.id());
            long half = simulation.leaseMicros / 2;
            if (message != null
                    && message.leased
                    && message.claim.equals(delivery.claimId())
                    && message.leaseEnds - simulation.serverMicros() < half) {
                simulation.fail(delivery + " is begun with less than half of its lease");
            }
            Random random = simulation.random;
            boolean fails = random.nextInt(20) == 0;
            long nanos = (long) (random.nextDouble() * slowest * 1_000_000);
            timers.schedule(nanos, () -> {
                ended();
                if (fails) {
                    delivery.negativeAcknowledge(Duration.ofMillis(random.nextInt(5_000)), new byte[0]);
                } else {
                    delivery.acknowledge();
                }
            });
        }

        private void ended() {
            if (working-- == options.concurrentConsumers()) {
                roomSince = simulation.timers.nanoTime();
            }
        }

        @Override
        public Submission<Settlement> settle(ClaimedDelivery delivery, char action, long micros, byte[] failure) {
            Submission<Settlement> submission = new Submission<>();
            if (!dead) {
                simulation.timers.schedule(simulation.latency(), () -> {
                    Settlement settlement = simulation.settle(delivery.id(), delivery.claimId(), action, micros);
                    timers.schedule(simulation.latency(), () -> submission.succeed(settlement));
                });
            }
            return submission;
        }

        @Override
        public Submission<Settlement> extend(ClaimedDelivery delivery, long leaseMicros) {
            Submission<Settlement> submission = new Submission<>();
            simulation.timers.schedule(simulation.latency(), () -> {
                Settlement settlement = simulation.extend(delivery.id(), delivery.claimId(), leaseMicros);
                timers.schedule(simulation.latency(), () -> submission.succeed(settlement));
            });
            return submission;
        }

        @Override
        public String name() {
            return "orders";
        }

        @Override
        public Timers timers() {
            return timers;
        }

        @Override
        public LeaseKeeper leases() {
            return leases;
        }

        @Override
        public void close() {}
    }
}
