// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.CompletingThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gate of a consumer that sets the limits of its queue. If one of them bounds deliveries, no claim passes before Redis has
 * taken them: the first deliveries count, too. A claim that fails for that is one that Redis has refused. The consumer repeats it
 * after its back-off, which sets the limits anew.
 */
final class LimitGate implements CallGate {

    private static final Logger LOG = LoggerFactory.getLogger(LimitGate.class);

    private final Partitions partitions;
    private final QueueLimits limits;
    private final boolean bound;
    private final DeliveryHandler handler;

    /** The latest try; null before the first one. Written under the lock of this object, read without it by each claim. */
    private volatile CompletableFuture<Void> latest;

    /** Guarded by this. */
    private boolean toldFailure;

    /** @throws IllegalArgumentException if the queue cannot have these limits */
    LimitGate(Partitions partitions, QueueLimits limits, DeliveryHandler handler) {
        partitions.checkNoDeadLetters("limit");
        partitions.checkLimits(limits);
        this.partitions = partitions;
        this.limits = limits;
        this.bound = !limits.equals(limits.ofGroups());
        this.handler = handler;
    }

    @Override
    public CompletableFuture<Void> turn() {
        CompletableFuture<Void> set = latest;
        if (set == null || set.isCompletedExceptionally()) {
            set = set();
        }
        return bound && (!set.isDone() || set.isCompletedExceptionally())
                ? set
                : partitions.gate().turn();
    }

    private synchronized CompletableFuture<Void> set() {
        if (latest == null || latest.isCompletedExceptionally()) {
            // The timer of a heartbeat may come here.
            CompletingThread.run(
                    () -> latest = new RedisQueueAdmin(partitions).limit(limits).handle(this::taken));
        }
        return latest;
    }

    /** Fails where the limits are to be set once more. Claims that pass all the same do not repeat what Redis has refused. */
    private synchronized Void taken(QueueLimits before, Throwable failure) {
        Throwable error = failure == null ? null : ErrorText.unwrap(failure);
        if (error == null || !toldFailure) {
            toldFailure = error != null;
            tell(before, error);
        }
        if (error != null && (bound || error instanceof RequestTimeoutException)) {
            throw new CompletionException(error);
        }
        return null;
    }

    private void tell(QueueLimits before, Throwable error) {
        try {
            handler.limited(before, error);
        } catch (Throwable e) {
            LOG.warn("queue '{}': a callback failed", partitions.first().name(), e);
        }
    }
}
