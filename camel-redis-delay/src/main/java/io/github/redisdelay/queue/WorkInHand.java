// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What one consumer has in its hands: messages that were claimed and wait for a slot, and those that are being worked on; and how
 * many more may come.
 *
 * <p>Room is the number of free slots and a read-ahead, which follows what this consumer really finished in the last
 * 100 ms, and is no more than it can begin within 5 ms: none for a slow one, so that it never sits on messages that
 * another could work on.
 *
 * <p>All of it is guarded by the lock of the {@link TransferTask} that owns it. Times are readings of the local clock.
 */
final class WorkInHand {

    /** A consumer whose work takes less on average can promise to come again though its hands are full. */
    static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** What was read ahead and not begun for this long is given back. */
    static final long READ_AHEAD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The time over which finished messages are counted for the read-ahead. */
    static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ConsumerOptions options;
    private final int partitions;
    private final long leaseNanos;

    /** Claimed and not begun, in order. */
    private final ArrayDeque<ClaimedDelivery> readAhead = new ArrayDeque<>();
    /** Begun and not finished, the longest running first. */
    private final LinkedHashSet<ClaimedDelivery> underWay = new LinkedHashSet<>();
    /**
     * The latest one that was begun alone, because its last deliveries ended by lost leases: the next one may kill this
     * consumer, so nothing is begun beside it. Or null.
     */
    private ClaimedDelivery alone;

    /** How many may be worked on at a time. Fewer than are being worked on now leave no room. */
    private int slots;

    private long windowStartNanos;
    private int finishedInWindow;
    private int finishedBefore;
    /** How long a message's work takes, a moving average; -1 before the first one. */
    private long workNanos = -1;

    /** @param partitions how many partitions share the room */
    WorkInHand(ConsumerOptions options, int partitions, long now) {
        this.options = options;
        this.partitions = partitions;
        this.leaseNanos = options.visibilityTimeout().toNanos();
        this.windowStartNanos = now;
        this.slots = options.concurrentConsumers();
    }

    /** How many may be worked on at a time from now on. */
    void setSlots(int slots) {
        this.slots = slots;
    }

    /** It was claimed. */
    void add(ClaimedDelivery delivery) {
        readAhead.add(delivery);
    }

    /** How many are being worked on. */
    int underWay() {
        return underWay.size();
    }

    /** Those that are being worked on. */
    List<ClaimedDelivery> allUnderWay() {
        return new ArrayList<>(underWay);
    }

    /** The one that has been worked on for the longest time, or null. */
    ClaimedDelivery longestRunning() {
        return underWay.isEmpty() ? null : underWay.iterator().next();
    }

    /** Gives back all that was not begun. */
    void giveBack(List<ClaimedDelivery> release) {
        release.addAll(readAhead);
        readAhead.clear();
    }

    /** Gives back what waits for a slot for too long. */
    void giveBackOld(long now, List<ClaimedDelivery> release) {
        ClaimedDelivery first = readAhead.peek();
        if (first == null || (!isSuspicious(first) && now - first.answeredNanos() < patience(first))) {
            return; // the others came later
        }
        readAhead.removeIf(delivery -> {
            boolean old = now - delivery.answeredNanos() >= patience(delivery);
            if (old) {
                release.add(delivery);
            }
            return old;
        });
    }

    /** How long a message may wait for a slot. One that has to be begun alone waits for those under way. */
    private long patience(ClaimedDelivery delivery) {
        return isSuspicious(delivery) ? leaseNanos / 2 : Math.min(READ_AHEAD_NANOS, leaseNanos / 3);
    }

    /** Whether a message may have killed its last consumers: it is begun alone, so that it harms no other. */
    private static boolean isSuspicious(ClaimedDelivery delivery) {
        return delivery.lostLeases() >= 2;
    }

    /** Whether one is being worked on alone. One that hangs is so for one lease at the most: it has a slot, and not the whole consumer. */
    private boolean isOneAlone(long now) {
        return alone != null && underWay.contains(alone) && !alone.isLeaseLost() && aloneUntil() - now > 0;
    }

    private long aloneUntil() {
        return alone.begunNanos() + leaseNanos;
    }

