// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Envelope;
import io.github.redisdelay.queue.EnvelopeFormatException;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rules of an ordinary queue: what failed comes again after a delay, and what is expired, unreadable or failed too often is
 * given up, to the dead letters or for good. Thread-safe.
 */
final class FailureHandler implements DeliveryRules {

    private static final Logger LOG = LoggerFactory.getLogger(FailureHandler.class);

    private final MessageTerms terms;
    private final GivenUp givenUp;
    private final String host;
    private final InstantSource clock;
    private final RandomGenerator random;

    private final LongAdder redelivered = new LongAdder();
    private final LongAdder buried = new LongAdder();
    private final LongAdder discarded = new LongAdder();
    private final LongAdder expired = new LongAdder();

    /**
     * What becomes of messages that are given up.
     *
     * @param deadLetter whether they are kept among the dead letters
     * @param expiredToo whether those that expired are, too
     * @param buried told when one was moved there; must not block
     */
    record GivenUp(boolean deadLetter, boolean expiredToo, Runnable buried) {}

    /**
     * @param retries the policy for messages that have none of their own
     * @param host the name of this host
     * @param random must be safe for use by several threads
     */
    FailureHandler(RetryPolicy retries, GivenUp givenUp, String host, InstantSource clock, RandomGenerator random) {
        this.terms = MessageTerms.of(retries);
        this.givenUp = givenUp;
        this.host = host;
        this.clock = clock;
        this.random = random;
    }

    @Override
    public ReceivedMessage admit(Delivery delivery, String routeId, Runnable finished) {
        Envelope envelope = null;
        MessageTerms own = terms;
        Exception unreadable = null;
        try {
            envelope = Envelope.decode(delivery.body());
            own = terms.with(envelope.settings());
        } catch (EnvelopeFormatException | IllegalArgumentException e) {
            unreadable = e;
        }
        DeliveryCompletion completion = new DeliveryCompletion(delivery, this, own, routeId, finished);
        if (unreadable != null) {
            Exception cause = unreadable;
            completion.finish("burial", () -> unreadable(delivery, routeId, cause));
        } else if (own.isExpired(delivery)) {
            Duration remember = own.remember();
            completion.finish("burial", () -> expired(delivery, remember, routeId));
        } else if (own.retries().isExceeded(delivery.attempt())) {
            completion.finish("burial", () -> exceeded(delivery, routeId));
        } else {
            return new ReceivedMessage(completion, envelope, false);
        }
        return null;
    }

    @Override
    public Submission<Settlement> ended(Delivery delivery, MessageTerms own, String routeId, RouteOutcome outcome) {
        if (outcome.deadLetterReason() != null) {
            return giveUp(delivery, routeId, outcome, null, outcome.deadLetterReason());
        }
        if (!outcome.failed() && !outcome.asksForAnother()) {
            return delivery.acknowledge(own.remember());
        }
        String message = messageOf(outcome);
        if (own.retries().isLast(delivery.attempt())) {
            String reason = outcome.failed() ? FailureRecord.FAILED : FailureRecord.RETRY_AFTER;
            return giveUp(delivery, routeId, outcome, message, reason);
        }
        byte[] failure = record(delivery, routeId, outcome.cause(), message, null);
        Duration delay = outcome.retryAfter() != null
                ? RetryPolicy.withPause(outcome.retryAfter(), delivery.attempt())
                : own.retries().delayAfter(delivery.attempt(), random);
        redelivered.increment();
        FailedAttempt.log(delivery, own.retries(), routeId, delay, outcome);
        return delivery.negativeAcknowledge(delay, failure);
    }

    private static String messageOf(RouteOutcome outcome) {
        if (outcome.cause() != null) {
            return outcome.causeMessage();
        }
        if (outcome.unreadable() != null) {
            return outcome.unreadable();
        }
        if (outcome.retryAfter() != null) {
            return "the route asked for another delivery in " + outcome.retryAfter() + " ("
                    + RedisDelayConstants.RETRY_AFTER + ")";
        }
        return "the exchange was marked rollback-only";
    }

    /** Gives up a delivery that can never succeed, because what is stored cannot be read. */
    private Submission<Settlement> unreadable(Delivery delivery, String routeId, Exception cause) {
        return giveUp(delivery, routeId, RouteOutcome.unreadable(cause), cause.getMessage(), FailureRecord.UNREADABLE);
    }

