// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.client;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.consume.ConsumerStarter;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.redisson.api.RedissonClient;

/** The parts of a client that it does not show to its users, for tests. */
public final class ClientAccess {

    private ClientAccess() {}

    /** A client whose calls go through an executor that loses, delays or repeats them. */
    public static DelayQueueClient create(RedissonClient redisson, ClientOptions options, ScriptExecutor redis) {
        return DelayQueueClient.create(redisson, options, redis);
    }

    /** A client with its own clocks and random numbers. */
    public static DelayQueueClient create(
            ScriptExecutor redis,
            ClientOptions options,
            Timers timers,
            RandomGenerator random,
            LongSupplier wallClockMillis,
            RedissonClient redisson) {
        return new DelayQueueClient(redis, options, timers, random, wallClockMillis, redisson);
    }

    public static Timers timers(DelayQueueClient client) {
        return client.timers();
    }

    public static UnbatchedCalls calls(DelayQueueClient client) {
        return client.calls();
    }

    public static ConsumerStarter consumers(DelayQueueClient client) {
        return client.consumers();
    }
}
