// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.api.RedissonClient;

/**
 * A share in a connection of the component's, for tools that look at queues beside routes. The connection stays open until the share
 * is closed, or the component stops. Thread-safe.
 */
public final class SharedRedis implements AutoCloseable {

    private final Reference<OpenClient> client;
    private final AtomicBoolean closed = new AtomicBoolean();

    SharedRedis(Reference<OpenClient> client) {
        this.client = client;
    }

    /** The client, which belongs to the component. */
    public RedissonClient redisson() {
        return client.get().connection().get().redisson();
    }

    /** Where it connects to, without credentials. */
    public String address() {
        return client.get().address();
    }

    /** Gives the share back. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            client.release();
        }
    }
}
