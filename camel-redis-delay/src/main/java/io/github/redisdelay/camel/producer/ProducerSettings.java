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
 * What a producer does unless headers say otherwise.
 *
 * @param due from the options delay or deliverAt; null if neither is set
 * @param message what its messages bring along
 * @param maximumQueueLength how many messages the queue may hold for another one to be stored; 0 for any number
 * @param limit how many messages a list has at the most
 * @param choice which messages redrive, purge and promote mean where they are not named
 * @param state which messages an operation is about; null if that is not said
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
     * Checks that an operation can be about the messages that the option {@code state} names. Not checked before, because the
     * operation may come with the message.
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
