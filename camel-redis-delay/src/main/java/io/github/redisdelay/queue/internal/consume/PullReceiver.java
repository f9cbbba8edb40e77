// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Receives single messages: claims one when asked, waits for the next event where there is none, and gives back what
 * arrives when nobody waits for it any more. Several threads may receive at a time; each has its own claims. The partitions of a
 * queue are asked one after the other, who has waited for the longest time first; one that does not answer within a second holds up
 * the others no longer.
 */
final class PullReceiver implements DelayQueueReceiver, WakeupListener.Woken {

    /** Longer than anybody waits, and short enough for nanoseconds. */
    private static final Duration FOREVER = Duration.ofDays(3650);

    private final ConsumerStarter starter;
    private final List<ConsumedPartition> partitions;
    private final String queue;
    private final ConsumerOptions options;
    private final DeliveryHandler listener;
    private final Timers timers;
    private final List<WakeupListener> listeners;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition event = lock.newCondition();

    // All below are guarded by lock.
    private boolean listening;
    private boolean closed;
    private CompletableFuture<Void> subscribed;
    private final Set<Waiter> waiters = new HashSet<>();
    /** The number of the last claim from each partition, whoever made it. */
    private final long[] claimNumbers;
    /** How many claims from each partition are under way that nobody waits for. */
    private final int[] hanging;

    private long claimed;

    /** Completed when this receiver is closed, to end the wait for answers. */
    private final CompletableFuture<ClaimReply> closing = new CompletableFuture<>();

    /** A receive under way. */
    private final class Waiter {
        final Source[] sources = new Source[partitions.size()];
        /** Whether any claim was answered. Used by the receiving thread only, as what follows. */
        boolean answered;
        /** Why the latest sending got no answer. */
        volatile Throwable failure;

        Waiter() {
            for (int i = 0; i < sources.length; i++) {
                sources[i] = new Source(
                        i, partitions.get(i), starter.newClaims(partitions.get(i), error -> failure = error), timers.nanoTime());
            }
        }

        /** Gives up the places in the waiting rooms. */
        void leave() {
            for (Source source : sources) {
                if (source.waits) {
                    source.waits = false;
                    source.claims.leave(starter.nextClaimId());
                }
            }
        }

        void close() {
            for (Source source : sources) {
                source.claims.close();
            }
        }
    }

    /** A partition from which one receive claims. */
    private static final class Source {
        final int number;
        final ConsumedPartition partition;
        final ClaimCalls claims;
        // Guarded by lock.
        /** The earliest event that wake-ups told of since the last claim was sent, by the local clock. */
        long wokenNanos = Long.MAX_VALUE;

        // Used by the receiving thread only.
        /** When to claim, unless it is woken before. */
        long nextNanos;
        /** Whether it was asked. */
        boolean asked;
        /** Whether any of its claims was answered. */
        boolean answered;
        /** Whether it is in the waiting room. */
        boolean waits;

        int refusals;
        /** How many claims in a row were answered when half of the lease was over. */
        int lateAnswers;

        Source(int number, ConsumedPartition partition, ClaimCalls claims, long now) {
            this.number = number;
            this.partition = partition;
            this.claims = claims;
            this.nextNanos = now;
        }
    }

    /** @param partitions the whole queue, or all partitions of it */
    PullReceiver(
            ConsumerStarter starter,
            List<ConsumedPartition> partitions,
            ConsumerOptions options,
            DeliveryHandler listener) {
        this.starter = starter;
        this.partitions = partitions;
        this.queue = partitions.get(0).address().name();
        this.options = options;
        this.listener = listener;
        this.timers = starter.timers();
        this.claimNumbers = new long[partitions.size()];
        this.hanging = new int[partitions.size()];
        this.listeners = new ArrayList<>();
        for (int i = 0; i < partitions.size(); i++) {
            listeners.add(new WakeupListener(partitions.get(i).address().keys().base(), i, this));
        }
    }

    @Override
    public Delivery receive(Duration timeout) throws InterruptedException {
        long limit =
                timeout == null || timeout.compareTo(FOREVER) > 0 ? FOREVER.toNanos() : Math.max(0, timeout.toNanos());
        long deadline = timers.nanoTime() + limit;
        listen(deadline);
        Waiter waiter = new Waiter();
        lock.lock();
        try {
            waiters.add(waiter);
        } finally {
            lock.unlock();
        }
        try {
            return receive(waiter, deadline);
        } finally {
            waiter.leave();
            waiter.close();
            lock.lock();
            try {
                waiters.remove(waiter);
            } finally {
                lock.unlock();
            }
        }
    }

