// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.camel.connection.RedisConnection;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.camel.RuntimeCamelException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lines that consumers and producers log as they start: what their queue holds, and a warning, once for each server, of a server that is set up
 * to lose messages. Thread-safe.
 */
public final class StartupLog {

    private static final Logger LOG = LoggerFactory.getLogger(StartupLog.class);

    private static final ServerInfo UNKNOWN = new ServerInfo("Redis", "unknown", "unknown", null);

    /** More queues than anybody reads of. */
    private static final int MOST_PRODUCERS = 100;

    private final Set<String> warned = ConcurrentHashMap.newKeySet();
    private final Set<String> producers = ConcurrentHashMap.newKeySet();

    /**
     * Logs what there is. The consumer that starts is not among those that the line counts.
     *
     * @param partitions fails if the queue has another number of partitions
     * @param deadLetters whether the queue is that of dead letters
     * @throws RuntimeCamelException naming the address if the queue cannot be read
     */
    public void log(DelayQueue queue, CompletableFuture<Void> partitions, String address, boolean deadLetters) {
        CompletableFuture<QueueStats> stats =
                partitions.thenCompose(same -> queue.admin().stats());
        // INFO may be forbidden to this user; nothing depends on it.
        CompletableFuture<ServerInfo> server =
                partitions.thenCompose(same -> queue.admin().serverInfo()).exceptionally(error -> UNKNOWN);
        try {
            LOG.info(StatsText.of(queue.name(), deadLetters, address, server.join(), stats.join()));
        } catch (CompletionException e) {
            Throwable cause = e.getCause() instanceof DelayQueueException ? e.getCause() : e;
            if (cause instanceof PartitionMismatchException) {
                throw new RuntimeCamelException(cause.getMessage(), cause);
            }
            throw RedisConnection.unusable("queue '" + queue.name() + "': ", address, cause);
        }
        warn(address, server.join());
    }

    /**
     * Logs the same for a producer, once for each queue, as soon as Redis has answered. Names of queues may be dynamic, so
     * there is an end to these lines.
     */
    public void logProducer(DelayQueue queue, String address, String keyPrefix) {
        if (producers.size() >= MOST_PRODUCERS || !producers.add(address + " " + keyPrefix + " " + queue.name())) {
            return;
        }
        CompletableFuture<ServerInfo> server = queue.admin().serverInfo().exceptionally(error -> UNKNOWN);
        queue.admin()
                .stats()
                .thenAcceptBoth(server, (stats, info) -> {
                    LOG.info("producer of {}", StatsText.of(queue.name(), false, address, info, stats));
                    warn(address, info);
                })
                .exceptionally(error -> {
                    LOG.debug("queue '{}': a producer cannot read its figures: {}", queue.name(), error.toString());
                    return null;
                });
    }

    /** Warns of the server at an address, if that has to be. */
    public void warn(String address, ServerInfo server) {
        if (server.evicts() && warned.add("evicts " + address)) {
            LOG.warn(
                    "Redis at {} has maxmemory-policy {}: when its memory is full it throws messages away. Set it to"
                            + " noeviction",
                    address,
                    server.evictionPolicy());
        }
        if (server.forgets() && warned.add("forgets " + address)) {
            LOG.warn(
                    "Redis at {} has its append-only file off: a restart of it loses messages, all that came after its last"
                            + " snapshot. Set appendonly to yes",
                    address);
        }
    }
}
