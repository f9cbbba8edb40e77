// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import java.lang.ref.Cleaner;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.spi.Synchronization;
import org.apache.camel.support.SynchronizationAdapter;

/**
 * The completion of an exchange: when the exchange's unit of work is done, it ends the delivery of its message, or the
 * deliveries of its batch, all alike. Camel passes it on with the exchange, through {@code seda:} and other handovers.
 *
 * <p>It holds the deliveries itself. It never finds them by the exchange's id or by a header: the id changes at a handover, a
 * pooled exchange is used again, and a route can overwrite a header.
 */
public final class ExchangeCompletion extends SynchronizationAdapter {

    private static final Cleaner CLEANER = Cleaner.create();

    private final List<DeliveryCompletion> deliveries;

    /** True once the exchange has completed. Only the first time counts. */
    private final AtomicBoolean done;

    /** That of the exchange which has this. As all of an exchange, it is for one thread at a time. */
    private Watch watch;
    /** Finds out that the last exchange was lost; null before the first handover. As the watch. */
    private Cleaner.Cleanable lost;

    public ExchangeCompletion(DeliveryCompletion delivery) {
        this(List.of(delivery));
    }

    public ExchangeCompletion(List<DeliveryCompletion> deliveries) {
        this(List.copyOf(deliveries), new AtomicBoolean());
    }

    private ExchangeCompletion(List<DeliveryCompletion> deliveries, AtomicBoolean done) {
        this.deliveries = deliveries;
        this.done = done;
    }

    /**
     * The exchange that takes it over can hand it over in turn, or get lost: the queue of a {@code seda:} discards it, for
     * example. Then the garbage collector finds this object, which the exchange held, and the messages come again.
     */
    @Override
    public void beforeHandover(Exchange target) {
        watch.before = caught(target);
        watch.to = target.getProperty(ExchangePropertyKey.TO_ENDPOINT);
        target.getExchangeExtension().addOnCompletion(watch());
        if (lost == null) {
            ExchangeCompletion last = new ExchangeCompletion(deliveries, done);
            lost = CLEANER.register(this, last::lost);
        }
    }

    private void lost() {
        if (done.compareAndSet(false, true)) {
            finish(RouteOutcome.untraced(new IllegalStateException("The route has lost the exchange")), null);
        }
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
        if (lost != null) {
            lost.clean(); // which does nothing any more, but forget the messages
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
     * Stays with an exchange when its completion is handed over, as to {@code seda:}. Camel hands it over before the copy is
     * accepted: without this a full queue would hold the messages for as long as their leases are extended, and a failure
     * after the handover would be acknowledged. What this exchange asks for without failing is left to the copy, which has
     * the same headers and properties.
     *
     * <p>It never acknowledges. Nothing says for sure that the copy was refused, and is not at work in another thread.
     */
    public Synchronization watch() {
        watch = new Watch();
        return watch;
    }

    private final class Watch extends SynchronizationAdapter {

        /** The exception that the route had caught before the handover. */
        private Throwable before;
        /** Where it was handed over. */
        private Object to;
        /** How often the exchange was handed over. */
        private int handovers;

        @Override
        public boolean allowHandover() {
            handovers++;
            return false;
        }

        @Override
        public void onComplete(Exchange exchange) {
            boolean stays = exchange.getExchangeExtension().containsOnCompletion(ExchangeCompletion.this);
            // With several handovers, another copy may have been refused. Then the garbage collector finds a lost one.
            Throwable refusal = stays || handovers != 1 ? null : refusal(exchange);
            if (refusal != null) {
                exchange.setProperty(ExchangePropertyKey.EXCEPTION_CAUGHT, refusal); // is what the log names
            }
            if (refusal != null || exchange.isRollbackOnly() || exchange.isRollbackOnlyLast()) {
                onFailure(exchange);
            }
        }

        @Override
        public void onFailure(Exchange exchange) {
            ExchangeCompletion.this.onFailure(exchange);
        }

        /** The exception of a queue that refused the copy; null if none did. The route has handled it, or tried again. */
        private Throwable refusal(Exchange exchange) {
            Throwable caught = caught(exchange);
            Object failed = exchange.getProperty(ExchangePropertyKey.FAILURE_ENDPOINT); // none behind doCatch
            boolean refused = caught != null
                    && caught != before
                    && Objects.equals(
                            to, failed == null ? exchange.getProperty(ExchangePropertyKey.TO_ENDPOINT) : failed)
                    && Stream.of(caught.getStackTrace())
                            .anyMatch(at -> at.toString().contains(".SedaProducer.addToQueue("));
            return refused ? caught : null;
        }
    }

    private static Throwable caught(Exchange exchange) {
        Throwable caught = exchange.getProperty(ExchangePropertyKey.EXCEPTION_CAUGHT, Throwable.class);
        return caught != null ? caught : exchange.getProperty(ExchangePropertyKey.EXCEPTION_HANDLED, Throwable.class);
    }

    @Override
    public String toString() {
        return deliveries.size() == 1
                ? deliveries.get(0).toString()
                : "completion of " + deliveries.size() + " messages";
    }
}