    /** Takes what can be begun. */
    void begin(long now, List<ClaimedDelivery> begin, List<ClaimedDelivery> release) {
        while (!readAhead.isEmpty() && freeSlots(now) > 0) {
            ClaimedDelivery next = readAhead.peek();
            if (now - next.claimSentNanos() > leaseNanos / 2) {
                // It could end up being worked on twice.
                release.add(readAhead.poll());
                continue;
            }
            boolean suspicious = isSuspicious(next);
            if (suspicious && !underWay.isEmpty() && now - next.answeredNanos() < companyLimit()) {
                return;
            }
            readAhead.poll();
            if (suspicious) {
                alone = next;
            }
            next.begun(now);
            underWay.add(next);
            begin.add(next);
        }
        if (isOneAlone(now)) {
            giveBack(release); // they would be lost with it
        }
    }

    /**
     * How long a suspicious message waits for those under way. Then it is begun beside what has been running for so long: an
     * exchange that hangs must not stop the whole consumer.
     */
    private long companyLimit() {
        return leaseNanos / 4;
    }

    /** How long until something that waits for a slot is begun or given back anyway; {@link Long#MAX_VALUE} if nothing is. */
    long nextWait(long now) {
        long next = isOneAlone(now) ? aloneUntil() - now : Long.MAX_VALUE;
        for (ClaimedDelivery delivery : readAhead) {
            long wait = isSuspicious(delivery) && freeSlots(now) > 0 ? companyLimit() : patience(delivery);
            next = Math.min(next, delivery.answeredNanos() + wait - now);
            if (!isSuspicious(delivery)) {
                break; // the others came later
            }
        }
        return next;
    }

    /**
     * Its slot is free.
     *
     * @param worked whether it was worked on, as opposed to released
     */
    void finished(ClaimedDelivery delivery, boolean worked, long now) {
        if (!underWay.remove(delivery)) {
            return;
        }
        if (worked) {
            shiftWindow(now);
            finishedInWindow++;
            long took = now - delivery.begunNanos();
            workNanos = workNanos < 0 ? took : workNanos + (took - workNanos) / 8;
        }
    }

    /** Whether its work is so short that it has room again in a moment. */
    boolean isQuick() {
        return workNanos >= 0 && workNanos <= QUICK_NANOS;
    }

    /**
     * How many messages may come.
     *
     * @param asked how many the claims under way may still bring
     */
    int room(long now, int asked) {
        if (isOneAlone(now) || waitsToBeAlone()) {
            return 0;
        }
        int ahead = readAheadSize(now);
        int room = freeSlots(now) + ahead - readAhead.size() - asked;
        // While claims are under way a handful is not worth another one: it would go on with one message for each
        // claim.
        int least = asked == 0 ? 1 : Math.max(1, (slots + ahead) / (2 * partitions));
        return room < least ? 0 : room;
    }

    /** How many messages whose lease ended may come: they are claimed only into free slots. */
    int endedRoom(long now, int asked) {
        return room(now, asked) == 0 ? 0 : Math.max(0, freeSlots(now) - readAhead.size() - asked);
    }

    /** A fast consumer claims again when half of its read-ahead is used up, not for each message. */
    boolean worthAClaim(int room, int endedRoom) {
        return endedRoom > 0 || (room > 0 && room >= readAhead.size());
    }

    private int freeSlots(long now) {
        return isOneAlone(now) ? 0 : slots - underWay.size();
    }

    /** Whether one waits to be begun alone: nothing more is claimed, as it would be lost with it. */
    private boolean waitsToBeAlone() {
        return !readAhead.isEmpty() && (isSuspicious(readAhead.peek()) || isSuspicious(readAhead.peekLast()));
    }

    private int readAheadSize(long now) {
        shiftWindow(now);
        // One for each slot is no sign of speed: a slow consumer, too, finishes a message before it asks for the next.
        int beyondSlots = Math.max(finishedInWindow, finishedBefore) - slots;
        // Nor is anything read ahead that is not begun within a few milliseconds: others may have nothing to do.
        long soon = workNanos <= 0 ? beyondSlots : slots * (QUICK_NANOS / workNanos);
        return (int) Math.max(0, Math.min(Math.min(options.maxMessagesPerPoll(), beyondSlots), soon));
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
