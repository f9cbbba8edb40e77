// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.ConsumerOptions;
import java.time.Duration;
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
 * @param batches how batches are made; null if each message has an exchange of its own
 * @param executor a pool of the user's for its exchanges; null for that of the component
 */
public record ConsumerSettings(
        boolean deadLetters,
        ConsumerOptions options,
        RetryPolicy retries,
        boolean deadLetter,
        boolean keepExpired,
        DeadLetterTrimmer.Limits limits,
        Batches batches,
        ExecutorService executor) {

    private static final int MAX_BATCH_SIZE = 256;

    /**
     * The limits of a batch.
     *
     * @param size how many messages a batch has at the most
     * @param timeout how long its first message waits for others
     */
    public record Batches(int size, Duration timeout) {

        public Batches {
            OptionValues.check("batchSize", size, 1, MAX_BATCH_SIZE, "from 1 to " + MAX_BATCH_SIZE);
        }
    }

    /**
     * These settings with another number of exchanges that may be under way at a time.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    public ConsumerSettings withConcurrentConsumers(int concurrentConsumers) {
        ConsumerOptions changed = options(concurrentConsumers, options.name());
        return new ConsumerSettings(deadLetters, changed, retries, deadLetter, keepExpired, limits, batches, executor);
    }

    /** The policy for deliveries, with this machine's clock, name and randomness. */
    public DeliveryPolicy policy() {
        RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();
        return deadLetters
                ? new DeadLetterDeliveryPolicy(retries, random)
                : new QueueDeliveryPolicy(
                        retries, deadLetter, keepExpired, ConsumerNames.HOST, InstantSource.system(), random);
    }

    /** The number of exchanges that may be under way at a time. */
    public int exchanges() {
        return options.concurrentConsumers();
    }

    /** The number of messages that these exchanges hold: as many each as a batch has. */
    public int slots() {
        return (int) Math.min((long) exchanges() * (batches == null ? 1 : batches.size()), Integer.MAX_VALUE);
    }

    /** The options by which the queue layer claims for these slots. */
    public ConsumerOptions claiming(String name) {
        return options(slots(), name);
    }

    private ConsumerOptions options(int concurrentConsumers, String name) {
        return new ConsumerOptions(
                concurrentConsumers,
                options.maxMessagesPerPoll(),
                options.visibilityTimeout(),
                options.extendVisibility(),
                options.maximumExtension(),
                name);
    }
}
