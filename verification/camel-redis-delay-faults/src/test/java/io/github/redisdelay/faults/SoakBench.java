// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.FaultyProxy;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The servers and nodes of a soak: a Redis server that writes everything to disk, two
 * {@linkplain SoakNode Camel contexts} in this JVM, each behind a proxy of its own, and one in another JVM, which is
 * killed now and then. Used by one thread.
 */
final class SoakBench implements AutoCloseable {

    /** How the server, which has to survive being killed, differs from the default. */
    private static final List<String> DURABLE = List.of("appendonly yes", "appendfsync always");

    /** Other servers may be too old to know it. */
    private static final String DEBUG = "enable-debug-command yes";

    /** Messages that are delivered now were made in these. */
    private static final int LATEST_WINDOWS = 3;

    final RedisServer server;
    /** The faults that the test makes. */
    final History history = new History("test", History.MACHINE_CLOCK);

    final List<SoakNode> nodes = new ArrayList<>();
    private final List<FaultyProxy> proxies = new ArrayList<>();
    private final SoakNode.Settings settings;
    private final Random random;
    private final int childRate;
    private SoakChild child;
    private int children;
    /** The node whose connections the next fault hits; as many as there are for all of them. */
    private int hit;

    /** @param settings of a node; name, address and seed are replaced for each */
    SoakBench(SoakNode.Settings settings) throws Exception {
        this.settings = settings;
        this.random = new Random(settings.seed());
        this.childRate = Math.max(10, settings.perSecond() / 20 * 10);
        List<String> lines = new ArrayList<>(DURABLE);
        if (System.getProperty("redis.image") == null && System.getProperty("redis.server") == null) {
            lines.add(DEBUG);
        }
        server = RedisServer.dedicated(lines.toArray(String[]::new));
        try {
            for (String name : List.of("a", "b")) {
                FaultyProxy proxy = new FaultyProxy(server.host(), server.port());
                proxies.add(proxy);
                nodes.add(new SoakNode(settings(name, proxy.address(), settings.perSecond())));
            }
            startChild();
            child.awaitWork();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private SoakNode.Settings settings(String name, String address, int perSecond) {
        return new SoakNode.Settings(
                name,
                address,
                settings.directory(),
                settings.beginMillis(),
                settings.windowMillis(),
                perSecond,
                settings.maxDelayMillis(),
                random.nextLong());
    }

    private void startChild() throws IOException {
        child = new SoakChild(settings("c" + ++children, server.address(), childRate));
    }

    /** How many clients of the delay queue there have been. */
    int clients() {
        return nodes.size() + children;
    }

    // ---- what faults do

    /** Chooses whose connections the next fault hits, those of one node or of both; answers their names. */
    List<String> choose() {
        hit = random.nextInt(proxies.size() + 1);
        return chosen(nodes).stream().map(SoakNode::name).toList();
    }

    /** The proxies of those that were chosen. */
    List<FaultyProxy> someProxies() {
        return chosen(proxies);
    }

    private <T> List<T> chosen(List<T> all) {
        return hit == all.size() ? List.copyOf(all) : List.of(all.get(hit));
    }

    void heal() {
        proxies.forEach(FaultyProxy::heal);
    }

    SoakNode someNode() {
        return nodes.get(random.nextInt(nodes.size()));
    }

    void killChild() throws Exception {
        child.kill(history);
        startChild();
    }

    /** Kills all connections of a type, as soon as there are some: those of the fault before may not be back yet. */
    void kill(String type) {
        await("connections to kill")
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(100))
                .until(() -> command("CLIENT KILL TYPE " + type + " SKIPME yes").matches(":[1-9][0-9]*"));
    }

    /** Sends a command to the server; whoever asks looks at the first line of the answer. */
    String command(String command) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            return direct.call(command);
        }
    }

    // ---- what the test asks

    /** Waits until each node of this JVM has received something since. */
    void awaitRecovery(long sinceNanos) {
        await().atMost(Duration.ofSeconds(120))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> nodes.stream().allMatch(node -> node.hasDeliveredSince(sinceNanos)));
    }

    /**
     * Waits until each consumer of each node, also of the other JVM, has received something since.
     *
     * @param sinceMicros by the clock of the histories
     * @param deadLetters whether also those of dead letters, which are rare
     */
    void awaitEachConsumer(long sinceMicros, boolean deadLetters) {
        Set<String> all = new TreeSet<>();
        for (String name : names()) {
            for (String queue : SoakNode.QUEUES) {
                all.add(consumer(name, queue, false));
                if (deadLetters) {
                    all.add(consumer(name, queue, true));
                }
            }
        }
        await().atMost(Duration.ofSeconds(deadLetters ? 300 : 120))
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> {
                    all.removeAll(consumersSince(sinceMicros));
                    assertThat(all)
                            .as("consumers without a delivery since the last fault")
                            .isEmpty();
                });
    }

    private List<String> names() {
        return Stream.concat(nodes.stream().map(SoakNode::name), Stream.of(child.name()))
                .toList();
    }

    /** Those who have received something, in messages of the latest windows. */
    private Set<String> consumersSince(long micros) {
        int last = settings.window(System.currentTimeMillis());
        return IntStream.rangeClosed(Math.max(0, last - LATEST_WINDOWS), last)
                .mapToObj(window -> WindowedHistory.read(directory(), window))
                .flatMap(List::stream)
                .filter(event -> event.what() == What.DELIVERED && event.micros() > micros)
                .map(event -> consumer(
                        event.source(), event.receipt().queue(), event.receipt().deadLetter()))
                .collect(Collectors.toSet());
    }

    private static String consumer(String node, String queue, boolean deadLetters) {
        return node + " of " + queue + (deadLetters ? ", dead letters" : "");
    }

    /** How many answers the proxies have lost. */
    int lostAnswers() {
        return proxies.stream().mapToInt(FaultyProxy::lostAnswers).sum();
    }

    /** Waits until the other JVM works. */
    void awaitChild() {
        child.awaitWork();
    }

    /** Produces nothing more, and waits until everything that was stored was delivered. */
    void drain() throws Exception {
        for (SoakNode node : nodes) {
            node.endProducing();
        }
        child.end();
        await().atMost(Duration.ofMillis(settings.maxDelayMillis()).plusSeconds(120))
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions()
                .until(() -> SoakSamples.read(server.address()).pending() == 0);
    }

    /** Ends the nodes in an orderly way. */
    void endNodes() throws Exception {
        for (SoakNode node : nodes) {
            node.close();
        }
        nodes.clear();
    }

    /** The keys that there are. */
    List<String> keys() throws IOException {
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            return direct.texts("KEYS *");
        }
    }

    @Override
    public void close() throws Exception {
        if (child != null) {
            child.close();
        }
        try {
            endNodes();
        } finally {
            proxies.forEach(FaultyProxy::close);
            server.close();
        }
    }

    /** The faults of the test, and the standstills that the children have seen. */
    List<Event> faults() {
        List<Event> all = new ArrayList<>(history.events());
        for (int i = 1; i <= children; i++) {
            Path seen = settings.directory().resolve("c" + i + WindowedHistory.SUFFIX);
            if (Files.exists(seen)) {
                all.addAll(History.read(seen));
            }
        }
        return all;
    }

    /** Where the histories are. */
    Path directory() {
        return settings.directory();
    }

    /** Asserts that the server did what it was told. */
    void done(String command) throws IOException {
        assertThat(command(command)).as(command).isEqualTo("+OK");
    }
}