    /** Gives up a delivery whose attempts were used up. Keeps what is known about the last failure, if there was one. */
    private Submission<Settlement> exceeded(Delivery delivery, String routeId) {
        FailureRecord last = FailureRecord.decode(delivery.lastFailure());
        int ended = delivery.attempt() - 1;
        FailureRecord failure = last != null
                ? last.givenUp(FailureRecord.LEASE_ENDED)
                : recordOf(
                        delivery,
                        routeId,
                        null,
                        ended + " deliveries ended without an acknowledgement: the JVM died or the lease ran out",
                        FailureRecord.LEASE_ENDED);
        return giveUp(
                delivery,
                routeId,
                failure.encode(),
                FailureRecord.LEASE_ENDED,
                "its deliveries ended without an acknowledgement",
                null);
    }

    /** Gives up a delivery that comes after its message's time to live. Keeps what is known about the last failure. */
    private Submission<Settlement> expired(Delivery delivery, Duration remember, String routeId) {
        expired.increment();
        if (!givenUp.deadLetter() || !givenUp.expiredToo()) {
            discarded.increment();
            LOG.info(
                    "{} is expired{} and dropped, as {} says",
                    delivery,
                    FailedAttempt.on(routeId),
                    givenUp.deadLetter() ? "onExpiry=drop" : "deadLetter=false");
            return delivery.discard(remember);
        }
        FailureRecord last = FailureRecord.decode(delivery.lastFailure());
        FailureRecord failure = last != null
                ? last.givenUp(FailureRecord.EXPIRED)
                : recordOf(delivery, routeId, null, "its time to live was over", FailureRecord.EXPIRED);
        return bury(
                delivery,
                failure.encode(),
                remember,
                letter -> LOG.info(
                        "{} is expired{} and kept among the dead letters as '{}'",
                        delivery,
                        FailedAttempt.on(routeId),
                        letter));
    }

    private Submission<Settlement> giveUp(
            Delivery delivery, String routeId, RouteOutcome outcome, String message, String reason) {
        Throwable cause = outcome.cause();
        String text = message == null ? outcome.causeMessage() : message;
        byte[] failure = record(delivery, routeId, cause, text, reason);
        String shown = cause == null ? text : cause.getClass().getName() + ": " + text;
        return giveUp(delivery, routeId, failure, reason, shown, outcome.untracedCause());
    }

    /** @param trace whose stack trace is logged; null for none */
    private Submission<Settlement> giveUp(
            Delivery delivery, String routeId, byte[] failure, String reason, String shown, Throwable trace) {
        String begin = delivery + " is given up" + FailedAttempt.on(routeId);
        String why =
                ": " + FailedAttempt.oneLine(reason) + (shown == null ? "" : " (" + FailedAttempt.oneLine(shown) + ")");
        if (givenUp.deadLetter()) {
            return bury(
                    delivery,
                    failure,
                    Duration.ZERO,
                    letter -> FailedAttempt.warn(
                            LOG, begin + " and kept among the dead letters as '" + letter + "'" + why, trace));
        }
        discarded.increment();
        FailedAttempt.warn(LOG, begin + " and dropped, as deadLetter=false says" + why, trace);
        return delivery.discard();
    }

    /** @param log told the dead letter's id, when there is one */
    private Submission<Settlement> bury(Delivery delivery, byte[] failure, Duration remember, Consumer<String> log) {
        buried.increment();
        Submission<Settlement> burial = delivery.bury(failure, remember);
        burial.outcome().thenRun(() -> {
            DeadLetterId letter = delivery.deadLetterId();
            if (letter != null) {
                log.accept(letter.shown());
            }
            givenUp.buried().run();
        });
        return burial;
    }

    private byte[] record(Delivery delivery, String routeId, Throwable cause, String message, String reason) {
        return recordOf(delivery, routeId, cause, message, reason).encode();
    }

    private FailureRecord recordOf(Delivery delivery, String routeId, Throwable cause, String message, String reason) {
        String exception = cause == null ? null : cause.getClass().getName();
        Instant now = Instant.from(clock.instant());
        return new FailureRecord(exception, message, routeId, host, delivery.attempt(), now, reason);
    }

    @Override
    public long redelivered() {
        return redelivered.sum();
    }

    @Override
    public long buried() {
        return buried.sum();
    }

    @Override
    public long discarded() {
        return discarded.sum();
    }

    @Override
    public long expired() {
        return expired.sum();
    }
}
