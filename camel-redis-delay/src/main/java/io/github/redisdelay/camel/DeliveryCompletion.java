// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.spi.Synchronization;
import org.apache.camel.support.SynchronizationAdapter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes a delivery when the unit of work of its exchange is done: acknowledges it, or hands it to the
 * {@link FailureHandler}. Camel passes it on with the exchange, through {@code seda:} and other handovers.
 *
 * <p>Knows the delivery by itself, and never by the exchange's id or by a header: the id changes at a handover, a pooled
 * exchange is used again, and a route can overwrite a header.
 */
final class DeliveryCompletion implements Synchronization {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryCompletion.class);

    /** When a delivery comes again whose failure could not be described. */
    private static final Duration AFTER_ERROR = Duration.ofSeconds(10);

    private final Delivery delivery;
    private final FailureHandler failures;
    private final String routeId;
    private final Runnable finished;

    /** Whether the delivery was finished, in whatever way; only the first one counts. */
    /** Whether the route scheduled its own message again. Set by the producer, read when the exchange completes. */
    private volatile boolean superseded;

    private final AtomicBoolean done = new AtomicBoolean();

    /**
     * @param routeId the route that received the message; null if none did
     * @param finished called once, when nothing more has to be told to Redis about the delivery; must not block
     */
    DeliveryCompletion(Delivery delivery, FailureHandler failures, String routeId, Runnable finished) {
        this.delivery = delivery;
        this.failures = failures;
        this.routeId = routeId;
        this.finished = finished;
    }

    @Override
    public void onComplete(Exchange exchange) {
        // These two complete as if they had succeeded.
        if (exchange.isRollbackOnly() || exchange.isRollbackOnlyLast()) {
            onFailure(exchange);
        } else {
            finish("acknowledgement", delivery::acknowledge);
        }
    }

    @Override
    public void onFailure(Exchange exchange) {
        Throwable cause = exchange.getException() != null
                ? exchange.getException()
                : exchange.getProperty(ExchangePropertyKey.EXCEPTION_CAUGHT, Throwable.class);
        String route = routeId == null ? exchange.getFromRouteId() : routeId;
        finish(
                "return",
                () -> cause == null ? failures.rolledBack(delivery, route) : failures.failed(delivery, route, cause));
    }

    /** The exchange could not be made or handed to the route. */
    void failedBeforeRouting(Throwable cause) {
        finish("return", () -> failures.failed(delivery, routeId, cause));
    }

    /**
     * Stays with the exchange that the message came in when its completion is handed over, as to {@code seda:}. Camel hands
     * it over before the copy is accepted: without this a full queue would hold the message for as long as its lease is
     * extended, and a failure after the handover would be acknowledged.
     */
    Synchronization watch() {
        return new SynchronizationAdapter() {
            @Override
            public boolean allowHandover() {
                return false;
            }

            @Override
            public void onComplete(Exchange exchange) {
                if (exchange.isRollbackOnly() || exchange.isRollbackOnlyLast()) {
                    DeliveryCompletion.this.onFailure(exchange);
                }
            }

            @Override
            public void onFailure(Exchange exchange) {
                DeliveryCompletion.this.onFailure(exchange);
            }
        };
    }

    /** Gives up a delivery whose attempts were used up. */
    void exceeded() {
        finish("burial", () -> failures.exceeded(delivery, routeId));
    }

    /** Gives up a delivery that cannot be read. */
    void unreadable(Exception cause) {
        finish("burial", () -> failures.unreadable(delivery, routeId, cause));
    }

    /** Gives back a delivery that was not begun. */
    void release() {
        finish("release", delivery::release);
    }

    /** The route scheduled its own message again, which took the place of the delivery: nothing is left to be sent. */
    void superseded() {
        // The exchange goes on: its slot is free when it has completed.
        superseded = true;
    }

    Delivery delivery() {
        return delivery;
    }

    private void finish(String what, Supplier<Submission<Settlement>> call) {
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
            LOG.warn("The {} of {} could not be made; it is delivered again", what, delivery, e);
            sent = delivery.negativeAcknowledge(AFTER_ERROR, new byte[0]);
        }
        sent.outcome().whenComplete((settlement, error) -> {
            try {
                if (error != null) {
                    LOG.warn(
                            "The {} of {} could not be sent; it may be delivered again: {}",
                            what,
                            delivery,
                            error.getMessage());
                } else if (settlement == Settlement.STALE_HELD) {
                    LOG.warn(
                            "The {} of {} came too late: its lease had ended or it was replaced; it may be delivered again",
                            what,
                            delivery);
                } else if (settlement == Settlement.STALE_GONE) {
                    LOG.debug("The {} of {} found nothing: it was cancelled meanwhile", what, delivery);
                }
            } finally {
                finished.run();
            }
        });
    }

    @Override
    public String toString() {
        return "completion of " + delivery;
    }
}
