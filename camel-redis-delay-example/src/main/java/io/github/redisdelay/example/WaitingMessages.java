// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.util.Arrays;
import org.redisson.api.RedissonClient;

/** The numbers of messages in Redis, which alone knows what is still to come. */
final class WaitingMessages implements AutoCloseable {

    private final DelayQueueClient client;

    WaitingMessages(RedissonClient redisson) {
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
    }

    QueueStats of(String queue) {
        return client.queue(queue).admin().stats().join();
    }

    /** The messages that wait and those being delivered. */
    long in(String... queues) {
        return Arrays.stream(queues)
                .map(this::of)
                .mapToLong(stats -> stats.delayed() + stats.leased())
                .sum();
    }

    @Override
    public void close() {
        client.close();
    }
}
