// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.List;

/** Works on what a consumer receives. */
public interface DeliveryHandler {

    /**
     * Begins to work on a message. Called on a thread of the consumer's executor, for at most
     * {@code concurrentConsumers} messages at a time. The message occupies its slot until {@link Delivery#settle} is
     * called, from any thread; this method may return earlier. If
     * it throws, the message is due again after a second, its attempt counted.
     */
    void handle(Delivery delivery) throws Exception;

    /**
     * The same for a batch, of one message where the consumer has no batches. All its messages occupy one slot together. If
     * this throws, each of them that was not settled is due again after a second.
     */
    default void handle(List<? extends Delivery> batch) throws Exception {
        for (Delivery delivery : batch) {
            handle(delivery);
        }
    }

    /**
     * A message's lease is not extended any more because it has been worked on for {@code age}: it will be delivered
     * again when its lease expires.
     */
    default void extensionLimitReached(Delivery delivery, Duration age) {}

    /**
     * The time for which a message is overdue before {@link #overdueWhileFull} reports that its consumer stands still. The
     * timeout of a batch is added.
     */
    Duration STANDSTILL = Duration.ofSeconds(10);

    /**
     * A message has been due for {@code age}, {@link #STANDSTILL} or more, while this consumer was working on as many as it may.
     *
     * @param longestRunning the delivery that has been worked on for the longest time
     */
    default void overdueWhileFull(Duration age, Delivery longestRunning) {}

    /**
     * Claims began to fail, or work again.
     *
     * @param error the last error, or null if claims work again
     */
    default void claimsFailing(Throwable error) {}

    /**
     * A claim has found that the queue was paused or resumed, by whomever: at once while messages come, otherwise at
     * its next turn.
     *
     * @param paused false if it was resumed
     */
    default void paused(boolean paused) {}

    /**
     * The limits of the consumer's options were set. Or they could not be, which is told once.
     *
     * @param before the limits before; null if they could not be set
     * @param error null if they were set
     */
    default void limited(QueueLimits before, Throwable error) {}

    /** A message had no body (lost to eviction, or deleted by hand) and was dropped. */
    default void bodyMissing(String messageId) {}
}
