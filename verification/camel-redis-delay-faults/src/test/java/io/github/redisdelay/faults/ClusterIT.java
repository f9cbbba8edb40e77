// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.TestAbortedException;
import org.redisson.api.RedissonClient;

/**
 * Queues on the nodes of a Redis Cluster, under load, while slots are moved and masters die: nothing is lost, nothing
 * comes twice without a cause, and deliveries go on by themselves.
 */
@Tag("faults")
class ClusterIT {

    private static final int PER_SECOND_AND_QUEUE = 40;
    /** Longer than elsewhere: several clusters and their clients begin at the same time. */
    private static final Duration LEASE = Duration.ofSeconds(6);
    /** A client asks itself every 25 s whether it still hears, and waits 2 s for the answer. */
    private static final Duration MISSED = Duration.ofSeconds(28);

    /** A queue with a partition on each of the three masters. */
    private static final String PARTITIONED = "parts";

    private static final int PARTITIONS = 3;

    private enum Fault {
        SUBSCRIBED_NODE_LOST(
                "cluster: the node with the subscription is gone for a while", 0, "cluster-require-full-coverage no") {
            /** On other nodes: the queues of this one stand still with it. */
            @Override
            List<String> queues(ClusterServers cluster) {
                return cluster.queues(1).subList(1, 3);
            }

            @Override
            Node subscribedOn(ClusterServers cluster) {
                return cluster.nodes().get(0);
            }

            @Override
            void round(Bench bench, int round) throws Exception {
                Node node = bench.cluster.nodes().get(0);
                long killed = System.nanoTime();
                node.kill();
                bench.cluster.awaitFailed(node);
                bench.awaitDeliveries();
                // Without a load there is nothing but wake-ups and the safety interval.
                bench.endProducers();
                bench.experiment.awaitEmpty();
                // And as long as a lease that they know of may end, consumers look around by themselves.
                bench.experiment.run(LEASE.plusSeconds(1));
                bench.experiment.probe("without-" + round);
                // Until it must have been missed.
                bench.experiment.run(MISSED.minusNanos(Math.min(System.nanoTime() - killed, MISSED.toNanos())));
                node.start();
                bench.cluster.awaitOk();
                bench.awaitSubscribed();
                bench.produce();
            }
        },
        MASTER_BACK("cluster: a master gone, back with its AOF", 0, "appendonly yes", "appendfsync always") {
            @Override
            void round(Bench bench, int round) {
                Node node = bench.nodeOf(bench.names.get(round % bench.names.size()));
                node.kill();
                bench.cluster.awaitFailed(node);
                bench.experiment.run(Duration.ofMillis(bench.experiment.random.nextInt(3000)));
                node.start();
                bench.cluster.awaitOk();
            }
        },
        /** When its replica has everything: what it has not is the matter of the next one. */
        MASTER_REPLACED("cluster: a master killed, its replica promoted", 3) {
            @Override
            List<String> queues(ClusterServers cluster) {
                return withPartitions(cluster.queues(2));
            }

            @Override
            void round(Bench bench, int round) throws Exception {
                // By turns one that the consumers' subscription is on, and any.
                Node node =
                        round % 2 == 0 ? bench.subscribed() : bench.nodeOf(bench.names.get(round % bench.names.size()));
                node.holdWritesUntilReplicated();
                bench.replace(node);
            }
        },
        KILLED_UNDER_LOAD("cluster: a master killed under load, waitForReplicas=1", 3) {
            @Override
            List<String> queues(ClusterServers cluster) {
                return withPartitions(cluster.queues(2));
            }

            @Override
            ClientOptions options() {
                return SentinelIT.WAITING;
            }

            @Override
            int kills() {
                return 2;
            }

            @Override
            void round(Bench bench, int round) throws Exception {
                bench.replace(bench.subscribed());
                bench.experiment.run(Duration.ofSeconds(1));
                // And one whose last changes its replica does not have, and never will.
                Node node = bench.nodeOf(bench.names.get(round % bench.names.size()));
                node.stopReplicating();
                bench.experiment.run(Duration.ofMillis(500));
                bench.replace(node);
            }

            /** A lost acknowledgement, or a lost claim, makes a message come again: these never wait for replicas. */
            @Override
            void judge(Experiment experiment, int tried, long inFlight) {
                SentinelIT.assertOnly(experiment.report(tried, inFlight), SentinelIT.COMES_AGAIN);
            }
        },
        SLOT_MOVED("cluster: slots moved, key by key", 0) {
            @Override
            List<String> queues(ClusterServers cluster) {
                return withPartitions(cluster.queues(2));
            }

            @Override
            void round(Bench bench, int round) {
                for (int slot : bench.threeSlots(round)) {
                    bench.moveSlot(slot, bench.after(bench.cluster.owner(slot), 1 + round % 2), 250);
                    bench.awaitDeliveries();
                }
            }
        },
        /** So fast that no lease ends: nothing comes again because of it. */
        SLOT_MOVED_BY_SERVERS("cluster: slots moved by the servers", 0) {
            @Override
            List<String> queues(ClusterServers cluster) {
                return withPartitions(cluster.queues(2));
            }

            @Override
            boolean isFault() {
                return false;
            }

            @Override
            void round(Bench bench, int round) {
                for (int slot : bench.threeSlots(round)) {
                    Node from = bench.cluster.owner(slot);
                    Node to = bench.after(from, 1 + round % 2);
                    if (bench.cluster.canMoveSlots()) {
                        bench.cluster.moveSlot(slot, from, to);
                    } else {
                        assertThatThrownBy(() -> bench.cluster.moveSlot(slot, from, to))
                                .as("Redis before 8.4, Valkey before 9")
                                .hasMessageContaining("MIGRATESLOTS");
                    }
                    bench.awaitDeliveries();
                }
            }
        },
        SLOT_MOVED_SLOWLY("cluster: a slot moved for longer than the lease, and back", 0) {
            @Override
            void round(Bench bench, int round) {
                String queue = bench.names.get(round % bench.names.size());
                Node from = bench.nodeOf(queue);
                bench.moveSlot(bench.slotOf(queue), bench.after(from, 1), 2500);
                bench.awaitDeliveries();
                bench.moveSlot(bench.slotOf(queue), from, 250);
            }
        },
        NONE("cluster: six queues on three nodes, no fault", 0) {
            @Override
            void round(Bench bench, int round) {
                bench.experiment.run(Duration.ofSeconds(2));
            }
        };

