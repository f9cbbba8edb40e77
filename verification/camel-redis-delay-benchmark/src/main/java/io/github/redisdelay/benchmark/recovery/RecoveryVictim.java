// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.recovery;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** A program that leases messages, never finishes one, and is there to be killed. */
final class RecoveryVictim {

    /** The line that it prints when it holds all. */
    static final String READY = "ready";

    private RecoveryVictim() {}

    /** @param arguments the address of Redis, the queue, how many messages, the visibility timeout in milliseconds */
    public static void main(String[] arguments) throws Exception {
        int messages = Integer.parseInt(arguments[2]);
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        DelayQueueClient client = DelayQueueClient.create(Redisson.create(config), ClientOptions.DEFAULTS);
        CountDownLatch held = new CountDownLatch(messages);
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(messages)
                .withMaxMessagesPerPoll(ConsumerOptions.MAX_MESSAGES)
                .withVisibilityTimeout(Duration.ofMillis(Long.parseLong(arguments[3])));
        client.queue(arguments[1]).consume(options, Runnable::run, delivery -> held.countDown());
        held.await();
        System.out.println(READY);
        // Until it is killed.
        new CountDownLatch(1).await();
    }
}
