// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;

/**
 * Receives single messages: a consumer whose slots are the callers that wait. Several threads may receive at a time;
 * the one that has waited for the longest time is given the next message. A message that arrives when nobody waits is
 * released at once.
 */
final class RedisDelayQueueReceiver implements DelayQueueReceiver, DeliveryHandler, ConsumerHost {

    /** Longer than anybody waits, and short enough for nanoseconds. */
    private static final long FOREVER_NANOS = TimeUnit.DAYS.toNanos(3650);

    private final ConsumerHost host;
    private final Duration requestTimeout;
    private final Timers timers;
    private final DeliveryHandler listener;
    private final ConsumerLoop loop;

    /**
     * The callers that wait, in the order in which they came. Each leaves by itself, or is taken out to be given a
     * message.
     */
    private final Queue<Caller> waiting = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean listens = new AtomicBoolean();

    private volatile boolean closed;

    /** A receive under way. */
    private static final class Caller {
        /** Completed once: with a message, with null if there is none in time, or with an error. */
        final CompletableFuture<Delivery> given = new CompletableFuture<>();

        final long deadline;
        /** The number of the last claim before it came: later ones look for it. Set once, by its own thread. */
        volatile long since = Long.MAX_VALUE;

        Caller(long deadline) {
            this.deadline = deadline;
        }
    }

    /**
     * @param partitions all of the queue, at least one
     * @param requestTimeout for how long a call waits for an answer
     * @param listener told what becomes of the leases
     */
    RedisDelayQueueReceiver(
            List<PartitionState> partitions,
            ConsumerOptions options,
            ConsumerHost host,
            Duration requestTimeout,
            Timers timers,
            RandomGenerator random,
            LeaseExtender leases,
            DeliveryHandler listener) {
        this.host = host;
        this.requestTimeout = requestTimeout;
        this.timers = timers;
        this.listener = listener;
        this.loop = new ConsumerLoop(partitions, options, this, timers, random, leases, Runnable::run, this);
    }

    /** The loop that claims for the callers. */
    ConsumerLoop loop() {
        return loop;
    }

    @Override
    public Delivery receive(Duration timeout) throws InterruptedException {
        long wanted = timeout == null ? FOREVER_NANOS : TimeUnit.NANOSECONDS.convert(timeout);
        long limit = Math.max(0, Math.min(FOREVER_NANOS, wanted));
        long start = timers.nanoTime();
        beginToListen();
        Caller caller = new Caller(start + limit);
        waiting.add(caller);
        try {
            caller.since = loop.callersChanged(waiting::size, true);
            if (closed) {
                caller.given.complete(null);
            }
            // Also without time to wait, the look waits for its answer.
            long answerBy = timers.nanoTime() + requestTimeout.toNanos();
            Delivery delivery = await(caller, answerBy);
            if (delivery == null && !closed && !loop.hasAnswered(caller.since)) {
                throw failed(loop.lastError());
            }
            return delivery;
        } catch (InterruptedException e) {
            if (!caller.given.complete(null)) {
                caller.given.thenAccept(delivery -> {
                    if (delivery != null) {
                        delivery.settle(Settlement.RELEASE);
                    }
                });
            }
            throw e;
        } finally {
            waiting.remove(caller);
            loop.callersChanged(waiting::size, false);
        }
    }

    /** Listens from the first receive on. What came before the subscription stands is found by another look. */
    private void beginToListen() {
        if (!closed && listens.compareAndSet(false, true)) {
            host.listen().whenComplete((none, error) -> loop.callersChanged(waiting::size, true));
            if (closed) {
                host.stopped(CompletableFuture.completedFuture(null)); // it was closed before it listened
            }
        }
    }

    /**
     * Waits for a message until the deadline, and then for the answer to a look at each partition.
     *
     * @param answerBy until when a look waits for its answer
     */
    private Delivery await(Caller caller, long answerBy) throws InterruptedException {
        long until = caller.deadline;
        while (true) {
            long left = until - timers.nanoTime();
            try {
                return caller.given.get(Math.max(0, left), TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof DelayQueueException told ? told : failed(e.getCause());
            } catch (TimeoutException e) {
                long now = timers.nanoTime();
                if ((answerBy - now <= 0 || loop.hasLooked(caller.since))
                        && caller.deadline - now <= 0
                        && caller.given.complete(null)) {
                    return null;
                }
                // A node that is away gives up the capacity after this time, and then nobody waits for it any more.
                until = Math.min(answerBy, now + PartitionState.ANSWER_NANOS);
            }
        }
    }

    private DelayQueueException failed(Throwable cause) {
        return new DelayQueueException(
                "queue '" + loop.queue() + "': " + host.server() + " could not be asked for a message: "
                        + (cause == null ? "no answer in time" : ErrorText.of(cause)),
                cause);
    }

    /** Gives a message to the caller that has waited for the longest time. */
    @Override
    public void handle(Delivery delivery) {
        for (Caller caller = waiting.poll(); caller != null; caller = waiting.poll()) {
            loop.handedOver((ClaimedDelivery) delivery);
            if (caller.given.complete(delivery)) {
                return;
            }
        }
        delivery.settle(Settlement.RELEASE);
    }

    @Override
    public void extensionLimitReached(Delivery delivery, Duration age) {
        listener.extensionLimitReached(delivery, age);
    }

    @Override
    public boolean prefetches() {
        return false;
    }

    /** Ends the wait of those whose time is over, and of all if trying again would not help soon. */
    @Override
    public void claimEnded(Throwable refusal) {
        for (Caller caller : waiting) {
            if (refusal instanceof PartitionMismatchException) {
                caller.given.completeExceptionally(refusal);
            } else if (caller.deadline - timers.nanoTime() <= 0 && loop.hasLooked(caller.since)) {
                caller.given.complete(null);
            }
        }
    }

    @Override
    public ClaimId nextClaimId() {
        return host.nextClaimId();
    }

    @Override
    public CompletableFuture<Void> listen() {
        return host.listen();
    }

    @Override
    public CompletableFuture<QueueStats> stats() {
        return host.stats();
    }

    @Override
    public void close() {
        loop.stop(true);
    }

    /** The loop has stopped, as the receiver or its client is closed. */
    @Override
    public CompletableFuture<Void> stopped(CompletableFuture<Void> left) {
        closed = true;
        waiting.forEach(caller -> caller.given.complete(null));
        return host.stopped(left);
    }
}
