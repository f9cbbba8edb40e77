// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Receives single messages: claims one when asked, waits for the next event where there is none, and gives back what
 * arrives when nobody waits for it any more. Several threads may receive at a time; each has its own claims.
 */
final class SingleReceiver implements DelayQueueReceiver, WakeupChannel.Sleeper {

    /** Longer than anybody waits, and short enough for nanoseconds. */
    private static final Duration FOREVER = Duration.ofDays(3650);

    private final DelayQueueClient client;
    private final RedisDelayQueue queue;
    private final ConsumerOptions options;
    private final DeliveryHandler listener;
    private final Timers timers;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition event = lock.newCondition();

    // All below are guarded by lock.
    private boolean listening;
    private boolean closed;
    private CompletableFuture<Void> subscribed;
    private final Set<Waiter> waiters = new HashSet<>();

    /** Completed when this receiver is closed, to end the wait for answers. */
    private final CompletableFuture<ClaimReply> closing = new CompletableFuture<>();

    /** A receive under way. Guarded by lock. */
    private static final class Waiter {
        /** The earliest event that wake-ups told of since its last claim was sent, by the local clock. */
        long wokenNanos = Long.MAX_VALUE;
    }

    SingleReceiver(DelayQueueClient client, RedisDelayQueue queue, ConsumerOptions options, DeliveryHandler listener) {
        this.client = client;
        this.queue = queue;
        this.options = options;
        this.listener = listener;
        this.timers = client.timers();
    }

    @Override
    public Delivery receive(Duration timeout) throws InterruptedException {
        long limit =
                timeout == null || timeout.compareTo(FOREVER) > 0 ? FOREVER.toNanos() : Math.max(0, timeout.toNanos());
        long deadline = timers.nanoTime() + limit;
        listen(deadline);
        Throwable[] failure = new Throwable[1];
        Claims claims = client.newClaims(queue, error -> failure[0] = error);
        Waiter waiter = new Waiter();
        lock.lock();
        try {
            waiters.add(waiter);
        } finally {
            lock.unlock();
        }
        try {
            return receive(claims, waiter, deadline, failure);
        } finally {
            claims.close();
            lock.lock();
            try {
                waiters.remove(waiter);
            } finally {
                lock.unlock();
            }
        }
    }

    private Delivery receive(Claims claims, Waiter waiter, long deadline, Throwable[] failure)
            throws InterruptedException {
        int refusals = 0;
        boolean answered = false;
        while (true) {
            boolean over;
            lock.lock();
            try {
                over = closed || client.isClosing();
                waiter.wokenNanos = Long.MAX_VALUE;
            } finally {
                lock.unlock();
            }
            if (over) {
                if (answered) {
                    claims.leave(client.nextClaimId());
                }
                return null;
            }
            long sent = timers.nanoTime();
            ClaimRequest request = new ClaimRequest(
                    client.nextClaimId(),
                    TimeUnit.NANOSECONDS.toMicros(options.visibilityTimeout().toNanos()),
                    1,
                    1,
                    deadline - sent > 0 ? ClaimRequest.Afterwards.WAITS_UNTIL_GIVEN : ClaimRequest.Afterwards.DONE,
                    TimeUnit.NANOSECONDS.toMicros(TransferTask.SAFETY_NANOS));
            CompletableFuture<ClaimReply> claim = claims.claim(request);
            ClaimReply reply = null;
            long wait;
            try {
                // Also a look without waiting has to wait for its answer.
                long patience = Math.max(
                        deadline - sent,
                        answered ? 0 : client.options().requestTimeout().toNanos());
                reply = await(claim, sent + patience);
                if (reply == null) {
                    giveUpLater(claims, claim, request, sent);
                    return null; // closed
                }
                refusals = 0;
                answered = true;
                if (!reply.messages().isEmpty()) {
                    return begin(reply, request, sent);
                }
                wait = TimeUnit.MICROSECONDS.toNanos(reply.safetyMicros());
                if (reply.expected() == ClaimReply.Expected.WHEN_IT_HAS_ROOM) {
                    wait = 0; // a repeated call's answer
                } else if (reply.expected() != ClaimReply.Expected.AFTER_SAFETY_INTERVAL) {
                    wait = earlier(wait, reply.nextDueMicros());
                    wait = earlier(wait, reply.nextEndMicros());
                    if (reply.expected() == ClaimReply.Expected.BY_SECOND) {
                        wait += TransferTask.SECOND_NANOS;
                    }
                }
            } catch (ExecutionException e) {
                failure[0] = RedisErrors.unwrap(e.getCause());
                wait = Backoff.nanos(++refusals, client.random());
            } catch (TimeoutException e) {
                giveUpLater(claims, claim, request, sent);
                if (answered) {
                    return null;
                }
                throw failed(failure[0]);
            } catch (InterruptedException e) {
                giveUpLater(claims, claim, request, sent);
                throw e;
            }
            boolean goOn = false;
            try {
                goOn = sleep(waiter, timers.nanoTime() + wait, deadline);
            } finally {
                if (!goOn) {
                    claims.leave(client.nextClaimId());
                }
            }
            if (!goOn) {
                if (answered) {
                    return null;
                }
                throw failed(failure[0]);
            }
        }
    }

