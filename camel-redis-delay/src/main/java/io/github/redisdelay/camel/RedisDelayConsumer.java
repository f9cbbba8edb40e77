// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.delivery.ConsumerDeliveries;
import io.github.redisdelay.camel.delivery.ConsumerSettings;
import io.github.redisdelay.camel.delivery.DeadLetterTrimmer;
import io.github.redisdelay.camel.delivery.DeliveryReport;
import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.Meters.Event;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
 * Receives due messages, or the dead letters of a queue, and routes each in an exchange of its own, or several in one. The
 * queue layer decides when to claim; this class starts and stops it with the route, and {@link ConsumerDeliveries} makes
 * exchanges of what it claims.
 */
@ManagedResource(description = "Managed Redis Delay Consumer")
public class RedisDelayConsumer extends DefaultConsumer implements Suspendable, ShutdownAware {

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayConsumer.class);

    private volatile ConsumerSettings settings; // changed under lock
    private final LongAdder received = new LongAdder();
    /** Makes {@link #bridge}; null if it imports nothing. */
    private final Function<ImportModule.Site, ImportModule.Bridge> imports;

    /** The name of a consumer without a route; no other of the component has it. */
    private final Supplier<String> ownName;
    /** Camel's exception handler, which only logs. bridgeErrorHandler and exceptionHandler set another one. */
    private final ExceptionHandler camels = getExceptionHandler();

    // Set by doStart, cleared by doStop, which Camel calls under this service's lock; read by any thread.
    private volatile Running running;
    // Of the latest start, for their counts: not cleared.
    private volatile DeliveryReport report = new DeliveryReport(received, () -> {}, Meters.Consuming.NONE);
    private volatile DeadLetterTrimmer trimmer;
    private volatile ImportModule.Bridge bridge; // null if it imports nothing
    private volatile ScheduleDeclaration declaration;

    /**
     * The parts of a started consumer.
     *
     * @param queue which is that of the dead letters if they are consumed
     */
    private record Running(Reference<OpenClient> client, DelayQueue queue, ConsumerDeliveries deliveries) {}

    private boolean waitsForContext; // guarded by lock: whether the context will tell us that it has started

    /**
     * @throws IllegalArgumentException if the endpoint's options are not possible for a consumer
     */
    public RedisDelayConsumer(RedisDelayEndpoint endpoint, Processor processor) {
        super(endpoint, processor);
        this.settings = endpoint.consumerSettings();
        this.imports = endpoint.importBridge();
        this.ownName =
                Suppliers.memorize(() -> endpoint.getComponent().consumerNames.next(endpoint.getQueueName()));
    }

    @Override
    public RedisDelayEndpoint getEndpoint() {
        return (RedisDelayEndpoint) super.getEndpoint();
    }

    @Override
    protected void doInit() throws Exception {
        super.doInit();
        RedisDelayHealthCheck check = healthCheck(RedisDelayHealthCheck.CLAIMS_MAY_FAIL);
        check.setEnabled(getEndpoint().getComponent().isHealthCheckConsumerEnabled());
        setHealthCheck(check);
    }

    RedisDelayHealthCheck healthCheck(Duration tolerance) {
        String queue = getEndpoint().getQueueName();
        return new RedisDelayHealthCheck(
                () -> new RedisDelayHealthCheck.State(name(), queue, address(), claims(), queue(), bridge), tolerance);
    }

    /** Starts the consumer. Camel also calls this for a suspended one when it has given up stopping its route. */
    @Override
    protected void doStart() throws Exception {
        super.doStart();
        if (running == null) {
            ConsumerDifferences.checkDeclaredOnce(side(), others());
            running = open();
            ConsumerDifferences.find(side(), others())
                    .ifPresent(
                            differ -> LOG.warn("queue '{}': {}", getEndpoint().getQueueName(), differ));
            getEndpoint().getComponent().consumers.add(this);
        }
        running.deliveries().resume();
        CamelContext context = getEndpoint().getCamelContext();
        if (!context.getStatus().isStarting()) {
            claim();
        } else if (claims() == null && !waitsForContext) {
            // Routes that this one sends to may not have been started yet.
            waitsForContext = true;
            context.addStartupListener(new ContextStarted());
        }
    }

    private Running open() throws Exception {
        RedisDelayComponent component = getEndpoint().getComponent();
        Reference<OpenClient> client = getEndpoint().acquireClient();
        Meters.Consuming meters = Meters.Consuming.NONE;
        ImportModule.Bridge opened = null;
        try {
            Meters.MeteredQueue metered = getEndpoint().metered(client);
            DelayQueue whole = metered.queue();
            DelayQueue queue = settings.deadLetters() ? whole.deadLetters() : whole;
            if (imports != null) {
                // Before anything is asked or recorded: it refuses a queue that it cannot import into.
                opened = imports.apply(component.importSite(
                        metered, name(), getEndpoint().producerSettings().maximumQueueLength()));
            }
            bridge = opened;
            component.startReport.log(
                    queue, getEndpoint().usePartitions(client), client.get().address(), settings.deadLetters());
            DeadLetterTrimmer.Limits limits = settings.limits();
            trimmer = new DeadLetterTrimmer(
                    whole.name(),
                    limits,
                    () -> whole.admin().trimDeadLetters(limits.retention(), limits.maximum()),
                    component.threads().timers());
            declaration = new ScheduleDeclaration(
                    queue, settings.schedule(), component.threads().timers());
            meters = component.meters().consuming(metered, name(), settings.deadLetters());
            report = new DeliveryReport(received, trimmer::deadLettered, meters);
            ExceptionHandler own = getExceptionHandler() == camels ? null : getExceptionHandler();
            MessageMapper mapper = getEndpoint().mapper();
            return new Running(
                    client,
                    queue,
                    new ConsumerDeliveries(this, own, settings, client, queue, mapper, report, component.threads()));
        } catch (Throwable e) {
            meters.release();
            if (opened != null) {
                opened.close();
            }
            client.release();
            throw e;
        }
    }

    private Stream<ConsumerDifferences.Side> others() {
        return RedisDelayComponent.consumers(getEndpoint().getCamelContext()).map(RedisDelayConsumer::side);
    }

    ConsumerDifferences.Side side() {
        return new ConsumerDifferences.Side(getEndpoint().identity(), shown(), settings);
    }

    /** Begins to receive, unless it was suspended before it ever did: then {@link #doResume} does. */
    private void claim() {
        lock.lock();
        try {
            if (running != null && claims() == null && !running.deliveries().isSuspended()) {
                running.deliveries().start(name(), shown());
                trimmer.start();
                declaration.start();
            }
            if (running != null && bridge != null && !isSuspendingOrSuspended()) {
                bridge.start();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The name of this consumer among those of its context: its route's id, or a name of its own. */
    public String name() {
        return getRouteId() != null ? getRouteId() : ownName.get();
    }

    /** The name of this consumer in a sentence. */
    String shown() {
        return (getRouteId() != null ? "route '" : "consumer '") + name() + "'";
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
        Running suspended = running;
        if (suspended != null) {
            if (bridge != null) {
                bridge.stop();
            }
            suspended.deliveries().suspend();
        }
    }

    /** Resumes the consumer, also one that was suspended before it was started. */
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

    /**
     * Stops the import and the trimming of dead letters, then the deliveries, then gives back the client. Before that, Camel has suspended
     * the consumer of a route and waited for its work, see {@link #deferShutdown}. {@link ConsumerDeliveries#stop} has the
     * order of the rest.
     */
    @Override
    protected void doStop() throws Exception {
        Running stopping = running;
        running = null;
        getEndpoint().getComponent().consumers.remove(this);
        if (stopping != null) {
            if (bridge != null) {
                bridge.close();
            }
            trimmer.stop();
            declaration.stop();
            ShutdownStrategy patience = getEndpoint().getCamelContext().getShutdownStrategy();
            stopping.deliveries().stop(patience.getTimeUnit().toNanos(patience.getTimeout()));
            report.close();
            stopping.client().release();
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
        DelayQueueConsumer claiming = claims();
        return claiming == null ? 0 : claiming.underWay();
    }

    @Override
    public void prepareShutdown(boolean suspendOnly, boolean forced) {
        // Nothing: a forced stop calls this after doStop.
    }

    /** The import that runs beside it, or null if it imports nothing. */
    public ImportModule.Bridge bridge() {
        return bridge;
    }

    /** The recurring schedule that it declares, or null. */
    public ScheduleDeclaration.Declared schedule() {
        return settings.schedule();
    }

    /** The running claims, or null. */
    public DelayQueueConsumer claims() {
        Running open = running;
        return open == null ? null : open.deliveries().claims();
    }

    DelayQueue queue() {
        Running open = running;
        return open == null ? null : open.queue();
    }

    /** The time since the claim of what it has been working on for the longest time; zero if nothing is under way. */
    public Duration longestRunning() {
        Running open = running;
        return open == null ? Duration.ZERO : open.deliveries().longestRunning();
    }

    /** Returns whether it receives the dead letters of its queue. */
    public boolean isOfDeadLetters() {
        return settings.deadLetters();
    }

    /** The address of Redis. */
    String address() {
        Running open = running;
        return open == null
                ? getEndpoint().getServiceUrl()
                : open.client().get().address();
    }

    @ManagedAttribute(description = "Messages received since the route was started")
    public long getReceived() {
        return received.sum();
    }

    @ManagedAttribute(description = "The most exchanges at a time")
    public int getConcurrentConsumers() {
        return settings.exchanges();
    }

    /** From now on, until Camel makes the route's consumer anew as it is started again. Work under way goes on. */
    @ManagedAttribute(description = "The most exchanges at a time")
    public void setConcurrentConsumers(int concurrentConsumers) {
        lock.lock();
        try {
            settings = settings.withConcurrentConsumers(concurrentConsumers);
            if (running != null) {
                running.deliveries().setConcurrentConsumers(settings);
            }
        } finally {
            lock.unlock();
        }
    }

    @ManagedAttribute(description = "Messages whose exchanges are being processed")
    public int getProcessing() {
        return getPendingExchangesSize();
    }

    @ManagedAttribute(description = "Deliveries that another one follows, since the route was last started")
    public long getRetried() {
        return report.count(Event.RETRIED);
    }

    @ManagedAttribute(description = "Messages moved to the dead letters since the route was last started")
    public long getDeadLettered() {
        return report.count(Event.DEAD_LETTERED);
    }

    @ManagedAttribute(description = "Messages given up and not kept, since the route was last started")
    public long getDropped() {
        return report.count(Event.DROPPED);
    }

    @ManagedAttribute(description = "Messages not delivered in their time to live, since the route was last started")
    public long getExpired() {
        return report.count(Event.EXPIRED);
    }

    @ManagedAttribute(description = "Dead letters that were too old or too many, since the route was last started")
    public long getDeadLettersDropped() {
        DeadLetterTrimmer trimming = trimmer;
        return trimming == null ? 0 : trimming.dropped();
    }

    @ManagedAttribute(description = "Messages imported as import.from says, since the route was last started")
    public long getImported() {
        ImportModule.Bridge open = bridge;
        return open == null ? 0 : open.imported();
    }
}
