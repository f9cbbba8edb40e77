// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The messages that one consumer has claimed and not begun, in order.
 *
 * <p>How many it may hold follows what the consumer really finished in the last 100 ms, and is no more than it can
 * begin within 5 ms. A slow consumer holds none, so that it never sits on messages that another one could work on. A fast one
 * holds two claims' worth: while the first is worked on, the second is fetched.
 *
 * <p>Guarded by the lock of the {@link ConsumerLoop} that owns it. Times are readings of the local clock.
 */
final class Prefetch {

    /**
     * A message that was not begun for this long is released. Then its consumer stands still: it claims no more until a slot is
     * free, so a message comes back to it once for each standstill, and only if no other consumer has taken it.
     */
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** The time over which finished messages are counted. */
    static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final InFlightDeliveries inFlight;
    /** The most messages that it may hold. */
    private final int limit;

    private final long leaseNanos;

    private boolean off;
    private final ArrayDeque<ClaimedDelivery> waiting = new ArrayDeque<>();
    private long windowStartNanos;
    private int finishedInWindow;
    private int finishedBefore;

    /** @param options of batches, none is claimed ahead */
    Prefetch(InFlightDeliveries inFlight, ConsumerOptions options, long now) {
        this.inFlight = inFlight;
        this.limit = options.batch() == null ? 2 * options.maxMessagesPerPoll() : 0;
        this.leaseNanos = options.visibilityTimeout().toNanos();
        this.windowStartNanos = now;
    }

    void add(ClaimedDelivery delivery) {
        waiting.add(delivery);
    }

    /** Holds no more messages ahead, or as many as before. */
    void turnOff(boolean off) {
        this.off = off;
    }

    int count() {
        return waiting.size();
    }

    void releaseAll(List<ClaimedDelivery> release) {
        release.addAll(waiting);
        waiting.clear();
    }

    /** Releases what has waited for a slot for too long. */
    void releaseOld(long now, List<ClaimedDelivery> release) {
        ClaimedDelivery first = waiting.peek();
        if (first == null
                || (!InFlightDeliveries.isSuspicious(first) && now - first.answeredNanos() < patience(first))) {
            return; // the others came later
        }
        waiting.removeIf(delivery -> {
            boolean old = now - delivery.answeredNanos() >= patience(delivery);
            if (old) {
                release.add(delivery);
            }
            return old;
        });
    }

    /** The time for which a message may wait for a slot. A suspicious one waits for the deliveries under way. */
    private long patience(ClaimedDelivery delivery) {
        return InFlightDeliveries.isSuspicious(delivery) ? leaseNanos / 2 : Math.min(PATIENCE_NANOS, leaseNanos / 3);
    }

    /** Takes the messages that can be begun. */
    void begin(long now, List<ClaimedDelivery> begin, List<ClaimedDelivery> release) {
        while (!waiting.isEmpty() && inFlight.hasSlotFor(waiting.peek(), now)) {
            ClaimedDelivery next = waiting.peek();
            if (now - next.claimSentNanos() > leaseNanos / 2) {
                release.add(waiting.poll()); // it could end up being worked on twice
                continue;
            }
            if (inFlight.mustWait(next, now)) {
                return;
            }
            inFlight.begin(waiting.poll(), now);
            begin.add(next);
        }
        if (inFlight.isOneAlone(now)) {
            releaseAll(release); // they would be lost with it
        }
    }

    /** The time until a message is begun or released, if nothing happens; {@link Long#MAX_VALUE} if none is. */
    long nextWait(long now) {
        long next = Long.MAX_VALUE;
        for (ClaimedDelivery delivery : waiting) {
            boolean suspicious = InFlightDeliveries.isSuspicious(delivery);
            long wait = suspicious && inFlight.freeSlots(now) > 0 ? inFlight.companyNanos() : patience(delivery);
            next = Math.min(next, delivery.answeredNanos() + wait - now);
            if (!suspicious) {
                break; // the others came later
            }
        }
        return next;
    }

    /** Returns whether a suspicious message waits. Nothing more is claimed then, as it would be lost with it. */
    boolean holdsSuspicious() {
        return !waiting.isEmpty()
                && (InFlightDeliveries.isSuspicious(waiting.peek())
                        || InFlightDeliveries.isSuspicious(waiting.peekLast()));
    }

    /** The consumer has worked on a message. */
    void worked(long now) {
        shiftWindow(now);
        finishedInWindow++;
    }

    /** The number of messages that may wait at present. */
    int size(long now) {
        shiftWindow(now);
        if (off) {
            return 0;
        }
        // One for each slot is no sign of speed: a slow consumer, too, finishes a message before it asks for the next.
        int beyondSlots = Math.max(finishedInWindow, finishedBefore) - inFlight.slots();
        // Others may have nothing to do: so only as many as are begun in a moment.
        return (int) Math.max(0, Math.min(Math.min(limit, beyondSlots), inFlight.begunInAMoment()));
    }

    private void shiftWindow(long now) {
        long windows = (now - windowStartNanos) / WINDOW_NANOS;
        if (windows > 0) {
            finishedBefore = windows == 1 ? finishedInWindow : 0;
            finishedInWindow = 0;
            windowStartNanos += windows * WINDOW_NANOS;
        }
    }
}
