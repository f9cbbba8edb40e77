// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.NoConsumerReport;
import io.github.redisdelay.camel.option.OwnHeaders;
import io.github.redisdelay.camel.producer.ManageOperations;
import io.github.redisdelay.camel.producer.PendingRequest;
import io.github.redisdelay.camel.producer.ProducerSettings;
import io.github.redisdelay.camel.producer.QueryOperations;
import io.github.redisdelay.camel.producer.ScheduleHeaders;
import io.github.redisdelay.camel.producer.ScheduleOperation;
import io.github.redisdelay.camel.thread.ComponentThreads;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.RuntimeCamelException;
import org.apache.camel.support.DefaultAsyncProducer;
import org.apache.camel.util.ObjectHelper;
import org.apache.camel.util.URISupport;

/**
 * The producer: schedules messages, and changes and queries waiting ones. It makes a message on the caller's thread, which
 * waits for Redis' answer and goes on with the exchange. With {@code synchronous=false} the exchange goes on, on a thread of
 * the component, when Redis has answered. The producer itself holds nothing of an exchange.
 */
public class RedisDelayProducer extends DefaultAsyncProducer {

    // Set by doStart, cleared by doStop; read by the callers' threads.
    private volatile Opened opened;

    /** The parts of a started producer. */
    private record Opened(
            Reference<OpenClient> client,
            Meters.Use meters,
            ImportModule.Operation imports,
            ScheduleOperation schedule,
            ManageOperations changes,
            QueryOperations queries) {}

    /**
     * A step that failed before the outcome of its request was known. It is kept in an exchange property, so that a
     * redelivery of the step goes on with the request instead of sending a new message. Copies of the exchange have the
     * property as well and are told apart by the exchange's id.
     *
     * @param node the step's place in its route; null if no route has it
     * @param error the error with which the step failed, and which Camel notes before it redelivers it
     */
    private record ResumableStep(
            String exchangeId,
            String endpointUri,
            String node,
            int redeliveries,
            Exception error,
            PendingRequest request) {

        @Override
        public String toString() {
            return "request to " + URISupport.sanitizeUri(endpointUri);
        }
    }

    public RedisDelayProducer(RedisDelayEndpoint endpoint) {
        super(endpoint);
    }

    @Override
    public RedisDelayEndpoint getEndpoint() {
        return (RedisDelayEndpoint) super.getEndpoint();
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        Reference<OpenClient> client = getEndpoint().acquireClient();
        try {
            client.get().queues().checkDurability(getEndpoint().getQueueName()).join();
        } catch (CompletionException e) {
            client.release();
            throw new RuntimeCamelException(e.getCause().getMessage(), e.getCause());
        }
        Meters.MeteredQueue metered = getEndpoint().metered(client);
        DelayQueue queue = metered.queue();
        RedisDelayComponent component = getEndpoint().getComponent();
        String address = client.get().address();
        ProducerSettings settings = getEndpoint().producerSettings();
        if (settings.operation() == RedisDelayOperation.SCHEDULE) {
            component.startReport.logProducer(queue, address, metered.keyPrefix());
        }
        Meters.Use meters = component.meters().producing(metered);
        NoConsumerReport.Watch deserted = component.deserted().of(queue, address, metered.keyPrefix());
        DelayQueueClient queues = client.get().queues();
        MessageMapper mapper = getEndpoint().mapper();
        var imports = getEndpoint().importOperation();
        opened = new Opened(
                client,
                meters,
                imports == null
                        ? null
                        : imports.apply(component.importSite(metered, "", settings.maximumQueueLength())),
                new ScheduleOperation(settings, queue, mapper, queues::nextId, meters, deserted),
                new ManageOperations(
                        settings,
                        queue,
                        meters,
                        getEndpoint()::declares,
                        () -> component.unusedQueues.foundNothing(
                                metered.place() + " with prefix '" + metered.keyPrefix() + "'", queue)),
                new QueryOperations(settings, queue, mapper, queues::queues));
    }

    @Override
    protected void doStop() throws Exception {
        Opened open = opened;
        opened = null;
        if (open != null) {
            open.meters().release();
            if (open.imports() != null) {
                open.imports().close();
            }
            open.client().release();
        }
        super.doStop();
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        PendingRequest request;
        try {
            PendingRequest pending = resumable(exchange);
            if (pending != null) {
                pending.resume(getEndpoint().clientOptions().requestTimeout());
            }
            request = pending == null ? send(exchange) : pending;
        } catch (Exception e) {
            exchange.setException(e);
            callback.done(true);
            return true;
        }
        CompletableFuture<?> answered = request.answered();
        if (mustWait(exchange)) {
            try {
                answered.handle((result, error) -> null).get();
                finish(exchange, request);
            } catch (InterruptedException | ExecutionException e) {
                Thread.currentThread().interrupt();
                // Camel redelivers no step that was interrupted.
                exchange.setException(
                        new InterruptedException("queue '" + getEndpoint().getQueueName()
                                + "': interrupted while waiting for Redis; the request may have taken effect"));
            }
            callback.done(true);
            return true;
        }
        answered.whenComplete((result, error) -> getEndpoint().getComponent().goOnBehindProducer(() -> {
            finish(exchange, request);
            callback.done(false);
        }));
        return false;
    }

