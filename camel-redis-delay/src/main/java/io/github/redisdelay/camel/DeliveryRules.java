// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;

/** Decides what becomes of deliveries, before their route is begun and after it has ended. Thread-safe. */
interface DeliveryRules {

    /**
     * Looks at a delivery before its route is begun.
     *
     * @param routeId the route that received it; null if none did
     * @param finished called once, when nothing more has to be told to Redis about the delivery; must not block
     * @return what is to be begun, or null if the delivery was finished instead
     */
    ReceivedMessage admit(Delivery delivery, String routeId, Runnable finished);

    /** Tells Redis what its route's end means for a delivery. */
    Submission<Settlement> ended(Delivery delivery, MessageTerms terms, String routeId, RouteOutcome outcome);

    /** How many deliveries were returned, to be followed by another one. */
    long redelivered();

    /** How many messages were moved to the dead letters. */
    long buried();

    /** How many messages were given up and dropped. */
    long discarded();

    /** How many messages were not delivered in their time to live; they are among those buried or discarded. */
    long expired();
}
