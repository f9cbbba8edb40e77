// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Envelope;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.trait.message.MessageTrait;
import org.apache.camel.trait.message.RedeliveryTraitPayload;

/** Turns a delivery into an exchange; the same way for every consumer. */
final class DeliveryExchange {

    private DeliveryExchange() {}

    /**
     * Fills the exchange of a delivery: body and headers from the stored message, what the component says about it, and
     * the completion that finishes it.
     *
     * @param lateness in milliseconds
     */
    static void fill(
            Exchange exchange, DeliveryCompletion completion, Envelope envelope, long lateness, MessageMapper mapper) {
        Delivery delivery = completion.delivery();
        mapper.fill(envelope, exchange);
        Message message = exchange.getMessage();
        message.setHeader(RedisDelayConstants.MESSAGE_ID, delivery.id());
        message.setHeader(RedisDelayConstants.QUEUE, delivery.queue());
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, delivery.scheduledMicros() / 1000);
        message.setHeader(RedisDelayConstants.DUE_TIME, delivery.dueMicros() / 1000);
        message.setHeader(RedisDelayConstants.ATTEMPT, delivery.attempt());
        message.setHeader(RedisDelayConstants.LATENESS, lateness);
        message.setHeader(Exchange.MESSAGE_TIMESTAMP, delivery.scheduledMicros() / 1000);
        message.setPayloadForTrait(
                MessageTrait.REDELIVERY,
                delivery.attempt() > 1 ? RedeliveryTraitPayload.IS_REDELIVERY : RedeliveryTraitPayload.NON_REDELIVERY);
        HeldDeliveries.add(exchange, completion);
        exchange.getExchangeExtension().addOnCompletion(completion);
    }
}
