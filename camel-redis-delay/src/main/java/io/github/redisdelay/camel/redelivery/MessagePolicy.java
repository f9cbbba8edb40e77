// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.redelivery;

import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * The rules for one message, its time to live among them: its consumer's options, or those that the message brought itself.
 * How often and when it is delivered again is in its {@link RetryPolicy}; {@link MessageRetryPolicy} is what the message
 * brings along of that.
 *
 * @param retries how often and when it is delivered again
 * @param remember for how long its id stays a duplicate after it was acknowledged or expired; zero for not at all
 * @param timeToLive for how long after it was first due it may be delivered; null for ever
 */
public record MessagePolicy(RetryPolicy retries, Duration remember, Duration timeToLive) {

    /** The rules for messages that have none of their own. */
    public static MessagePolicy of(RetryPolicy retries) {
        return new MessagePolicy(retries, Duration.ZERO, null);
    }

    /**
     * The rules for a message.
     *
     * @throws IllegalArgumentException if its retry policy cannot be read
     */
    public MessagePolicy with(Envelope.Settings own) {
        if (own.deduplicationPeriod() == null && own.timeToLive() == null && own.retryPolicy() == null) {
            return this;
        }
        return new MessagePolicy(
                own.retryPolicy() == null ? retries : retries.with(own.retryPolicy()),
                own.deduplicationPeriod() == null ? remember : atMost(own.deduplicationPeriod()),
                own.timeToLive());
    }

    /** Limits a period that others have stored, which may be longer than a time can be. */
    private static Duration atMost(Duration period) {
        return period.compareTo(Durations.MAX) > 0 ? Durations.MAX : period;
    }

    /** Returns whether a delivery was claimed after its time to live, by the Redis server's clock. */
    public boolean isExpired(Delivery delivery) {
        if (timeToLive == null) {
            return false;
        }
        Duration age = Duration.of(delivery.claimedMicros() - delivery.firstDueMicros(), ChronoUnit.MICROS);
        return age.compareTo(timeToLive) > 0;
    }
}
