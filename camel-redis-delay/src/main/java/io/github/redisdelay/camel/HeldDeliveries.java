// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import org.apache.camel.Exchange;

/**
 * The deliveries whose leases an exchange holds, so that a route can schedule its own message again. Kept in an exchange
 * property, which Camel copies to copies of the exchange. Only an object of this class counts, and nothing outside of the
 * component can make one. Immutable, because copies share it.
 *
 * @param completion what finishes the latest of them
 * @param earlier those held already; null for none
 */
record HeldDeliveries(DeliveryCompletion completion, HeldDeliveries earlier) {

    static final String PROPERTY = "CamelRedisDelayHeldDeliveries";

    /** Notes that the exchange holds this delivery, too. */
    static void add(Exchange exchange, DeliveryCompletion completion) {
        exchange.setProperty(PROPERTY, new HeldDeliveries(completion, of(exchange)));
    }

    /** What finishes the delivery of this message that the exchange holds or held, or null. */
    static DeliveryCompletion find(Exchange exchange, String queue, String id) {
        for (HeldDeliveries held = of(exchange); held != null; held = held.earlier) {
            Delivery delivery = held.completion.delivery();
            if (delivery.id().equals(id) && delivery.queue().equals(queue)) {
                return held.completion;
            }
        }
        return null;
    }

    private static HeldDeliveries of(Exchange exchange) {
        return exchange.getProperty(PROPERTY) instanceof HeldDeliveries held ? held : null;
    }

    @Override
    public String toString() {
        return earlier == null ? completion.delivery().toString() : completion.delivery() + ", " + earlier;
    }
}
