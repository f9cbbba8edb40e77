// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;

/**
 * The settings of a producer, which headers override.
 *
 * @param due the time from the options delay or deliverAt; null if neither is set
 * @param message the settings that its messages bring along
 * @param maximumQueueLength the most messages that the queue may hold; 0 for any number
 * @param limit the most messages of a list
 * @param outlook the steps of an outlook
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
        OutlookSteps outlook,
        MessageChoice choice,
        MessageScope state) {

    /** @throws IllegalArgumentException naming the option, its value and what would be right */
    public ProducerSettings {
        int highest = ScheduleRequest.MAX_PRIORITY;
        long most = DueTime.MAX_MICROS;
        OptionValues.check("priority", priority, 0, highest, "from 0 to " + highest);
        OptionValues.check(
                "maximumQueueLength", maximumQueueLength, 0, most, "from 1 to " + most + ", or 0 for any number");
        OptionValues.check("limit", limit, 1, QueueAdmin.MAX_PAGE, "from 1 to " + QueueAdmin.MAX_PAGE);
    }

    /**
     * Checks that an operation can be about the messages that the option {@code state} names. The operation may come
     * with the message, so the constructor cannot check this.
     *
     * @throws IllegalArgumentException if it cannot
     */
    public void checkState(RedisDelayOperation operation) {
        boolean possible =
                switch (operation) {
                    case LIST -> true;
                    case SCHEDULE, QUEUES, IMPORT -> state == null;
                    default -> state == null || state == MessageScope.DEAD;
                };
        if (!possible) {
            throw new IllegalArgumentException("option 'state' is '" + OptionValues.lower(state)
                    + "', which means nothing to operation '" + operation + "': remove it"
                    + (operation == RedisDelayOperation.SCHEDULE
                                    || operation == RedisDelayOperation.QUEUES
                                    || operation == RedisDelayOperation.IMPORT
                            ? ""
                            : ", or set it to dead for the dead letters"));
        }
    }
}
