// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The deliveries that one consumer works on, and its slots for them.
 *
 * <p>A message whose last two deliveries ended by a lost lease is suspicious: it may have killed its consumers. It is
 * begun when nothing else is under way, and nothing is begun beside it. Both have a limit, so that a message that hangs
 * blocks one slot and not the whole consumer.
 *
 * <p>Guarded by the lock of the {@link ConsumerLoop} that owns it. Times are readings of the local clock.
 */
final class InFlightDeliveries {

    /** A consumer whose work takes less on average can promise to come again though it has no free slot. */
    static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final long leaseNanos;

    /** Begun and not finished, the longest running first. */
    private final LinkedHashSet<ClaimedDelivery> deliveries = new LinkedHashSet<>();
    /** The latest suspicious one that was begun, or null. */
    private ClaimedDelivery suspicious;

    /** Of the batches being worked on, how many messages are not finished; null if each message has a slot of its own. */
    private final Map<ClaimId, Integer> batches;

    private int slots;
    /** The time that the work on a message takes, a moving average; -1 before the first one. */
    private long workNanos = -1;

    InFlightDeliveries(ConsumerOptions options) {
        this.slots = options.concurrentConsumers();
        this.batches = options.batch() == null ? null : new HashMap<>();
        this.leaseNanos = options.visibilityTimeout().toNanos();
    }

    /** Sets how many may be worked on at a time. Fewer than are being worked on now leave no slot free. */
    void setSlots(int slots) {
        this.slots = slots;
    }

    int slots() {
        return slots;
    }

    int count() {
        return deliveries.size();
    }

    List<ClaimedDelivery> all() {
        return new ArrayList<>(deliveries);
    }

    /** The delivery that has been worked on for the longest time, or null. */
    ClaimedDelivery longestRunning() {
        return deliveries.isEmpty() ? null : deliveries.iterator().next();
    }

    int freeSlots(long now) {
        return isOneAlone(now) ? 0 : slots - (batches == null ? deliveries.size() : batches.size());
    }

    /** Returns whether a message can be begun: the messages of a batch, which one claim has given, share a slot. */
    boolean hasSlotFor(ClaimedDelivery delivery, long now) {
        return freeSlots(now) > 0 || (batches != null && batches.containsKey(delivery.claimId()));
    }

    static boolean isSuspicious(ClaimedDelivery delivery) {
        return delivery.lostLeases() >= 2;
    }

    /** Returns whether a suspicious message is being worked on, and nothing is to be begun beside it. */
    boolean isOneAlone(long now) {
        return suspicious != null && deliveries.contains(suspicious) && !suspicious.isLeaseLost() && aloneFor(now) > 0;
    }

    /** The time for which the suspicious message that is being worked on stays alone. */
    long aloneFor(long now) {
        return suspicious.begunNanos() + leaseNanos - now;
    }

    /** The time for which a suspicious message waits for the deliveries under way. Then it is begun beside them. */
    long companyNanos() {
        return leaseNanos / 4;
    }

    /** Returns whether a message is suspicious and has to wait until nothing else is under way. */
    boolean mustWait(ClaimedDelivery delivery, long now) {
        return isSuspicious(delivery) && !deliveries.isEmpty() && now - delivery.answeredNanos() < companyNanos();
    }

    void begin(ClaimedDelivery delivery, long now) {
        delivery.begun(now);
        deliveries.add(delivery);
        if (batches != null) {
            batches.merge(delivery.claimId(), 1, Integer::sum);
        }
        if (isSuspicious(delivery)) {
            suspicious = delivery;
        }
    }

    /**
     * A delivery was finished: its slot is free.
     *
     * @param worked whether it was worked on, as opposed to released
     * @return whether it was in flight
     */
    boolean finished(ClaimedDelivery delivery, boolean worked, long now) {
        if (!deliveries.remove(delivery)) {
            return false;
        }
        if (batches != null) {
            batches.computeIfPresent(delivery.claimId(), (id, left) -> left > 1 ? left - 1 : null);
        }
        if (worked) {
            long took = now - delivery.begunNanos();
            workNanos = workNanos < 0 ? took : workNanos + (took - workNanos) / 8;
        }
        return true;
    }

    /** Returns whether the work on a message is so short that a slot is free again in a moment. */
    boolean isQuick() {
        return workNanos >= 0 && workNanos <= QUICK_NANOS;
    }

    /**
     * The number of messages that all slots together begin within a moment; {@link Integer#MAX_VALUE} if the work takes
     * no time.
     */
    long begunInAMoment() {
        return workNanos <= 0 ? Integer.MAX_VALUE : slots * (QUICK_NANOS / workNanos);
    }
}
