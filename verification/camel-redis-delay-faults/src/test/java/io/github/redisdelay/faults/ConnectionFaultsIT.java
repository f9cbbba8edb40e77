// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.history.History;
import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.FaultyProxy;
import io.github.redisdelay.testkit.FaultyProxy.Kind;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;

/**
 * Connections die in each way, under load, of producers and consumers alike: nothing is lost, nothing early, nothing
 * comes twice without a cause, and deliveries go on by themselves.
 */
@Tag("faults")
class ConnectionFaultsIT {

    private static final Duration NONE = Duration.ZERO;
    private static final int PER_SECOND = 200;
    private static final String CONSUMING = "c1";

    /** After which clients have noticed each dead connection. */
    private static final Duration GIVEN_UP = SoakFault.HALF_OPEN.tail();

    private enum Fault {
        // It takes the longest, so it comes first.
        HALF_OPEN("half-open", Duration.ofSeconds(2)) {
            @Override
            void begin(Bench bench) {
                bench.proxies(proxy -> proxy.swallow(Kind.COMMANDS, Kind.SUBSCRIPTION));
            }

            @Override
            boolean lasts() {
                return true;
            }
        },
        CLOSED("closed in an orderly way", NONE) {
            @Override
            void begin(Bench bench) {
                bench.proxies(FaultyProxy::closeConnections);
            }
        },
        RESET("reset", NONE) {
            @Override
            void begin(Bench bench) {
                bench.proxies(FaultyProxy::reset);
            }
        },
        CUT("cut for 1 s", Duration.ofSeconds(1)) {
            @Override
            void begin(Bench bench) {
                bench.proxies(FaultyProxy::cut);
            }
        },
        CUT_LONGER_THAN_THE_LEASE("cut for longer than the lease", Experiment.LEASE.plusSeconds(2)) {
            @Override
            void begin(Bench bench) {
                bench.proxies(FaultyProxy::cut);
            }
        },
        STALLED("held up for longer than the lease", Experiment.LEASE.plusSeconds(2)) {
            @Override
            void begin(Bench bench) {
                bench.proxies(FaultyProxy::stall);
            }
        },
        ANSWERS_LOST("each fifth answer lost", Duration.ofSeconds(2)) {
            @Override
            void begin(Bench bench) {
                bench.proxies(proxy -> proxy.loseAnswers("EVALSHA", 5));
            }

            @Override
            void check(Bench bench) {
                bench.proxies(proxy ->
                        assertThat(proxy.lostAnswers()).as("answers lost").isPositive());
            }
        },
        SLOW("slow by 500 ms", Duration.ofSeconds(3)) {
            @Override
            void begin(Bench bench) {
                bench.proxies(proxy -> proxy.delay(Duration.ofMillis(250)));
            }
        },
        NARROW("50 kB/s", Duration.ofSeconds(2)) {
            @Override
            void begin(Bench bench) {
                bench.proxies(proxy -> proxy.limit(50_000));
            }
        },
        NORMAL_KILLED("CLIENT KILL TYPE normal", NONE) {
            @Override
            void begin(Bench bench) throws IOException {
                bench.kill("normal");
            }
        },
        PUBSUB_KILLED("CLIENT KILL TYPE pubsub", NONE) {
            @Override
            void begin(Bench bench) throws IOException {
                bench.awaitSubscriptions();
                bench.kill("pubsub");
            }
        },
        SUBSCRIPTIONS_LOST("subscriptions silently lost", NONE) {
            @Override
            void begin(Bench bench) {
                bench.awaitSubscriptions();
                bench.proxies(proxy -> proxy.swallow(Kind.SUBSCRIPTION));
            }
        },
        ONE_SUBSCRIPTION_LOST("subscription of one consumer silently lost", NONE) {
            @Override
            void begin(Bench bench) {
                bench.awaitSubscriptions();
                bench.consuming.proxy.swallow(Kind.SUBSCRIPTION);
            }
        },
        ONE_CONSUMER_STALLED("one consumer held up for longer than the lease", Experiment.LEASE.plusSeconds(2)) {
            @Override
            void begin(Bench bench) {
                bench.consuming.proxy.stall();
            }
        },
        ONE_CONSUMER_CUT("one consumer cut for longer than the lease", Experiment.LEASE.plusSeconds(2)) {
            @Override
            void begin(Bench bench) {
                bench.consuming.proxy.cut();
            }
        };

        final String name;
        final Duration duration;

        Fault(String name, Duration duration) {
            this.name = name;
            this.duration = duration;
        }

        abstract void begin(Bench bench) throws IOException;

        /** Checks that it has hit something, where that can be told. */
        void check(Bench bench) {}

        /** Writes down that it begins, and whom it hits. */
        void record(History history) {
            switch (this) {
                case PUBSUB_KILLED, SUBSCRIPTIONS_LOST, ONE_SUBSCRIPTION_LOST -> history.harmlessFaultBegins(name);
                case ONE_CONSUMER_STALLED, ONE_CONSUMER_CUT -> history.faultBegins(name, List.of(CONSUMING));
                default -> history.faultBegins(name);
            }
        }

        /** Tells whether its connections stay dead when it is over: until the clients have noticed each of them. */
        boolean lasts() {
            return false;
        }
    }

