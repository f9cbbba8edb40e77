// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.queue.CallListener;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.camel.CamelContext;
import org.apache.camel.spi.ShutdownStrategy;
import org.apache.camel.support.jsse.SSLContextParameters;

/**
 * The delay queue clients of a component, one for each different setting in use. Clients that differ only in key prefix
 * or timeout share a RedissonClient.
 */
public final class ClientRegistry {

    /** The settings that tell one client from another. */
    record Key(ConnectionSettings connection, ClientOptions options) {}

    /** A client with its address and connection. */
    public record OpenClient(DelayQueueClient queues, String address, Reference<RedisConnection> connection) {

        void close(Duration patience) {
            try {
                // Redisson then waits for the same answers in the time that is left.
                queues.close(patience.multipliedBy(3).dividedBy(4));
            } finally {
                connection.release();
            }
        }
    }

    /** The least time for closing one client, so that clients whose Redis answers are closed in any case. */
    private static final long LEAST_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RefCounted<ConnectionSettings, RedisConnection> connections;
    private final RefCounted<Key, OpenClient> clients;
    private final BiFunction<String, ClientOptions, CallListener> listeners;
    private final CamelContext context;
    /** The {@link System#nanoTime} until which all clients have to be closed; null before {@link #close}. */
    private volatile Long deadline;

    /**
     * @param globalTls gives the parameters for connections by TLS that have none of their own, or null
     * @param listeners makes the listener to the calls of a client that is about to be opened, of its place and its options; null
     *     for none
     */
    public ClientRegistry(
            CamelContext context,
            Supplier<SSLContextParameters> globalTls,
            BiFunction<String, ClientOptions, CallListener> listeners) {
        this.listeners = listeners;
        this.context = context;
        connections = new RefCounted<>(
                settings -> RedisConnection.open(context, settings.withTls(globalTls.get())),
                connection -> connection.close(patience()));
        clients = new RefCounted<>(this::open, client -> client.close(patience()));
    }

    /** The time that closing one client may take. */
    private Duration patience() {
        Long until = deadline;
        return Duration.ofNanos(
                until == null ? shutdownNanos() : Math.max(LEAST_PATIENCE_NANOS, until - System.nanoTime()));
    }

    /** At most a day, so that it can be added to a time. */
    private long shutdownNanos() {
        ShutdownStrategy shutdown = context.getShutdownStrategy();
        return Math.min(TimeUnit.DAYS.toNanos(1), shutdown.getTimeUnit().toNanos(shutdown.getTimeout()));
    }

    private OpenClient open(Key key) throws Exception {
        Reference<RedisConnection> connection = connections.acquire(key.connection());
        try {
            RedisConnection redis = connection.get();
            ClientOptions options =
                    key.options().withListener(listeners.apply(RedisConnection.place(key.connection()), key.options()));
            return new OpenClient(
                    DelayQueueClient.create(redis.redisson(), options, redis.address()), redis.address(), connection);
        } catch (RuntimeException e) {
            connection.release();
            throw e;
        }
    }

    /**
     * The client for these settings; connects if it is the first use of them.
     *
     * @return a share in the client, which the caller releases
     */
    public Reference<OpenClient> acquire(ConnectionSettings connection, ClientOptions options) throws Exception {
        return clients.acquire(new Key(connection, options));
    }

    /** A share in the client for these settings, which the caller releases, if it is connected. Does not block. */
    public Optional<Reference<OpenClient>> acquireOpen(ConnectionSettings connection, ClientOptions options) {
        return clients.acquireOpen(new Key(connection, options));
    }

    /** The number of open clients. */
    public int size() {
        return clients.size();
    }

    /** The number of open connections, given ones included. */
    public int connections() {
        return connections.size();
    }

    /** Closes all clients. Without answers of Redis this takes as long as Camel's shutdown timeout, at the most. */
    public void close() {
        deadline = System.nanoTime() + shutdownNanos();
        clients.closeAll();
        connections.closeAll();
    }
}