        final String name;
        final int replicas;
        final String[] config;

        Fault(String name, int replicas, String... config) {
            this.name = name;
            this.replicas = replicas;
            this.config = config;
        }

        /** The queues of the experiment. */
        List<String> queues(ClusterServers cluster) {
            return cluster.queues(2);
        }

        private static List<String> withPartitions(List<String> queues) {
            return Stream.concat(queues.stream(), Stream.of(PARTITIONED)).toList();
        }

        /** The options of all clients. */
        ClientOptions options() {
            return Experiment.OPTIONS;
        }

        /** The node that the consumers are subscribed to; null for any. */
        Node subscribedOn(ClusterServers cluster) {
            return null;
        }

        /** Tells whether anything can come again because of it. */
        boolean isFault() {
            return this != NONE;
        }

        /** How often it comes in a round. */
        int kills() {
            return 1;
        }

        /** Fails if anything is wrong in the end. */
        void judge(Experiment experiment, int tried, long inFlight) {
            experiment.judge(tried, inFlight);
        }

        /** Begins with the fault, and ends when it is over. */
        abstract void round(Bench bench, int round) throws Exception;
    }

    /** The nodes and the queues that an experiment is about. */
    private record Site(ClusterServers cluster, List<String> names, ClientOptions options) implements ExperimentSite {

        @Override
        public RedissonClient connect() {
            return cluster.connect();
        }

        @Override
        public DelayQueue queue(DelayQueueClient client) {
            return queue(client, names.get(0));
        }

        @Override
        public List<DelayQueue> queues(DelayQueueClient client) {
            return names.stream().map(name -> queue(client, name)).toList();
        }

        static DelayQueue queue(DelayQueueClient client, String name) {
            return client.queue(name, name.equals(PARTITIONED) ? PARTITIONS : 1);
        }

        @Override
        public Duration lease() {
            return LEASE;
        }

        @Override
        public void close() {
            cluster.close();
        }
    }

