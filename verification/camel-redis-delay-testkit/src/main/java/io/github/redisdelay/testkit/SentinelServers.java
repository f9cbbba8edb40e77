// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SubscriptionMode;

/**
 * A master, a replica and three Sentinels of a test's own, on the loopback address. Sentinels, the replica and clients
 * reach a node through a proxy of its own, so that a fault there is a fault between it and all the others; who knows
 * its own address is on its side of the fault.
 *
 * <p>Its methods are for one thread at a time.
 */
public final class SentinelServers implements AutoCloseable {

    public static final String MASTER = "mymaster";
    private static final String OPERATOR = "operator";

    /** For how long a node must not answer. Sentinels on a busy machine must not take a pause for a failure. */
    private static final Duration DOWN_AFTER = Duration.ofSeconds(2);

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Duration POLL = Duration.ofMillis(50);

    private final List<Node> nodes = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();
    private boolean closed;

    /** A master or a replica, with its proxy. */
    public static final class Node {
        public final RedisServer server;
        public final FaultyProxy proxy;

        private Node(Path program, String... configLines) {
            List<String> lines = new ArrayList<>(List.of("repl-diskless-sync-delay 0", "repl-ping-replica-period 1"));
            lines.addAll(List.of(configLines));
            server = program == null
                    ? RedisServer.embedded(lines.toArray(String[]::new))
                    : RedisServer.process(program, lines.toArray(String[]::new));
            proxy = new FaultyProxy(server.host(), server.port());
            announce();
        }

        /** As what the others know it. */
        private void announce() {
            done("CONFIG SET replica-announce-port " + port());
        }

        private int port() {
            return URI.create(proxy.address()).getPort();
        }

        /** Starts a killed one again: as a master, until it is told that there is another one. */
        public void restart() {
            server.start();
            announce();
        }

        /** Sends a command to the node itself, whatever its proxy does. */
        public void done(String command) {
            String answer = ask(socket -> socket.call(command));
            assertThat(answer).as(command).isEqualTo("+OK");
        }

        public void follow(Node master) {
            done("REPLICAOF 127.0.0.1 " + master.port());
        }

        public boolean isReplica() {
            return replication().contains("role:slave");
        }

        /** True if it is a replica that receives what its master does. */
        public boolean isLinked() {
            String info = replication();
            return info.contains("role:slave") && info.contains("master_link_status:up");
        }

        private String replication() {
            return ask(socket -> socket.text("INFO replication"));
        }

        private <T> T ask(Question<T> question) {
            return SentinelServers.ask(server.address(), question);
        }
    }

    private interface Question<T> {
        T ask(RedisSocket socket) throws IOException;
    }

