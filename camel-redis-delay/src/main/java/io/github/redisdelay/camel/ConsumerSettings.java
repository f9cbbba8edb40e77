// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.ConsumerOptions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * What a consumer does, from the options of its endpoint.
 *
 * @param deadLetters whether it consumes the dead letters of its queue
 * @param claims how it claims and holds messages, for one message an exchange
 * @param retries the redelivery policy; of dead letters, without a limit
 * @param deadLetter whether what is given up is kept among the dead letters
 * @param keepExpired whether what is expired is, too
 * @param limits which dead letters are kept
 * @param batches how batches are made; null if each message has an exchange of its own
 */
record ConsumerSettings(
        boolean deadLetters,
        ConsumerOptions claims,
        RetryPolicy retries,
        boolean deadLetter,
        boolean keepExpired,
        DeadLetterTrimmer.Limits limits,
        Batches batches) {

    /** Options that say what becomes of messages that are given up: a dead letter never is. */
    private static final List<String> NOT_FOR_DEAD_LETTERS =
            List.of("maximumRedeliveries", "deadLetter", "onExpiry", "deadLetterRetention", "maximumDeadLetters");

    private static final int MAX_BATCH_SIZE = 256;

    /**
     * How batches are made.
     *
     * @param size how many messages a batch has at the most
     * @param timeout how long its first message waits for others
     */
    record Batches(int size, Duration timeout) {}

    private enum OnExpiry {
        DEAD,
        DROP
    }

    /**
     * Reads the options.
     *
     * @param own the names of those that the endpoint's own URI sets
     * @throws IllegalArgumentException naming the option, its value and what would be right
     */
    static ConsumerSettings of(RedisDelayConfiguration options, Set<String> own) {
        MessageSet consumed = MessageSet.of(options.getState());
        if (consumed == MessageSet.LEASED) {
            throw new IllegalArgumentException("option 'state' is 'leased': a consumer receives the due messages of its"
                    + " queue (leave the option out) or its dead letters (dead)");
        }
        boolean deadLetters = consumed == MessageSet.DEAD;
        if (deadLetters) {
            for (String option : NOT_FOR_DEAD_LETTERS) {
                if (own.contains(option)) {
                    throw new IllegalArgumentException("option '" + option
                            + "' is set on a consumer of dead letters (state=dead), where it has no meaning: one that fails"
                            + " is returned, as often as it takes, and none is given up. Set it on the consumer of the"
                            + " queue itself");
                }
            }
        }
        if (!options.isDeadLetter() && own.contains("deadLetter")) {
            for (String option : List.of("deadLetterRetention", "maximumDeadLetters")) {
                if (own.contains(option)) {
                    throw new IllegalArgumentException("options 'deadLetter' (false) and '" + option
                            + "' are both set: there are no dead letters to keep, remove one of the two");
                }
            }
        }
        ConsumerOptions claims = options.consumerOptions();
        RetryPolicy retries = options.retryPolicy();
        return new ConsumerSettings(
                deadLetters,
                claims,
                deadLetters ? retries.withoutLimit() : retries,
                options.isDeadLetter(),
                Names.constant(OnExpiry.class, "option 'onExpiry'", options.getOnExpiry()) == OnExpiry.DEAD,
                deadLetters ? new DeadLetterTrimmer.Limits(Duration.ZERO, 0) : limits(options),
                options.isBatching() ? batches(options, claims) : null);
    }

    private static DeadLetterTrimmer.Limits limits(RedisDelayConfiguration options) {
        Duration retention = options.getDeadLetterRetention() == null
                ? Duration.ZERO
                : Durations.parse("option 'deadLetterRetention'", options.getDeadLetterRetention());
        if (options.getDeadLetterRetention() != null && retention.isZero()) {
            throw new IllegalArgumentException("option 'deadLetterRetention' is '" + options.getDeadLetterRetention()
                    + "': it must be 1 millisecond or more; leave it out to keep dead letters for ever, or set"
                    + " deadLetter=false to keep none");
        }
        if (options.getMaximumDeadLetters() < 0) {
            throw new IllegalArgumentException("option 'maximumDeadLetters' is " + options.getMaximumDeadLetters()
                    + ": it must be 1 or more, or 0 for any number");
        }
        return new DeadLetterTrimmer.Limits(retention, options.getMaximumDeadLetters());
    }

    private static Batches batches(RedisDelayConfiguration options, ConsumerOptions claims) {
        int size = options.getBatchSize();
        if (size < 1 || size > MAX_BATCH_SIZE) {
            throw new IllegalArgumentException(
                    "option 'batchSize' is " + size + ": it must be from 1 to " + MAX_BATCH_SIZE);
        }
        Duration timeout = Durations.parse("option 'batchTimeout'", options.getBatchTimeout());
        if (claims.extendVisibility()) {
            checkHalf(options, timeout, claims.maximumExtension(), "maximumVisibilityExtension");
        } else {
            checkHalf(options, timeout, claims.visibilityTimeout(), "visibilityTimeout");
        }
        return new Batches(size, timeout);
    }

    /** Leases must not end before a batch is done. */
    private static void checkHalf(RedisDelayConfiguration options, Duration timeout, Duration held, String option) {
        if (timeout.compareTo(held.dividedBy(2)) > 0) {
            throw new IllegalArgumentException("option 'batchTimeout' is '" + options.getBatchTimeout()
                    + "': it must be at most half of option '" + option + "' (" + held + ")"
                    + (options.isExtendMessageVisibility() ? "" : ", as leases are not extended"));
        }
    }

    /**
     * The same with another number of exchanges that may be under way at a time.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    ConsumerSettings withConcurrentConsumers(int concurrentConsumers) {
        ConsumerOptions changed = new ConsumerOptions(
                concurrentConsumers,
                claims.maxMessagesPerPoll(),
                claims.visibilityTimeout(),
                claims.extendVisibility(),
                claims.maximumExtension(),
                claims.name());
        return new ConsumerSettings(deadLetters, changed, retries, deadLetter, keepExpired, limits, batches);
    }

    /** The policy for deliveries, with this machine's clock, name and randomness. */
    DeliveryPolicy policy() {
        RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();
        return deadLetters
                ? new DeadLetterDeliveryPolicy(retries, random)
                : new QueueDeliveryPolicy(
                        retries, deadLetter, keepExpired, ConsumerNames.HOST, InstantSource.system(), random);
    }

    /** How the queue is to be claimed from. */
    ConsumerOptions claims(String name) {
        long slots = (long) claims.concurrentConsumers() * (batches == null ? 1 : batches.size());
        return new ConsumerOptions(
                (int) Math.min(slots, Integer.MAX_VALUE),
                claims.maxMessagesPerPoll(),
                claims.visibilityTimeout(),
                claims.extendVisibility(),
                claims.maximumExtension(),
                name);
    }
}
