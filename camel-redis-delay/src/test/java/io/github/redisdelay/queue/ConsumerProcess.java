// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * A consumer in a JVM of its own, for tests that kill it. Writes a line for each thing that it does: {@code begun} with
 * id, attempt and time of the claim; {@code acknowledging} and {@code acknowledged} with the id.
 *
 * <p>Arguments: address of Redis, key prefix, queue, lease in milliseconds, how many at a time, and what it does:
 * {@code acknowledge}, or {@code die}, which ends the JVM in the middle of a message whose id ends with {@code poison}.
 * A message with an id ending in {@code -slow} takes 300 ms, and one ending in {@code -stuck} is worked on for ever.
 */
public final class ConsumerProcess {

    private ConsumerProcess() {}

    public static void main(String[] arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(2);
        RedissonClient redisson = Redisson.create(config);
        DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS.withKeyPrefix(arguments[1]));
        int concurrent = Integer.parseInt(arguments[4]);
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(concurrent)
                .withVisibilityTimeout(Duration.ofMillis(Long.parseLong(arguments[3])));
        boolean die = arguments[5].equals("die");
        client.queue(arguments[2]).consume(options, Executors.newCachedThreadPool(), delivery -> {
            say("begun " + delivery.id() + " " + delivery.attempt() + " " + delivery.claimedMicros());
            if (die && delivery.id().endsWith("poison")) {
                // Soon: what was acknowledged before has been sent by then.
                CompletableFuture.delayedExecutor(150, TimeUnit.MILLISECONDS)
                        .execute(() -> Runtime.getRuntime().halt(137));
            } else if (delivery.id().endsWith("-slow")) {
                CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS).execute(() -> acknowledge(delivery));
            } else if (!delivery.id().endsWith("-stuck")) {
                acknowledge(delivery);
            }
        });
        new CountDownLatch(1).await();
    }

    private static void acknowledge(Delivery delivery) {
        say("acknowledging " + delivery.id());
        delivery.settle(Settlement.ACKNOWLEDGE).result().thenRun(() -> say("acknowledged " + delivery.id()));
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
