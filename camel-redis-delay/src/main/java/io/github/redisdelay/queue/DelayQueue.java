// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A queue of delayed messages on Redis. A handle: it holds no thread, timer or connection, and handles of the same name
 * are interchangeable. Thread-safe.
 *
 * <p>Concurrent calls are sent together (group commit); two calls for the same id are executed in the order in which they
 * were made. When too many requests wait, a call blocks for up to the client's request timeout.
 */
public interface DelayQueue {

    /** The queue's name. */
    String name();

    /**
     * Schedules a message.
     *
     * @return fails with a {@link DuplicateMessageException} (see {@link DuplicatePolicy}), an
     *     {@link IllegalArgumentException} if the due time is beyond the exact range by the Redis server's clock, or a
     *     {@link DelayQueueException}
     */
    Submission<ScheduleResult> schedule(ScheduleRequest request);

    /**
     * Removes a message in any state. A delivery under way becomes stale: its acknowledgement has no effect and no
     * redelivery follows.
     */
    Submission<ChangeResult> cancel(String id);

    /** Changes the due time of a pending message, later or earlier. A message being delivered is left alone. */
    Submission<ChangeResult> reschedule(String id, DueTime due);

    /** Reads the queue's figures. */
    CompletableFuture<QueueStats> stats();

    /** The Redis server's version, eviction policy and persistence, as far as it tells. */
    CompletableFuture<ServerInfo> serverInfo();

    /**
     * Starts a consumer.
     *
     * @param executor runs the handler; it must not block or reject as long as there are no more than
     *     {@code concurrentConsumers} messages under way
     */
    DelayQueueConsumer consume(ConsumerOptions options, Executor executor, DeliveryHandler handler);

    /** Makes a receiver for single messages; {@code concurrentConsumers} and {@code maxMessagesPerPoll} do not matter. */
    DelayQueueReceiver receiver(ConsumerOptions options, DeliveryHandler listener);
}
