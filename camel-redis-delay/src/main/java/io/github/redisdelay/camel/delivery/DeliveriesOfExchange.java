// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.option.OwnHeaders;
import io.github.redisdelay.queue.DelayQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.camel.Exchange;

/**
 * The deliveries whose leases an exchange holds, so that a route can schedule its own message again. Kept in an exchange
 * property, which Camel copies to copies of the exchange. Only an object of this class counts, which no
 * data from outside can be. Immutable, because copies share it.
 *
 * @param latest finishes the latest of them
 * @param reason of a dead letter: why it was given up, as its header says; else null
 * @param earlier those held already; null for none
 */
public record DeliveriesOfExchange(DeliveryCompletion latest, String reason, DeliveriesOfExchange earlier) {

    public static final String PROPERTY = OwnHeaders.HELD_DELIVERIES;

    /** Notes that the exchange holds this message, too. */
    public static DeliveriesOfExchange add(Exchange exchange, DeliveryCompletion message, String reason) {
        DeliveriesOfExchange held = new DeliveriesOfExchange(message, reason, of(exchange));
        exchange.setProperty(PROPERTY, held);
        return held;
    }

    /** The completion of this message's delivery if the exchange holds or held it; else null. */
    public static DeliveryCompletion find(Exchange exchange, DelayQueue queue, String id) {
        for (DeliveriesOfExchange held = of(exchange); held != null; held = held.earlier) {
            if (held.latest.delivery().id().equals(id) && held.latest.delivery().isFrom(queue)) {
                return held.latest;
            }
        }
        return null;
    }

    /** The completions of the deliveries from this queue that the exchange still holds, the first one first. */
    public static List<DeliveryCompletion> all(Exchange exchange, DelayQueue queue) {
        List<DeliveryCompletion> all = new ArrayList<>();
        latestFirst(exchange)
                .map(DeliveriesOfExchange::latest)
                .filter(held -> !held.isOver() && held.delivery().isFrom(queue))
                .forEach(held -> all.add(0, held));
        return all;
    }

    /** Returns whether a dead letter that the exchange holds came with this reason in its header. */
    static boolean isKnownReason(Exchange exchange, Object reason) {
        return latestFirst(exchange).anyMatch(held -> reason.equals(held.reason));
    }

    private static Stream<DeliveriesOfExchange> latestFirst(Exchange exchange) {
        return Stream.iterate(of(exchange), Objects::nonNull, held -> held.earlier);
    }

    private static DeliveriesOfExchange of(Exchange exchange) {
        return exchange.getProperty(PROPERTY) instanceof DeliveriesOfExchange held ? held : null;
    }

    @Override
    public String toString() {
        return earlier == null ? latest.delivery().toString() : latest.delivery() + ", " + earlier;
    }
}
