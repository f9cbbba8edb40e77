// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.camel.Exchange;
import org.apache.camel.spi.Synchronization;
import org.apache.camel.support.SynchronizationAdapter;

/**
 * The completion of an exchange: when the exchange's unit of work is done, it ends the delivery of its message, or the
 * deliveries of its batch, all alike. Camel passes it on with the exchange, through {@code seda:} and other handovers.
 *
 * <p>It holds the deliveries itself. It never finds them by the exchange's id or by a header: the id changes at a handover, a
 * pooled exchange is used again, and a route can overwrite a header.
 */
public final class ExchangeCompletion implements Synchronization {

    private final List<DeliveryCompletion> deliveries;

    /** True once the exchange has completed. Only the first time counts. */
    private final AtomicBoolean done = new AtomicBoolean();

    public ExchangeCompletion(DeliveryCompletion delivery) {
        this(List.of(delivery));
    }

    public ExchangeCompletion(List<DeliveryCompletion> deliveries) {
        this.deliveries = List.copyOf(deliveries);
    }

    @Override
    public void onComplete(Exchange exchange) {
        complete(exchange, false);
    }

    @Override
    public void onFailure(Exchange exchange) {
        complete(exchange, true);
    }

    private void complete(Exchange exchange, boolean failed) {
        if (!done.compareAndSet(false, true)) {
            return;
        }
        RouteOutcome outcome;
        try {
            outcome = RouteOutcome.of(exchange, failed, reason -> DeliveriesOfExchange.isKnownReason(exchange, reason));
        } catch (Throwable e) {
            // An object of the user's whose toString throws.
            outcome = RouteOutcome.failed(e);
        }
        finish(outcome, exchange.getFromRouteId());
    }

    /** Ends the deliveries of an exchange that could not be made or handed to the route. */
    public void failedBeforeRouting(Throwable cause) {
        if (done.compareAndSet(false, true)) {
            finish(RouteOutcome.failed(cause), null);
        }
    }

    private void finish(RouteOutcome outcome, String from) {
        RouteOutcome each = outcome;
        if (deliveries.size() > 1 && (outcome.failed() || outcome.unreadable() != null)) {
            DeliveryReport.failedTogether(
                    deliveries.stream().map(DeliveryCompletion::delivery).toList(), from, outcome);
            each = outcome.ofBatch();
        }
        for (DeliveryCompletion delivery : deliveries) {
            delivery.ended(each, from);
        }
    }

    /**
     * Stays with the exchange that the messages came in when its completion is handed over, as to {@code seda:}. Camel hands
     * it over before the copy is accepted: without this a full queue would hold the messages for as long as their leases are
     * extended, and a failure after the handover would be acknowledged. What this exchange asks for without failing is
     * left to the copy, which has the same headers and properties.
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
                    ExchangeCompletion.this.onFailure(exchange);
                }
            }

            @Override
            public void onFailure(Exchange exchange) {
                ExchangeCompletion.this.onFailure(exchange);
            }
        };
    }

    @Override
    public String toString() {
        return deliveries.size() == 1
                ? deliveries.get(0).toString()
                : "completion of " + deliveries.size() + " messages";
    }
}
