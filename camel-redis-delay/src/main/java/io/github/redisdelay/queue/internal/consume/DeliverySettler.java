// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A queue or partition as its deliveries need it: to be finished and extended. A delivery may outlive its consumer. */
public interface DeliverySettler {

    /** The queue's name. */
    String name();

    /** Returns whether the messages are dead letters, which cannot be given up again. */
    default boolean isDeadLetters() {
        return false;
    }

    /** Returns whether a caller's queue is this one, or has it as a partition, over the same connection. */
    default boolean isPartOf(DelayQueue queue) {
        return false;
    }

    /** Ends a delivery. The call is sent until Redis answers. */
    Submission<SettleResult> settle(ClaimedDelivery delivery, Settlement settlement);

    /** Extends the lease of a delivery: it lasts so long from now on. The call is sent until Redis answers. */
    Submission<SettleResult> extend(ClaimedDelivery delivery, long micros);

    /** The time when the message that is stored under an id was scheduled; empty if there is none. */
    default CompletableFuture<Optional<Long>> scheduledMicros(String id) {
        return CompletableFuture.completedFuture(Optional.empty());
    }
}
