// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A running consumer of a queue: claims what is due, as long as it has capacity, and hands it to its handler. */
public interface DelayQueueConsumer {

    /** Stops claiming; what was claimed and not begun is released at once. Work under way goes on. */
    void suspend();

    /** Claims again. */
    void resume();

    /**
     * Stops for good, as {@link #suspend()} does. Deliveries under way can still be acknowledged: that needs only the
     * client.
     *
     * @param extendLeases whether the leases of work still under way go on being extended; false lets them run out
     * @return completes when Redis lists the consumer no more; never fails. Late, or never, while Redis does not answer:
     *     then the consumer is listed until its record is too old
     */
    CompletableFuture<Void> stop(boolean extendLeases);

    /**
     * Sets how many messages may be worked on at a time, from now on; the options say how many at the start. Work under
     * way goes on.
     *
     * @throws IllegalArgumentException if that is less than 1
     */
    void setConcurrentConsumers(int concurrentConsumers);

    /** The number of deliveries that were begun and not finished. */
    int underWay();

    /** The time for which claims have been failing; {@link Duration#ZERO} if the last one succeeded. */
    Duration failingFor();

    /** The error of the last claim, or null if it succeeded. */
    Throwable lastError();
}
