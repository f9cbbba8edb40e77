// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.DelayQueueException;
import java.time.Duration;

/** Receives one message at a time on the caller's thread. It never reads ahead. */
public interface DelayQueueReceiver extends AutoCloseable {

    /**
     * Waits for a due message and claims it.
     *
     * @param timeout how long to wait; zero looks once; null waits until there is one
     * @return the delivery, whose lease is extended until it is finished (within the options' limits), or null if there
     *     was none in time
     * @throws InterruptedException if interrupted; what was claimed meanwhile is released
     * @throws DelayQueueException if Redis could not be asked a single time within the timeout
     */
    Delivery receive(Duration timeout) throws InterruptedException;

    /** Ends a receive under way, which returns null; what was claimed and not returned is released. */
    @Override
    void close();
}
