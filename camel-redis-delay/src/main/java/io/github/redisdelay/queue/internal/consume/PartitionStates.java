// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All partitions of a queue as one {@link ConsumerLoop} knows them, and what follows from them for the whole queue.
 *
 * <p>Guarded by the loop's lock. Times are readings of the local clock.
 */
final class PartitionStates implements Iterable<PartitionState> {

    private final List<PartitionState> all;

    /** @param all at least one */
    PartitionStates(List<PartitionState> all) {
        this.all = List.copyOf(all);
    }

    @Override
    public Iterator<PartitionState> iterator() {
        return all.iterator();
    }

    Stream<PartitionState> stream() {
        return all.stream();
    }

    PartitionState get(int number) {
        return all.get(number);
    }

    int count() {
        return all.size();
    }

    /** Returns whether one was paused at its last claim. */
    boolean isPaused() {
        return all.stream().anyMatch(PartitionState::isPaused);
    }

    /** The one whose claims have been failing for the longest time. */
    Optional<PartitionState> failingLongest() {
        return all.stream()
                .filter(partition -> partition.lastError() != null)
                .min((one, other) -> Long.signum(one.failingSinceNanos() - other.failingSinceNanos()));
    }

    /** The number of messages that the claims under way may still bring. */
    int asked(long now) {
        if (all.size() == 1) {
            return 0; // nobody else wants the capacity
        }
        int asked = 0;
        for (PartitionState partition : all) {
            asked += partition.asked(now);
        }
        return asked;
    }

    /** The time until a claim that is not answered gives up its capacity; {@link Long#MAX_VALUE} if none does. */
    long nextReturn(long now) {
        long next = Long.MAX_VALUE;
        for (PartitionState partition : all) {
            next = Math.min(next, partition.nextReturn(now));
        }
        return next;
    }

    /** The time when the next message is due. Partitions being claimed are skipped: their reply will be more recent. */
    long headNanos() {
        long head = Long.MAX_VALUE;
        for (PartitionState partition : all) {
            if (!partition.claiming()) {
                head = Math.min(head, partition.headNanos());
            }
        }
        return head;
    }

    /** Returns whether a claim after the one of that number was answered. */
    boolean hasAnswered(long since) {
        return all.stream().anyMatch(partition -> partition.hasAnswered(since));
    }

    /** Returns whether each has ended a claim after the one of that number, or hangs beside others. */
    boolean hasLooked(long since, long now) {
        return all.stream()
                .allMatch(partition -> partition.hasEnded(since) || (all.size() > 1 && partition.hangs(now)));
    }
}
