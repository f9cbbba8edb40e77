// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.format.SettleAction;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** What a delivery needs of its queue, for as long as it is under way: longer than its consumer may live. */
public interface DeliverySettler {

    /** The queue's name. */
    String name();

    /** Whether its messages are dead letters, which are not given up again. */
    default boolean isDeadLetters() {
        return false;
    }

    /** Whether a queue that a caller holds is this one, or has it as a partition, over the same connection. */
    default boolean isPartOf(DelayQueue queue) {
        return false;
    }

    /** Sends what finishes a delivery, until Redis answers. */
    Submission<Settlement> settle(ClaimedDelivery delivery, SettleAction action, long micros, byte[] failure);

    /** When the message that is stored under an id was scheduled; empty if there is none. */
    default CompletableFuture<OptionalLong> scheduledMicros(String id) {
        return CompletableFuture.completedFuture(OptionalLong.empty());
    }

    /** Extends a lease from now on. */
    Submission<Settlement> extend(ClaimedDelivery delivery, long leaseMicros);
}
