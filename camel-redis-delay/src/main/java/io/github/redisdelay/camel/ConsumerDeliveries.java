// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.RedisDelayClients.OpenClient;
import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.RedisErrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.camel.Exchange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Works on what the queue layer hands to a consumer: makes exchanges of it, ties their completion to the messages, and tells the
 * log what the queue layer tells.
 */
final class ConsumerDeliveries implements DeliveryHandler {

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayConsumer.class);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final RedisDelayConsumer consumer;
    private final Reference<OpenClient> share;
    private final DeliveryPolicy policy;
    private final DeliveryReport report;
    private final BatchCollector batches;

    /** What is under way, by delivery: an exchange may be pooled, so its id is kept instead of the exchange. */
    private final Map<Delivery, String> underWay = new ConcurrentHashMap<>();

    private final LongAdder received;

    /** Those that are in the processor of a consumer without a route. */
    private final Set<Thread> processing = ConcurrentHashMap.newKeySet();

    private final ReentrantLock endLock = new ReentrantLock();
    private final Condition end = endLock.newCondition();

    /**
     * @param share the consumer's share in the client
     * @param received counts the messages that are handed to the route
     */
    ConsumerDeliveries(
            RedisDelayConsumer consumer, Reference<OpenClient> share, DeliveryReport report, LongAdder received) {
        this.consumer = consumer;
        this.share = share;
        this.report = report;
        this.received = received;
        ConsumerSettings settings = consumer.settings();
        this.policy = settings.policy();
        this.batches = settings.batches() == null ? null : collector(settings);
    }

    private BatchCollector collector(ConsumerSettings settings) {
        Duration timeout = settings.batches().timeout();
        Duration third = settings.claims().visibilityTimeout().dividedBy(3);
        Duration patience =
                timeout.plus(third.compareTo(BatchCollector.PATIENCE) < 0 ? third : BatchCollector.PATIENCE);
        RedisDelayComponent component = consumer.getEndpoint().getComponent();
        return new BatchCollector(
                settings.batches().size(),
                timeout,
                patience,
                settings.claims().concurrentConsumers(),
                component.timers(),
                component.executor(),
                this::route,
                consumer::claimingChanged,
                this::batchesHang);
    }

    /** Sets how many exchanges may be under way at a time, from now on. */
    void setExchanges(int exchanges) {
        if (batches != null) {
            batches.setExchanges(exchanges);
        }
    }

    /** Whether there is room for more messages. */
    boolean wantsMore() {
        return batches == null || batches.wantsMore();
    }

    /** Gives back what was not begun, and what is still to come. */
    void suspend() {
        if (batches != null) {
            batches.suspend();
        }
    }

    void resume() {
        if (batches != null) {
            batches.resume();
        }
    }

    @Override
    public void handle(Delivery delivery) {
        // Its acknowledgement may come after the consumer's end: it keeps the client open.
        Reference<OpenClient> held = share.retain();
        Runnable finished = () -> {
            underWay.remove(delivery);
            held.release(consumer.getEndpoint().getComponent()::close);
        };
        if (consumer.isStoppingOrStopped()) {
            new DeliveryCompletion(delivery, policy, report, consumer.getRouteId(), finished, null).release();
            return;
        }
        DeliveryCompletion message =
                DeliveryCompletion.admit(delivery, policy, report, consumer.getRouteId(), finished);
        if (message == null) {
            return;
        }
        if (batches != null) {
            batches.add(message);
        } else {
            route(message);
        }
    }

    private void route(DeliveryCompletion message) {
        ExchangeCompletion completion = new ExchangeCompletion(List.of(message), this::ended);
        route(
                List.of(message),
                completion,
                exchange -> DeliveryExchange.fill(
                        exchange, message, consumer.getEndpoint().mapper()));
    }

    /** Begins a batch. */
    private void route(List<DeliveryCompletion> batch) {
        List<DeliveryCompletion> held = new ArrayList<>(batch.size());
        for (DeliveryCompletion message : batch) {
            if (consumer.isStoppingOrStopped() || message.delivery().isLeaseLost()) {
                message.release();
            } else {
                held.add(message);
            }
        }
        if (held.isEmpty()) {
            batches.finished();
            return;
        }
        ExchangeCompletion completion = new ExchangeCompletion(held, () -> {
            batches.finished();
            ended();
        });
        route(
                held,
                completion,
                exchange -> DeliveryExchange.fill(
                        exchange, held, consumer.getEndpoint().mapper()));
    }

    private void route(
            List<DeliveryCompletion> messages,
            ExchangeCompletion completion,
            java.util.function.Consumer<Exchange> filler) {
        Exchange exchange;
        RoutedExchange routed;
        try {
            exchange = consumer.createExchange(true);
            filler.accept(exchange);
            routed = RoutedExchange.begin(consumer, exchange, completion);
            for (DeliveryCompletion message : messages) {
                underWay.put(message.delivery(), exchange.getExchangeId());
            }
        } catch (Throwable e) {
            // A header filter of the user's, most likely.
            completion.failedBeforeRouting(e);
            tell("no exchange could be made of a message", e);
            return;
        }
        received.add(messages.size());
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

    /** An exchange has ended. */
    private void ended() {
        if (consumer.getRoute() != null) {
            return; // Camel waits for a route's work, and nobody here
        }
        endLock.lock();
        try {
            end.signalAll();
        } finally {
            endLock.unlock();
        }
    }

    /**
     * Waits until nothing is worked on, as Camel does for a route; not in the work itself, which would wait for its own end, and no
     * longer when the thread is interrupted.
     *
     * @param claims suspended
     */
    void awaitEnd(DelayQueueConsumer claims, long nanos) {
        if (processing.contains(Thread.currentThread())) {
            return;
        }
        endLock.lock();
        try {
            long left = nanos;
            while (left > 0 && claims.underWay() > 0) {
                // What is given back without having been begun ends without a word.
                long look = Math.min(left, LOOK_NANOS);
                left -= look - Math.max(0, end.awaitNanos(look));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            endLock.unlock();
        }
    }

    /** Tells an exception handler of the user's. Camel's own would only log, as we do. */
    private void tell(String what, Throwable error) {
        if (consumer.hasOwnExceptionHandler()) {
            consumer.getExceptionHandler()
                    .handleException("queue '" + consumer.getEndpoint().getQueueName() + "': " + what, error);
        }
    }

    @Override
    public void extensionLimitReached(Delivery delivery, Duration age) {
        LOG.warn(
                "{} has been worked on for {} by {} (exchange {}): its lease is not extended any more, and it will"
                        + " be delivered again when that ends. Option 'maximumVisibilityExtension' is the limit",
                delivery,
                QueueReport.text(age),
                consumer.shown(),
                underWay.get(delivery));
    }

    /** The queue layer does not see that no exchange is free: it was told to claim nothing. */
    private void batchesHang() {
        DelayQueue queue = consumer.queue();
        Delivery longest = underWay.keySet().stream()
                .min(Comparator.comparingLong(Delivery::claimedMicros))
                .orElse(null);
        if (queue == null || longest == null) {
            return;
        }
        queue.stats().thenAccept(stats -> {
            Duration age = QueueReport.micros(stats.oldestOverdueMicros());
            if (age.compareTo(BatchCollector.HANGING) >= 0) {
                overdueWhileFull(age, longest);
            }
        });
    }

    @Override
    public void overdueWhileFull(Duration age, Delivery longestRunning) {
        LOG.warn(
                "queue '{}': a message has been due for {} while {} works on as many as it may ({}). The longest"
                        + " running is {}, exchange {}, claimed {} ago",
                longestRunning.queue(),
                QueueReport.text(age),
                consumer.shown(),
                consumer.settings().claims("").concurrentConsumers(),
                longestRunning,
                underWay.get(longestRunning),
                QueueReport.text(sinceClaim(longestRunning)));
    }

    /** The lateness grows with the time since the claim. */
    private static Duration sinceClaim(Delivery delivery) {
        return delivery.lateness()
                .minus(QueueReport.micros(Math.max(0, delivery.claimedMicros() - delivery.dueMicros())));
    }

    @Override
    public void claimsFailing(Throwable error) {
        String queue = consumer.getEndpoint().getQueueName();
        if (error == null) {
            LOG.info("queue '{}': messages can be received from {} again", queue, consumer.address());
            return;
        }
        String what = "no message can be received from " + consumer.address() + ", trying again until it works";
        LOG.warn("queue '{}': {}: {}", queue, what, RedisErrors.text(error));
        // The exception handler may route an exchange, which takes its time.
        consumer.getEndpoint().getComponent().goOn(() -> tell(what, error));
    }
}
