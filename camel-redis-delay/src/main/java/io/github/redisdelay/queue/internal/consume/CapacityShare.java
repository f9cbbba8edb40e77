// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The free capacity of one consumer, and how its partitions share it: it makes the claims.
 *
 * <p>A claim takes the capacity for what it has asked for until it is answered, so all claims together ask for no more
 * than there is. Partitions that are ready at the same time share the free capacity, least recently claimed first, so
 * none starves. A claim without an answer for a second takes no capacity any more: a node that is away does not stop
 * the other partitions.
 *
 * <p>Guarded by the lock of the {@link ConsumerLoop} that owns it. Times are readings of the local clock.
 */
final class CapacityShare {

    private final PartitionStates partitions;
    private final InFlightDeliveries inFlight;
    private final Prefetch prefetch;
    private final ConsumerOptions options;
    private final Supplier<ClaimId> claimIds;
    private final RandomGenerator random;
    /** The number of the latest claim. */
    private long claimed;

    /**
     * A claim that is to be sent.
     *
     * @param number grows from claim to claim of the consumer
     */
    record Claim(PartitionState partition, long number, ClaimRequest request) {}

    CapacityShare(
            PartitionStates partitions,
            InFlightDeliveries inFlight,
            Prefetch prefetch,
            ConsumerOptions options,
            Supplier<ClaimId> claimIds,
            RandomGenerator random) {
        this.partitions = partitions;
        this.inFlight = inFlight;
        this.prefetch = prefetch;
        this.options = options;
        this.claimIds = claimIds;
        this.random = random;
    }

    /** The number of messages that may be claimed. */
    int capacity(long now) {
        return capacity(now, partitions.asked(now));
    }

    /** The number of those that may be messages whose lease has expired: as many as there are free slots. */
    int expiredLeaseCapacity(long now) {
        int asked = partitions.asked(now);
        return capacity(now, asked) == 0 ? 0 : Math.max(0, inFlight.freeSlots(now) - prefetch.count() - asked);
    }

    private int capacity(long now, int asked) {
        if (inFlight.isOneAlone(now) || prefetch.holdsSuspicious()) {
            return 0;
        }
        int ahead = prefetch.size(now);
        int capacity = inFlight.freeSlots(now) + ahead - prefetch.count() - asked;
        // While claims are under way, a handful of slots is not worth another claim: each would go on with one message.
        int least = asked == 0 ? 1 : Math.max(1, (inFlight.slots() + ahead) / (2 * partitions.count()));
        return capacity < least ? 0 : capacity;
    }

    /**
     * Returns whether it is time to claim due messages. A fast consumer claims when half of its prefetch is used up,
     * not for each one.
     */
    boolean isWorthAClaim(long now) {
        int capacity = capacity(now);
        return expiredLeaseCapacity(now) > 0 || (capacity > 0 && capacity >= prefetch.count());
    }

    /** Returns whether to take back a promise to come for a partition, as there is no capacity for it. */
    boolean isToLeave(PartitionState partition, long now) {
        if (!partition.promised() || now - partition.leavesAt() < 0) {
            return false;
        }
        return partition.dueComesFirst() ? !isWorthAClaim(now) : expiredLeaseCapacity(now) == 0;
    }

    /** The number of the latest claim. */
    long claimed() {
        return claimed;
    }

    /** Makes the claims that are to be sent now, which divide the capacity. */
    List<Claim> claims(long now) {
        List<PartitionState> ready = ready(now);
        int expiredCapacity = expiredLeaseCapacity(now);
        int capacity = capacity(now);
        int left = ready.size();
        ConsumerOptions.Batch batch = options.batch();
        List<Claim> claims = new ArrayList<>(left);
        for (int i = 0; left > 0 && capacity > 0; i++, left--) {
            PartitionState partition = ready.get(i);
            // A batch takes one slot.
            int most = batch == null ? options.maxMessagesPerPoll() : 1;
            int messages = Math.min(most, (capacity + left - 1) / left);
            int expired = Math.min(messages, (expiredCapacity + left - 1) / left);
            expiredCapacity -= expired;
            if (expired == 0 && !partition.isDue(now)) {
                continue; // it wants only ones whose lease has expired
            }
            if (expired == 0 && partition.takesExpiredAhead(now)) {
                expired = 1; // else they would starve while there is more to do than slots
            }
            capacity -= messages;
            partition.claimSent(messages, expired, ++claimed, now);
            ClaimRequest request = new ClaimRequest(
                    claimIds.get(),
                    TimeUnit.MICROSECONDS.convert(options.visibilityTimeout()),
                    batch == null ? messages : batch.size(),
                    expired,
                    inFlight.isQuick(),
                    PartitionState.safetyMicros(random),
                    batch == null ? ClaimRequest.NO_BATCH : TimeUnit.MICROSECONDS.convert(batch.timeout()));
            claims.add(new Claim(partition, claimed, request));
        }
        return claims;
    }

    /** The partitions that are to be claimed from, least recently claimed first. */
    private List<PartitionState> ready(long now) {
        boolean forDue = isWorthAClaim(now);
        boolean forExpired = expiredLeaseCapacity(now) > 0;
        if (!forDue && !forExpired) {
            return List.of();
        }
        List<PartitionState> ready = new ArrayList<>(partitions.count());
        for (PartitionState partition : partitions) {
            if (!partition.mustWait(now)
                    && ((forDue && partition.isDue(now)) || (forExpired && partition.leaseExpired(now)))) {
                ready.add(partition);
            }
        }
        ready.sort(Comparator.comparingLong(PartitionState::claimNumber));
        return ready;
    }
}
