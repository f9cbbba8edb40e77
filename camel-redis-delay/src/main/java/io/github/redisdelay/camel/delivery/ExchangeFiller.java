// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.RedeliveryReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.Message;
import org.apache.camel.support.DefaultMessage;
import org.apache.camel.trait.message.MessageTrait;
import org.apache.camel.trait.message.RedeliveryTraitPayload;

/** The way from received messages to an exchange, the same for every consumer. */
public final class ExchangeFiller {

    /** The headers that each message has, in Camel's order of names. */
    private static final Map<String, Value> EVERY = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    static {
        EVERY.put(RedisDelayConstants.MESSAGE_ID, Delivery::id);
        EVERY.put(RedisDelayConstants.QUEUE, Delivery::queue);
        EVERY.put(RedisDelayConstants.SCHEDULED_TIME, delivery -> delivery.scheduledMicros() / 1000);
        EVERY.put(RedisDelayConstants.DUE_TIME, delivery -> delivery.dueMicros() / 1000);
        EVERY.put(RedisDelayConstants.ATTEMPT, Delivery::attempt);
        EVERY.put(RedisDelayConstants.LATENESS, delivery -> delivery.lateness().toMillis());
        EVERY.put(Exchange.MESSAGE_TIMESTAMP, delivery -> delivery.scheduledMicros() / 1000);
    }

    /** The value of a header, read from a delivery. */
    private interface Value extends Function<Delivery, Object> {}

    private ExchangeFiller() {}

    /**
     * Fills an exchange with one message: body and headers as they are stored, and what the component says about it.
     *
     * @return what the exchange now holds
     */
    public static DeliveriesOfExchange fill(Exchange exchange, DeliveryCompletion received, MessageMapper mapper) {
        return fill(exchange.getMessage(), exchange, received, mapper);
    }

    /** Fills an exchange with a batch: a list of messages, each with its own body and headers. */
    public static void fill(Exchange exchange, List<DeliveryCompletion> batch, MessageMapper mapper) {
        List<Message> messages = new ArrayList<>(batch.size());
        for (DeliveryCompletion received : batch) {
            Message message = new DefaultMessage(exchange); // without an exchange it converts no body
            fill(message, exchange, received, mapper);
            messages.add(message);
        }
        exchange.getMessage().setBody(messages);
        exchange.getMessage()
                .setHeader(RedisDelayConstants.QUEUE, batch.get(0).delivery().queue());
        exchange.setProperty(ExchangePropertyKey.BATCH_SIZE, batch.size());
    }

    private static DeliveriesOfExchange fill(
            Message message, Exchange exchange, DeliveryCompletion received, MessageMapper mapper) {
        Delivery delivery = received.delivery();
        // All at once and sorted, into an empty map: no names are compared.
        message.getHeaders().putAll(EVERY);
        message.getHeaders().replaceAll((name, value) -> value instanceof Value own ? own.apply(delivery) : value);
        if (received.envelope() != null) {
            mapper.fill(received.envelope(), message, exchange);
        } else {
            message.setBody(delivery.body());
        }
        set(message, RedisDelayConstants.MESSAGE_GROUP, delivery.group());
        set(message, RedisDelayConstants.RULE, delivery.rule());
        set(message, RedisDelayConstants.RUN_TIME, delivery.runMicros() > 0 ? delivery.runMicros() / 1000 : null);
        if (delivery.nextRunMicros() < Long.MAX_VALUE) {
            message.setHeader(RedisDelayConstants.NEXT_RUN_TIME, delivery.nextRunMicros() / 1000);
        }
        if (delivery.redeliveryReason() != RedeliveryReason.NONE) {
            message.setHeader(RedisDelayConstants.REDELIVERY_REASON, text(delivery.redeliveryReason()));
        }
        message.setPayloadForTrait(
                MessageTrait.REDELIVERY,
                delivery.attempt() > 1 ? RedeliveryTraitPayload.IS_REDELIVERY : RedeliveryTraitPayload.NON_REDELIVERY);
        Map<String, Object> failure = FailureRecord.headers(delivery.lastFailure(), received.isOfDeadLetters());
        failure.forEach(message::setHeader);
        if (received.isOfDeadLetters()) {
            message.setHeader(RedisDelayConstants.DEAD_LETTER_ID, delivery.id());
            DeadLetterId letter = DeadLetterId.parse(delivery.id());
            if (letter != null) {
                message.setHeader(RedisDelayConstants.DEAD_LETTER_TIME, letter.millis());
            }
            message.setHeader(RedisDelayConstants.MESSAGE_ID, DeadLetterId.messageIdOf(delivery.id()));
        }
        return DeliveriesOfExchange.add(
                exchange, received, (String) failure.get(RedisDelayConstants.DEAD_LETTER_REASON));
    }

    private static void set(Message message, String header, Object value) {
        if (value != null) {
            message.setHeader(header, value);
        }
    }

    /** The reason of a redelivery as a header's text. */
    public static String text(RedeliveryReason reason) {
        return reason == RedeliveryReason.LEASE_EXPIRED ? "leaseExpired" : OptionValues.lower(reason);
    }
}
