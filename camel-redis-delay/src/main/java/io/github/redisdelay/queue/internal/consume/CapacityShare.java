// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The free capacity of one consumer, and how its partitions share it.
 *
 * <p>A claim takes the capacity for what it has asked for until it is answered, so all claims together ask for no more
 * than there is. Partitions that are ready at the same time share the free capacity, least recently claimed first, so
 * none starves. A claim without an answer for a second takes no capacity any more: a node that is away does not stop
 * the other partitions.
 *
 * <p>Guarded by the lock of the {@link ConsumerLoop} that owns it. Times are readings of the local clock.
 */
final class CapacityShare {

    private final PartitionState[] partitions;
    private final InFlightDeliveries inFlight;
    private final Prefetch prefetch;
    private final int maxMessages;

    /**
     * A claim that is to be sent.
     *
     * @param expired how many of the messages may be ones whose lease has expired
     */
    record Share(PartitionState partition, int messages, int expired) {}

    /** @param maxMessages the most messages that one claim asks for */
    CapacityShare(PartitionState[] partitions, InFlightDeliveries inFlight, Prefetch prefetch, int maxMessages) {
        this.partitions = partitions;
        this.inFlight = inFlight;
        this.prefetch = prefetch;
        this.maxMessages = maxMessages;
    }

    /** The number of messages that may be claimed. */
    int capacity(long now) {
        return capacity(now, asked(now));
    }

    /** The number of those that may be messages whose lease has expired: as many as there are free slots. */
    int expiredLeaseCapacity(long now) {
        int asked = asked(now);
        return capacity(now, asked) == 0 ? 0 : Math.max(0, inFlight.freeSlots(now) - prefetch.count() - asked);
    }

    private int capacity(long now, int asked) {
        if (inFlight.isOneAlone(now) || prefetch.holdsSuspicious()) {
            return 0;
        }
        int ahead = prefetch.size(now);
        int capacity = inFlight.freeSlots(now) + ahead - prefetch.count() - asked;
        // While claims are under way, a handful of slots is not worth another claim: each would go on with one message.
        int least = asked == 0 ? 1 : Math.max(1, (inFlight.slots() + ahead) / (2 * partitions.length));
        return capacity < least ? 0 : capacity;
    }

    /** The number of messages that the claims under way may still bring. */
    private int asked(long now) {
        if (partitions.length == 1) {
            return 0; // nobody else wants the capacity
        }
        int asked = 0;
        for (PartitionState partition : partitions) {
            asked += partition.asked(now);
        }
        return asked;
    }

    /**
     * Returns whether it is time to claim due messages. A fast consumer claims when half of its prefetch is used up,
     * not for each one.
     */
    boolean isWorthAClaim(long now) {
        int capacity = capacity(now);
        return expiredLeaseCapacity(now) > 0 || (capacity > 0 && capacity >= prefetch.count());
    }

    /** Returns whether there is no capacity now for what the consumer has promised to come for. */
    boolean lacksForPromise(PartitionState partition, long now) {
        return partition.dueComesFirst() ? !isWorthAClaim(now) : expiredLeaseCapacity(now) == 0;
    }

    /** Divides the capacity among the partitions that are to be claimed from now. */
    List<Share> divide(long now) {
        List<PartitionState> ready = ready(now);
        int expiredCapacity = expiredLeaseCapacity(now);
        int capacity = capacity(now);
        int left = ready.size();
        List<Share> shares = new ArrayList<>(left);
        for (int i = 0; left > 0 && capacity > 0; i++, left--) {
            PartitionState partition = ready.get(i);
            int messages = Math.min(maxMessages, (capacity + left - 1) / left);
            int expired = Math.min(messages, (expiredCapacity + left - 1) / left);
            expiredCapacity -= expired;
            if (expired == 0 && !partition.isDue(now)) {
                continue; // it wants only ones whose lease has expired
            }
            if (expired == 0 && partition.takesExpiredAhead(now)) {
                expired = 1; // else they would starve while there is more to do than slots
            }
            capacity -= messages;
            shares.add(new Share(partition, messages, expired));
        }
        return shares;
    }

    /** The partitions that are to be claimed from, least recently claimed first. */
    private List<PartitionState> ready(long now) {
        boolean forDue = isWorthAClaim(now);
        boolean forExpired = expiredLeaseCapacity(now) > 0;
        if (!forDue && !forExpired) {
            return List.of();
        }
        List<PartitionState> ready = new ArrayList<>(partitions.length);
        for (PartitionState partition : partitions) {
            if (!partition.mustWait(now)
                    && ((forDue && partition.isDue(now)) || (forExpired && partition.leaseExpired(now)))) {
                ready.add(partition);
            }
        }
        ready.sort(Comparator.comparingLong(PartitionState::claimNumber));
        return ready;
    }

    /** The time until a claim that is not answered gives up its capacity; {@link Long#MAX_VALUE} if none does. */
    long nextReturn(long now) {
        long next = Long.MAX_VALUE;
        for (PartitionState partition : partitions) {
            next = Math.min(next, partition.nextReturn(now));
        }
        return next;
    }
}
