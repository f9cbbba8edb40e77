// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.FaultyProxy;
import io.github.redisdelay.testkit.MasterAndReplica;
import io.github.redisdelay.testkit.RedisSocket;
import io.github.redisdelay.testkit.SentinelServers;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.redisson.api.RedissonClient;

/** What loses its power, and which server is asked afterwards. */
enum PowerOutage {
    ONE_SERVER("one server", One::new),
    ONE_TORN("one server; its last record is torn", One::new, "LOSE_TORN=1"),
    ONE_SLOW("one server; an fsync lasts for 1.5 s", One::new, "LOSE_SLOW=1500"),
    ONE_REWRITING("one server that rewrites its file all the time", One::new),
    BOTH_THE_MASTER_RETURNS("master and replica, both; the master returns", Two::new),
    BOTH_THE_REPLICA_TAKES_OVER("master and replica, both; the replica takes over", Two::new),
    THE_SLOWER_REPLICA_TAKES_OVER("master with two replicas; the slower one takes over", Three::new),
    SENTINEL_FAILOVER("Sentinel: the master, until its replica is promoted", WithSentinels::new),
    SENTINEL_SHORT("Sentinel: the master, which returns before a failover", WithSentinels::new),
    SENTINEL_ALL("Sentinel: master and replica; the master returns before a failover", WithSentinels::new),
    CLUSTER_NODE("cluster without replicas: a node", InACluster::new),
    CLUSTER_FAILOVER("cluster: a master, until its replica is promoted", InACluster::new),
    CLUSTER_ALL("cluster: all masters and replicas", InACluster::new);

    final String name;
    private final Starter starter;
    private final String[] settings;

    /** @param settings of {@code lose.c} */
    PowerOutage(String name, Starter starter, String... settings) {
        this.name = name;
        this.starter = starter;
        this.settings = settings;
    }

    Servers start(PowerCut.Binary binary, String... configLines) throws Exception {
        return starter.start(this, PowerCut.program(binary, settings), configLines);
    }

    private interface Starter {
        Servers start(PowerOutage outage, Path program, String... configLines);
    }

    /** Some servers. Their methods are for one thread at a time. */
    interface Servers extends AutoCloseable {

        /** A new client. The caller shuts it down. */
        RedissonClient connect();

        /** Names of queues on the machines that lose their power. */
        default List<String> queues() {
            return List.of(Experiment.QUEUE);
        }

        /** Is called all the time until then. */
        default void disturb() throws IOException {}

        /** The power is lost, of several machines at the same time. */
        void cut();

        /** Returns when there is a server for each queue again. */
        void recover();

        @Override
        void close();
    }

    private static final class One implements Servers {
        private final RedisServer server;
        private final boolean rewriting;

        One(PowerOutage outage, Path program, String... configLines) {
            rewriting = outage == ONE_REWRITING;
            server = RedisServer.process(program, configLines);
        }

        @Override
        public RedissonClient connect() {
            return TestConnections.open(server.address());
        }

        @Override
        public void disturb() throws IOException {
            if (rewriting) {
                try (RedisSocket socket = RedisSocket.open(server.address())) {
                    socket.call("BGREWRITEAOF");
                }
            }
        }

        @Override
        public void cut() {
            server.kill();
        }

