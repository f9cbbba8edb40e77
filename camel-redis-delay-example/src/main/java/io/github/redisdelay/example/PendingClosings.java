// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueueClient;
import io.github.redisdelay.queue.QueueStats;
import org.redisson.api.RedissonClient;

/** How many closings Redis holds, which is the truth about what is pending. */
final class PendingClosings implements AutoCloseable {

    private final DelayQueueClient client;

    PendingClosings(RedissonClient redisson) {
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
    }

    /** Those that wait and those being delivered. */
    long count() {
        QueueStats stats = client.queue("orders").stats().join();
        return stats.delayed() + stats.leased();
    }

    @Override
    public void close() {
        client.close();
    }
}
