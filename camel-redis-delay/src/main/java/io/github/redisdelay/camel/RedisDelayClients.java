// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueueClient;
import java.util.function.Supplier;
import org.apache.camel.CamelContext;
import org.apache.camel.support.jsse.SSLContextParameters;

/**
 * The delay queue clients of a component, one for each different setting in use. Those that differ only in key prefix or
 * timeout share the RedissonClient below them.
 */
final class RedisDelayClients {

    /** What tells one client from another. */
    record Key(ConnectionSettings connection, ClientOptions options) {}

    /** A client, and where it connects to. */
    record OpenClient(DelayQueueClient queues, String address, Reference<RedisConnection> connection) {

        void close() {
            try {
                queues.close();
            } finally {
                connection.release();
            }
        }
    }

    private final SharedResources<ConnectionSettings, RedisConnection> connections;
    private final SharedResources<Key, OpenClient> clients;

    /** @param globalTls parameters for connections by TLS that have none of their own; may give null */
    RedisDelayClients(CamelContext context, Supplier<SSLContextParameters> globalTls) {
        connections = new SharedResources<>(
                settings -> RedisConnection.open(context, settings.withTls(globalTls.get())), RedisConnection::close);
        clients = new SharedResources<>(this::open, OpenClient::close);
    }

    private OpenClient open(Key key) throws Exception {
        Reference<RedisConnection> connection = connections.acquire(key.connection());
        try {
            RedisConnection redis = connection.get();
            return new OpenClient(
                    DelayQueueClient.create(redis.redisson(), key.options()), redis.address(), connection);
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
    Reference<OpenClient> acquire(ConnectionSettings connection, ClientOptions options) throws Exception {
        return clients.acquire(new Key(connection, options));
    }

    /** How many clients are open. */
    int size() {
        return clients.size();
    }

    /** How many connections are open, given ones included. */
    int connections() {
        return connections.size();
    }

    void close() {
        clients.closeAll();
        connections.closeAll();
    }
}
