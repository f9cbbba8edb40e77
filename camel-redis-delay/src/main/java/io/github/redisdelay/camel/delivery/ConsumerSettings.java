// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.QueueLimits;
import java.time.InstantSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * The settings of a consumer. {@code OptionReader} makes them of the options of its endpoint, which it checks.
 *
 * @param deadLetters whether it consumes the dead letters of its queue
 * @param options how it claims and holds messages, with a slot for each exchange
 * @param retries the redelivery policy; of dead letters, without a limit
 * @param deadLetter whether what is given up is kept among the dead letters
 * @param keepExpired whether what is expired is, too
 * @param limits which dead letters are kept
 * @param batch how batches are made; null if each message has an exchange of its own
 * @param schedule the recurring schedule that it declares; null if it declares none
 * @param queueLimits the limits of the queue that it sets; null if it sets none
 * @param executor a pool of the user's for its exchanges; null for that of the component
 */
public record ConsumerSettings(
        boolean deadLetters,
        ConsumerOptions options,
        RetryPolicy retries,
        boolean deadLetter,
        boolean keepExpired,
        DeadLetterTrimmer.Limits limits,
        ConsumerOptions.Batch batch,
        ScheduleDeclaration.Declared schedule,
        QueueLimits queueLimits,
        ExecutorService executor) {

    /**
     * These settings with another number of exchanges that may be under way at a time.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    public ConsumerSettings withConcurrentConsumers(int concurrentConsumers) {
        ConsumerOptions changed = options.withConcurrentConsumers(concurrentConsumers);
        return new ConsumerSettings(
                deadLetters, changed, retries, deadLetter, keepExpired, limits, batch, schedule, queueLimits, executor);
    }

    /** The policy for deliveries, with this machine's clock, name and randomness. */
    public DeliveryPolicy policy() {
        RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();
        return new DeliveryPolicy(this, ConsumerNames.HOST, InstantSource.system(), random);
    }

    /** The number of exchanges that may be under way at a time. */
    public int exchanges() {
        return options.concurrentConsumers();
    }

    /** The options by which the queue layer claims for these exchanges. */
    public ConsumerOptions claiming(String name) {
        return options.withName(name).withBatch(batch).withLimits(queueLimits);
    }
}
