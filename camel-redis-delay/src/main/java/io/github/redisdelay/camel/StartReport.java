// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueException;
import io.github.redisdelay.queue.PartitionMismatchException;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.camel.RuntimeCamelException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at a queue when a consumer starts: logs what is there, and fails if Redis cannot be used. */
final class StartReport {

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayConsumer.class);

    private static final ServerInfo UNKNOWN = new ServerInfo("Redis", "unknown", "unknown", null);

    private StartReport() {}

    /**
     * The consumer that starts is not among those that the line counts.
     *
     * @param partitions fails if the queue has another number of partitions
     * @param deadLetters whether the queue is that of dead letters
     * @return what is known of the server
     * @throws RuntimeCamelException naming the address if the queue cannot be read
     */
    static ServerInfo log(DelayQueue queue, CompletableFuture<Void> partitions, String address, boolean deadLetters) {
        CompletableFuture<QueueStats> stats = partitions.thenCompose(same -> queue.stats());
        // INFO may be forbidden to this user; nothing depends on it.
        CompletableFuture<ServerInfo> server =
                partitions.thenCompose(same -> queue.serverInfo()).exceptionally(error -> UNKNOWN);
        try {
            LOG.info(QueueReport.of(queue.name(), deadLetters, address, server.join(), stats.join()));
        } catch (CompletionException e) {
            Throwable cause = e.getCause() instanceof DelayQueueException ? e.getCause() : e;
            if (cause instanceof PartitionMismatchException) {
                throw new RuntimeCamelException(cause.getMessage(), cause);
            }
            throw RedisConnection.unusable("queue '" + queue.name() + "': ", address, cause);
        }
        return server.join();
    }
}
