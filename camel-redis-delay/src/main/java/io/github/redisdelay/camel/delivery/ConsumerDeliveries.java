// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.monitor.StatsText;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.thread.ComponentThreads;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.camel.Exchange;
import org.apache.camel.spi.ExceptionHandler;
import org.apache.camel.support.DefaultConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The working side of a consumer. It claims messages, makes exchanges of them, ties the exchanges' completion to the
 * messages, and logs what the queue layer reports.
 */
public final class ConsumerDeliveries implements DeliveryHandler {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerDeliveries.class);

    /** The longest wait until Redis has heard that a consumer has stopped. */
    private static final long FAREWELL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final DefaultConsumer consumer;
    private final ExceptionHandler handler;
    private final Reference<OpenClient> share;
    private final DelayQueue queue;
    private final MessageMapper mapper;
    private final DeliveryPolicy policy;
    private final DeliveryReport report;
    private final ComponentThreads threads;
    /** Runs the exchanges. */
    private final Executor routing;

    /** The delivery that the last line of a standstill names; null if none does, or it has ended. */
    private final AtomicReference<Delivery> standsStill = new AtomicReference<>();

    // Written under the lock of the consumer, which Camel starts and stops. Read by any thread.
    private volatile ConsumerSettings settings;
    private volatile boolean suspended;
    private volatile String shown;
    private volatile DelayQueueConsumer claims;

    /** The id of the exchange of each delivery under way. An exchange may be pooled, so the exchange itself is not kept. */
    private final Map<Delivery, String> underWay = new ConcurrentHashMap<>();

    /** The threads that are in the processor of a consumer without a route. */
    private final Set<Thread> processing = ConcurrentHashMap.newKeySet();

    /** Holds something once a delivery has ended. Who waits for it holds no lock meanwhile. */
    private final BlockingQueue<Boolean> ended = new ArrayBlockingQueue<>(1);

    /**
     * @param consumer makes and takes the exchanges
     * @param handler an exception handler of the user's; null if there is none
     * @param share the consumer's share in the client
     * @param queue which is that of the dead letters if they are consumed
     */
    public ConsumerDeliveries(
            DefaultConsumer consumer,
            ExceptionHandler handler,
            ConsumerSettings settings,
            Reference<OpenClient> share,
            DelayQueue queue,
            MessageMapper mapper,
            DeliveryReport report,
            ComponentThreads threads) {
        this.consumer = consumer;
        this.handler = handler;
        this.settings = settings;
        this.share = share;
        this.queue = queue;
        this.mapper = mapper;
        this.policy = settings.policy();
        this.report = report;
        this.threads = threads;
        this.routing = threads.executor(settings.executor(), "queue '" + queue.name() + "'");
    }

    /**
     * Begins to claim.
     *
     * @param name by which people know the consumer among those of its context
     * @param inSentence the same in a sentence
     */
    public void start(String name, String inSentence) {
        shown = inSentence;
        claims = queue.consume(settings.claiming(ConsumerNames.full(name)), routing, this);
    }

    @Override
    public void limited(QueueLimits before, Throwable error) {
        QueueLimits limits = settings.queueLimits();
        if (error != null && !consumer.isStoppingOrStopped()) {
            LOG.warn("queue '{}': {} could not set {}: {}", queue.name(), shown, limits, ErrorText.of(error));
        } else if (error == null && !before.equals(limits) && !before.equals(limits.ofGroups())) {
            LOG.warn("queue '{}': its limits were {}, and are {}, as {} says", queue.name(), before, limits, shown);
        }
    }

    /** The claims, or null if they have not begun. */
    public DelayQueueConsumer claims() {
        return claims;
    }

    /** Sets how many exchanges may be under way at a time, from now on. */
    public void setConcurrentConsumers(ConsumerSettings changed) {
        settings = changed;
        if (claims != null) {
            claims.setConcurrentConsumers(changed.exchanges());
        }
    }

    /** Claims nothing more, and releases what was not begun, and what is still to come. */
    public void suspend() {
        suspended = true;
        if (claims != null) {
            claims.suspend();
        }
    }

    public boolean isSuspended() {
        return suspended;
    }

    public void resume() {
        suspended = false;
        if (claims != null) {
            claims.resume();
        }
    }

    /**
     * Stops for good. A consumer without a route first claims nothing more and waits for its work. Then the claims end:
     * leases of work under way are extended no more, what was not begun goes back to Redis, and the consumer takes back its
     * promises to come for messages and ends its heartbeat.
     *
     * @param patience how many nanoseconds a consumer without a route waits for its work; a tenth of it, but no more than a
     *     second, is waited until Redis has heard of the end
     */
    public void stop(long patience) {
        if (claims != null) {
            if (consumer.getRoute() == null) {
                claims.suspend();
                awaitEnd(patience);
            }
            // Camel has waited for the work of a route, up to its shutdown timeout. Work still under way may go on. It
            // can be acknowledged until its leases expire.
            awaitFarewell(claims.stop(false), Math.min(patience / 10, FAREWELL_NANOS));
        }
    }

    private static void awaitFarewell(CompletableFuture<Void> farewell, long nanos) {
        try {
            farewell.get(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("Redis does not know that a consumer has stopped, and lists it for a while: {}", e.toString());
        }
    }

    @Override
    public void handle(Delivery delivery) {
        handle(List.of(delivery));
    }

    @Override
    public void handle(List<? extends Delivery> batch) {
        List<DeliveryCompletion> messages = new ArrayList<>(batch.size());
        for (Delivery delivery : batch) {
            DeliveryCompletion message = admit(delivery);
            if (message != null) {
                messages.add(message);
            }
        }
        if (!messages.isEmpty()) {
            route(messages);
        }
    }

    /** The completion of a delivery when its route has ended; null if the delivery was finished instead. */
    private DeliveryCompletion admit(Delivery delivery) {
        // The delivery keeps the client open, as its acknowledgement may come after the consumer's end.
        Reference<OpenClient> held = share.retain();
        Runnable finished = () -> {
            underWay.remove(delivery);
            if (standsStill.get() == delivery && standsStill.compareAndSet(delivery, null)) {
                LOG.info(
                        "queue '{}': {} goes on: {} has ended, claimed {} ago",
                        queue.name(),
                        shown,
                        delivery,
                        Durations.text(sinceClaim(delivery)));
            }
            held.release(threads.closer());
            // Nobody waits here for the work of a route, whose threads would take turns at the lock.
            if (consumer.getRoute() == null) {
                ended.offer(true);
            }
        };
        String routeId = consumer.getRouteId();
        if (consumer.isStoppingOrStopped()) {
            new DeliveryCompletion(delivery, policy, report, routeId, finished, null).release();
            return null;
        }
        return DeliveryCompletion.admit(delivery, policy, report, routeId, finished);
    }

    private void route(List<DeliveryCompletion> messages) {
        ExchangeCompletion completion = new ExchangeCompletion(messages);
        Exchange exchange;
        RoutedExchange routed;
        try {
            exchange = consumer.createExchange(true);
            if (settings.batch() == null) {
                ExchangeFiller.fill(exchange, messages.get(0), mapper);
            } else {
                ExchangeFiller.fill(exchange, messages, mapper);
            }
            routed = new RoutedExchange(consumer, exchange, completion, handler != null);
            for (DeliveryCompletion message : messages) {
                underWay.put(message.delivery(), exchange.getExchangeId());
            }
        } catch (Throwable e) {
            // A header filter of the user's, most likely.
            completion.failedBeforeRouting(e);
            tell("no exchange could be made of a message", e);
            return;
        }
        messages.forEach(DeliveryCompletion::begun);
        boolean plain = consumer.getRoute() == null;
        if (plain) {
            processing.add(Thread.currentThread());
        }
        try {
            routed.process();
        } finally {
            if (plain) {
                processing.remove(Thread.currentThread());
            }
        }
    }

    /**
     * Waits until nothing is worked on, as Camel does for a route; not in the work itself, which would wait for its own end,
     * and no longer when the thread is interrupted.
     */
    private void awaitEnd(long nanos) {
        if (processing.contains(Thread.currentThread())) {
            return;
        }
        long deadline = System.nanoTime() + nanos;
        try {
            for (long left = nanos; left > 0 && claims.underWay() > 0; left = deadline - System.nanoTime()) {
                // At most 100 ms: the slot may be free long before Redis has answered, which is the signal.
                ended.poll(Math.min(left, 100_000_000), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Calls an exception handler of the user's. Camel's own would only log, as we do. */
    private void tell(String what, Throwable error) {
        if (handler != null) {
            handler.handleException("queue '" + queue.name() + "': " + what, error);
        }
    }

    @Override
    public void extensionLimitReached(Delivery delivery, Duration age) {
        LOG.warn(
                "{} has been worked on for {} by {} (exchange {}): its lease is not extended any more, and it will"
                        + " be delivered again when that ends. Option 'maximumVisibilityExtension' is the limit",
                delivery,
                Durations.text(age),
                shown,
                underWay.get(delivery));
    }

    /** The time since the claim of what has been under way for the longest time; zero if nothing is. */
    public Duration longestRunning() {
        return underWay.keySet().stream()
                .min(Comparator.comparingLong(Delivery::claimedMicros))
                .map(ConsumerDeliveries::sinceClaim)
                .orElse(Duration.ZERO);
    }

    @Override
    public void overdueWhileFull(Duration age, Delivery longestRunning) {
        standsStill.set(longestRunning); // before the line, behind which it may have ended
        LOG.warn(
                "queue '{}': a message has been due for {} while {} works on as many as it may ({}). The longest"
                        + " running is {}, exchange {}, claimed {} ago",
                queue.name(),
                Durations.text(age),
                shown,
                settings.exchanges(),
                longestRunning,
                underWay.get(longestRunning),
                Durations.text(sinceClaim(longestRunning)));
    }

    /** The lateness grows with the time since the claim. */
    private static Duration sinceClaim(Delivery delivery) {
        return delivery.lateness()
                .minus(StatsText.micros(Math.max(0, delivery.claimedMicros() - delivery.dueMicros())));
    }

    @Override
    public void paused(boolean paused) {
        if (paused) {
            // It may have been resumed since, or Redis may be away.
            queue.admin()
                    .stats()
                    .thenApply(stats -> stats.paused() ? " since " + StatsText.time(stats.pausedMicros()) : "")
                    .exceptionally(error -> "")
                    .thenAccept(since -> LOG.info(
                            "queue '{}': paused{}: {} receives nothing until it is resumed",
                            queue.name(),
                            since,
                            shown));
        } else {
            LOG.info("queue '{}': resumed: {} receives again", queue.name(), shown);
        }
    }

    @Override
    public void claimsFailing(Throwable error) {
        String address = share.get().address();
        if (error == null) {
            LOG.info("queue '{}': messages can be received from {} again", queue.name(), address);
            return;
        }
        String what = "no message can be received from " + address + ", trying again until it works";
        LOG.warn("queue '{}': {}: {}", queue.name(), what, ErrorText.of(error));
        // The exception handler may route an exchange, which takes its time.
        threads.goOn(() -> tell(what, error));
    }
}