        @Override
        public void recover() {
            server.start();
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** A master and a replica that an operator looks after. */
    private static final class Two implements Servers {
        private final RedisServer master;
        private final RedisServer replica;
        private final boolean masterReturns;
        private RedisServer used;

        Two(PowerOutage outage, Path program, String... configLines) {
            masterReturns = outage == BOTH_THE_MASTER_RETURNS;
            String[] lines = with(configLines, "repl-diskless-sync-delay 0");
            master = RedisServer.process(program, lines);
            replica = RedisServer.process(program, with(lines, "replicaof " + master.host() + " " + master.port()));
            used = master;
            awaitLink(replica);
        }

        private static String[] with(String[] lines, String more) {
            return Stream.concat(Stream.of(lines), Stream.of(more)).toArray(String[]::new);
        }

        private static void awaitLink(RedisServer replica) {
            SentinelServers.until(
                    () -> MasterAndReplica.info(replica, "replication").contains("master_link_status:up")
                            && isWritten(replica));
        }

        /** A new replica begins its append-only file anew, and has none until that is done. */
        private static boolean isWritten(RedisServer server) {
            String info = MasterAndReplica.info(server, "persistence");
            return info.contains("aof_rewrite_in_progress:0") && info.contains("aof_rewrite_scheduled:0");
        }

        @Override
        public RedissonClient connect() {
            return TestConnections.open(used.address());
        }

        @Override
        public void cut() {
            Stream.of(master, replica).parallel().forEach(RedisServer::kill);
        }

        @Override
        public void recover() {
            if (masterReturns) {
                master.start();
                replica.start();
                awaitLink(replica);
            } else {
                replica.start();
                MasterAndReplica.ask(replica, "REPLICAOF NO ONE", "+OK");
                used = replica;
            }
        }

        @Override
        public void close() {
            replica.close();
            master.close();
        }
    }

    /** A master and two replicas that an operator looks after. What the second one receives is always a little late. */
    private static final class Three implements Servers {
        private static final Duration BEHIND = Duration.ofMillis(200);

        private final RedisServer master;
        private final RedisServer replica;
        private final FaultyProxy link;
        private final RedisServer slower;
        private RedisServer used;

        Three(PowerOutage outage, Path program, String... configLines) {
            String[] lines = Two.with(configLines, "repl-diskless-sync-delay 0");
            master = RedisServer.process(program, lines);
            replica = RedisServer.process(program, Two.with(lines, "replicaof " + master.host() + " " + master.port()));
            link = new FaultyProxy(master.host(), master.port());
            URI address = URI.create(link.address());
            slower = RedisServer.process(
                    program, Two.with(lines, "replicaof " + address.getHost() + " " + address.getPort()));
            used = master;
            Two.awaitLink(replica);
            Two.awaitLink(slower);
            link.delay(BEHIND);
        }

        @Override
        public RedissonClient connect() {
            return TestConnections.open(used.address());
        }

        @Override
        public void cut() {
            link.close(); // with what is on its way
            master.kill();
        }

        @Override
        public void recover() {
            MasterAndReplica.ask(slower, "REPLICAOF NO ONE", "+OK");
            used = slower;
        }

        @Override
        public void close() {
            slower.close();
            link.close();
            replica.close();
            master.close();
        }
    }

    private static final class WithSentinels implements Servers {
        private final PowerOutage outage;
        private final SentinelServers servers;
        private final SentinelServers.Node master;
        private final SentinelServers.Node replica;

        WithSentinels(PowerOutage outage, Path program, String... configLines) {
            this.outage = outage;
            servers = new SentinelServers(program, configLines);
            master = servers.master();
            replica = servers.other(master);
            if (outage != SENTINEL_FAILOVER) {
                servers.keepMaster();
            }
            SentinelServers.until(() -> Two.isWritten(replica.server));
        }

        @Override
        public RedissonClient connect() {
            return servers.connect();
        }

        @Override
        public void cut() {
            if (outage == SENTINEL_ALL) {
                Stream.of(master, replica).parallel().forEach(node -> node.server.kill());
            } else {
                master.server.kill();
            }
        }

        @Override
        public void recover() {
            if (outage == SENTINEL_FAILOVER) {
                servers.awaitFailover(master);
                return;
            }
            master.restart();
            if (outage == SENTINEL_ALL) {
                replica.restart();
                replica.follow(master); // as its own configuration file would say
            }
            SentinelServers.until(() -> servers.master() == master && !master.isReplica() && replica.isLinked());
        }

        @Override
        public void close() {
            servers.close();
        }
    }

    private static final class InACluster implements Servers {
        private final PowerOutage outage;
        private final ClusterServers cluster;
        private final ClusterServers.Node first;
        private final ClusterServers.Node replica;

        InACluster(PowerOutage outage, Path program, String... configLines) {
            this.outage = outage;
            int replicas = outage == CLUSTER_NODE ? 0 : 3;
            cluster = ClusterServers.start(program, 3, replicas, configLines);
            first = cluster.nodes().get(0);
            replica = replicas == 0 ? null : cluster.nodes().get(3); // that of the first
            SentinelServers.until(() -> cluster.nodes().stream().allMatch(node -> Two.isWritten(node.server())));
        }

        @Override
        public RedissonClient connect() {
            return cluster.connect();
        }

        /** One on each node, that of the first node at first. */
        @Override
        public List<String> queues() {
            List<String> all = cluster.queues(1);
            return outage == CLUSTER_ALL ? all : all.subList(0, 1);
        }

        @Override
        public void cut() {
            if (outage == CLUSTER_ALL) {
                cluster.nodes().parallelStream().forEach(ClusterServers.Node::kill);
            } else {
                first.kill();
            }
        }

        @Override
        public void recover() {
            switch (outage) {
                case CLUSTER_ALL -> cluster.nodes().parallelStream().forEach(ClusterServers.Node::start);
                case CLUSTER_NODE -> first.start();
                default -> cluster.awaitPromoted(replica);
            }
            cluster.awaitOk();
        }

        @Override
        public void close() {
            cluster.close();
        }
    }
}
