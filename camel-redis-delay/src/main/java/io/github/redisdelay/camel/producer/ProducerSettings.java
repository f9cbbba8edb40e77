// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;

/**
 * The settings of a producer, which headers override.
 *
 * @param due the time from the options delay or deliverAt; null if neither is set
 * @param message the settings that its messages bring along
 * @param maximumQueueLength the most messages that the queue may hold; 0 for any number
 * @param limit the most messages of a list
 * @param choice the messages that redrive, purge and promote mean if no id is given
 * @param state the messages that an operation is about; null if the option is not set
 */
public record ProducerSettings(
        DueTime due,
        RedisDelayOperation operation,
        DuplicatePolicy onDuplicate,
        boolean batching,
        int priority,
        Envelope.Settings message,
        long maximumQueueLength,
        int limit,
        MessageChoice choice,
        MessageScope state) {

    /** @throws IllegalArgumentException naming the option, its value and what would be right */
    public ProducerSettings {
        if (priority < 0 || priority > ScheduleRequest.MAX_PRIORITY) {
            throw new IllegalArgumentException(
                    "option 'priority' is " + priority + ": it must be from 0 to " + ScheduleRequest.MAX_PRIORITY);
        }
        if (maximumQueueLength < 0 || maximumQueueLength > DueTime.MAX_MICROS) {
            throw new IllegalArgumentException("option 'maximumQueueLength' is " + maximumQueueLength
                    + ": it must be from 1 to " + DueTime.MAX_MICROS + ", or 0 for any number");
        }
        if (limit < 1 || limit > DelayQueue.MAX_PAGE) {
            throw new IllegalArgumentException(
                    "option 'limit' is " + limit + ": it must be from 1 to " + DelayQueue.MAX_PAGE);
        }
    }

    /**
     * Checks that an operation can be about the messages that the option {@code state} names. The operation may come
     * with the message, so the constructor cannot check this.
     *
     * @throws IllegalArgumentException if it cannot
     */
    void checkState(RedisDelayOperation operation) {
        boolean possible =
                switch (operation) {
                    case list -> true;
                    case schedule -> state == null;
                    default -> state == null || state == MessageScope.DEAD;
                };
        if (!possible) {
            throw new IllegalArgumentException("option 'state' is '" + OptionValues.lower(state)
                    + "', which means nothing to operation '" + operation + "': remove it"
                    + (operation == RedisDelayOperation.schedule ? "" : ", or set it to dead for the dead letters"));
        }
    }
}
