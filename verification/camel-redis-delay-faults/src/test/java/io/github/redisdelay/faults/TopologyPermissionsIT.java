// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.faults.PermissionsIT.User;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.ClusterServers.Node;
import io.github.redisdelay.testkit.RedisSocket;
import io.github.redisdelay.testkit.SentinelServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The further permissions of the documentation's user in a Redis Cluster, and with Sentinel: those that the
 * documentation names, and no more.
 */
@Tag("faults")
@Timeout(180)
class TopologyPermissionsIT {

    private static final int MASTERS = 3;
    /** Redisson 4 asks for these when it begins, and does without them if it may not. */
    private static final Set<String> TRIED_OUT = Set.of("pubsub", "pubsub|numpat", "pubsub|shardnumsub");

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    /** Routes of a user, by a Redisson file. */
    private final class Routes implements AutoCloseable {
        private final DefaultCamelContext context = new DefaultCamelContext();
        private final Set<String> received = ConcurrentHashMap.newKeySet();
        private final List<String> queues;
        private final ProducerTemplate producer;

        Routes(String yaml, List<String> queues) throws Exception {
            this.queues = queues;
            Path file = Files.writeString(folder.resolve("redisson.yaml"), yaml);
            RedisDelayConfiguration configuration = context.getComponent("redis-delay", RedisDelayComponent.class)
                    .getConfiguration();
            configuration.setConfigurationUri("file:" + file);
            // Nobody is to give up while a slot is moved, or a master chosen.
            configuration.setRequestTimeout("60s");
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    for (String queue : queues) {
                        from("redis-delay:" + queue)
                                .process(exchange ->
                                        received.add(exchange.getMessage().getBody(String.class)));
                    }
                }
            });
            try {
                context.start();
            } catch (Exception e) {
                context.close();
                throw e;
            }
            producer = context.createProducerTemplate();
        }

        /** Schedules a message in each queue, and waits for it. */
        void deliver(String text) {
            for (String queue : queues) {
                producer.sendBody(to(queue, "delay=100ms"), queue + text);
            }
            await().atMost(PATIENCE)
                    .until(() -> queues.stream().map(queue -> queue + text).allMatch(received::contains));
        }

        /** The further work of producers, with a queue that has a replica. */
        void change(String queue) {
            producer.sendBodyAndHeader(to(queue, "delay=1h"), "x", RedisDelayConstants.SCHEDULE_ID, "x");
            for (String operation :
                    List.of("get", "reschedule&delay=2h", "cancel", "list&state=delayed", "stats", "outlook")) {
                producer.sendBodyAndHeader(
                        to(queue, "operation=" + operation), null, RedisDelayConstants.SCHEDULE_ID, "x");
            }
            producer.sendBody(to(queue, "waitForReplicas=1&replicationTimeout=2s"), queue + " replicated");
            await().atMost(PATIENCE).until(() -> received.contains(queue + " replicated"));
        }

        static String to(String queue, String options) {
            return "redis-delay:" + queue + (queue.contains("?") ? "&" : "?") + options;
        }

        @Override
        public void close() throws Exception {
            context.close();
        }
    }

    /** A line of the documentation, by a word in it. */
    private static String line(String word) throws IOException {
        return PermissionsIT.lines(PermissionsIT.PAGE).stream()
                .filter(line -> line.contains(word))
                .reduce((one, other) -> {
                    throw new AssertionError("two lines have " + word);
                })
                .orElseThrow(() -> new AssertionError("no line has " + word));
    }

    private static List<String> commands(String line) {
        return Arrays.stream(line.split(" "))
                .filter(word -> word.startsWith("+"))
                .map(word -> word.substring(1))
                .toList();
    }

    /** @param server its address, with a name and a password if it wants them */
    private static void done(String server, String command) throws IOException {
        assertThat(PermissionsIT.call(server, command)).as(command).isEqualTo("+OK");
    }

    /** The denials of any of them. */
    private static Set<String> denied(Collection<String> servers) throws IOException {
        Set<String> objects = new TreeSet<>();
        for (String server : servers) {
            objects.addAll(PermissionsIT.denied(server));
        }
        objects.removeAll(TRIED_OUT);
        return objects;
    }

    /**
     * Takes a command from a user, does something with it, and gives it back. Redis 6.2 cannot take a subcommand alone: so
     * its command is taken, and the user's other subcommands are given back. There the log names the command.
     */
    private static void without(String command, User user, Collection<String> servers, Action action) throws Exception {
        String whole = command.replaceFirst("\\|.*", "");
        String others = user.commands().stream()
                .filter(other -> other.startsWith(whole + "|") && !other.equals(command))
                .map(other -> " +" + other)
                .collect(Collectors.joining());
        Set<String> expected = new TreeSet<>();
        for (String server : servers) {
            done(server, "ACL LOG RESET");
            done(server, "ACL SETUSER " + user.name() + " -" + whole + others);
            expected.add(isRedis6(server) ? whole : command);
        }
        action.run();
        assertThat(denied(servers)).as("what was denied").isEqualTo(expected);
        for (String server : servers) {
            done(server, "ACL SETUSER " + user.name() + " +" + command);
            done(server, "ACL LOG RESET");
        }
    }

    private static boolean isRedis6(String server) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server)) {
            return direct.text("INFO server").contains("redis_version:6.");
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    // ---- cluster

    private static List<String> servers(ClusterServers cluster) {
        return cluster.nodes().stream().map(node -> node.server().address()).toList();
    }

    private static String yaml(ClusterServers cluster, User user) {
        return cluster.yaml()
                .replaceFirst("\n", "\n  username: " + user.name() + "\n  password: " + user.password() + "\n");
    }

    /** Moves a queue's slot while messages are scheduled, and waits for them. */
    private static void move(ClusterServers cluster, Routes routes, String queue) throws Exception {
        int slot = cluster.slot("{" + queue + "}");
        Node from = cluster.owner(slot);
        Node to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % MASTERS);
        List<CompletableFuture<Object>> sent = new ArrayList<>();
        done(to.server().address(), "CONFIG RESETSTAT");
        cluster.emptySlot(slot, from, to, new Random(1), () -> {
            long refused = cluster.refused();
            sent.add(routes.producer.asyncSendBody("redis-delay:" + queue, queue + " while open " + sent.size()));
            // One or two calls are under way at a time, and repeated more and more slowly.
            if (sent.size() <= 3) {
                await().atMost(Duration.ofSeconds(70))
                        .until(() ->
                                cluster.refused() > refused || sent.stream().allMatch(CompletableFuture::isDone));
            }
        });
        // As soon as none of the keys is left, the old node sends clients to the new one. They repeat calls more and
        // more slowly.
        await().atMost(PATIENCE).until(() -> isAsked(to.server()));
        cluster.closeSlot(slot, from, to);
        for (CompletableFuture<Object> each : sent) {
            each.get(70, TimeUnit.SECONDS);
        }
        assertThat(sent).isNotEmpty();
        routes.deliver(" after " + slot + " went to " + cluster.nodes().indexOf(to));
    }

    /** Also if it was denied. */
    private static boolean isAsked(RedisServer server) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            return direct.text("INFO commandstats").contains("cmdstat_asking:");
        }
    }

    @Test
    void should_suffice_in_a_cluster_and_while_a_slot_is_moved() throws Exception {
        User user = User.ofThePage();
        String addition = line("+cluster|");
        // The first master has a replica.
        try (ClusterServers cluster = ClusterServers.start(MASTERS, 1)) {
            List<String> servers = servers(cluster);
            for (String server : servers) {
                user.create(server);
                done(server, addition);
            }
            List<String> queues = new ArrayList<>(cluster.queues(1));
            String replicated = queues.get(0);
            String moved = queues.get(1);
            queues.add("parts?partitions=3");
            String yaml = yaml(cluster, user);
            try (Routes routes = new Routes(yaml, queues)) {
                routes.deliver(" at first");
                routes.change(replicated);
                move(cluster, routes, moved);
                assertThat(denied(servers)).as("what was denied").isEmpty();
                without("asking", user, servers, () -> move(cluster, routes, moved));
            }
            without("cluster|nodes", user, servers, () -> assertThatThrownBy(() -> new Routes(yaml, queues))
                    .hasStackTraceContaining("NOPERM"));
            assertThat(commands(addition)).containsExactly("asking", "cluster|nodes");

            String readingReplicas = yaml.replace("  readMode: MASTER\n", "");
            for (String server : servers) {
                done(server, "ACL SETUSER " + user.name() + " +readonly");
            }
            try (Routes routes = new Routes(readingReplicas, queues)) {
                routes.deliver(" with readonly");
                assertThat(denied(servers)).as("what was denied").isEmpty();
            }
            without("readonly", user, servers, () -> new Routes(readingReplicas, queues).close());
        }
    }

    // ---- Sentinel

    /** @param settings lines of the Redisson file, besides where the Sentinels are */
    private static String yaml(SentinelServers servers, Collection<String> settings) {
        return "sentinelServersConfig:\n  masterName: " + SentinelServers.MASTER + "\n  sentinelAddresses: "
                + servers.sentinelAddresses() + "\n  scanInterval: 200\n  " + String.join("\n  ", settings) + "\n";
    }

    /** The lines of the documentation that name the users. */
    private static List<String> users() throws IOException {
        List<String> lines = Files.readString(PermissionsIT.PAGE)
                .lines()
                .dropWhile(line -> !line.equals("sentinelServersConfig:"))
                .skip(1)
                .takeWhile(line -> line.startsWith("  "))
                .map(String::strip)
                .toList();
        assertThat(lines).hasSize(4);
        return lines;
    }

    private static List<String> with(List<String> settings, String... more) {
        return Stream.concat(settings.stream(), Arrays.stream(more)).toList();
    }

    private static boolean isUsedBy(User user, String server) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server)) {
            return direct.text("CLIENT LIST").contains(" user=" + user.name() + " ");
        }
    }

    @Test
    void should_suffice_with_sentinel_and_through_a_failover() throws Exception {
        User user = User.ofThePage();
        User finder = User.of(line("+sentinel|"), PermissionsIT.PAGE);
        List<String> queues = List.of("orders");
        try (SentinelServers servers = new SentinelServers()) {
            List<String> nodes =
                    servers.nodes().stream().map(node -> node.server.address()).toList();
            for (String node : nodes) {
                user.create(node);
            }
            // Anybody may use the Sentinels, and nothing says that replicas are not to be used.
            List<String> openly = users().stream()
                    .filter(line -> !line.startsWith("sentinel"))
                    .toList();
            try (Routes routes = new Routes(yaml(servers, openly), queues)) {
                routes.deliver(" at first");
                routes.change("orders");
                for (String node : nodes) {
                    assertThat(isUsedBy(user, node)).as("who is at " + node).isTrue();
                }
            }
            servers.closeSentinels();
            List<String> sentinels = servers.operatorAddresses();
            for (String sentinel : sentinels) {
                finder.create(sentinel);
            }
            List<String> closed = with(users(), "readMode: MASTER", "subscriptionMode: MASTER");
            // At a second attempt it makes do with fewer Sentinels.
            String once = yaml(servers, with(closed, "retryAttempts: 0"));
            for (String command : finder.commands()) {
                without(command, finder, sentinels, () -> assertThatThrownBy(() -> new Routes(once, queues))
                        .hasStackTraceContaining("NOPERM"));
            }
            try (Routes routes = new Routes(yaml(servers, closed), queues)) {
                routes.deliver(" before");
                routes.change("orders");
                assertThat(denied(nodes)).as("what was denied").isEmpty();
                SentinelServers.Node old = servers.master();
                old.server.kill();
                String promoted = servers.awaitFailover(old).server.address();
                routes.deliver(" after");
                assertThat(isUsedBy(user, promoted))
                        .as("who is at the new master")
                        .isTrue();
                assertThat(denied(List.of(promoted))).as("what was denied").isEmpty();
                for (String sentinel : sentinels) {
                    await("who is at " + sentinel).atMost(PATIENCE).until(() -> isUsedBy(finder, sentinel));
                }
            }
            assertThat(denied(sentinels)).as("what was denied").isEmpty();
        }
    }
}
