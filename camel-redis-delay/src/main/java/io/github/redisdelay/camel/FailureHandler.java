// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what becomes of a delivery that failed: another one after a delay, the dead letters, or nothing. Thread-safe.
 */
final class FailureHandler {

    private static final Logger LOG = LoggerFactory.getLogger(FailureHandler.class);

    private final RetryPolicy retries;
    private final boolean deadLetter;
    private final String host;
    private final InstantSource clock;
    private final RandomGenerator random;

    private final LongAdder redelivered = new LongAdder();
    private final LongAdder buried = new LongAdder();
    private final LongAdder discarded = new LongAdder();

    /**
     * @param deadLetter whether what is given up is kept among the dead letters
     * @param host the name of this host
     * @param random must be safe for use by several threads
     */
    FailureHandler(RetryPolicy retries, boolean deadLetter, String host, InstantSource clock, RandomGenerator random) {
        this.retries = retries;
        this.deadLetter = deadLetter;
        this.host = host;
        this.clock = clock;
        this.random = random;
    }

    /** The exchange of a delivery failed. */
    Submission<Settlement> failed(Delivery delivery, String routeId, Throwable cause) {
        byte[] failure = record(delivery, routeId, cause.getClass().getName(), cause.getMessage());
        return failed(delivery, routeId, failure, cause.getClass().getName());
    }

    /** The exchange of a delivery was marked rollback-only, without an exception. */
    Submission<Settlement> rolledBack(Delivery delivery, String routeId) {
        String reason = "the exchange was marked rollback-only";
        return failed(delivery, routeId, record(delivery, routeId, null, reason), reason);
    }

    private Submission<Settlement> failed(Delivery delivery, String routeId, byte[] failure, String reason) {
        if (retries.isLast(delivery.attempt())) {
            return giveUp(delivery, routeId, failure, reason);
        }
        Duration delay = retries.delayAfter(delivery.attempt(), random);
        redelivered.increment();
        LOG.debug("{} failed on route '{}' ({}): next in {}", delivery, routeId, reason, delay);
        return delivery.negativeAcknowledge(delay, failure);
    }

    /** Whether a delivery must not be begun: its attempts were used up by crashes or lost leases. */
    boolean isExceeded(Delivery delivery) {
        return retries.isExceeded(delivery.attempt());
    }

    /** Gives up a delivery that {@link #isExceeded}. Keeps what is known about the last failure, if there was one. */
    Submission<Settlement> exceeded(Delivery delivery, String routeId) {
        byte[] failure = delivery.lastFailure();
        if (failure.length == 0) {
            failure = record(
                    delivery,
                    routeId,
                    null,
                    (delivery.attempt() - 1)
                            + " deliveries ended without an acknowledgement: the JVM died or the lease ran out");
        }
        return giveUp(delivery, routeId, failure, "its deliveries ended without an acknowledgement");
    }

    /** Gives up a delivery that can never succeed, because what is stored cannot be read. */
    Submission<Settlement> unreadable(Delivery delivery, String routeId, Exception cause) {
        byte[] failure = record(delivery, routeId, cause.getClass().getName(), cause.getMessage());
        return giveUp(delivery, routeId, failure, String.valueOf(cause.getMessage()));
    }

    private Submission<Settlement> giveUp(Delivery delivery, String routeId, byte[] failure, String reason) {
        if (deadLetter) {
            buried.increment();
            LOG.warn("{} is given up on route '{}' and kept among the dead letters: {}", delivery, routeId, reason);
            return delivery.bury(failure);
        }
        discarded.increment();
        LOG.warn("{} is given up on route '{}' and dropped, as deadLetter=false says: {}", delivery, routeId, reason);
        return delivery.discard();
    }

    private byte[] record(Delivery delivery, String routeId, String exception, String message) {
        return new FailureRecord(exception, message, routeId, host, delivery.attempt(), Instant.from(clock.instant()))
                .encode();
    }

    long redelivered() {
        return redelivered.sum();
    }

    long buried() {
        return buried.sum();
    }

    long discarded() {
        return discarded.sum();
    }
}
