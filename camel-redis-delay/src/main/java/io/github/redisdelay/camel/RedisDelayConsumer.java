// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.RedisDelayClients.OpenClient;
import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.Envelope;
import io.github.redisdelay.queue.EnvelopeFormatException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ExtendedStartupListener;
import org.apache.camel.Processor;
import org.apache.camel.ShutdownRunningTask;
import org.apache.camel.Suspendable;
import org.apache.camel.api.management.ManagedAttribute;
import org.apache.camel.api.management.ManagedResource;
import org.apache.camel.spi.ShutdownAware;
import org.apache.camel.support.DefaultConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives due messages and routes each in an exchange of its own. The queue layer decides when to claim; this class makes
 * exchanges of what it claims and ties their completion to the message.
 */
@ManagedResource(description = "Managed Redis Delay Consumer")
public class RedisDelayConsumer extends DefaultConsumer implements Suspendable, ShutdownAware {

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayConsumer.class);

    /** What is under way, by delivery: an exchange may be pooled, so its id is kept instead of the exchange. */
    private final Map<Delivery, String> underWay = new ConcurrentHashMap<>();

    private final LongAdder received = new LongAdder();

    // Set by doStart, cleared by doStop, which Camel calls under this service's lock; read by any thread.
    private volatile Reference<OpenClient> client;
    private volatile DelayQueue queue;
    private volatile FailureHandler failures;
    private volatile DelayQueueConsumer claims; // also set when the context has started, under the same lock

    private boolean waitsForContext; // guarded by lock: whether the context will tell us that it has started

    public RedisDelayConsumer(RedisDelayEndpoint endpoint, Processor processor) {
        super(endpoint, processor);
    }

    @Override
    public RedisDelayEndpoint getEndpoint() {
        return (RedisDelayEndpoint) super.getEndpoint();
    }

    @Override
    protected void doInit() throws Exception {
        super.doInit();
        RedisDelayHealthCheck check = new RedisDelayHealthCheck(this, RedisDelayHealthCheck.TOLERANCE);
        check.setEnabled(getEndpoint().getComponent().isHealthCheckConsumerEnabled());
        setHealthCheck(check);
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        failures = FailureHandlers.create(getEndpoint());
        Reference<OpenClient> opened = getEndpoint().acquireClient();
        try {
            DelayQueue opening = getEndpoint().queue(opened);
            StartReport.log(opening, opened.get().address());
            client = opened;
            queue = opening;
        } catch (Throwable e) {
            opened.release();
            throw e;
        }
        CamelContext context = getEndpoint().getCamelContext();
        if (!context.getStatus().isStarting()) {
            claim();
        } else if (!waitsForContext) {
            // Routes that this one sends to may not have been started yet.
            waitsForContext = true;
            context.addStartupListener(new ContextStarted());
        }
    }

    /** Begins to receive. */
    private void claim() {
        lock.lock();
        try {
            if (claims == null && queue != null) {
                DelayQueueConsumer started = queue.consume(
                        getEndpoint().consumerOptions(),
                        getEndpoint().getComponent().executor(),
                        new Handler());
                if (isSuspendingOrSuspended()) {
                    started.suspend();
                }
                claims = started;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Camel keeps its startup listeners for good and calls them again when the context is started again. */
    private final class ContextStarted implements ExtendedStartupListener {

        @Override
        public void onCamelContextStarted(CamelContext context, boolean alreadyStarted) {
            if (alreadyStarted) {
                claim();
            }
        }

        @Override
        public void onCamelContextFullyStarted(CamelContext context, boolean alreadyStarted) {
            claim();
        }
    }

    @Override
    protected void doSuspend() throws Exception {
        super.doSuspend();
        DelayQueueConsumer running = claims;
        if (running != null) {
            running.suspend();
        }
    }

    @Override
    protected void doResume() throws Exception {
        super.doResume();
        DelayQueueConsumer running = claims;
        if (running != null) {
            running.resume();
        }
    }

    @Override
    protected void doStop() throws Exception {
        DelayQueueConsumer running = claims;
        Reference<OpenClient> open = client;
        claims = null;
        queue = null;
        client = null;
        if (running != null) {
            // Camel waits for the work under way before it stops a consumer, up to its shutdown timeout. What is still
            // under way now may go on or not: its leases end by themselves, and until then it can be acknowledged.
            running.stop(false);
        }
        if (open != null) {
            open.release();
        }
        super.doStop();
    }

    /**
     * Not deferred: Camel then suspends this consumer first, so that it claims nothing more while the work under way is
     * waited for, and stops it when that is finished.
     */
    @Override
    public boolean deferShutdown(ShutdownRunningTask shutdownRunningTask) {
        return false;
    }

    @Override
    public int getPendingExchangesSize() {
        DelayQueueConsumer running = claims;
        return running == null ? 0 : running.underWay();
    }

    @Override
    public void prepareShutdown(boolean suspendOnly, boolean forced) {
        // Nothing: a forced stop calls this after doStop.
    }

    /** The running claims, or null. */
    DelayQueueConsumer claims() {
        return claims;
    }

    /** The queue while started, or null. */
    DelayQueue queue() {
        return queue;
    }

    /** Where Redis is. */
    String address() {
        Reference<OpenClient> open = client;
        return open == null ? getEndpoint().getServiceUrl() : open.get().address();
    }

    @ManagedAttribute(description = "Messages received since the route was started for the first time")
    public long getReceived() {
        return received.sum();
    }

    @ManagedAttribute(description = "Messages being worked on")
    public int getUnderWay() {
        return getPendingExchangesSize();
    }

    @ManagedAttribute(
            description = "Failed deliveries that are followed by another one, since the route was last started")
    public long getRedelivered() {
        FailureHandler handler = failures;
        return handler == null ? 0 : handler.redelivered();
    }

    @ManagedAttribute(description = "Messages moved to the dead letters since the route was last started")
    public long getBuried() {
        FailureHandler handler = failures;
        return handler == null ? 0 : handler.buried();
    }

    @ManagedAttribute(
            description =
                    "Messages given up and dropped, because deadLetter is false, since the route was last started")
    public long getDiscarded() {
        FailureHandler handler = failures;
        return handler == null ? 0 : handler.discarded();
    }

    /** Works on what the queue layer hands over. */
    private final class Handler implements DeliveryHandler {

        private final Reference<OpenClient> share = client;
        private final FailureHandler failureHandler = failures;

        @Override
        public void handle(Delivery delivery) {
            long lateness = delivery.lateness().toMillis();
            // Its acknowledgement may come after the consumer's end: it keeps the client open.
            Reference<OpenClient> held = share.retain();
            DeliveryCompletion completion = new DeliveryCompletion(delivery, failureHandler, getRouteId(), () -> {
                underWay.remove(delivery);
                held.release(getEndpoint().getComponent()::goOn);
            });
            if (isStoppingOrStopped()) {
                completion.release();
            } else if (failureHandler.isExceeded(delivery)) {
                completion.exceeded();
            } else {
                route(delivery, lateness, completion);
            }
        }

        private void route(Delivery delivery, long lateness, DeliveryCompletion completion) {
            Envelope envelope;
            try {
                envelope = Envelope.decode(delivery.body());
            } catch (EnvelopeFormatException e) {
                completion.unreadable(e);
                return;
            }
            Exchange exchange;
            try {
                exchange = createExchange(true);
                DeliveryExchange.fill(
                        exchange, completion, envelope, lateness, getEndpoint().mapper());
                exchange.getExchangeExtension().addOnCompletion(completion.watch());
                underWay.put(delivery, exchange.getExchangeId());
            } catch (Throwable e) {
                // A header filter of the user's, most likely.
                completion.failedBeforeRouting(e);
                handleException("queue '" + delivery.queue() + "': no exchange could be made of a message", e);
                return;
            }
            received.increment();
            getAsyncProcessor().process(exchange, defaultConsumerCallback(exchange, true));
        }

        @Override
        public void extensionLimitReached(Delivery delivery, Duration age) {
            LOG.warn(
                    "{} has been worked on for {} on route '{}' (exchange {}): its lease is not extended any more, and it will"
                            + " be delivered again when that ends. Option 'maximumVisibilityExtension' is the limit",
                    delivery,
                    QueueReport.text(age),
                    getRouteId(),
                    underWay.get(delivery));
        }

        @Override
        public void overdueWhileFull(Duration age, Delivery longestRunning) {
            LOG.warn(
                    "queue '{}': a message has been due for {} while route '{}' works on as many as it may ({}). The longest"
                            + " running is {}, exchange {}, claimed {} ago",
                    longestRunning.queue(),
                    QueueReport.text(age),
                    getRouteId(),
                    getEndpoint().consumerOptions().concurrentConsumers(),
                    longestRunning,
                    underWay.get(longestRunning),
                    QueueReport.text(sinceClaim(longestRunning)));
        }

        /** The lateness grows with the time since the claim. */
        private Duration sinceClaim(Delivery delivery) {
            return delivery.lateness()
                    .minus(QueueReport.micros(Math.max(0, delivery.claimedMicros() - delivery.dueMicros())));
        }

        @Override
        public void claimsFailing(Throwable error) {
            if (error == null) {
                LOG.info(
                        "queue '{}': messages can be received from {} again",
                        getEndpoint().getQueueName(),
                        address());
                return;
            }
            // The exception handler may route an exchange, which takes its time.
            getEndpoint()
                    .getComponent()
                    .goOn(() -> handleException(
                            "queue '" + getEndpoint().getQueueName() + "': no message can be received from " + address()
                                    + ", trying again until it works",
                            error));
        }
    }
}
