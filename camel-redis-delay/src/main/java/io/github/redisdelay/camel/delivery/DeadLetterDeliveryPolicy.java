// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.redelivery.MessagePolicy;
import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The policy of dead letters. A dead letter whose route succeeds is removed. A dead letter whose route fails is returned, as
 * often as it takes, and keeps the failure that made it a dead letter. Thread-safe.
 */
final class DeadLetterDeliveryPolicy implements DeliveryPolicy {

    private static final Logger LOG = LoggerFactory.getLogger(DeadLetterDeliveryPolicy.class);

    /** The number of lost leases in a row after which a dead letter is taken for one that kills its JVM. */
    private static final int LOST_LEASES = 2;

    private final MessagePolicy terms;
    private final RandomGenerator random;

    /**
     * @param retries for the delays; there is no limit
     * @param random must be safe for use by several threads
     */
    DeadLetterDeliveryPolicy(RetryPolicy retries, RandomGenerator random) {
        this.terms = MessagePolicy.of(retries);
        this.random = random;
    }

    @Override
    public boolean isOfDeadLetters() {
        return true;
    }

    @Override
    public Admission admit(Delivery delivery, String routeId) {
        if (delivery.lostLeases() >= LOST_LEASES) {
            Duration delay = terms.retries().maximumRedeliveryDelay();
            return Admission.refused(new Decision(new Settlement.Retry(delay, delivery.lastFailure())));
        }
        Envelope envelope = null;
        try {
            envelope = Envelope.decode(delivery.body());
        } catch (EnvelopeFormatException e) {
            LOG.debug("{} is a dead letter that cannot be read: its route gets the bytes", delivery, e);
        }
        return new Admission(envelope, terms, null);
    }

    @Override
    public Decision decide(Delivery delivery, MessagePolicy own, String routeId, RouteOutcome outcome) {
        // A dead letter cannot be given up again: a route that wants that keeps it.
        if (outcome.succeeded() && outcome.deadLetterReason() == null) {
            return new Decision(Settlement.ACKNOWLEDGE);
        }
        Duration delay = own.retries().delayAfter(delivery.attempt(), outcome.retryAfter(), random);
        return new Decision(new Settlement.Retry(delay, delivery.lastFailure()));
    }
}
