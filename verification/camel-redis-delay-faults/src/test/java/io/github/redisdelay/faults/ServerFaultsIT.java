// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;

/**
 * The faults of a server, under load: nothing is lost, nothing early, nothing comes twice without a cause, and
 * deliveries go on by themselves.
 */
@Tag("faults")
class ServerFaultsIT {

    private static final Duration LONGER_THAN_THE_LEASE = Experiment.LEASE.plusSeconds(2);

    enum Fault {
        READ_ONLY_REPLICA("server becomes a read-only replica, and master again") {
            @Override
            RedisServer start() {
                return RedisServer.embedded("repl-diskless-sync-delay 0");
            }

            /** A failover that the clients do not learn of: they know one address. */
            @Override
            void happen(Bench bench) throws Exception {
                RedisServer other = bench.replica();
                failOver(bench.server);
                bench.experiment.run(LONGER_THAN_THE_LEASE);
                failOver(other);
            }

            @Override
            void check(List<Event> events) {
                assertThat(failures(events)).as("what producers are told").anyMatch(text -> text.contains("READONLY"));
            }
        },
        SHUT_DOWN("SHUTDOWN and restart, appendfsync always") {
            @Override
            RedisServer start() {
                return durable();
            }

            @Override
            void happen(Bench bench) {
                bench.server.stop();
                bench.experiment.run(bench.outage());
                bench.server.start();
            }
        },
        KILLED("kill -9 and restart, appendfsync always") {
            @Override
            RedisServer start() {
                return durable();
            }

            @Override
            void happen(Bench bench) {
                bench.server.kill();
                bench.experiment.run(bench.outage());
                bench.server.start();
            }
        },
        SLEEPS_SHORT("DEBUG SLEEP 1 s") {
            @Override
            RedisServer start() {
                return debuggable();
            }

            @Override
            void happen(Bench bench) throws IOException {
                command(bench.server, "DEBUG SLEEP 1");
            }
        },
        SLEEPS_LONG("DEBUG SLEEP for longer than the lease") {
            @Override
            RedisServer start() {
                return debuggable();
            }

            @Override
            void happen(Bench bench) throws IOException {
                command(bench.server, "DEBUG SLEEP " + LONGER_THAN_THE_LEASE.toSeconds());
            }
        },
        PAUSES_ALL("CLIENT PAUSE ALL for longer than the lease") {
            @Override
            void happen(Bench bench) throws IOException {
                command(bench.server, "CLIENT PAUSE " + LONGER_THAN_THE_LEASE.toMillis() + " ALL");
                bench.experiment.run(LONGER_THAN_THE_LEASE);
            }
        },
        PAUSES_WRITES("CLIENT PAUSE WRITE for longer than the lease") {
            @Override
            void happen(Bench bench) throws IOException {
                command(bench.server, "CLIENT PAUSE " + LONGER_THAN_THE_LEASE.toMillis() + " WRITE");
                bench.experiment.run(LONGER_THAN_THE_LEASE);
            }
        },
        FORGETS_SCRIPTS("SCRIPT FLUSH, 20 times within 1 s") {
            @Override
            void happen(Bench bench) throws IOException {
                for (int i = 0; i < 20; i++) {
                    command(bench.server, "SCRIPT FLUSH");
                    bench.experiment.run(Duration.ofMillis(50));
                }
            }

            @Override
            boolean disturbs() {
                return false;
            }
        };

        final String name;

        Fault(String name) {
            this.name = name;
        }

        RedisServer start() {
            return RedisServer.dedicated();
        }

        /** Returns when it is over. */
        abstract void happen(Bench bench) throws Exception;

        /** Tells whether it can cost anybody a lease: otherwise nothing may come twice. */
        boolean disturbs() {
            return true;
        }

        /** Checks what else is to be seen. */
        void check(List<Event> events) {}
    }

    /** A server under load. */
    private static final class Bench implements AutoCloseable {
        final RedisServer server;
        final Experiment experiment;
        private RedisServer replica;

        Bench(String name, RedisServer server) {
            this.server = server;
            experiment = new Experiment(name, ExperimentSite.of(server));
        }

        Duration outage() {
            return Duration.ofMillis(experiment.random.nextInt((int) LONGER_THAN_THE_LEASE.toMillis()));
        }

        /** One of the server's that has what it has. */
        RedisServer replica() throws IOException {
            if (replica == null) {
                replica = RedisServer.embedded("replicaof " + server.host() + " " + server.port());
            }
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> info(server, "replication", "slave0:").contains("state=online"));
            return replica;
        }

