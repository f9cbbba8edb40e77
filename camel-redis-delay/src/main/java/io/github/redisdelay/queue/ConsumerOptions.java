// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.Objects;

/**
 * The options by which a consumer claims and holds messages. A consumer of Camel's has had its own options checked before,
 * in the words of a route, by {@code OptionReader}.
 *
 * @param concurrentConsumers how many messages may be worked on at a time, 1 or more
 * @param maxMessagesPerPoll how many messages a claim may take at the most, 1 to {@value #MAX_MESSAGES}; more than
 *     there are free slots are taken only by a consumer that lately worked fast enough
 * @param visibilityTimeout the lease: for how long a claimed message is hidden from other consumers unless it is
 *     extended, 100 ms or more
 * @param extendVisibility whether the leases of messages being worked on are extended, at a third of their length
 * @param maximumExtension for how long after it was begun a message's lease is extended at the most
 * @param name by which people know the consumer, shown for the messages that it holds; at most {@value
 *     #MAX_NAME_LENGTH} characters, longer ones are cut
 * @param batch how messages are put together in batches, of which {@code concurrentConsumers} may be worked on at a time;
 *     null if each is worked on by itself
 */
public record ConsumerOptions(
        int concurrentConsumers,
        int maxMessagesPerPoll,
        Duration visibilityTimeout,
        boolean extendVisibility,
        Duration maximumExtension,
        String name,
        Batch batch) {

    /** The most messages that one claim can take. */
    public static final int MAX_MESSAGES = 256;

    /** The longest name of a consumer. */
    public static final int MAX_NAME_LENGTH = 200;

    /** The shortest and the longest lease. */
    public static final Duration MIN_VISIBILITY_TIMEOUT = Duration.ofMillis(100);

    public static final Duration MAX_VISIBILITY_TIMEOUT = Duration.ofDays(365);

    /** The defaults: one message at a time, a prefetch of up to 200, a lease of 30 s that is extended for up to an hour. */
    public static final ConsumerOptions DEFAULTS =
            new ConsumerOptions(1, 100, Duration.ofSeconds(30), true, Duration.ofHours(1), "unnamed");

    /**
     * The limits of a batch. It has bodies of 1 MB at the most, unless a single one is larger.
     *
     * @param size how many messages it has at the most, 1 to {@value ConsumerOptions#MAX_MESSAGES}
     * @param timeout how long its first message waits for others, from its due time on; not negative
     */
    public record Batch(int size, Duration timeout) {

        public Batch {
            if (size < 1 || size > MAX_MESSAGES || timeout.isNegative()) {
                throw new IllegalArgumentException("a batch of " + size + " within " + timeout
                        + ": it must be from 1 to " + MAX_MESSAGES + " messages, within 0 or more");
            }
        }
    }

    /** Options of a consumer without batches. */
    public ConsumerOptions(
            int concurrentConsumers,
            int maxMessagesPerPoll,
            Duration visibilityTimeout,
            boolean extendVisibility,
            Duration maximumExtension,
            String name) {
        this(
                concurrentConsumers,
                maxMessagesPerPoll,
                visibilityTimeout,
                extendVisibility,
                maximumExtension,
                name,
                null);
    }

    public ConsumerOptions {
        Objects.requireNonNull(visibilityTimeout, "visibilityTimeout");
        name = name.length() <= MAX_NAME_LENGTH ? name : name.substring(0, MAX_NAME_LENGTH);
        Objects.requireNonNull(maximumExtension, "maximumExtension");
        checkConcurrentConsumers(concurrentConsumers);
        if (maxMessagesPerPoll < 1 || maxMessagesPerPoll > MAX_MESSAGES) {
            throw new IllegalArgumentException(
                    "maxMessagesPerPoll is " + maxMessagesPerPoll + ": it must be from 1 to " + MAX_MESSAGES);
        }
        if (visibilityTimeout.compareTo(MIN_VISIBILITY_TIMEOUT) < 0
                || visibilityTimeout.compareTo(MAX_VISIBILITY_TIMEOUT) > 0) {
            throw new IllegalArgumentException(
                    "visibilityTimeout is " + visibilityTimeout + ": it must be from 100 milliseconds to 365 days");
        }
        if (maximumExtension.isNegative()) {
            throw new IllegalArgumentException("maximumExtension is " + maximumExtension + ": it must not be negative");
        }
    }

    /**
     * Checks how many messages may be worked on at a time.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    public static void checkConcurrentConsumers(int concurrentConsumers) {
        if (concurrentConsumers < 1) {
            throw new IllegalArgumentException(
                    "concurrentConsumers is " + concurrentConsumers + ": it must be 1 or more");
        }
    }
}
