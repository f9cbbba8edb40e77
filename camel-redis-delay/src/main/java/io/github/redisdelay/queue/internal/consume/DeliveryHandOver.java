// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DeliveryHandler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands the deliveries of one consumer to its handler, on the threads of an executor, and has their leases extended. */
final class DeliveryHandOver {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryHandOver.class);

    private static final Duration RETURN_AFTER_HANDLER_ERROR = Duration.ofSeconds(1);

    private final ConsumerOptions options;
    private final LeaseExtender leases;
    private final Executor executor;
    private final DeliveryHandler handler;
    /** Whether leases are not extended any more. Set before those under way are let go. */
    private volatile boolean letLeasesRunOut;

    DeliveryHandOver(ConsumerOptions options, LeaseExtender leases, Executor executor, DeliveryHandler handler) {
        this.options = options;
        this.leases = leases;
        this.executor = executor;
        this.handler = handler;
    }

    /** Hands over a delivery; false if the executor rejects it. */
    boolean begin(ClaimedDelivery delivery) {
        leases.keep(delivery, options, handler);
        if (letLeasesRunOut) {
            leases.remove(delivery); // the consumer was stopped in between
        }
        try {
            executor.execute(() -> work(delivery));
            return true;
        } catch (RuntimeException e) {
            LOG.debug("{} could not be begun", delivery, e);
            return false;
        }
    }

    private void work(ClaimedDelivery delivery) {
        try {
            handler.handle(delivery);
        } catch (Throwable e) {
            LOG.warn("the handler of {} failed", delivery, e);
            delivery.negativeAcknowledge(RETURN_AFTER_HANDLER_ERROR, new byte[0]);
        }
    }

    void finished(ClaimedDelivery delivery) {
        leases.remove(delivery);
    }

    /** No lease is extended from now on. */
    void letLeasesRunOut() {
        letLeasesRunOut = true;
    }

    void letLeasesRunOut(List<ClaimedDelivery> deliveries) {
        deliveries.forEach(leases::remove);
    }

    /** Tells the handler something; what it throws must not stop the consumer. */
    void tell(String queue, java.util.function.Consumer<DeliveryHandler> report) {
        try {
            report.accept(handler);
        } catch (Throwable e) {
            LOG.warn("queue '{}': a listener failed", queue, e);
        }
    }
}
