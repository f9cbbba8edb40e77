// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.QueueStats;
import java.util.concurrent.CompletableFuture;

/** The surroundings of a {@link ConsumerLoop}. */
public interface ConsumerHost {

    /** Called with the loop's lock held. */
    ClaimId nextClaimId();

    /**
     * Begins to listen to wake-ups. Called once.
     *
     * @return completes when the subscription stands
     */
    CompletableFuture<Void> listen();

    /** The address of Redis, for people. */
    default String server() {
        return "Redis";
    }

    /** Reads the figures of the queue. */
    CompletableFuture<QueueStats> stats();

    /**
     * The loop has stopped.
     *
     * @param left completes when it has left the waiters
     * @return completes when Redis does not know the consumer any more; at once if Redis is silent; never fails
     */
    CompletableFuture<Void> stopped(CompletableFuture<Void> left);

    /** Returns whether messages may be claimed for which there is no free slot. Called with the loop's lock held. */
    default boolean prefetches() {
        return true;
    }

    /** A claim was answered, or refused with this error, and its messages were handed over. */
    default void claimEnded(Throwable refusal) {}
}