    private DelayQueueException failed(Throwable cause) {
        return new DelayQueueException(
                "queue '" + queue.name() + "': Redis could not be asked for a message: "
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

    /** Waits for the next event; false if the deadline has passed or the receiver was closed. */
    private boolean sleep(Waiter waiter, long until, long deadline) throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                long now = timers.nanoTime();
                if (closed || client.isClosing() || deadline - now <= 0) {
                    return false;
                }
                long wake = Math.min(until, waiter.wokenNanos);
                long left = Math.min(wake, deadline) - now;
                if (left <= 0) {
                    return wake - now <= 0;
                }
                event.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private Delivery begin(ClaimReply reply, ClaimRequest request, long sent) {
        ClaimedDelivery delivery = delivery(reply, request, sent);
        delivery.begun(timers.nanoTime());
        client.leases().keep(delivery, queue, options, listener);
        return delivery;
    }

    private ClaimedDelivery delivery(ClaimReply reply, ClaimRequest request, long sent) {
        return new ClaimedDelivery(
                queue,
                reply.messages().get(0),
                request.claimId(),
                reply.timeMicros(),
                sent,
                timers.nanoTime(),
                (finished, worked) -> {});
    }

    /** Gives back what a claim gives that nobody waits for any more. */
    private void giveUpLater(Claims claims, CompletableFuture<ClaimReply> claim, ClaimRequest request, long sent) {
        claim.thenAccept(reply -> {
            if (!reply.messages().isEmpty()) {
                delivery(reply, request, sent).release();
            } else {
                claims.leave(client.nextClaimId());
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
                subscribed = client.wakeups().add(queue.keys().base(), this);
            }
            ready = subscribed;
        } finally {
            lock.unlock();
        }
        long left = Math.min(
                deadline - timers.nanoTime(), client.options().requestTimeout().toNanos());
        if (left > 0) {
            try {
                ready.get(left, TimeUnit.NANOSECONDS);
            } catch (ExecutionException | TimeoutException e) {
                // Claims tell more about what is wrong.
            }
        }
    }

    @Override
    public void wakeUp(long waitMicros) {
        lock.lock();
        try {
            long at = timers.nanoTime() + earlier(TimeUnit.DAYS.toNanos(3650), waitMicros);
            for (Waiter waiter : waiters) {
                waiter.wokenNanos = Math.min(waiter.wokenNanos, at);
            }
            event.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void makePass() {
        if (client.isClosing()) {
            closing.complete(null);
        }
        wakeUp(0);
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
            client.wakeups().remove(queue.keys().base(), this);
        }
    }
}