    private interface ProxyAction {
        void on(FaultyProxy proxy);
    }

    /** A client with connections of its own through a proxy. */
    private static final class Party implements AutoCloseable {
        final FaultyProxy proxy;
        final RedissonClient redisson;
        final DelayQueueClient client;
        final DelayQueue queue;

        Party(Experiment experiment) {
            proxy = new FaultyProxy(experiment.server.host(), experiment.server.port());
            redisson = TestConnections.open(proxy.address());
            client = DelayQueueClient.create(redisson, Experiment.OPTIONS);
            queue = client.queue(Experiment.QUEUE);
        }

        @Override
        public void close() {
            client.close();
            redisson.shutdown();
            proxy.close();
        }
    }

    /** A producer and two consumers. */
    private static final class Bench implements AutoCloseable {
        final Experiment experiment;
        final Party producing;
        final Party consuming;
        final Party alsoConsuming;
        final LoadProducer producer;
        final LoadConsumer consumer;
        final LoadConsumer other;

        Bench(Experiment experiment) {
            this.experiment = experiment;
            producing = new Party(experiment);
            consuming = new Party(experiment);
            alsoConsuming = new Party(experiment);
            consumer =
                    new LoadConsumer(experiment.newConsumer(CONSUMING), Experiment.LEASE, experiment.seed, step -> {});
            consumer.consume(consuming.queue, Experiment.SLOTS);
            other = new LoadConsumer(experiment.newConsumer("c2"), Experiment.LEASE, experiment.seed, step -> {});
            other.consume(alsoConsuming.queue, Experiment.SLOTS);
            producer = new LoadProducer(producing.queue, experiment.newHistory("p"), "p", PER_SECOND, experiment.seed);
        }

        void proxies(ProxyAction action) {
            action.on(producing.proxy);
            action.on(consuming.proxy);
            action.on(alsoConsuming.proxy);
        }

        /** Kills all connections of a type, of which there must be some. */
        void kill(String type) throws IOException {
            try (RedisSocket direct = RedisSocket.open(experiment.server.address())) {
                assertThat(direct.call("CLIENT KILL TYPE " + type + " SKIPME yes"))
                        .as("connections killed")
                        .matches(":[1-9][0-9]*");
            }
        }

        /** Waits until each has a connection that a fault can hit: those of the round before may be dead. */
        void awaitConnections() {
            proxies(proxy ->
                    await().atMost(Experiment.SAFETY_INTERVAL).until(() -> proxy.connections(Kind.COMMANDS) > 0));
        }

        /** Waits until those whose subscription was lost in the round before have missed it. */
        void awaitSubscriptions() {
            await().atMost(Experiment.SAFETY_INTERVAL)
                    .until(() -> consuming.proxy.connections(Kind.SUBSCRIPTION) > 0
                            && alsoConsuming.proxy.connections(Kind.SUBSCRIPTION) > 0);
        }

        void endProducer() {
            producer.close();
            producing.close();
        }

        void endConsumers() {
            consuming.close();
            alsoConsuming.close();
            consumer.close();
            other.close();
        }

        @Override
        public void close() {
            proxies(FaultyProxy::close);
            endProducer();
            endConsumers();
        }
    }

    private static SideBySide<Fault> experiments;

    @BeforeAll
    static void begin() {
        experiments = new SideBySide<>(4, List.of(Fault.values()), ConnectionFaultsIT::run);
    }

    @AfterAll
    static void end() {
        experiments.close();
    }

    @ParameterizedTest
    @EnumSource
    void should_lose_nothing_and_go_on(Fault fault) throws Exception {
        experiments.result(fault);
    }

    private static void run(Fault fault) throws Exception {
        if (fault == Fault.ONE_CONSUMER_STALLED || fault == Fault.ONE_CONSUMER_CUT) {
            Experiment.reach(Where.CONSUMER_AWAY, seed -> run(fault, seed));
        } else {
            run(fault, Experiment.newSeed());
        }
    }

    private static RareStates run(Fault fault, long seed) throws Exception {
        int rounds = Experiment.rounds();
        try (Experiment experiment = new Experiment(fault.name, seed);
                Bench bench = new Bench(experiment)) {
            long inFlight = 0;
            for (int round = 0; round < rounds; round++) {
                experiment.run(Duration.ofMillis(800 + experiment.random.nextInt(400)));
                bench.awaitConnections();
                inFlight += experiment.inFlightUnderLoad();
                fault.record(experiment.history);
                fault.begin(bench);
                experiment.run(fault.duration);
                bench.proxies(FaultyProxy::heal);
                if (!fault.lasts()) {
                    experiment.history.faultEnds(fault.name);
                }
                experiment.healed();
                if (fault.lasts() && round < rounds - 1) {
                    experiment.run(GIVEN_UP);
                    experiment.history.faultEnds(fault.name);
                }
                experiment.run(Duration.ofSeconds(1));
            }
            bench.endProducer();
            experiment.awaitEmpty();
            // The first may find a consumer that has just looked around; then there is nothing but the wake-up.
            experiment.probe("probe-1");
            experiment.probe("probe-2");
            experiment.probeEach("probes");
            bench.endConsumers();
            fault.check(bench);
            experiment.judge(rounds, inFlight);
            return experiment.reached();
        }
    }
}
