// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.delivery.ConsumerSettings;
import io.github.redisdelay.camel.delivery.DeliveriesOfExchange;
import io.github.redisdelay.camel.delivery.DeliveryCompletion;
import io.github.redisdelay.camel.delivery.DeliveryPolicy;
import io.github.redisdelay.camel.delivery.DeliveryReport;
import io.github.redisdelay.camel.delivery.ExchangeCompletion;
import io.github.redisdelay.camel.delivery.ExchangeFiller;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.apache.camel.DynamicPollingConsumer;
import org.apache.camel.Exchange;
import org.apache.camel.IsSingleton;
import org.apache.camel.RuntimeCamelException;
import org.apache.camel.support.PollingConsumerSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives one message when asked, for {@code pollEnrich}, {@code poll} and {@code ConsumerTemplate}. It claims at most as
 * many messages as callers are waiting.
 *
 * <p>The message is finished by the completion of the exchange that it comes in or that it is merged into. A caller of
 * {@code ConsumerTemplate.receive} has to call {@code doneUoW}, too.
 */
public class RedisDelayPollingConsumer extends PollingConsumerSupport implements DynamicPollingConsumer, IsSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayPollingConsumer.class);

    private final ConsumerSettings settings;

    // Set by doStart, cleared by doStop; read by the callers' threads.
    private volatile Opened opened;

    /** The parts of a started consumer. */
    private record Opened(
            Reference<OpenClient> client, DelayQueueReceiver receiver, DeliveryPolicy policy, DeliveryReport report) {}

    /**
     * @throws IllegalArgumentException if the endpoint's options are not possible for a polling consumer
     */
    public RedisDelayPollingConsumer(RedisDelayEndpoint endpoint) {
        super(endpoint);
        this.settings = endpoint.pollingSettings();
    }

    @Override
    public RedisDelayEndpoint getEndpoint() {
        return (RedisDelayEndpoint) super.getEndpoint();
    }

    @Override
    public Exchange receive() {
        return receive(null, null);
    }

    @Override
    public Exchange receiveNoWait() {
        return receive(null, Duration.ZERO);
    }

    @Override
    public Exchange receive(long timeout) {
        return receive(null, limit(timeout));
    }

    @Override
    public Exchange receive(Exchange current) {
        return receive(current, null);
    }

    @Override
    public Exchange receiveNoWait(Exchange current) {
        return receive(current, Duration.ZERO);
    }

    @Override
    public Exchange receive(Exchange current, long timeout) {
        return receive(current, limit(timeout));
    }

    /** A timeout that no clock here can count is none. */
    private static Duration limit(long millis) {
        return millis > Durations.MAX.toMillis() ? null : Duration.ofMillis(Math.max(0, millis));
    }

    /**
     * @param current the exchange that the message is going to be merged into; null if there is none
     * @param timeout null for none
     */
    private Exchange receive(Exchange current, Duration timeout) {
        Opened with = opened;
        if (with == null) {
            return null;
        }
        long deadline = timeout == null ? 0 : System.nanoTime() + timeout.toNanos();
        Duration left = timeout;
        try {
            while (true) {
                Delivery delivery = with.receiver().receive(left);
                if (delivery == null) {
                    return null;
                }
                Exchange exchange = begin(delivery, with, current);
                if (exchange != null) {
                    return exchange;
                }
                // It was given up or put off: the next one, within the same time.
                if (timeout != null) {
                    left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RuntimeCamelException(e);
        }
    }

    /** The exchange of a delivery, or null if it was given up or put off. */
    private Exchange begin(Delivery delivery, Opened with, Exchange current) {
        Reference<OpenClient> held = with.client().retain();
        DeliveryCompletion message = DeliveryCompletion.admit(
                delivery,
                with.policy(),
                with.report(),
                current == null ? null : current.getFromRouteId(),
                () -> held.release(getEndpoint().getComponent()::close));
        if (message == null) {
            return null;
        }
        ExchangeCompletion completion = new ExchangeCompletion(message);
        try {
            Exchange exchange = getEndpoint().createExchange();
            DeliveriesOfExchange holds =
                    ExchangeFiller.fill(exchange, message, getEndpoint().mapper());
            exchange.getExchangeExtension().addOnCompletion(completion);
            exchange.getExchangeExtension().addOnCompletion(completion.watch());
            if (current != null) {
                // Camel merges body and headers and hands over the completion, and the properties only if the
                // aggregation strategy wants them.
                DeliveriesOfExchange.add(current, message, holds.reason());
                exchange.setProperty(DeliveriesOfExchange.PROPERTY, current.getProperty(DeliveriesOfExchange.PROPERTY));
            }
            message.begun();
            return exchange;
        } catch (RuntimeException e) {
            completion.failedBeforeRouting(e);
            throw e;
        }
    }

    /** Starts the consumer. A suspended one has all that it needs. */
    @Override
    protected void doStart() throws Exception {
        if (opened != null) {
            return;
        }
        Reference<OpenClient> client = getEndpoint().acquireClient();
        try {
            DelayQueue whole = getEndpoint().queue(client);
            DelayQueue queue = settings.deadLetters() ? whole.deadLetters() : whole;
            opened = new Opened(
                    client,
                    queue.receiver(settings.options(), new Listener()),
                    settings.policy(),
                    new DeliveryReport(
                            new LongAdder(),
                            () -> {},
                            getEndpoint()
                                    .getComponent()
                                    .meters()
                                    .consuming(getEndpoint().metered(client), "", settings.deadLetters())));
        } catch (Throwable e) {
            client.release();
            throw e;
        }
    }

    /** Resumes the consumer, also one that was suspended before it was started. */
    @Override
    protected void doResume() throws Exception {
        doStart();
    }

    @Override
    protected void doStop() {
        Opened open = opened;
        opened = null;
        if (open != null) {
            open.receiver().close();
            open.report().close();
            open.client().release();
        }
    }

    /** Several threads can receive at a time. */
    @Override
    public boolean isSingleton() {
        return true;
    }

    /** A listener for what becomes of the leases. */
    private static final class Listener implements DeliveryHandler {

        @Override
        public void handle(Delivery delivery) {
            throw new UnsupportedOperationException("a receiver returns what it receives");
        }

        @Override
        public void extensionLimitReached(Delivery delivery, Duration age) {
            LOG.warn(
                    "{} was received {} ago by a poll and not finished: its lease is not extended any more, and it will be"
                            + " delivered again when that ends. After ConsumerTemplate.receive call doneUoW; the limit is option"
                            + " 'maximumVisibilityExtension'",
                    delivery,
                    Durations.text(age));
        }
    }
}
