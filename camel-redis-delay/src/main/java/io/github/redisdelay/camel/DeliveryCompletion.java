// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes a delivery once, in whatever way, and looks at what Redis says to that. Thread-safe.
 */
final class DeliveryCompletion {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryCompletion.class);

    /** When a delivery comes again whose failure could not be described. */
    private static final Duration AFTER_ERROR = Duration.ofSeconds(10);

    private final Delivery delivery;
    private final DeliveryRules rules;
    private final MessageTerms terms;
    private final String routeId;
    private final Runnable finished;

    /** Whether the route scheduled its own message again, or cancelled it. Set by the producer, read when the exchange completes. */
    private volatile boolean superseded;

    /** Whether the delivery was finished, in whatever way; only the first one counts. */
    private final AtomicBoolean done = new AtomicBoolean();

    /**
     * @param terms the message's own
     * @param routeId the route that received the message; null if none did
     * @param finished called once, when nothing more has to be told to Redis about the delivery; must not block
     */
    DeliveryCompletion(Delivery delivery, DeliveryRules rules, MessageTerms terms, String routeId, Runnable finished) {
        this.delivery = delivery;
        this.rules = rules;
        this.terms = terms;
        this.routeId = routeId;
        this.finished = finished;
    }

    /**
     * The exchange of the delivery has ended.
     *
     * @param from the route where the exchange began, for a delivery that no route received; may be null
     */
    void ended(RouteOutcome outcome, String from) {
        String route = routeId == null ? from : routeId;
        boolean plain = !outcome.failed() && !outcome.asksForAnother() && outcome.deadLetterReason() == null;
        finish(plain ? "acknowledgement" : "return", () -> rules.ended(delivery, terms, route, outcome));
    }

    /** Gives back a delivery that was not begun. */
    void release() {
        finish("release", delivery::release);
    }

    /** The route scheduled its own message again, which took the place of the delivery, or cancelled it: nothing is left to be sent. */
    void superseded() {
        // The exchange goes on: its slot is free when it has completed.
        superseded = true;
    }

    /** Whether the delivery was finished, or superseded: its claim id is good for nothing any more. */
    boolean isOver() {
        return superseded || done.get();
    }

    Delivery delivery() {
        return delivery;
    }

    /**
     * Finishes the delivery, unless that was done before.
     *
     * @param what the call, for the log
     */
    void finish(String what, Supplier<Submission<Settlement>> call) {
        if (!done.compareAndSet(false, true)) {
            return;
        }
        if (superseded) {
            delivery.superseded();
            finished.run();
            return;
        }
        Submission<Settlement> sent;
        try {
            sent = call.get();
        } catch (Throwable e) {
            // Such as an exception of the user's whose getMessage throws.
            FailedAttempt.warn(LOG, "The " + what + " of " + delivery + " could not be made; it is delivered again", e);
            sent = delivery.negativeAcknowledge(AFTER_ERROR, delivery.lastFailure());
        }
        sent.outcome().whenComplete((settlement, error) -> {
            if (settlement == Settlement.STALE_HELD) {
                delivery.isReplaced().whenComplete((replaced, unknown) -> {
                    try {
                        stale(what, unknown == null && replaced);
                    } finally {
                        finished.run();
                    }
                });
                return;
            }
            try {
                if (error != null) {
                    LOG.warn(
                            "The {} of {} could not be sent; it may be delivered again: {}",
                            what,
                            delivery,
                            error.getMessage());
                } else if (settlement == Settlement.STALE_GONE) {
                    LOG.debug(
                            "The {} of {} is void: the message was cancelled, or another delivery has finished it",
                            what,
                            delivery);
                }
            } finally {
                finished.run();
            }
        });
    }

    private void stale(String what, boolean replaced) {
        if (replaced) {
            LOG.debug(
                    "The {} of {} is void: the message was replaced, and what has replaced it is delivered when it is due",
                    what,
                    delivery);
        } else {
            LOG.warn("The {} of {} came too late: its lease had ended; it may be delivered again", what, delivery);
        }
    }

    @Override
    public String toString() {
        return "completion of " + delivery;
    }
}
