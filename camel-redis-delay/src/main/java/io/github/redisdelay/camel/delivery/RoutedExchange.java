// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.Route;
import org.apache.camel.spi.InflightRepository;
import org.apache.camel.spi.ReactiveExecutor;
import org.apache.camel.spi.Synchronization;
import org.apache.camel.spi.UnitOfWork;
import org.apache.camel.support.DefaultConsumer;
import org.apache.camel.support.UnitOfWorkHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An exchange in a consumer's processor. It ends its unit of work when the processor is done with it. The unit of work is
 * the consumer's own: its end finishes what the exchange holds, and a processor that is no route makes none. A route's unit
 * of work would also end too early for a processor that sends the exchange to several routes in turn.
 */
final class RoutedExchange implements AsyncCallback {

    private static final Logger LOG = LoggerFactory.getLogger(RoutedExchange.class);

    /** Each of the parts of a split can fail by an {@code Error}. */
    private static final int MOST_FAILURES = 10_000;

    private final Exchange exchange;
    private final UnitOfWork work;
    private final ExchangeCompletion completion;
    private final Synchronization watch;
    private final DefaultConsumer consumer;
    private final AsyncCallback callback;

    /** True once the processor is done with it. Only the first time counts. */
    private final AtomicBoolean done = new AtomicBoolean();

    /** The thread that is in the processor; null if none is. */
    private volatile Thread handing;
    /** True once the processor was done with it on that thread. Used by that thread only. */
    private boolean doneHere;

    /**
     * Begins the unit of work of an exchange that is to be handed over next.
     *
     * @param completion finishes what the exchange holds
     * @param tell whether failures go to the consumer's exception handler
     */
    RoutedExchange(DefaultConsumer consumer, Exchange exchange, ExchangeCompletion completion, boolean tell)
            throws Exception {
        this.consumer = consumer;
        this.exchange = exchange;
        this.completion = completion;
        this.watch = completion.watch();
        exchange.getExchangeExtension().addOnCompletion(completion);
        exchange.getExchangeExtension().addOnCompletion(watch);
        boolean used = exchange.getUnitOfWork() != null;
        work = consumer.createUoW(exchange);
        if (used) {
            // It is that of a pooled exchange, and the first to prepare it has to end it.
            work.onPrepare(exchange);
        }
        // Camel's callback tells the exception handler, and Camel's own handler would only log what is logged already.
        callback = tell ? consumer.defaultConsumerCallback(exchange, true) : doneSync -> {};
    }

    /** Hands the exchange to the processor. */
    void process() {
        handing = Thread.currentThread();
        try {
            consumer.getAsyncProcessor().process(exchange, this);
        } catch (Throwable e) {
            failed(e);
        }
        handing = null;
        if (doneHere) {
            finish(true);
        }
    }

    /**
     * Camel calls this for an {@code Error}, too, before it throws it: so this thread waits for what the processor ends
     * with.
     */
    @Override
    public void done(boolean doneSync) {
        if (Thread.currentThread() == handing) {
            doneHere = true;
        } else {
            finish(doneSync);
        }
    }

    private void finish(boolean doneSync) {
        if (done.compareAndSet(false, true)) {
            try {
                end();
            } finally {
                callback.done(doneSync);
            }
        }
    }

    private void end() {
        // Completions ask for the route, and name it in the log, as at the end of a route's own unit of work.
        if (consumer.getRoute() != null) {
            work.pushRoute(consumer.getRoute());
        }
        if (work.isBeforeAfterProcess()) {
            work.beforeProcess(consumer.getProcessor(), exchange, callback);
        }
        try {
            UnitOfWorkHelper.doneUow(work, exchange);
        } catch (Throwable e) {
            // Camel ignores what a completion throws, but for an Error.
            LOG.warn("A completion of exchange {} has failed. This is ignored", exchange.getExchangeId(), e);
            runRest();
            Synchronization left = work.containsSynchronization(completion) ? completion : watch;
            if (exchange.isFailed()) {
                left.onFailure(exchange);
            } else {
                left.onComplete(exchange);
            }
            exchange.getContext().getInflightRepository().remove(exchange);
            work.reset();
        }
    }

    /**
     * The processor has thrown, instead of telling its callback. Camel lets an {@code Error} through and makes an exception
     * of all else; here each is a failure like any other.
     */
    private void failed(Throwable cause) {
        if (done.get()) {
            LOG.warn("An exchange was completed and failed afterwards", cause);
            return;
        }
        exchange.setException(cause);
        // Error handlers have not seen it, and are not asked now.
        exchange.getExchangeExtension().setRedeliveryExhausted(true);
        runRest();
        // A route may not have heard of the end, and still count the exchange as in flight: a stop would wait in vain.
        InflightRepository inflight = exchange.getContext().getInflightRepository();
        for (Route route = work.popRoute(); route != null; route = work.popRoute()) {
            inflight.remove(exchange, route.getRouteId());
        }
        doneHere = true;
        exchange.setException(cause); // the end of a split takes that of its parts
    }

    /**
     * Runs what the failure has left on this thread. Camel would go on with it at the next exchange: an exchange that has
     * ended, and a pooled one may be another message's by then.
     */
    private void runRest() {
        ReactiveExecutor rest = exchange.getContext().getCamelContextExtension().getReactiveExecutor();
        for (int i = 0; i < MOST_FAILURES; i++) {
            try {
                rest.schedule(() -> {});
                return;
            } catch (Throwable e) {
                LOG.debug("Another part of an exchange has failed", e);
            }
        }
    }

    @Override
    public String toString() {
        return "routed exchange";
    }
}
