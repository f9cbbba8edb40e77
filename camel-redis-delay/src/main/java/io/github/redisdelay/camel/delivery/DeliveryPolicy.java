// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.redelivery.MessagePolicy;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.envelope.Envelope;

/**
 * The rules for deliveries, before their route is begun and after it has ended. An implementation changes nothing, counts
 * nothing and logs nothing that an operator has to see: {@link DeliveryCompletion} carries its decisions out. Thread-safe.
 */
public interface DeliveryPolicy {

    /**
     * Reads a message, and decides whether its route may begin.
     *
     * @param routeId the route that received it; null if none did
     */
    Admission admit(Delivery delivery, String routeId);

    /**
     * Decides about a delivery whose route has ended.
     *
     * @param terms the message's own, as it was admitted
     * @param routeId the route that worked on it; null if none did
     */
    Decision decide(Delivery delivery, MessagePolicy terms, String routeId, RouteOutcome outcome);

    /** Returns whether the deliveries are those of dead letters. */
    boolean isOfDeadLetters();

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
}