    private static <T> T ask(String address, Question<T> question) {
        try (RedisSocket socket = RedisSocket.open(address)) {
            return question.ask(socket);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts all of them, and waits until each knows the others. */
    public SentinelServers() {
        this(null);
    }

    /**
     * The same with a master and a replica of another program, or with other settings.
     *
     * @param program as for {@link RedisServer#process}; null for the one that all tests take
     * @param configLines of the master and the replica, such as {@code appendonly yes}
     */
    public SentinelServers(Path program, String... configLines) {
        try {
            nodes.add(new Node(program, configLines));
            nodes.add(new Node(program, configLines));
            nodes.get(1).follow(nodes.get(0));
            until(nodes.get(1)::isLinked);
            for (int i = 0; i < 3; i++) {
                sentinels.add(RedisServer.sentinel(
                        "sentinel monitor " + MASTER + " 127.0.0.1 "
                                + nodes.get(0).port() + " 2",
                        "sentinel down-after-milliseconds " + MASTER + " " + DOWN_AFTER.toMillis(),
                        "sentinel failover-timeout " + MASTER + " 10000"));
            }
            until(this::knowOneAnother);
        } catch (RuntimeException | AssertionError e) {
            close();
            throw e;
        }
    }

    private boolean knowOneAnother() {
        return operatorAddresses().stream().allMatch(SentinelServers::knowsAll);
    }

    private static boolean knowsAll(String sentinel) {
        List<String> facts = ask(sentinel, socket -> socket.texts("SENTINEL MASTER " + MASTER));
        return "1".equals(facts.get(facts.indexOf("num-slaves") + 1))
                && "2".equals(facts.get(facts.indexOf("num-other-sentinels") + 1));
    }

    public static void until(Callable<Boolean> condition) {
        await().atMost(PATIENCE).pollInterval(POLL).ignoreExceptions().until(condition);
    }

    /** The node that all Sentinels take for the master; null while they do not agree. */
    public Node master() {
        Node found = null;
        for (String sentinel : operatorAddresses()) {
            List<String> address = ask(sentinel, socket -> socket.texts("SENTINEL GET-MASTER-ADDR-BY-NAME " + MASTER));
            Node named = nodes.stream()
                    .filter(node -> address.get(1).equals(Integer.toString(node.port())))
                    .findFirst()
                    .orElseThrow();
            if (found != null && found != named) {
                return null;
            }
            found = named;
        }
        return found;
    }

    /** The node that is not this one. */
    public Node other(Node node) {
        return nodes.get(0) == node ? nodes.get(1) : nodes.get(0);
    }

    /** Waits until the Sentinels have made another node the master. */
    public Node awaitFailover(Node before) {
        Node after = other(before);
        until(() -> master() == after && !after.isReplica());
        return after;
    }

    /** From now on the Sentinels wait for a master that is gone, for longer than any test. */
    public void keepMaster() {
        for (RedisServer sentinel : sentinels) {
            String command = "SENTINEL SET " + MASTER + " down-after-milliseconds 3600000";
            assertThat((String) ask(sentinel.address(), socket -> socket.call(command)))
                    .as(command)
                    .isEqualTo("+OK");
        }
    }

    /**
     * From now on nobody may use the Sentinels who is not one of their users; one another they log in as an operator.
     */
    public void closeSentinels() {
        for (String command : List.of(
                "ACL SETUSER " + OPERATOR + " on >" + OPERATOR + " ~* &* +@all",
                "SENTINEL CONFIG SET sentinel-user " + OPERATOR,
                "SENTINEL CONFIG SET sentinel-pass " + OPERATOR,
                "ACL SETUSER default off")) {
            for (RedisServer sentinel : sentinels) {
                String answer = ask(sentinel.address(), socket -> socket.call(command));
                assertThat(answer).as(command).isEqualTo("+OK");
            }
        }
        closed = true;
    }

    public List<Node> nodes() {
        return List.copyOf(nodes);
    }

    /** The Sentinels' addresses for who may do everything. */
    public List<String> operatorAddresses() {
        String login = closed ? OPERATOR + ":" + OPERATOR + "@" : "";
        return sentinels.stream()
                .map(sentinel -> "redis://" + login + sentinel.host() + ":" + sentinel.port())
                .toList();
    }

    /** {@code redis://host:port} of the Sentinels. */
    public List<String> sentinelAddresses() {
        return sentinels.stream().map(RedisServer::address).toList();
    }

    /** A Redisson client of these servers, with the component's own settings otherwise. The caller shuts it down. */
    public RedissonClient connect() {
        Config config = new Config();
        config.setCodec(ByteArrayCodec.INSTANCE);
        config.setThreads(2);
        config.setNettyThreads(4);
        SentinelServersConfig servers = config.useSentinelServers()
                .setMasterName(MASTER)
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setScanInterval(500)
                .setMasterConnectionMinimumIdleSize(2)
                .setMasterConnectionPoolSize(32)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setConnectTimeout(5000)
                .setPingConnectionInterval(5000);
        sentinelAddresses().forEach(servers::addSentinelAddress);
        return Redisson.create(config);
    }

    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        nodes.forEach(node -> {
            node.proxy.close();
            node.server.close();
        });
    }
}