    /** A client with connections of its own. */
    private static final class Party implements AutoCloseable {
        final RedissonClient redisson;
        final DelayQueueClient client;
        /** The channel on which it hears of messages, if it consumes. */
        String channel;

        Party(Experiment experiment) {
            redisson = experiment.connect();
            client = experiment.open(redisson);
        }

        @Override
        public void close() {
            client.close();
            redisson.shutdown();
        }
    }

    /** A producer for each queue, and two consumers of all of them. */
    private static final class Bench implements AutoCloseable {
        private static final String FIRST = "c1";
        private static final String SECOND = "c2";

        final Experiment experiment;
        final ClusterServers cluster;
        final List<String> names;
        private final Party producing;
        private final Party consuming;
        private final Party alsoConsuming;
        private final LoadConsumer consumer;
        private final LoadConsumer other;
        private final List<LoadProducer> producers = new ArrayList<>();
        private int generation;

        Bench(Experiment experiment, Site site, Node subscribedOn) {
            this.experiment = experiment;
            cluster = site.cluster();
            names = site.names();
            producing = new Party(experiment);
            consumer = new LoadConsumer(experiment.newConsumer(FIRST), LEASE, experiment.seed, step -> {});
            consuming = consume(consumer, subscribedOn);
            other = new LoadConsumer(experiment.newConsumer(SECOND), LEASE, experiment.seed, step -> {});
            alsoConsuming = consume(other, subscribedOn);
            produce();
        }

        /** Each client has a channel of its own, and the channel's name decides the node. */
        private Party consume(LoadConsumer handler, Node subscribedOn) {
            while (true) {
                Set<String> before = channels();
                Party party = new Party(experiment);
                names.forEach(name -> handler.consume(Site.queue(party.client, name), 20));
                await().atMost(Experiment.SAFETY_INTERVAL).until(() -> {
                    Set<String> after = channels();
                    after.removeAll(before);
                    party.channel = after.stream().findFirst().orElse(null);
                    return party.channel != null;
                });
                if (subscribedOn == null || isSubscribed(party, subscribedOn)) {
                    return party;
                }
                party.close();
            }
        }

        private Set<String> channels() {
            Set<String> channels = new HashSet<>();
            for (Node node : cluster.nodes()) {
                if (node.isRunning()) {
                    channels.addAll(node.channels("redis-delay:wakeup:*"));
                }
            }
            return channels;
        }

        private static boolean isSubscribed(Party party, Node node) {
            return node.isRunning() && node.channels(party.channel).contains(party.channel);
        }

        /** Waits until the consumers' clients are subscribed, each to some node. */
        void awaitSubscribed() {
            for (Party party : List.of(consuming, alsoConsuming)) {
                await("subscription to " + party.channel)
                        .atMost(Experiment.SAFETY_INTERVAL.plusSeconds(10))
                        .until(() -> cluster.nodes().stream().anyMatch(node -> isSubscribed(party, node)));
            }
        }

        /** The node that the first consumer's client is subscribed to. */
        Node subscribed() {
            awaitSubscribed();
            return cluster.nodes().stream()
                    .filter(node -> isSubscribed(consuming, node))
                    .findFirst()
                    .orElseThrow();
        }

        Node nodeOf(String queue) {
            return cluster.owner(slotOf(queue));
        }

        int slotOf(String queue) {
            return cluster.slot("{" + queue + "}");
        }

        /** Found by one of its keys, as nobody outside knows its hash tag. */
        int slotOfPartition(int partition) {
            String pattern = "redis-delay:{" + PARTITIONED + "{" + partition + "/" + PARTITIONS + ".*}:sessions";
            return cluster.nodes().stream()
                    .flatMap(node -> node.keysLike(pattern).stream())
                    .findFirst()
                    .map(cluster::slot)
                    .orElseThrow();
        }

        /** Of two queues, and of a partition of the third. */
        List<Integer> threeSlots(int round) {
            return List.of(slotOf(names.get(0)), slotOf(names.get(3)), slotOfPartition(round % PARTITIONS));
        }

