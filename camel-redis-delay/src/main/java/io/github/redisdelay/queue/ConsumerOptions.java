// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;

/**
 * The options by which a consumer claims messages and keeps their leases. Immutable: begin with {@link #DEFAULTS}. A consumer
 * of Camel's has had its own options checked before, in the words of a route, by {@code OptionReader}.
 */
public final class ConsumerOptions {

    /** The most messages that one claim can take. */
    public static final int MAX_MESSAGES = 256;

    /** The longest name of a consumer. */
    public static final int MAX_NAME_LENGTH = 200;

    /** The shortest and the longest lease. */
    public static final Duration MIN_VISIBILITY_TIMEOUT = Duration.ofMillis(100);

    public static final Duration MAX_VISIBILITY_TIMEOUT = Duration.ofDays(365);

    /** The defaults: one message at a time, a prefetch of up to 200, a lease of 30 s that is extended for up to an hour. */
    public static final ConsumerOptions DEFAULTS =
            new ConsumerOptions(1, 100, Duration.ofSeconds(30), Duration.ofHours(1), "unnamed", null, null);

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

    private final int concurrentConsumers;
    private final int maxMessagesPerPoll;
    private final Duration visibilityTimeout;
    private final Duration maximumVisibilityExtension;
    private final String name;
    private final Batch batch;
    private final QueueLimits limits;

    private ConsumerOptions(
            int concurrent,
            int messages,
            Duration lease,
            Duration extension,
            String name,
            Batch batch,
            QueueLimits limits) {
        checkConcurrentConsumers(concurrent);
        if (messages < 1 || messages > MAX_MESSAGES) {
            throw new IllegalArgumentException(
                    "maxMessagesPerPoll is " + messages + ": it must be from 1 to " + MAX_MESSAGES);
        }
        if (lease.compareTo(MIN_VISIBILITY_TIMEOUT) < 0 || lease.compareTo(MAX_VISIBILITY_TIMEOUT) > 0) {
            throw new IllegalArgumentException(
                    "visibilityTimeout is " + lease + ": it must be from 100 milliseconds to 365 days");
        }
        if (extension.isNegative()) {
            throw new IllegalArgumentException(
                    "maximumVisibilityExtension is " + extension + ": it must not be negative");
        }
        this.concurrentConsumers = concurrent;
        this.maxMessagesPerPoll = messages;
        this.visibilityTimeout = lease;
        this.maximumVisibilityExtension = extension;
        this.name = name.length() <= MAX_NAME_LENGTH ? name : name.substring(0, MAX_NAME_LENGTH);
        this.batch = batch;
        this.limits = limits;
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

    /** The same options with another number of messages that may be worked on at a time, 1 or more. */
    public ConsumerOptions withConcurrentConsumers(int number) {
        return new ConsumerOptions(
                number, maxMessagesPerPoll, visibilityTimeout, maximumVisibilityExtension, name, batch, limits);
    }

    /**
     * The same options with another number of messages that a claim may take at the most, 1 to {@value #MAX_MESSAGES}. More
     * than there are free slots are taken only by a consumer that lately worked fast enough.
     */
    public ConsumerOptions withMaxMessagesPerPoll(int number) {
        return new ConsumerOptions(
                concurrentConsumers, number, visibilityTimeout, maximumVisibilityExtension, name, batch, limits);
    }

    /**
     * The same options with another lease: for how long a claimed message is hidden from other consumers unless it is extended,
     * 100 ms to 365 days. It is extended at a third of its length.
     */
    public ConsumerOptions withVisibilityTimeout(Duration lease) {
        return new ConsumerOptions(
                concurrentConsumers, maxMessagesPerPoll, lease, maximumVisibilityExtension, name, batch, limits);
    }

    /**
     * The same options with another time, after a message was begun, for which its lease is extended at the most; zero: leases
     * are not extended.
     */
    public ConsumerOptions withMaximumVisibilityExtension(Duration extension) {
        return new ConsumerOptions(
                concurrentConsumers, maxMessagesPerPoll, visibilityTimeout, extension, name, batch, limits);
    }

    /**
     * The same options with another name for people, shown for the messages that the consumer has leased; at most {@value
     * #MAX_NAME_LENGTH} characters, longer ones are cut.
     */
    public ConsumerOptions withName(String other) {
        return new ConsumerOptions(
                concurrentConsumers,
                maxMessagesPerPoll,
                visibilityTimeout,
                maximumVisibilityExtension,
                other,
                batch,
                limits);
    }

    /**
     * The same options with batches, of which {@link #concurrentConsumers()} may be worked on at a time; null if each message is
     * worked on by itself.
     */
    public ConsumerOptions withBatch(Batch other) {
        return new ConsumerOptions(
                concurrentConsumers,
                maxMessagesPerPoll,
                visibilityTimeout,
                maximumVisibilityExtension,
                name,
                other,
                limits);
    }

    /**
     * The same options with limits of the queue, which the consumer sets before it claims, until Redis has taken them; null
     * leaves those of the queue as they are. A receiver sets none.
     */
    public ConsumerOptions withLimits(QueueLimits other) {
        return new ConsumerOptions(
                concurrentConsumers,
                maxMessagesPerPoll,
                visibilityTimeout,
                maximumVisibilityExtension,
                name,
                batch,
                other);
    }

    public int concurrentConsumers() {
        return concurrentConsumers;
    }

    public int maxMessagesPerPoll() {
        return maxMessagesPerPoll;
    }

    public Duration visibilityTimeout() {
        return visibilityTimeout;
    }

    public Duration maximumVisibilityExtension() {
        return maximumVisibilityExtension;
    }

    public String name() {
        return name;
    }

    /** The limits of a batch, or null. */
    public Batch batch() {
        return batch;
    }

    /** The limits of the queue that it sets, or null. */
    public QueueLimits limits() {
        return limits;
    }
}