    private Delivery receive(Waiter waiter, long deadline) throws InterruptedException {
        while (true) {
            Source source = next(waiter, deadline);
            if (source == null) {
                return nothing(waiter, deadline);
            }
            long sent = timers.nanoTime();
            boolean goesOn = deadline - sent > 0;
            ClaimRequest request = new ClaimRequest(
                    starter.nextClaimId(),
                    TimeUnit.NANOSECONDS.toMicros(options.visibilityTimeout().toNanos()),
                    1,
                    1,
                    goesOn ? ClaimRequest.Afterwards.WAITS_IF_GIVEN_LESS : ClaimRequest.Afterwards.DONE,
                    TimeUnit.NANOSECONDS.toMicros(ConsumerLoop.SAFETY_NANOS));
            source.asked = true;
            source.waits = false;
            CompletableFuture<ClaimReply> claim = source.claims.claim(request);
            try {
                // Also a look without waiting has to wait for its answer.
                long patience = Math.max(
                        deadline - sent,
                        source.answered ? 0 : starter.requestTimeout().toNanos());
                if (waiter.sources.length > 1) {
                    patience = Math.min(patience, PartitionState.ANSWER_NANOS);
                }
                ClaimReply reply = await(claim, sent + patience);
                if (reply == null) {
                    giveUpLater(source, claim, request, sent);
                    return null; // closed
                }
                source.refusals = 0;
                source.answered = true;
                waiter.answered = true;
                if (!reply.messages().isEmpty()) {
                    if (timers.nanoTime() - sent <= options.visibilityTimeout().toNanos() / 2) {
                        return begin(source, reply, request, sent);
                    }
                    // It could end up being worked on twice.
                    delivery(source, reply, request, sent).release();
                    source.nextNanos = timers.nanoTime() + Backoff.nanos(++source.lateAnswers, starter.random());
                    continue;
                }
                source.lateAnswers = 0;
                source.waits = goesOn;
                source.nextNanos = timers.nanoTime() + wait(reply);
            } catch (ExecutionException e) {
                Throwable error = RedisErrors.explained(queue, RedisErrors.unwrap(e.getCause()));
                if (error instanceof PartitionMismatchException mismatch) {
                    throw mismatch; // trying again would not help soon
                }
                waiter.failure = error;
                source.nextNanos = timers.nanoTime() + Backoff.nanos(++source.refusals, starter.random());
            } catch (TimeoutException e) {
                giveUpLater(source, claim, request, sent);
            } catch (InterruptedException e) {
                giveUpLater(source, claim, request, sent);
                throw e;
            }
        }
    }

