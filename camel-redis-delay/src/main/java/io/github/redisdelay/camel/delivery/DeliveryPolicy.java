// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.redelivery.MessagePolicy;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rules for deliveries, before their route is begun and after it has ended. A message that fails is delivered again after a
 * delay. A message that is expired, unreadable or has failed too often is given up, to the dead letters or for good. A dead letter
 * whose route succeeds is removed; one whose route fails is returned, as often as it takes, and keeps the failure that made it a dead
 * letter.
 *
 * <p>It changes nothing, counts nothing and logs nothing that an operator has to see: {@link DeliveryCompletion} carries its
 * decisions out. Thread-safe.
 */
public final class DeliveryPolicy {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryPolicy.class);

    /** The number of lost leases in a row after which a dead letter is taken for one that kills its JVM. */
    private static final int LOST_LEASES = 2;

    /** More attempts than any message has: record.lua counts so where it cannot read a state record. */
    private static final int UNCOUNTED = 2_000_000_000;

    private final ConsumerSettings settings;
    /** The rules for messages that have none of their own. */
    private final MessagePolicy terms;

    private final String host;
    private final InstantSource clock;
    private final RandomGenerator random;

    /**
     * A message as it was read.
     *
     * @param envelope null for a dead letter that cannot be read, which its route gets as bytes
     * @param terms what holds for the message
     * @param refusal how the delivery ends without its route; null if the route may begin
     */
    record Admission(Envelope envelope, MessagePolicy terms, Decision refusal) {

        static Admission refused(Decision refusal) {
            return new Admission(null, null, refusal);
        }
    }

    /**
     * @param host the name of this host
     * @param random must be safe for use by several threads
     */
    DeliveryPolicy(ConsumerSettings settings, String host, InstantSource clock, RandomGenerator random) {
        this.settings = settings;
        this.terms = MessagePolicy.of(settings.retries());
        this.host = host;
        this.clock = clock;
        this.random = random;
    }

    /** Returns whether the deliveries are those of dead letters. */
    boolean isOfDeadLetters() {
        return settings.deadLetters();
    }

    /**
     * Reads a message, and decides whether its route may begin.
     *
     * @param routeId the route that received it; null if none did
     */
    Admission admit(Delivery delivery, String routeId) {
        return settings.deadLetters() ? admitDeadLetter(delivery) : admitMessage(delivery, routeId);
    }

    private Admission admitDeadLetter(Delivery letter) {
        if (letter.lostLeases() >= LOST_LEASES) {
            Duration delay = terms.retries().maximumRedeliveryDelay();
            return Admission.refused(new Decision(new Settlement.Retry(delay, letter.lastFailure())));
        }
        Envelope envelope = null;
        try {
            envelope = Envelope.decode(letter.body());
        } catch (EnvelopeFormatException e) {
            LOG.debug("{} is a dead letter that cannot be read: its route gets the bytes", letter, e);
        }
        return new Admission(envelope, terms, null);
    }

    private Admission admitMessage(Delivery delivery, String routeId) {
        Envelope envelope;
        MessagePolicy own;
        try {
            envelope = Envelope.decode(delivery.body());
            own = terms.with(envelope.settings());
            if (delivery.rule() != null) {
                Schedule.parse(delivery.rule()); // a run by a rule that nobody here knows is for others
            }
            if (delivery.attempt() >= UNCOUNTED) {
                throw new IllegalArgumentException(
                        "its state record is none of this version's, so that it is unknown how"
                                + " often it was delivered: redrive it by a newer version, or by this one if it may be delivered"
                                + " again");
            }
        } catch (EnvelopeFormatException | IllegalArgumentException e) {
            RouteOutcome unreadable = RouteOutcome.untraced(e);
            return Admission.refused(giveUp(delivery, routeId, unreadable, e.getMessage(), FailureRecord.UNREADABLE));
        }
        if (own.isExpired(delivery)) {
            return Admission.refused(expired(delivery, own.remember(), routeId));
        }
        if (own.retries().isExceeded(delivery.attempt())) {
            return Admission.refused(exceeded(delivery, routeId));
        }
        return new Admission(envelope, own, null);
    }

    /**
     * Decides about a delivery whose route has ended.
     *
     * @param own the message's own terms, as it was admitted
     * @param routeId the route that worked on it; null if none did
     */
    Decision decide(Delivery delivery, MessagePolicy own, String routeId, RouteOutcome outcome) {
        return end(delivery, own, routeId, outcome).pausing(pause(delivery, outcome));
    }

    /** For how long the message's group is paused; zero for not at all, as for a message without one. */
    private Duration pause(Delivery delivery, RouteOutcome outcome) {
        boolean none = outcome.pauseGroup() == null || settings.deadLetters() || delivery.group() == null;
        return none ? Duration.ZERO : outcome.pauseGroup();
    }

    private Decision end(Delivery delivery, MessagePolicy own, String routeId, RouteOutcome outcome) {
        if (settings.deadLetters()) {
            // A dead letter cannot be given up again: a route that wants that keeps it.
            return outcome.succeeded() && outcome.deadLetterReason() == null
                    ? new Decision(Settlement.ACKNOWLEDGE)
                    : new Decision(new Settlement.Retry(delay(delivery, own, outcome), delivery.lastFailure()));
        }
        if (outcome.deadLetterReason() != null) {
            return giveUp(delivery, routeId, outcome, outcome.causeMessage(), outcome.deadLetterReason());
        }
        if (outcome.succeeded()) {
            return new Decision(new Settlement.Acknowledge(own.remember()));
        }
        String message = messageOf(outcome);
        Duration delay = delay(delivery, own, outcome);
        Duration pause = pause(delivery, outcome);
        if (own.retries().isLast(delivery.attempt())
                || isBehindNextRun(delivery, delay.compareTo(pause) > 0 ? delay : pause)) {
            String reason = outcome.failed() ? FailureRecord.FAILED : FailureRecord.RETRY_AFTER;
            return giveUp(delivery, routeId, outcome, message, reason);
        }
        return new Decision(new Settlement.Retry(
                delay, record(delivery, routeId, outcome.cause(), message, null).encode()));
    }

    /** Returns whether a run of a recurring schedule would come again when the next one is due, or later. */
    private static boolean isBehindNextRun(Delivery delivery, Duration delay) {
        Duration age = delivery.lateness().plus(delay);
        return delivery.dueMicros() + age.toNanos() / 1_000 >= delivery.nextRunMicros();
    }

    private Duration delay(Delivery delivery, MessagePolicy own, RouteOutcome outcome) {
        // Where its group is paused, it comes when that ends, also earlier than was said.
        boolean paused =
                outcome.retryAfter() == null && !pause(delivery, outcome).isZero();
        return own.retries().delayAfter(delivery.attempt(), paused ? Duration.ZERO : outcome.asked(), random);
    }

    private static String messageOf(RouteOutcome outcome) {
        if (outcome.cause() != null) {
            return outcome.causeMessage();
        }
        if (outcome.unreadable() != null) {
            return outcome.unreadable();
        }
        if (outcome.asked() != null) {
            return "the route asked for another delivery in " + outcome.asked() + " (" + outcome.askedBy() + ")";
        }
        return "the exchange was marked rollback-only";
    }

    /** Gives up a delivery whose attempts were used up. */
    private Decision exceeded(Delivery delivery, String routeId) {
        String message = (delivery.attempt() - 1)
                + " deliveries ended without an acknowledgement: the JVM died or the lease ran out";
        return giveUp(
                Duration.ZERO,
                lastOr(delivery, routeId, message, FailureRecord.LEASE_EXPIRED),
                new Decision.Reason(
                        FailureRecord.LEASE_EXPIRED, "its deliveries ended without an acknowledgement", null, false));
    }

    /** Gives up a delivery that comes after its message's time to live. */
    private Decision expired(Delivery delivery, Duration remember, String routeId) {
        Decision.Reason why = new Decision.Reason(FailureRecord.EXPIRED, null, null, true);
        if (delivery.rule() != null) {
            return new Decision(new Settlement.Drop(remember), why, "its rule, which goes on,");
        }
        return settings.deadLetter() && !settings.keepExpired()
                ? new Decision(new Settlement.Drop(remember), why, "onExpiry=drop")
                : giveUp(remember, lastOr(delivery, routeId, "its time to live was over", FailureRecord.EXPIRED), why);
    }

    /** The last failure, if one is known; else one with this message. */
    private FailureRecord lastOr(Delivery delivery, String routeId, String message, String reason) {
        FailureRecord last = FailureRecord.decode(delivery.lastFailure());
        return last == null ? record(delivery, routeId, null, message, reason) : last.givenUp(reason);
    }

    private Decision giveUp(Delivery delivery, String routeId, RouteOutcome outcome, String message, String reason) {
        Throwable cause = outcome.cause();
        String detail = cause == null ? message : cause.getClass().getName() + ": " + message;
        return giveUp(
                Duration.ZERO,
                record(delivery, routeId, cause, message, reason),
                new Decision.Reason(reason, detail, outcome.untracedCause(), false));
    }

    private Decision giveUp(Duration remember, FailureRecord failure, Decision.Reason why) {
        return settings.deadLetter()
                ? new Decision(new Settlement.DeadLetter(failure.encode(), remember), why, null)
                : new Decision(new Settlement.Drop(remember), why, "deadLetter=false");
    }

    private FailureRecord record(Delivery delivery, String routeId, Throwable cause, String message, String reason) {
        String exception = cause == null ? null : cause.getClass().getName();
        int attempt = delivery.attempt() < UNCOUNTED ? delivery.attempt() : 0; // nobody knows
        return new FailureRecord(exception, message, routeId, host, attempt, clock.instant(), reason);
    }
}