    /**
     * The request that this redelivery of the step goes on with, or null. A step that sends to the same endpoint after
     * the error was caught is no redelivery, and makes a new request.
     */
    private PendingRequest resumable(Exchange exchange) {
        if (!(exchange.getProperty(OwnHeaders.PENDING_REQUEST) instanceof ResumableStep step)
                || !step.exchangeId.equals(exchange.getExchangeId())
                || !step.endpointUri.equals(getEndpoint().getEndpointUri())
                || !isSameNode(step.node, exchange.getExchangeExtension().getHistoryNodeId())) {
            return null; // another step may be redelivered with the one that has failed
        }
        exchange.removeProperty(OwnHeaders.PENDING_REQUEST);
        // The counter stays raised after another step was redelivered, whose error then is the one that was caught
        // last.
        return redeliveries(exchange) > step.redeliveries && isCaught(step.error, exchange) ? step.request : null;
    }

    /** A route that Camel calls before a redelivery leaves no node behind. */
    private static boolean isSameNode(String before, String now) {
        return before == null || now == null || before.equals(now);
    }

    /**
     * True if this error, also wrapped by an inner route, is the one that was caught last. Behind another one nothing
     * tells a redelivery from a step that is new, and a second message is better than none.
     */
    private static boolean isCaught(Exception error, Exchange exchange) {
        for (Throwable caught : ObjectHelper.createExceptionIterable(
                exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Throwable.class))) {
            if (caught == error) {
                return true;
            }
        }
        return false;
    }

    private static int redeliveries(Exchange exchange) {
        return exchange.getMessage().getHeader(Exchange.REDELIVERY_COUNTER, 0, Integer.class);
    }

    private boolean mustWait(Exchange exchange) {
        return getEndpoint().getConfiguration().isSynchronous()
                || exchange.isTransacted() // a transaction belongs to its thread
                || ComponentThreads.isBehindProducer();
    }

    private void finish(Exchange exchange, PendingRequest request) {
        try {
            boolean asked = exchange.getMessage().hasHeaders();
            request.complete(exchange.getMessage());
            if (asked) {
                OwnHeaders.removeUsedUp(exchange.getMessage());
            }
        } catch (Throwable e) { // also an Error: the exchange must go on
            exchange.setException(e);
            if (request.mustResume()) {
                exchange.setProperty(
                        OwnHeaders.PENDING_REQUEST,
                        new ResumableStep(
                                exchange.getExchangeId(),
                                getEndpoint().getEndpointUri(),
                                exchange.getExchangeExtension().getHistoryNodeId(),
                                redeliveries(exchange),
                                exchange.getException(),
                                request));
            }
        }
    }

    private PendingRequest send(Exchange exchange) {
        Opened open = opened;
        if (open == null) {
            throw new IllegalStateException(
                    "the producer of queue '" + getEndpoint().getQueueName() + "' is stopped");
        }
        ProducerSettings settings = getEndpoint().producerSettings();
        RedisDelaySendDynamicAware.setHeaders(exchange, getEndpoint().getEndpointUri());
        OwnHeaders.check(exchange.getMessage());
        RedisDelayOperation operation = ScheduleHeaders.operation(exchange.getMessage(), settings.operation());
        return switch (operation) {
            case SCHEDULE -> open.schedule().send(exchange);
            case CANCEL, RESCHEDULE, PROMOTE, REDRIVE, PURGE, PAUSE, RESUME, CHECK ->
                open.changes().send(operation, exchange);
            case GET, LIST, STATS, OUTLOOK, QUEUES -> open.queries().send(operation, exchange);
            case IMPORT -> {
                settings.checkState(operation);
                settings.group(operation, exchange.getMessage());
                if (open.imports() == null) {
                    throw new IllegalArgumentException("operation 'import' is asked for by header '"
                            + RedisDelayConstants.OPERATION + "', and the endpoint does not say from where: set"
                            + " operation=import, import.from and import.codec on the endpoint");
                }
                yield open.imports().send(exchange, this::isRunAllowed);
            }
        };
    }
}
