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

    /** The closings that wait and those being delivered. */
    long closings() {
        return in("orders");
    }

    /** The messages that wait and those being delivered, and the dead letters that nobody has taken yet. */
    long in(String... queues) {
        return Arrays.stream(queues)
                .map(queue -> client.queue(queue).stats().join())
                .mapToLong(WaitingMessages::held)
                .sum();
    }

    private static long held(QueueStats stats) {
        return stats.delayed() + stats.leased() + stats.dead();
    }

    @Override
    public void close() {
        client.close();
    }
}
