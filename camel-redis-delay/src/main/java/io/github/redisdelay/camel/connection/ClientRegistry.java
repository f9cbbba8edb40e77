// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.camel.CamelContext;
import org.apache.camel.spi.ShutdownStrategy;
import org.apache.camel.support.jsse.SSLContextParameters;

/**
 * The delay queue clients of a component, one for each different setting in use. Those that differ only in key prefix or
 * timeout share the RedissonClient below them.
 */
public final class ClientRegistry {

    /** What tells one client from another. */
    record Key(ConnectionSettings connection, ClientOptions options) {}

    /** A client, and where it connects to. */
    public record OpenClient(DelayQueueClient queues, String address, Reference<RedisConnection> connection) {

        void close(Duration patience) {
            try {
                // Redisson waits afterwards for the same answers.
                queues.close(patience.multipliedBy(3).dividedBy(4));
            } finally {
                connection.release();
            }
        }
    }

    /** Of what remains: closing goes on where Redis answers, and shares what is left where it does not. */
    private static final Duration LEAST_PATIENCE = Duration.ofMillis(200);

    /** So that it can be counted in nanoseconds, whatever the shutdown timeout is. */
    private static final long MOST_PATIENCE_MILLIS = TimeUnit.DAYS.toMillis(1);

    private final RefCounted<ConnectionSettings, RedisConnection> connections;
    private final RefCounted<Key, OpenClient> clients;
    private final Supplier<Duration> shutdownTimeout;
    /** When all of them have to be closed, by {@link System#nanoTime}; null before that was asked for. */
    private volatile Long deadline;

    /** @param globalTls parameters for connections by TLS that have none of their own; may give null */
    public ClientRegistry(CamelContext context, Supplier<SSLContextParameters> globalTls) {
        connections = new RefCounted<>(
                settings -> RedisConnection.open(context, settings.withTls(globalTls.get())),
                connection -> connection.close(patience()));
        clients = new RefCounted<>(this::open, client -> client.close(patience()));
        shutdownTimeout = () -> {
            ShutdownStrategy strategy = context.getShutdownStrategy();
            long millis = strategy.getTimeUnit().toMillis(strategy.getTimeout());
            return Duration.ofMillis(Math.min(MOST_PATIENCE_MILLIS, millis));
        };
    }

    /** How long closing one of them may take. */
    private Duration patience() {
        Long until = deadline;
        if (until == null) {
            return shutdownTimeout.get();
        }
        Duration left = Duration.ofNanos(until - System.nanoTime());
        return left.compareTo(LEAST_PATIENCE) < 0 ? LEAST_PATIENCE : left;
    }

    private OpenClient open(Key key) throws Exception {
        Reference<RedisConnection> connection = connections.acquire(key.connection());
        try {
            RedisConnection redis = connection.get();
            return new OpenClient(
                    DelayQueueClient.create(redis.redisson(), key.options(), redis.address()),
                    redis.address(),
                    connection);
        } catch (RuntimeException e) {
            connection.release();
            throw e;
        }
    }

    /**
     * The client for these settings; connects if it is the first use of them.
     *
     * @return to be released when the client is not needed any more
     */
    public Reference<OpenClient> acquire(ConnectionSettings connection, ClientOptions options) throws Exception {
        return clients.acquire(new Key(connection, options));
    }

    /** How many clients are open. */
    public int size() {
        return clients.size();
    }

    /** How many connections are open, given ones included. */
    public int connections() {
        return connections.size();
    }

    /** Closes all of them. It takes as long as Camel's shutdown timeout, at the most, where Redis does not answer. */
    public void close() {
        deadline = System.nanoTime() + shutdownTimeout.get().toNanos();
        clients.closeAll();
        connections.closeAll();
    }
}
