// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.Timers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A collector of the messages that a consumer receives one by one, which makes batches of them. A batch is begun when it is
 * full or when its first message has waited for {@code batchTimeout}, as soon as one of the exchanges that may be under way
 * at a time is free. A message whose delivery before failed or was lost is a batch of its own, so that it harms no other.
 *
 * <p>What waits for a free exchange for too long is given back, and nothing more is claimed until one is free: others may be
 * able to work on it.
 *
 * <p>Every event goes through {@link #step}, which decides under the lock and acts after it has let go of it. Thread-safe.
 */
final class BatchCollector {

    private static final Logger LOG = LoggerFactory.getLogger(BatchCollector.class);

    /** The longest wait of a message for a free exchange, beyond the timeout of its batch. */
    static final Duration PATIENCE = Duration.ofSeconds(1);

    /** The time for which nothing is claimed after the executor has rejected a batch. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The order in which they were claimed: they are handed over by several threads. */
    private static final Comparator<DeliveryCompletion> CLAIMED = Comparator.comparing(
                    DeliveryCompletion::delivery,
                    Comparator.comparingInt(Delivery::priority).reversed())
            .thenComparing(DeliveryCompletion::delivery, Comparator.comparingLong(Delivery::dueMicros))
            .thenComparing(message -> message.delivery().id());

    private final int batchSize;
    private final long timeoutNanos;
    private final long patienceNanos;
    private final Timers timers;
    private final Executor executor;
    private final Consumer<List<DeliveryCompletion>> begin;
    private final Runnable changed;
    private final Runnable hanging;

    // All below are guarded by this.
    /** Waiting for company, in the order in which they came. */
    private final ArrayDeque<Waiting> together = new ArrayDeque<>();
    /** Waiting to be begun alone, in the order in which they came. */
    private final ArrayDeque<Waiting> alone = new ArrayDeque<>();
    /** The limit of batches under way. */
    private int exchanges;

    /** The number of batches that were begun and not finished. */
    private int underWay;

    private boolean open = true;
    /** True from the moment at which messages were given back for want of a free exchange until one becomes free. */
    private boolean full;

    /** True for a while after the executor has rejected a batch. */
    private boolean resting;

    private long fullSinceNanos;
    /** True once it was reported that no exchange has become free for long. */
    private boolean reported;

    private Timers.Timer timer; // null if there is none
    private long timerNanos;

    private record Waiting(DeliveryCompletion message, long sinceNanos) {}

    /**
     * @param batches how many messages a batch has at the most, and how long its first one waits for others
     * @param patience how long a message waits in all, if no exchange is free
     * @param exchanges how many batches may be under way at a time
     * @param executor runs {@code begin}
     * @param begin begins a batch; {@link #finished()} is called when its exchange has completed
     * @param changed told when {@link #wantsMore()} has changed
     * @param hanging told when messages were given back and no exchange has become free for {@link
     *     DeliveryHandler#STANDSTILL}
     */
    BatchCollector(
            ConsumerSettings.Batches batches,
            Duration patience,
            int exchanges,
            Timers timers,
            Executor executor,
            Consumer<List<DeliveryCompletion>> begin,
            Runnable changed,
            Runnable hanging) {
        this.batchSize = batches.size();
        this.timeoutNanos = batches.timeout().toNanos();
        this.patienceNanos = patience.toNanos();
        this.exchanges = exchanges;
        this.timers = timers;
        this.executor = executor;
        this.begin = begin;
        this.changed = changed;
        this.hanging = hanging;
    }

    /** Sets how many batches may be under way at a time, from now on. */
    void setExchanges(int exchanges) {
        step(() -> this.exchanges = exchanges);
    }

    /** A message was received. */
    void add(DeliveryCompletion message) {
        ArrayDeque<Waiting> queue = message.delivery().attempt() > 1 ? alone : together;
        step(() -> queue.add(new Waiting(message, timers.nanoTime())));
    }

    /** The exchange of a batch has completed. */
    void finished() {
        step(() -> underWay--);
    }

    /** Gives back what was not begun, and from now on everything that comes. */
    void suspend() {
        step(() -> open = false);
    }

    /** Collects again. */
    void resume() {
        step(() -> open = true);
    }

    /** The number of messages that wait to be begun. */
    synchronized int waiting() {
        return together.size() + alone.size();
    }

    /** Returns whether messages should be claimed. */
    synchronized boolean wantsMore() {
        return !full && !resting;
    }

    /**
     * An event.
     *
     * @param change what it changes; runs with the lock held
     */
    private void step(Runnable change) {
        List<List<DeliveryCompletion>> begun = new ArrayList<>(1);
        List<DeliveryCompletion> release = new ArrayList<>(0);
        boolean fullBefore;
        boolean fullNow;
        boolean tell = false;
        synchronized (this) {
            change.run();
            long now = timers.nanoTime();
            fullBefore = full;
            if (open) {
                fill(now, begun);
                giveBack(now, release);
                if (full && !fullBefore) {
                    fullSinceNanos = now;
                    reported = false;
                }
                tell = full && !reported && now - fullSinceNanos >= DeliveryHandler.STANDSTILL.toNanos();
                reported |= tell;
                arm(now);
            } else {
                takeAll(release);
                full = false;
                cancelTimer();
            }
            fullNow = full;
        }
        if (fullNow && !fullBefore) {
            // This comes first, or the messages that are given back would be claimed again at once.
            changed.run();
        }
        release.forEach(DeliveryCompletion::release);
        begun.forEach(this::hand);
        if (fullBefore && !fullNow) {
            changed.run();
        }
        if (tell) {
            hanging.run();
        }
    }

    /** Takes the batches that can be begun. Holds the lock. */
    private void fill(long now, List<List<DeliveryCompletion>> batches) {
        while (underWay < exchanges) {
            Waiting first = together.peek();
            boolean ready = first != null && (together.size() >= batchSize || now - first.sinceNanos() >= timeoutNanos);
            Waiting single = alone.peek();
            if (!ready && single == null) {
                return;
            }
            List<DeliveryCompletion> batch = new ArrayList<>();
            if (single == null || (ready && first.sinceNanos() - single.sinceNanos() <= 0)) {
                takeWhile(together, waiting -> batch.size() < batchSize, batch);
                batch.sort(CLAIMED);
            } else {
                batch.add(alone.poll().message());
            }
            batches.add(batch);
            underWay++;
        }
    }

    /** Takes what has waited for a free exchange for too long. Holds the lock. */
    private void giveBack(long now, List<DeliveryCompletion> release) {
        if (underWay < exchanges) {
            full = false;
            return;
        }
        int before = release.size();
        // One of these may have killed its last consumer. If it does so again, no other must lose an attempt with it.
        alone.removeIf(waiting -> waiting.message().delivery().lostLeases() > 0 && release.add(waiting.message()));
        takeWhile(together, waiting -> now - waiting.sinceNanos() >= patienceNanos, release);
        takeWhile(alone, waiting -> now - waiting.sinceNanos() >= patienceNanos, release);
        if (release.size() > before) {
            full = true;
            LOG.debug("{} messages are given back: no exchange is free for them", release.size() - before);
        }
    }

    private static void takeWhile(ArrayDeque<Waiting> from, Predicate<Waiting> condition, List<DeliveryCompletion> to) {
        while (!from.isEmpty() && condition.test(from.peek())) {
            to.add(from.poll().message());
        }
    }

    /** Takes all that waits to be begun. Holds the lock. */
    private void takeAll(List<DeliveryCompletion> to) {
        takeWhile(together, waiting -> true, to);
        takeWhile(alone, waiting -> true, to);
    }

    /** Sets the timer to the next thing that has to be done without an event. Holds the lock. */
    private void arm(long now) {
        long next;
        if (underWay < exchanges) {
            next = after(now, together, timeoutNanos);
        } else {
            next = Math.min(after(now, together, patienceNanos), after(now, alone, patienceNanos));
        }
        if (full && !reported) {
            next = Math.min(next, Math.max(0, fullSinceNanos + DeliveryHandler.STANDSTILL.toNanos() - now));
        }
        if (next == Long.MAX_VALUE) {
            cancelTimer();
        } else if (timer == null || timerNanos != now + next) {
            cancelTimer();
            timerNanos = now + next;
            // An older one that could not be cancelled costs a look.
            timer = timers.schedule(next, () -> step(() -> timer = null));
        }
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    private static long after(long now, ArrayDeque<Waiting> waiting, long nanos) {
        return waiting.isEmpty() ? Long.MAX_VALUE : Math.max(0, waiting.peek().sinceNanos() + nanos - now);
    }

    private void hand(List<DeliveryCompletion> batch) {
        try {
            executor.execute(() -> begin.accept(batch));
        } catch (RejectedExecutionException e) {
            // First, or the messages that are given back would be claimed again at once.
            rest(true);
            // With all that waits: to hand over the next batch now would fail likewise, inside of this call.
            List<DeliveryCompletion> release = new ArrayList<>(batch);
            synchronized (this) {
                takeAll(release);
            }
            release.forEach(DeliveryCompletion::release);
            finished();
            timers.schedule(REST_NANOS, () -> rest(false));
        }
    }

    private void rest(boolean begin) {
        synchronized (this) {
            resting = begin;
        }
        changed.run();
    }
}
