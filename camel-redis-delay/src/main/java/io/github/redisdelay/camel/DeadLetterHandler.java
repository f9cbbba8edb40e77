// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Envelope;
import io.github.redisdelay.queue.EnvelopeFormatException;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rules of dead letters: one whose route succeeds is removed, and one whose route fails is returned, as often as it takes.
 * What is known about the failure that made it a dead letter stays with it. Thread-safe.
 */
final class DeadLetterHandler implements DeliveryRules {

    private static final Logger LOG = LoggerFactory.getLogger(DeadLetterHandler.class);

    /** After so many lost leases in a row a dead letter is taken for one that kills its JVM. */
    private static final int LOST_LEASES = 2;

    private final MessageTerms terms;
    private final RandomGenerator random;
    private final LongAdder redelivered = new LongAdder();

    /**
     * @param retries for the delays; there is no limit
     * @param random must be safe for use by several threads
     */
    DeadLetterHandler(RetryPolicy retries, RandomGenerator random) {
        this.terms = MessageTerms.of(retries);
        this.random = random;
    }

    @Override
    public ReceivedMessage admit(Delivery delivery, String routeId, Runnable finished) {
        DeliveryCompletion completion = new DeliveryCompletion(delivery, this, terms, routeId, finished);
        if (delivery.lostLeases() >= LOST_LEASES) {
            Duration delay = terms.retries().maximumRedeliveryDelay();
            LOG.warn(
                    "{} is a dead letter whose last {} deliveries ended without a word: the JVM died or the lease ran out."
                            + " It is not begun{}, but returned for {}",
                    delivery,
                    delivery.lostLeases(),
                    FailedAttempt.on(routeId),
                    delay);
            completion.finish("return", () -> again(delivery, delay));
            return null;
        }
        Envelope envelope = null;
        try {
            envelope = Envelope.decode(delivery.body());
        } catch (EnvelopeFormatException e) {
            LOG.debug("{} is a dead letter that cannot be read: its route gets the bytes", delivery, e);
        }
        return new ReceivedMessage(completion, envelope, true);
    }

    @Override
    public Submission<Settlement> ended(Delivery delivery, MessageTerms own, String routeId, RouteOutcome outcome) {
        // A dead letter cannot be given up again: a route that wants that keeps it.
        boolean kept = outcome.failed() || outcome.asksForAnother() || outcome.deadLetterReason() != null;
        if (!kept) {
            return delivery.acknowledge();
        }
        Duration delay = outcome.retryAfter() != null
                ? RetryPolicy.withPause(outcome.retryAfter(), delivery.attempt())
                : own.retries().delayAfter(delivery.attempt(), random);
        FailedAttempt.log(delivery, own.retries(), routeId, delay, outcome);
        return again(delivery, delay);
    }

    private Submission<Settlement> again(Delivery delivery, Duration delay) {
        redelivered.increment();
        return delivery.negativeAcknowledge(delay, delivery.lastFailure());
    }

    @Override
    public long redelivered() {
        return redelivered.sum();
    }

    @Override
    public long buried() {
        return 0;
    }

    @Override
    public long discarded() {
        return 0;
    }

    @Override
    public long expired() {
        return 0;
    }
}
