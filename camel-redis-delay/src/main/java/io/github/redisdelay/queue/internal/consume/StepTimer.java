// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.Timers;
import java.util.function.Consumer;

/**
 * The one timer of a consumer loop, and the time of the next thing that the loop has to do by itself.
 *
 * <p>Guarded by the lock of the {@link ConsumerLoop} that owns it. Times are readings of the local clock.
 */
final class StepTimer {

    private final ConsumerState state;
    /** Called without the lock, with the firing that {@link #isLatest} knows. */
    private final Consumer<Object> fired;

    private Timers.Timer timer;
    /** Distinguishes the latest timer from an older one that could not be cancelled any more. */
    private Object firing;

    private long atNanos;

    /** @param state the owner, which may not be complete yet; it is read from the first {@link #arm} on */
    StepTimer(ConsumerState state, Consumer<Object> fired) {
        this.state = state;
        this.fired = fired;
    }

    /** @param notBeforeNanos no claim is sent before */
    void arm(long now, long notBeforeNanos) {
        long next = next(now, notBeforeNanos);
        if (next == Long.MAX_VALUE) {
            cancel();
            return;
        }
        next = Math.max(0, next);
        if (timer != null) {
            if (atNanos == now + next) {
                return;
            }
            timer.cancel();
        }
        atNanos = now + next;
        Object own = new Object();
        firing = own;
        timer = state.timers.schedule(next, () -> fired.accept(own));
    }

    void cancel() {
        if (timer != null) {
            timer.cancel();
            timer = null;
            firing = null;
        }
    }

    /** Returns whether the latest timer has fired; it is gone then. */
    boolean isLatest(Object fired) {
        if (firing != fired) {
            return false;
        }
        timer = null;
        firing = null;
        return true;
    }

    /** Returns whether it is time to ask if a message is overdue. */
    boolean isTimeToAsk(long now) {
        long askAt = state.overdue.nextAsk(state.partitions.headNanos());
        return askAt != Long.MAX_VALUE && now - askAt >= 0 && state.capacity.capacity(now) == 0;
    }

    /** The time until the loop needs a step; {@link Long#MAX_VALUE} if it needs none. */
    private long next(long now, long notBeforeNanos) {
        long next = state.inFlight.isOneAlone(now) ? state.inFlight.aloneFor(now) : Long.MAX_VALUE;
        next = Math.min(next, state.prefetch.nextWait(now));
        boolean waitsForCapacity = false;
        int free = state.capacity.capacity(now);
        boolean forDue = state.capacity.isWorthAClaim(now);
        boolean forExpired = state.capacity.expiredLeaseCapacity(now) > 0;
        long askAt = free == 0 ? state.overdue.nextAsk(state.partitions.headNanos()) : Long.MAX_VALUE;
        for (PartitionState partition : state.partitions) {
            if (partition.claiming()) {
                continue;
            }
            waitsForCapacity |= partition.isDue(now) || partition.leaseExpired(now);
            long at = Long.MAX_VALUE;
            if (forDue) {
                at = partition.nextDueNanos() - now;
            } else if (askAt != Long.MAX_VALUE) {
                at = askAt - now;
            }
            if (partition.promised() && !(partition.dueComesFirst() ? forDue : forExpired)) {
                at = Math.min(at, partition.leavesAt() - now);
            }
            if (forExpired) {
                at = Math.min(at, partition.nextExpiryNanos() - now);
            }
            if (free > 0 && at != Long.MAX_VALUE) {
                at = Math.max(at, Math.max(partition.notBeforeNanos(), notBeforeNanos) - now);
            }
            next = Math.min(next, at);
        }
        return waitsForCapacity ? Math.min(next, state.partitions.nextReturn(now)) : next;
    }
}