        /** Kills a master; it comes back as a replica of the one that was its replica. */
        void replace(Node node) {
            Node replica = cluster.replicaOf(node);
            node.kill();
            cluster.awaitPromoted(replica);
            cluster.awaitOk();
            experiment.over();
            awaitDeliveries();
            node.start();
            cluster.awaitOk();
            node.awaitReplicating();
        }

        /** The next node that is another one. */
        Node after(Node node, int steps) {
            int masters = 3;
            return cluster.nodes().get((cluster.nodes().indexOf(node) + steps) % masters);
        }

        /** Moves a slot, its keys one by one, with pauses of up to so many milliseconds. */
        void moveSlot(int slot, Node to, int pause) {
            Node from = cluster.owner(slot);
            cluster.emptySlot(
                    slot,
                    from,
                    to,
                    experiment.random,
                    () -> experiment.run(Duration.ofMillis(experiment.random.nextInt(pause))));
            experiment.over();
            cluster.closeSlot(slot, from, to);
        }

        void produce() {
            String suffix = "-" + generation++;
            for (String name : names) {
                producers.add(new LoadProducer(
                        Site.queue(producing.client, name),
                        experiment.newHistory("p-" + name + suffix),
                        name + suffix,
                        PER_SECOND_AND_QUEUE,
                        experiment.seed + producers.size()));
            }
        }

        void endProducers() {
            producers.forEach(LoadProducer::end);
            producers.clear();
        }

        /** Waits until each queue gives messages to each consumer. */
        void awaitDeliveries() {
            long now = experiment.history.now();
            for (String name : names) {
                await("deliveries from " + name + " to each consumer")
                        .atMost(Experiment.SAFETY_INTERVAL.plusSeconds(10))
                        .pollInterval(Duration.ofMillis(200))
                        .until(() -> experiment.events().stream()
                                .filter(event -> event.what() == What.DELIVERED
                                        && event.micros() > now
                                        && event.id().startsWith(name + "-"))
                                .map(Event::source)
                                .collect(Collectors.toSet())
                                .containsAll(Set.of(FIRST, SECOND)));
            }
        }

        /** How many messages wait or are being delivered; the observer's client may not know yet who does what. */
        long inFlight() {
            AtomicLong messages = new AtomicLong();
            await().atMost(Experiment.SAFETY_INTERVAL).ignoreExceptions().until(() -> {
                messages.set(experiment.inFlight());
                return true;
            });
            return messages.get();
        }

        void endConsumers() {
            consuming.close();
            alsoConsuming.close();
            consumer.close();
            other.close();
        }

        @Override
        public void close() {
            producers.forEach(LoadProducer::close);
            producing.close();
            endConsumers();
        }
    }

    private static SideBySide<Fault> experiments;

    @BeforeAll
    static void begin() {
        experiments = new SideBySide<>(3, List.of(Fault.values()), ClusterIT::run);
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
        int rounds = Experiment.rounds();
        ClusterServers cluster = ClusterServers.start(3, fault.replicas, fault.config);
        Site site;
        try {
            site = new Site(cluster, fault.queues(cluster), fault.options());
        } catch (TestAbortedException e) {
            cluster.close();
            throw e;
        }
        try (Experiment experiment = new Experiment(fault.name, site);
                Bench bench = new Bench(experiment, site, fault.subscribedOn(cluster))) {
            long inFlight = 0;
            for (int round = 0; round < rounds; round++) {
                experiment.run(Duration.ofMillis(800 + experiment.random.nextInt(400)));
                inFlight += experiment.inFlightUnderLoad();
                if (fault.isFault()) {
                    experiment.history.faultBegins(fault.name);
                }
                fault.round(bench, round);
                experiment.over();
                bench.awaitDeliveries();
                if (fault.isFault()) {
                    experiment.history.faultEnds(fault.name);
                }
                experiment.run(Duration.ofSeconds(1));
            }
            bench.endProducers();
            bench.inFlight();
            experiment.awaitEmpty();
            bench.awaitSubscribed();
            // The first may find a consumer that has just looked around; then there is nothing but the wake-up.
            experiment.probe("probe-1");
            experiment.probe("probe-2");
            experiment.probeEach("probes");
            bench.endConsumers();
            bench.producing.close();
            fault.judge(experiment, rounds * fault.kills(), inFlight);
        }
    }
}