    /** There is no message in time. */
    private Delivery nothing(Waiter waiter, long deadline) {
        if (waiter.answered || isClosed()) {
            return null;
        }
        throw failed(waiter.failure);
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed || starter.isClosing();
        } finally {
            lock.unlock();
        }
    }

    private static long wait(ClaimReply reply) {
        long wait = TimeUnit.MICROSECONDS.toNanos(reply.safetyMicros());
        if (reply.expected() == ClaimReply.Expected.WHEN_IT_HAS_ROOM) {
            return 0; // a repeated call's answer
        }
        if (reply.expected() != ClaimReply.Expected.AFTER_SAFETY_INTERVAL) {
            wait = earlier(wait, reply.nextDueMicros());
            wait = earlier(wait, reply.nextEndMicros());
            if (reply.expected() == ClaimReply.Expected.BY_SECOND) {
                wait += PartitionState.SECOND_NANOS;
            }
        }
        return wait;
    }

    private DelayQueueException failed(Throwable cause) {
        return new DelayQueueException(
                "queue '" + queue + "': " + starter.server() + " could not be asked for a message: "
                        + (cause == null ? "no answer in time" : RedisErrors.text(cause)),
                cause);
    }

    private ClaimReply await(CompletableFuture<ClaimReply> claim, long until)
            throws InterruptedException, ExecutionException, TimeoutException {
        return claim.applyToEither(closing, reply -> reply)
                .get(Math.max(1, until - timers.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private static long earlier(long nanos, long micros) {
        return micros < 0
                ? nanos
                : Math.min(nanos, TimeUnit.MICROSECONDS.toNanos(Math.min(micros, TimeUnit.DAYS.toMicros(3650))));
    }

    /**
     * Waits until there is a partition to claim from; null if the time is over and each was asked, or the receiver was closed.
     */
    private Source next(Waiter waiter, long deadline) throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                if (closed || starter.isClosing()) {
                    return null;
                }
                long now = timers.nanoTime();
                boolean over = deadline - now <= 0;
                Source next = null;
                long wake = deadline;
                for (Source source : waiter.sources) {
                    // Nor does another receive wait for a node that is away.
                    if ((hanging[source.number] > 0 && waiter.sources.length > 1) || (over && source.asked)) {
                        continue;
                    }
                    long at = Math.min(source.nextNanos, source.wokenNanos);
                    if (at - now > 0) {
                        wake = Math.min(wake, at);
                    } else if (next == null || claimNumbers[source.number] < claimNumbers[next.number]) {
                        next = source;
                    }
                }
                if (next != null) {
                    next.wokenNanos = Long.MAX_VALUE;
                    claimNumbers[next.number] = ++claimed;
                    return next;
                }
                if (over) {
                    return null;
                }
                event.awaitNanos(wake - now);
            }
        } finally {
            lock.unlock();
        }
    }

    private Delivery begin(Source source, ClaimReply reply, ClaimRequest request, long sent) {
        ClaimedDelivery delivery = delivery(source, reply, request, sent);
        delivery.begun(timers.nanoTime());
        starter.leases().keep(delivery, options, listener);
        return delivery;
    }

    private ClaimedDelivery delivery(Source source, ClaimReply reply, ClaimRequest request, long sent) {
        return new ClaimedDelivery(
                source.partition.settlements(),
                reply.messages().get(0),
                request.claimId(),
                reply.timeMicros(),
                sent,
                timers.nanoTime(),
                timers,
                (finished, worked) -> starter.leases().remove(finished));
    }

    /**
     * Gives back what a claim gives that nobody waits for any more. If its receive goes on with other partitions, it asks this one
     * again after the answer.
     */
    private void giveUpLater(Source source, CompletableFuture<ClaimReply> claim, ClaimRequest request, long sent) {
        lock.lock();
        try {
            hanging[source.number]++;
        } finally {
            lock.unlock();
        }
        claim.whenComplete((reply, error) -> {
            if (error == null && !reply.messages().isEmpty()) {
                delivery(source, reply, request, sent).release();
            } else if (error == null) {
                source.claims.leave(starter.nextClaimId());
            }
            lock.lock();
            try {
                hanging[source.number]--;
                event.signalAll();
            } finally {
                lock.unlock();
            }
        });
    }

    /** Listens from the first receive on: first the subscription, then the first claim. */
    private void listen(long deadline) throws InterruptedException {
        CompletableFuture<Void> ready;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (!listening) {
                listening = true;
                subscribed = starter.subscribe(listeners);
            }
            ready = subscribed;
        } finally {
            lock.unlock();
        }
        long left = Math.min(
                deadline - timers.nanoTime(), starter.requestTimeout().toNanos());
        if (left > 0) {
            try {
                ready.get(left, TimeUnit.NANOSECONDS);
            } catch (ExecutionException | TimeoutException e) {
                // Claims tell more about what is wrong.
            }
        }
    }

    @Override
    public void makePass(int partition) {
        if (starter.isClosing()) {
            closing.complete(null);
        }
        wakeUp(partition, 0);
    }

    @Override
    public void wakeUp(int partition, long waitMicros) {
        lock.lock();
        try {
            long at = timers.nanoTime() + earlier(TimeUnit.DAYS.toNanos(3650), waitMicros);
            for (Waiter waiter : waiters) {
                Source source = waiter.sources[partition];
                source.wokenNanos = Math.min(source.wokenNanos, at);
            }
            event.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        boolean remove;
        lock.lock();
        try {
            closed = true;
            remove = listening;
            listening = false;
            event.signalAll();
        } finally {
            lock.unlock();
        }
        closing.complete(null);
        if (remove) {
            starter.unsubscribe(listeners);
        }
    }
}
