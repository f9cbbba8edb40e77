// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
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
    /** Grows with each wake-up, so that one which comes during a claim is not missed. */
    private long wakeUps;
    /** When the latest wake-up said that a message is due, by the local clock. */
    private long wokenNanos;

    SingleReceiver(DelayQueueClient client, RedisDelayQueue queue, ConsumerOptions options, DeliveryHandler listener) {
        this.client = client;
        this.queue = queue;
        this.options = options;
        this.listener = listener;
        this.timers = client.timers();
    }

    @Override
    public Delivery receive(Duration timeout) throws InterruptedException {
        long limit = timeout == null ? TimeUnit.DAYS.toNanos(3650) : Math.max(0, timeout.toNanos());
        long deadline = timers.nanoTime() + limit;
        listen(deadline);
        Throwable[] failure = new Throwable[1];
        Claims claims = client.newClaims(queue, error -> failure[0] = error);
        try {
            return receive(claims, deadline, failure);
        } finally {
            claims.close();
        }
    }

    private Delivery receive(Claims claims, long deadline, Throwable[] failure) throws InterruptedException {
        int refusals = 0;
        boolean answered = false;
        while (true) {
            long seen;
            lock.lock();
            try {
                if (closed) {
                    return null;
                }
                seen = wakeUps;
            } finally {
                lock.unlock();
            }
            long sent = timers.nanoTime();
            ClaimRequest request = new ClaimRequest(
                    client.nextClaimId(),
                    TimeUnit.NANOSECONDS.toMicros(options.visibilityTimeout().toNanos()),
                    1,
                    1);
            CompletableFuture<ClaimReply> claim = claims.claim(request);
            ClaimReply reply = null;
            long wait;
            try {
                // Also a look without waiting has to wait for its answer.
                long patience = Math.max(
                        deadline - sent,
                        answered ? 0 : client.options().requestTimeout().toNanos());
                reply = await(claim, sent + patience);
                refusals = 0;
                answered = true;
                if (!reply.messages().isEmpty()) {
                    return begin(reply, request, sent);
                }
                wait = TransferTask.SAFETY_NANOS;
                wait = earlier(wait, reply.nextDueMicros());
                wait = earlier(wait, reply.nextEndMicros());
            } catch (ExecutionException e) {
                failure[0] = RedisErrors.unwrap(e.getCause());
                wait = Backoff.nanos(++refusals, client.random());
            } catch (TimeoutException e) {
                releaseLater(claim, request, sent);
                if (answered) {
                    return null;
                }
                throw failed(failure[0]);
            } catch (InterruptedException e) {
                releaseLater(claim, request, sent);
                throw e;
            }
            if (!sleep(seen, timers.nanoTime() + wait, deadline)) {
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
                        + (cause == null ? "no answer in time" : cause.getMessage()),
                cause);
    }

    private ClaimReply await(CompletableFuture<ClaimReply> claim, long until)
            throws InterruptedException, ExecutionException, TimeoutException {
        return claim.get(Math.max(1, until - timers.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private static long earlier(long nanos, long micros) {
        return micros < 0
                ? nanos
                : Math.min(nanos, TimeUnit.MICROSECONDS.toNanos(Math.min(micros, TimeUnit.DAYS.toMicros(3650))));
    }

    /** Waits for the next event; false if the deadline has passed or the receiver was closed. */
    private boolean sleep(long seen, long until, long deadline) throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                long now = timers.nanoTime();
                if (closed || deadline - now <= 0) {
                    return false;
                }
                long wake = wakeUps == seen ? until : Math.min(until, wokenNanos);
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

    private void releaseLater(CompletableFuture<ClaimReply> claim, ClaimRequest request, long sent) {
        claim.thenAccept(reply -> {
            if (!reply.messages().isEmpty()) {
                delivery(reply, request, sent).release();
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
            boolean pending = wokenNanos - timers.nanoTime() > 0 && wakeUps > 0;
            wokenNanos = pending ? Math.min(wokenNanos, at) : at;
            wakeUps++;
            event.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void makePass() {
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
        if (remove) {
            client.wakeups().remove(queue.keys().base(), this);
        }
    }
}
