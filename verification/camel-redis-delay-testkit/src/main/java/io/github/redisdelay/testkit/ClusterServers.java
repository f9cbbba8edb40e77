// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.test.TestPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * A Redis Cluster of a test's own, on the loopback address: masters that share the slots evenly, and replicas of the
 * first of them. A node that was killed is one of them again when it is started.
 *
 * <p>Its methods are for one thread at a time.
 */
public final class ClusterServers implements AutoCloseable {

    private static final int SLOTS = 16384;
    /** After which a node that does not answer has failed. */
    public static final Duration NODE_TIMEOUT = Duration.ofSeconds(2);

    /** The port at which the nodes talk to one another is so much above the other one. */
    private static final int USUAL_BUS_PORT = 10_000;

    /** So many more ports are tried for a bus. */
    private static final int BUS_PORTS = 20;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** For a slot with millions of messages, on a busy machine. */
    private static final Duration LONG_MOVE = Duration.ofMinutes(10);

    private static final Duration POLL = Duration.ofMillis(50);

    /** Show the moves that the servers make by themselves. */
    private static final String[] REDIS_MOVES = {"CLUSTER", "MIGRATION", "STATUS", "ALL"};

    private static final String[] VALKEY_MOVES = {"CLUSTER", "GETSLOTMIGRATIONS"};

    private final List<Node> nodes = new ArrayList<>();
    private final Path program;
    private final int masters;

    private ClusterServers(Path program, int masters) {
        this.program = program;
        this.masters = masters;
    }

    /**
     * Starts the nodes, joins them, and waits until all slots are served.
     *
     * @param masters 3 or more, else no replica can be promoted
     * @param replicas each of one of the masters, in their order
     * @param configLines of all nodes, such as {@code appendonly yes}
     */
    public static ClusterServers start(int masters, int replicas, String... configLines) {
        return start(null, masters, replicas, configLines);
    }

    /**
     * The same with nodes of another program.
     *
     * @param program as for {@link RedisServer#process}; null for the one that all tests take
     */
    public static ClusterServers start(Path program, int masters, int replicas, String... configLines) {
        ClusterServers cluster = new ClusterServers(program, masters);
        try {
            for (int i = 0; i < masters + replicas; i++) {
                cluster.nodes.add(Node.launch(program, configLines));
            }
            cluster.join();
        } catch (RuntimeException | AssertionError e) {
            cluster.close();
            throw e;
        }
        return cluster;
    }

