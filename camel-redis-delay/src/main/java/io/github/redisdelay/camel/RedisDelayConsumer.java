// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.RedisDelayClients.OpenClient;
import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import java.util.concurrent.atomic.LongAdder;
import org.apache.camel.CamelContext;
import org.apache.camel.ExtendedStartupListener;
import org.apache.camel.Processor;
import org.apache.camel.ShutdownRunningTask;
import org.apache.camel.Suspendable;
import org.apache.camel.api.management.ManagedAttribute;
import org.apache.camel.api.management.ManagedResource;
import org.apache.camel.spi.ShutdownAware;
import org.apache.camel.support.DefaultConsumer;

/**
 * Receives due messages, or the dead letters of a queue, and routes each in an exchange of its own, or several in one. The queue
 * layer decides when to claim; this class starts and stops it with the route, and {@link ConsumerDeliveries} makes exchanges of
 * what it claims.
 */
@ManagedResource(description = "Managed Redis Delay Consumer")
public class RedisDelayConsumer extends DefaultConsumer implements Suspendable, ShutdownAware {

    private final ConsumerSettings settings;
    private final LongAdder received = new LongAdder();

    // Set by doStart, cleared by doStop, which Camel calls under this service's lock; read by any thread.
    private volatile Reference<OpenClient> client;
    private volatile DelayQueue queue;
    private volatile DeliveryRules rules;
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
        Reference<OpenClient> opened = getEndpoint().acquireClient();
        try {
            DelayQueue whole = getEndpoint().queue(opened);
            DelayQueue opening = settings.deadLetters() ? whole.deadLetters() : whole;
            StartReport.log(
                    opening, getEndpoint().usePartitions(opened), opened.get().address(), settings.deadLetters());
            DeadLetterTrimmer.Limits limits = settings.limits();
            trimmer = new DeadLetterTrimmer(
                    whole.name(),
                    limits,
                    () -> whole.trimDeadLetters(limits.retention(), limits.maximum()),
                    getEndpoint().getComponent().timers());
            rules = FailureHandlers.create(settings, trimmer::buried);
            deliveries = new ConsumerDeliveries(this, opened, rules, received);
            client = opened;
            queue = opening;
            suspended = false;
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
                        settings.claims(name()), getEndpoint().getComponent().executor(), deliveries);
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

    /** By which people know this consumer among others. */
    private String name() {
        return FailureHandlers.HOST + "/" + getRouteId() + "/"
                + ProcessHandle.current().pid();
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

    @Override
    protected void doResume() throws Exception {
        super.doResume();
        ConsumerDeliveries running = deliveries;
        if (running != null) {
            running.resume();
        }
        suspended = false;
        claimingChanged();
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
            // Camel waits for the work under way before it stops a consumer, up to its shutdown timeout. What is still
            // under way now may go on or not: its leases end by themselves, and until then it can be acknowledged.
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

    @ManagedAttribute(description = "Messages being worked on")
    public int getUnderWay() {
        return getPendingExchangesSize();
    }

    @ManagedAttribute(
            description =
                    "Deliveries that failed or asked for another one and are followed by it, since the route was last started")
    public long getRedelivered() {
        DeliveryRules counting = rules;
        return counting == null ? 0 : counting.redelivered();
    }

    @ManagedAttribute(description = "Messages moved to the dead letters since the route was last started")
    public long getBuried() {
        DeliveryRules counting = rules;
        return counting == null ? 0 : counting.buried();
    }

    @ManagedAttribute(
            description =
                    "Messages given up and dropped, because deadLetter is false or onExpiry is drop, since the route was last"
                            + " started")
    public long getDiscarded() {
        DeliveryRules counting = rules;
        return counting == null ? 0 : counting.discarded();
    }

    @ManagedAttribute(
            description =
                    "Messages whose time to live was over before they were delivered, since the route was last started; they"
                            + " were moved to the dead letters or dropped")
    public long getExpired() {
        DeliveryRules counting = rules;
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
