// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.history.HistoryChecker;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.redisson.api.RedissonClient;

/** A Redis of a test's own, one server or a cluster, as the test looks at it. */
final class Servers implements AutoCloseable {

    private final AutoCloseable servers;
    private final List<String> addresses;
    private final String configuration;
    private final RedissonClient redisson;
    private final DelayQueueClient client;

    private Servers(AutoCloseable servers, List<String> addresses, String configuration, RedissonClient redisson) {
        this.servers = servers;
        this.addresses = addresses;
        this.configuration = configuration;
        this.redisson = redisson;
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
    }

    static Servers single() {
        RedisServer server = RedisServer.dedicated();
        String address = server.address();
        return new Servers(server, List.of(address), address, TestConnections.open(address));
    }

    /** @param folder gets a file with the configuration */
    static Servers cluster(Path folder) throws IOException {
        ClusterServers cluster = ClusterServers.start(3, 0);
        Path yaml = Files.writeString(folder.resolve("redisson.yaml"), cluster.yaml());
        List<String> addresses =
                cluster.nodes().stream().map(node -> node.server().address()).toList();
        return new Servers(cluster, addresses, "file:" + yaml, cluster.connect());
    }

    /** Those of its nodes. */
    List<String> addresses() {
        return addresses;
    }

    /** Where the component finds it: an address, or the URI of a file. */
    String configuration() {
        return configuration;
    }

    RedissonClient redisson() {
        return redisson;
    }

    DelayQueueClient client() {
        return client;
    }

    /** How many messages Redisson's queue has, pending and ready. */
    long oldSize(String queue) {
        return redisson.getScoredSortedSet(Backlog.pendingKey(queue)).size()
                + redisson.getList(queue).size();
    }

    /** How many messages the component's queue has. */
    long newSize(String queue, int partitions) throws Exception {
        QueueStats stats = client.queue(queue, partitions).admin().stats().get(10, TimeUnit.SECONDS);
        return stats.delayed() + stats.leased();
    }

    /** The keys that should not be there when both queues are empty. */
    List<String> leftovers() {
        return StreamSupport.stream(redisson.getKeys().getKeys().spliterator(), false)
                .filter(HistoryChecker::isLeftover)
                .toList();
    }

    /**
     * How many calls of scripts have failed, but for those of scripts that a server had not seen yet. With more than
     * one partition a few fail by themselves: a consumer leaves the others without waiting for an answer, and its next
     * call may come first.
     */
    long failedScripts() throws IOException {
        long failed = 0;
        for (String address : addresses) {
            try (RedisSocket redis = RedisSocket.open(address)) {
                failed += sum(redis, "commandstats", "cmdstat_eval(sha)?:.*failed_calls=(\\d+).*")
                        - sum(redis, "errorstats", "errorstat_(NOSCRIPT):count=(\\d+).*");
            }
        }
        return failed;
    }

    /** @param pattern the second group of it is a number */
    private static long sum(RedisSocket redis, String section, String pattern) throws IOException {
        return redis.text("INFO " + section)
                .lines()
                .map(String::trim)
                .filter(line -> line.matches(pattern))
                .mapToLong(line -> Long.parseLong(line.replaceAll(pattern, "$2")))
                .sum();
    }

    @Override
    public void close() throws Exception {
        client.close();
        redisson.shutdown();
        servers.close();
    }
}
