// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.RedisDelayClients.OpenClient;
import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.ServerInfo;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.apache.camel.CamelContext;
import org.apache.camel.ExtendedStartupListener;
import org.apache.camel.Processor;
import org.apache.camel.ShutdownRunningTask;
import org.apache.camel.Suspendable;
import org.apache.camel.api.management.ManagedAttribute;
import org.apache.camel.api.management.ManagedResource;
import org.apache.camel.spi.ExceptionHandler;
import org.apache.camel.spi.ShutdownAware;
import org.apache.camel.spi.ShutdownStrategy;
import org.apache.camel.support.DefaultConsumer;
import org.apache.camel.util.function.Suppliers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives due messages, or the dead letters of a queue, and routes each in an exchange of its own, or several in one. The queue
 * layer decides when to claim; this class starts and stops it with the route, and {@link ConsumerDeliveries} makes exchanges of
 * what it claims.
 */
@ManagedResource(description = "Managed Redis Delay Consumer")
public class RedisDelayConsumer extends DefaultConsumer implements Suspendable, ShutdownAware {

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayConsumer.class);

    private volatile ConsumerSettings settings; // changed under lock
    private final LongAdder received = new LongAdder();

    /** For a consumer without a route; no other of the component has it. */
    private final Supplier<String> ownName;
    /** The one that only logs; bridgeErrorHandler and exceptionHandler set another. */
    private final ExceptionHandler camels = getExceptionHandler();

    // Set by doStart, cleared by doStop, which Camel calls under this service's lock; read by any thread.
    private volatile Reference<OpenClient> client;
    private volatile DelayQueue queue;
    private volatile DeliveryReport report;
    private volatile ConsumerDeliveries deliveries;
    private volatile DeadLetterTrimmer trimmer;
    // Also set when the context has started, under the same lock.
    private volatile DelayQueueConsumer claims;
    private volatile ClaimSwitch claimSwitch;

    /** Whether the route is suspended. Set under lock, read by whoever lets the claims go on. */
    private volatile boolean suspended;

    private boolean waitsForContext; // guarded by lock: whether the context will tell us that it has started

    /**
     * @throws IllegalArgumentException if the endpoint's options are not possible for a consumer
     */
    public RedisDelayConsumer(RedisDelayEndpoint endpoint, Processor processor) {
        super(endpoint, processor);
        this.settings = endpoint.consumerSettings();
        this.ownName = Suppliers.memorize(
                () -> endpoint.getComponent().consumerNames().next(processor, endpoint.getQueueName()));
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

    /** Also for a suspended consumer: Camel starts that again when it has given up stopping its route. */
    @Override
    protected void doStart() throws Exception {
        super.doStart();
        if (client == null) {
            open();
        }
        deliveries.resume();
        suspended = false;
        CamelContext context = getEndpoint().getCamelContext();
        if (claims != null) {
            claimingChanged();
        } else if (!context.getStatus().isStarting()) {
            claim();
        } else if (!waitsForContext) {
            // Routes that this one sends to may not have been started yet.
            waitsForContext = true;
            context.addStartupListener(new ContextStarted());
        }
    }

    private void open() throws Exception {
        Reference<OpenClient> opened = getEndpoint().acquireClient();
        try {
            DelayQueue whole = getEndpoint().queue(opened);
            DelayQueue opening = settings.deadLetters() ? whole.deadLetters() : whole;
            ServerInfo server = StartReport.log(
                    opening, getEndpoint().usePartitions(opened), opened.get().address(), settings.deadLetters());
            getEndpoint().getComponent().serverWarnings().check(opened.get().address(), server);
            DeadLetterTrimmer.Limits limits = settings.limits();
            trimmer = new DeadLetterTrimmer(
                    whole.name(),
                    limits,
                    () -> whole.trimDeadLetters(limits.retention(), limits.maximum()),
                    getEndpoint().getComponent().timers());
            report = new DeliveryReport(trimmer::buried);
            int slots = settings.claims(fullName()).concurrentConsumers();
            if (slots == 1 && getRoute() != null && RouteProcessors.haveResequencer(getRoute())) {
                LOG.warn(
                        "queue '{}': route '{}' has a resequencer and option 'concurrentConsumers' is 1, so it never sees"
                                + " two messages and puts none in order. Set it to at least as many as are to be ordered",
                        whole.name(),
                        getRouteId());
            }
            deliveries = new ConsumerDeliveries(this, opened, report, received);
            queue = opening;
            client = opened;
        } catch (Throwable e) {
            opened.release();
            throw e;
        }
    }

    /** Begins to receive. */
    private void claim() {
        lock.lock();
        try {
            if (claims == null && queue != null) {
                DelayQueueConsumer started = queue.consume(
                        settings.claims(fullName()),
                        getEndpoint().getComponent().executor(),
                        deliveries);
                ConsumerDeliveries with = deliveries;
                claimSwitch = new ClaimSwitch(started, () -> !suspended && with.wantsMore());
                claims = started;
                claimingChanged();
                trimmer.start();
            }
        } finally {
            lock.unlock();
        }
    }

    /** By which people know this consumer among those of a queue. */
    private String fullName() {
        return ConsumerNames.full(name());
    }

    /** By which people know this consumer among those of its context: its route's id, or a name of its own. */
    String name() {
        return getRouteId() != null ? getRouteId() : ownName.get();
    }

    /** The same in a sentence. */
    String shown() {
        return (getRouteId() != null ? "route '" : "consumer '") + name() + "'";
    }

    /** Whether messages should be claimed may have changed. */
    void claimingChanged() {
        ClaimSwitch running = claimSwitch;
        if (running != null) {
            running.changed();
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
        suspended = true;
        claimingChanged();
        ConsumerDeliveries running = deliveries;
        if (running != null) {
            running.suspend();
        }
    }

    /** Also for a consumer that was suspended before it was started. */
    @Override
    protected void doResume() throws Exception {
        super.doResume();
        try {
            doStart();
        } catch (Throwable e) {
            doStop(); // Camel does that only where a start has failed
            throw e;
        }
    }

    @Override
    protected void doStop() throws Exception {
        DelayQueueConsumer running = claims;
        ConsumerDeliveries collecting = deliveries;
        DeadLetterTrimmer trimming = trimmer;
        Reference<OpenClient> open = client;
        claims = null;
        claimSwitch = null;
        deliveries = null;
        queue = null;
        client = null;
        if (trimming != null) {
            trimming.stop();
        }
        if (running != null) {
            if (getRoute() == null) {
                running.suspend();
                collecting.suspend();
                ShutdownStrategy patience = getEndpoint().getCamelContext().getShutdownStrategy();
                collecting.awaitEnd(running, patience.getTimeUnit().toNanos(patience.getTimeout()));
            }
            // Camel has waited for the work of a route, up to its shutdown timeout. What is still under way now may go
            // on or not: its leases end by themselves, and until then it can be acknowledged.
            running.stop(false);
        }
        if (collecting != null) {
            collecting.suspend();
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

    /** Whether failures go to an exception handler that the user has chosen. */
    boolean hasOwnExceptionHandler() {
        return getExceptionHandler() != camels;
    }

    /** What this consumer does. */
    ConsumerSettings settings() {
        return settings;
    }

    /** The running claims, or null. */
    DelayQueueConsumer claims() {
        return claims;
    }

    /** The queue while started, which is that of the dead letters if they are consumed; or null. */
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

    @ManagedAttribute(description = "How many exchanges may be under way at a time")
    public int getConcurrentConsumers() {
        return settings.claims().concurrentConsumers();
    }

    /** From now on, until Camel makes the route's consumer anew as it is started again. Work under way goes on. */
    @ManagedAttribute(description = "How many exchanges may be under way at a time")
    public void setConcurrentConsumers(int concurrentConsumers) {
        lock.lock();
        try {
            settings = settings.withConcurrentConsumers(concurrentConsumers);
            if (deliveries != null) {
                deliveries.setExchanges(concurrentConsumers);
            }
            if (claims != null) {
                claims.setConcurrentConsumers(settings.claims("").concurrentConsumers());
            }
        } finally {
            lock.unlock();
        }
    }

    @ManagedAttribute(description = "Messages being worked on")
    public int getUnderWay() {
        return getPendingExchangesSize();
    }

    @ManagedAttribute(
            description =
                    "Deliveries that failed or asked for another one and are followed by it, since the route was last started")
    public long getRedelivered() {
        DeliveryReport counting = report;
        return counting == null ? 0 : counting.redelivered();
    }

    @ManagedAttribute(description = "Messages moved to the dead letters since the route was last started")
    public long getBuried() {
        DeliveryReport counting = report;
        return counting == null ? 0 : counting.buried();
    }

    @ManagedAttribute(
            description =
                    "Messages given up and dropped, because deadLetter is false or onExpiry is drop, since the route was last"
                            + " started")
    public long getDiscarded() {
        DeliveryReport counting = report;
        return counting == null ? 0 : counting.discarded();
    }

    @ManagedAttribute(
            description =
                    "Messages whose time to live was over before they were delivered, since the route was last started; they"
                            + " were moved to the dead letters or dropped")
    public long getExpired() {
        DeliveryReport counting = report;
        return counting == null ? 0 : counting.expired();
    }

    @ManagedAttribute(
            description =
                    "Dead letters dropped as deadLetterRetention and maximumDeadLetters say, since the route was last started")
    public long getDeadLettersDropped() {
        DeadLetterTrimmer trimming = trimmer;
        return trimming == null ? 0 : trimming.dropped();
    }
}
