// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.queue.Durability;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.api.RedissonClient;

/**
 * A share in a connection of the component's, for tools that look at queues beside routes. The connection stays open until the share
 * is closed, or the component stops. Thread-safe.
 */
public final class SharedRedis implements AutoCloseable {

    private final Reference<OpenClient> client;
    private final Durability durability;
    private final AtomicBoolean closed = new AtomicBoolean();

    SharedRedis(Reference<OpenClient> client, Durability durability) {
        this.client = client;
        this.durability = durability;
    }

    /** The client, which belongs to the component. */
    public RedissonClient redisson() {
        return client.get().connection().get().redisson();
    }

    /** Where it connects to, without credentials. */
    public String address() {
        return client.get().address();
    }

    /** How safe a change has to be before it counts as done, as the endpoint has it. */
    public Durability durability() {
        return durability;
    }

    /** Gives the share back. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            client.release();
        }
    }
}