        @Override
        public void close() {
            experiment.close();
            if (replica != null) {
                replica.close();
            }
        }
    }

    private static RedisServer durable() {
        return RedisServer.dedicated("appendonly yes", "appendfsync always");
    }

    private static RedisServer debuggable() {
        try {
            return RedisServer.dedicated("enable-debug-command yes");
        } catch (RuntimeException e) {
            // Before 7.0 there was no such line, and DEBUG was always allowed.
            return RedisServer.dedicated();
        }
    }

    private static void command(RedisServer server, String command) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            assertThat(direct.call(command)).as(command).isEqualTo("+OK");
        }
    }

    /** The line of INFO that begins so, or nothing. */
    private static String info(RedisServer server, String section, String begin) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            return direct.text("INFO " + section)
                    .lines()
                    .filter(line -> line.startsWith(begin))
                    .map(line -> line.substring(begin.length()))
                    .findFirst()
                    .orElse("");
        }
    }

    /** The master hands over to its replica when that has all that it has, and becomes the replica's replica. */
    private static void failOver(RedisServer master) throws IOException {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> info(master, "replication", "slave0:").contains("state=online"));
        command(master, "FAILOVER");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> info(master, "replication", "role:").equals("slave"));
    }

    /** The errors of producers that got no confirmation. */
    private static List<String> failures(List<Event> events) {
        return events.stream()
                .filter(event -> event.what() == What.UNKNOWN || event.what() == What.REFUSED)
                .map(Event::detail)
                .toList();
    }

    private static final String MEMORY = "MEMORY";
    private static SideBySide<String> experiments;

    @BeforeAll
    static void begin() {
        List<String> names = Stream.concat(
                        Stream.of(MEMORY), Stream.of(Fault.values()).map(Fault::name))
                .toList();
        experiments = new SideBySide<>(5, names, name -> {
            if (name.equals(MEMORY)) {
                fillMemory();
            } else {
                Fault fault = Fault.valueOf(name);
                run(fault, fault.name, fault.start());
            }
        });
    }

    @AfterAll
    static void end() {
        experiments.close();
    }

    @ParameterizedTest
    @EnumSource
    void should_lose_nothing_and_go_on(Fault fault) throws Exception {
        experiments.result(fault.name());
    }

    /** Does a fault to a server, which is closed in the end. */
    static void run(Fault fault, String name, RedisServer server) throws Exception {
        int rounds = Experiment.rounds();
        try (Bench bench = new Bench(name, server)) {
            Experiment experiment = bench.experiment;
            long inFlight = 0;
            try (Survivors survivors = new Survivors(experiment).produce();
                    OtherConsumer other = new OtherConsumer(experiment)) {
                survivors.consume();
                for (int round = 0; round < rounds; round++) {
                    experiment.run(Duration.ofMillis(800 + experiment.random.nextInt(400)));
                    inFlight += experiment.inFlightUnderLoad();
                    if (fault.disturbs()) {
                        experiment.history.faultBegins(fault.name);
                    }
                    fault.happen(bench);
                    if (fault.disturbs()) {
                        experiment.history.faultEnds(fault.name);
                    }
                    experiment.healed();
                    experiment.run(Duration.ofSeconds(1));
                }
                survivors.endProducer();
                experiment.awaitEmpty();
                experiment.probe("probe-1");
                experiment.probe("probe-2");
                experiment.probeEach("probes");
            }
            experiment.judge(rounds, inFlight);
            fault.check(experiment.events());
        }
    }

    @Test
    void should_refuse_producers_only_and_leave_nothing_half_done_when_the_memory_is_full() throws Exception {
        experiments.result(MEMORY);
    }

    private static void fillMemory() throws Exception {
        int rounds = Experiment.rounds();
        try (Bench bench = new Bench("maxmemory reached, noeviction", startWithoutEviction())) {
            Experiment experiment = bench.experiment;
            long inFlight = 0;
            try (Survivors survivors = new Survivors(experiment).produce();
                    OtherConsumer other = new OtherConsumer(experiment);
                    Holder holder = new Holder(experiment)) {
                survivors.consume();
                for (int round = 0; round < rounds; round++) {
                    holder.schedule();
                    experiment.run(Duration.ofSeconds(1));
                    inFlight += experiment.inFlightUnderLoad();
                    // At the limit: some is refused, and some finds the room that was made.
                    command(bench.server, "CONFIG SET maxmemory " + info(bench.server, "memory", "used_memory:"));
                    experiment.run(Duration.ofSeconds(2));
                    command(bench.server, "CONFIG SET maxmemory 1");
                    long full = experiment.history.now();
                    holder.holdForLongerThanTheLease();
                    // Whatever is not stored any more is refused, so the consumers come to an end.
                    experiment.awaitEmpty();
                    assertThat(keysOfMessages(bench.server))
                            .as("keys of messages in an empty queue")
                            .isEmpty();
                    assertThatAllIsRefusedSince(full, experiment);
                    command(bench.server, "CONFIG SET maxmemory 0");
                    experiment.healed();
                }
                survivors.endProducer();
                experiment.awaitEmpty();
                experiment.probe("probe-1");
                experiment.probe("probe-2");
                experiment.probeEach("probes");
            }
            assertThat(experiment.judge(rounds, inFlight).duplicates())
                    .as("duplicates: nobody lost a lease")
                    .isZero();
        }
    }

    private static RedisServer startWithoutEviction() {
        return RedisServer.dedicated("maxmemory-policy noeviction");
    }

    /** Works on a message for longer than its lease, in a queue of its own. */
    private static final class Holder implements AutoCloseable {
        /** Longer than that of the load: nothing excuses its end. */
        private static final Duration LONG_LEASE = Experiment.LEASE.multipliedBy(2);

        private static final ConsumerOptions OPTIONS =
                ConsumerOptions.DEFAULTS.withMaxMessagesPerPoll(1).withVisibilityTimeout(LONG_LEASE);

        private final Experiment experiment;
        private final RedissonClient redisson;
        private final DelayQueueClient client;
        private final DelayQueue queue;

        Holder(Experiment experiment) {
            this.experiment = experiment;
            redisson = experiment.connect();
            client = experiment.open(redisson);
            queue = client.queue("held");
        }

        void schedule() throws Exception {
            queue.schedule(ScheduleRequest.of("held", LoadProducer.body("held"), DueTime.now()))
                    .result()
                    .get(20, TimeUnit.SECONDS);
        }

        void holdForLongerThanTheLease() throws Exception {
            try (DelayQueueReceiver receiver = queue.receiver(OPTIONS, delivery -> {});
                    DelayQueueReceiver other = queue.receiver(OPTIONS, delivery -> {})) {
                Delivery delivery = receiver.receive(Duration.ofSeconds(20));
                assertThat(delivery).as("a claim while the memory is full").isNotNull();
                experiment.run(LONG_LEASE.plusSeconds(2));
                assertThat(other.receive(Duration.ZERO))
                        .as("a message whose lease is extended")
                        .isNull();
                assertThat(delivery.settle(Settlement.ACKNOWLEDGE).result().get(20, TimeUnit.SECONDS))
                        .isEqualTo(SettleResult.DONE);
            }
        }

        @Override
        public void close() {
            client.close();
            redisson.shutdown();
        }
    }

    private static List<String> keysOfMessages(RedisServer server) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            return direct.texts("KEYS *").stream()
                    .filter(HistoryChecker::isLeftover)
                    .toList();
        }
    }

    /** All schedules that were begun after a moment were refused with a reason, and nothing of them was stored. */
    private static void assertThatAllIsRefusedSince(long micros, Experiment experiment) {
        await().atMost(Duration.ofSeconds(20))
                .until(() -> since(micros, experiment, What.REFUSED).findAny().isPresent());
        Set<String> before = experiment.events().stream()
                .filter(event -> event.what() == What.SCHEDULING && event.micros() <= micros)
                .map(Event::id)
                .collect(Collectors.toSet());
        Predicate<Event> ofThese = event -> !before.contains(event.id());
        assertThat(since(micros, experiment, What.SCHEDULED).filter(ofThese))
                .as("stored although the memory is full")
                .isEmpty();
        assertThat(since(micros, experiment, What.REFUSED)
                        .filter(ofThese)
                        .map(Event::detail)
                        // On a machine that is too slow for the request timeout.
                        .filter(text -> !text.contains("did not answer in time")))
                .isNotEmpty()
                .allMatch(text -> text.startsWith("queue 'orders': Redis has no memory left (maxmemory is reached),"
                        + " nothing was stored: raise maxmemory, or let consumers free memory and send it again: "));
    }

    private static Stream<Event> since(long micros, Experiment experiment, What what) {
        return experiment.events().stream().filter(event -> event.what() == what && event.micros() > micros);
    }
}