    private void join() {
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get(i);
            // So that no two agree on one first and have to find out.
            node.done("CLUSTER SET-CONFIG-EPOCH " + (i + 1));
            if (i < masters) {
                String slots = IntStream.range(firstSlot(i), firstSlot(i + 1))
                        .mapToObj(Integer::toString)
                        .collect(Collectors.joining(" "));
                node.done("CLUSTER ADDSLOTS " + slots);
            }
        }
        meet();
        for (int i = masters; i < nodes.size(); i++) {
            nodes.get(i).done("CLUSTER REPLICATE " + nodes.get(i - masters).id());
        }
        for (int i = masters; i < nodes.size(); i++) {
            nodes.get(i).awaitReplicating();
        }
        awaitOk();
    }

    private void meet() {
        Node first = nodes.get(0);
        awaitThat("all nodes know one another", () -> {
            // Each time: a node forgets another that it was told to meet and does not reach within the node timeout.
            nodes.stream()
                    .filter(node -> !first.knows(List.of(node)) || !node.knows(List.of(first)))
                    .forEach(node -> first.done(
                            "CLUSTER MEET " + node.server.host() + " " + node.server.port() + " " + node.busPort));
            return nodes.stream().allMatch(node -> node.knows(nodes));
        });
    }

    /** Starts a further node, as a replica of a master, and waits until it has what the master has. All nodes run. */
    public Node addReplica(Node master, String... configLines) {
        Node node = Node.launch(program, configLines);
        nodes.add(node);
        meet();
        node.done("CLUSTER REPLICATE " + master.id());
        node.awaitReplicating();
        return node;
    }

    private int firstSlot(int master) {
        return (int) ((long) SLOTS * master / masters);
    }

    /** All nodes: first those that were masters in the beginning, then their replicas. */
    public List<Node> nodes() {
        return List.copyOf(nodes);
    }

    /** The slot of a key. */
    public int slot(String key) {
        String answer = alive().line("CLUSTER KEYSLOT " + key);
        return Integer.parseInt(answer.substring(1));
    }

    /** Names of queues, so many on each of the first masters, in their order. */
    public List<String> queues(int each) {
        List<String> names = new ArrayList<>();
        for (int master = 0; master < masters; master++) {
            for (int found = 0, i = 0; found < each; i++) {
                String name = "orders-" + master + "-" + i;
                int slot = slot("{" + name + "}");
                if (slot >= firstSlot(master) && slot < firstSlot(master + 1)) {
                    names.add(name);
                    found++;
                }
            }
        }
        return names;
    }

    /** The master that has a slot, as those who live see it. */
    public Node owner(int slot) {
        return alive().clusterNodes().stream()
                .filter(line -> line.isLivingMaster() && line.has(slot))
                .map(line -> nodes.stream()
                        .filter(node -> node.id().equals(line.id))
                        .findFirst()
                        .orElseThrow())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("nobody has slot " + slot));
    }

    /** The replica of a node. */
    public Node replicaOf(Node master) {
        return alive().clusterNodes().stream()
                .filter(line -> line.master.equals(master.id()) && line.isAlive())
                .map(line -> nodes.stream()
                        .filter(node -> node.id().equals(line.id))
                        .findFirst()
                        .orElseThrow())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no replica"));
    }

    private Node alive() {
        return nodes.stream()
                .filter(Node::isRunning)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("all nodes are dead"));
    }

    /** Waits until all nodes that run find that all slots are served. */
    public void awaitOk() {
        awaitThat(
                "cluster_state:ok", () -> nodes.stream().filter(Node::isRunning).allMatch(Node::isOk));
    }

    /** Waits until those who run know that a node is dead. */
    public void awaitFailed(Node dead) {
        awaitThat(
                "a node has failed",
                () -> nodes.stream().filter(Node::isRunning).allMatch(node -> node.clusterNodes().stream()
                        .anyMatch(line -> line.id.equals(dead.id()) && line.flags.contains("fail"))));
    }

    /** Waits until the others see this node as a master with slots. */
    public void awaitPromoted(Node replica) {
        awaitThat(
                "a replica is promoted",
                () -> nodes.stream().filter(Node::isRunning).allMatch(node -> node.clusterNodes().stream()
                        .anyMatch(line -> line.id.equals(replica.id()) && line.isLivingMaster() && line.hasSlots())));
    }

    private static void awaitThat(String what, Callable<Boolean> condition) {
        await(what).atMost(PATIENCE).pollInterval(POLL).until(condition);
    }

    // ---- clients

    /**
     * A configuration for a Redisson client of this cluster, which finds changes of the cluster within half a second.
     */
    public String yaml() {
        return "clusterServersConfig:\n  nodeAddresses:\n"
                + nodes.stream()
                        .map(node -> "    - \"" + node.server.address() + "\"\n")
                        .collect(Collectors.joining())
                + """
                  scanInterval: 500
                  pingConnectionInterval: 5000
                  readMode: MASTER
                  subscriptionMode: MASTER
                  masterConnectionMinimumIdleSize: 2
                  masterConnectionPoolSize: 32
                  subscriptionConnectionMinimumIdleSize: 1
                  subscriptionConnectionPoolSize: 2
                threads: 2
                nettyThreads: 4
                """;
    }

    /** A Redisson client of this cluster, with the component's own settings otherwise. The caller shuts it down. */
    public RedissonClient connect() {
        Config config;
        try {
            config = Config.fromYAML(yaml());
        } catch (Exception e) {
            // Redisson 3.52 declares an IOException, 4 none.
            throw new IllegalStateException(e);
        }
        config.setCodec(ByteArrayCodec.INSTANCE);
        config.setReferenceEnabled(false);
        return Redisson.create(config);
    }

    // ---- slots

    /** Begins to move a slot: from now on Redis looks for each key on both nodes. */
    public void openSlot(int slot, Node from, Node to) {
        to.done("CLUSTER SETSLOT " + slot + " IMPORTING " + from.id());
        from.done("CLUSTER SETSLOT " + slot + " MIGRATING " + to.id());
    }

    /** Moves one key of an open slot. */
    public void moveKey(String key, Node from, Node to) {
        String answer = from.ask(redis -> {
            redis.timeout(PATIENCE);
            return redis.call(
                    "MIGRATE " + to.server.host() + " " + to.server.port() + " " + key + " 0 " + PATIENCE.toMillis());
        });
        // It may have gone meanwhile.
        assertThat(answer).isIn("+OK", "+NOKEY");
    }

    /** Ends the move of a slot whose keys have all been moved. */
    public void closeSlot(int slot, Node from, Node to) {
        // First the new owner, so that there is one at any time.
        to.done("CLUSTER SETSLOT " + slot + " NODE " + to.id());
        from.done("CLUSTER SETSLOT " + slot + " NODE " + to.id());
        awaitThat("all know who has slot " + slot, () -> isOwner(to, slot));
    }

    private boolean isOwner(Node node, int slot) {
        return nodes.stream().filter(Node::isRunning).allMatch(each -> each.clusterNodes().stream()
                .anyMatch(line -> line.id.equals(node.id()) && line.isLivingMaster() && line.has(slot)));
    }

    /**
     * Moves a slot as an operator's tool does, its keys one by one in a random order, up to {@link #closeSlot}.
     *
     * @param between called with the slot open: before the first key, between two of them, and after the last
     */
    public void emptySlot(int slot, Node from, Node to, Random random, Runnable between) {
        openSlot(slot, from, to);
        between.run();
        List<String> keys = from.keys(slot);
        while (!keys.isEmpty()) {
            moveKey(keys.get(random.nextInt(keys.size())), from, to);
            between.run();
            keys = from.keys(slot);
        }
    }

    /** Tells whether the servers move a slot with all its keys by themselves: Redis from 8.4 on, Valkey from 9 on. */
    public boolean canMoveSlots() {
        Node node = alive();
        return node.knows(REDIS_MOVES) || node.knows(VALKEY_MOVES);
    }

    /** Has the servers move a slot, and waits until all know its new owner. */
    public void moveSlot(int slot, Node from, Node to) {
        boolean redis = to.knows(REDIS_MOVES);
        if (redis) {
            String task = to.shown(("CLUSTER MIGRATION IMPORT " + slot + " " + slot).split(" "));
            assertThat(task).as("id of the move").startsWith("\"");
        } else {
            from.done("CLUSTER MIGRATESLOTS SLOTSRANGE " + slot + " " + slot + " NODE " + to.id());
        }
        await("move of slot " + slot).atMost(LONG_MOVE).pollInterval(POLL).until(() -> {
            String moves = to.shown(redis ? REDIS_MOVES : VALKEY_MOVES);
            assertThat(moves).doesNotContain("\"failed\"", "\"canceled\"", "\"cancelled\"");
            return isOwner(to, slot);
        });
    }

    /** The number of commands that were sent elsewhere, or were to be repeated, because their slot was being moved. */
    public long refused() {
        return nodes.stream()
                .flatMap(node -> node.info("errorstats").lines())
                .filter(line -> line.matches("errorstat_(ASK|TRYAGAIN):.*"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                .sum();
    }

    @Override
    public void close() {
        nodes.forEach(node -> node.server.close());
    }

    /** A line of {@code CLUSTER NODES}. */
    private record Line(String id, List<String> flags, String master, List<String> slots) {

        static Line of(String text) {
            String[] words = text.split(" ");
            return new Line(
                    words[0],
                    List.of(words[2].split(",")),
                    words[3],
                    Arrays.asList(words).subList(8, words.length));
        }

        boolean isAlive() {
            return !flags.contains("fail") && !flags.contains("handshake") && !flags.contains("noaddr");
        }

        boolean isLivingMaster() {
            return flags.contains("master") && isAlive();
        }

        boolean hasSlots() {
            return !slots.isEmpty();
        }

        boolean has(int slot) {
            return slots.stream().filter(range -> !range.startsWith("[")).anyMatch(range -> {
                String[] ends = range.split("-");
                return slot >= Integer.parseInt(ends[0]) && slot <= Integer.parseInt(ends[ends.length - 1]);
            });
        }
    }

    /** One server of the cluster. */
    public static final class Node {

        private final RedisServer server;
        private final int busPort;
        private final String id;
        private boolean running = true;

        private Node(RedisServer server, int busPort) {
            this.server = server;
            this.busPort = busPort;
            this.id = ask(redis -> redis.text("CLUSTER MYID"));
        }

        private static Node launch(Path program, String... configLines) {
            List<String> lines = new ArrayList<>(List.of(
                    "cluster-enabled yes",
                    "cluster-config-file nodes.conf",
                    "cluster-node-timeout " + NODE_TIMEOUT.toMillis(),
                    // A replica may always be promoted, stays with its master, and is there at once.
                    "cluster-replica-validity-factor 0",
                    "cluster-allow-replica-migration no",
                    "repl-diskless-sync-delay 0"));
            lines.addAll(List.of(configLines));
            // Not the usual one: who tries to reach a dead node gets its port from there, and could meet itself.
            int busPort = TestPorts.next();
            List<String> withBusPort = new ArrayList<>(lines);
            withBusPort.add("cluster-port " + busPort);
            try {
                return new Node(server(program, withBusPort), busPort);
            } catch (RuntimeException e) {
                if (!String.valueOf(e.getMessage()).contains("Bad directive")) {
                    throw e;
                }
                return withUsualBusPort(program, lines);
            }
        }

        /** Redis 6.2 has no such setting. Then the bus has a port of those that clients are given: where one has it, the next try. */
        private static Node withUsualBusPort(Path program, List<String> lines) {
            for (int left = BUS_PORTS; ; left--) {
                try {
                    RedisServer server = server(program, lines);
                    return new Node(server, server.port() + USUAL_BUS_PORT);
                } catch (RuntimeException e) {
                    if (left == 0 || !String.valueOf(e.getMessage()).contains("(cluster), aborting")) {
                        throw e;
                    }
                }
            }
        }

        private static RedisServer server(Path program, List<String> configLines) {
            String[] lines = configLines.toArray(String[]::new);
            return program == null ? RedisServer.embedded(lines) : RedisServer.process(program, lines);
        }

        /** The server itself. It is killed and started through this node. */
        public RedisServer server() {
            return server;
        }

        public String id() {
            return id;
        }

        public boolean isRunning() {
            return running;
        }

        /** Ends it as a crash does. */
        public void kill() {
            running = false;
            server.kill();
        }

        /** Starts it again, with what it had written to disk. */
        public void start() {
            server.start();
            running = true;
        }

        /**
         * Holds up what would change something until its replica has everything, and for so long that it can be killed
         * then: Redis replicates asynchronously, and what is lost by that is no matter of the cluster.
         */
        public void holdWritesUntilReplicated() {
            done("CLIENT PAUSE 30000 WRITE");
            ClusterServers.awaitThat("the replica has everything", () -> {
                String info = info("replication");
                String mine = value(info, "master_repl_offset");
                return info.contains("state=online,offset=" + mine + ",");
            });
        }

        /**
         * Its replica gets nothing from now on, and asks in vain for what comes. It does again when this node is
         * started.
         */
        public void stopReplicating() {
            done("ACL SETUSER default -psync -sync");
            assertThat(line("CLIENT KILL TYPE replica"))
                    .as("connections of replicas")
                    .isEqualTo(":1");
        }

        /** Waits until this replica gets what its master writes. */
        public void awaitReplicating() {
            ClusterServers.awaitThat("a replica gets what its master writes", () -> {
                String info = info("replication");
                return info.contains("role:slave") && info.contains("master_link_status:up");
            });
        }

        /** The names of the channels with a subscription on this node. */
        public List<String> channels(String pattern) {
            return ask(redis -> redis.texts("PUBSUB CHANNELS " + pattern));
        }

        /** The keys of a pattern that this node holds. */
        public List<String> keysLike(String pattern) {
            return ask(redis -> redis.texts("KEYS " + pattern));
        }

        /** The keys of a slot that this node holds. */
        public List<String> keys(int slot) {
            return ask(redis -> redis.texts("CLUSTER GETKEYSINSLOT " + slot + " 1000"));
        }

        /** Sends commands on one connection; the first line of the answer to the last one. */
        @SafeVarargs
        public final String call(List<String>... commands) {
            return ask(redis -> {
                String answer = null;
                for (List<String> command : commands) {
                    answer = redis.send(command);
                }
                return answer;
            });
        }

        private String line(String command) {
            return ask(redis -> redis.call(command));
        }

        private String shown(String... command) {
            return ask(redis -> redis.shown(List.of(command)));
        }

        private boolean knows(String... command) {
            return !shown(command).startsWith("(error)");
        }

        private void done(String command) {
            assertThat(line(command))
                    .as(command.substring(0, Math.min(60, command.length())))
                    .isEqualTo("+OK");
        }

        private boolean isOk() {
            return ask(redis -> redis.text("CLUSTER INFO")).contains("cluster_state:ok");
        }

        private List<Line> clusterNodes() {
            return ask(redis -> redis.text("CLUSTER NODES"))
                    .lines()
                    .map(Line::of)
                    .toList();
        }

        private boolean knows(List<Node> all) {
            List<Line> lines = clusterNodes();
            return all.stream()
                    .allMatch(node -> lines.stream().anyMatch(line -> line.id.equals(node.id) && line.isAlive()));
        }

        /** A line of {@code INFO}, without its name. */
        public String info(String section, String name) {
            return value(info(section), name);
        }

        private String info(String section) {
            return ask(redis -> redis.text("INFO " + section));
        }

        private static String value(String info, String name) {
            return info.lines()
                    .filter(line -> line.startsWith(name + ":"))
                    .map(line -> line.substring(name.length() + 1))
                    .findFirst()
                    .orElseThrow();
        }

        private <T> T ask(Question<T> question) {
            try (RedisSocket redis = RedisSocket.open(server.address())) {
                return question.ask(redis);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private interface Question<T> {
            T ask(RedisSocket redis) throws IOException;
        }
    }
}
