// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.option.HeaderValues;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.ZoneId;
import org.apache.camel.Message;

/**
 * The settings of a producer, which headers override.
 *
 * @param due the time from the options delay or deliverAt; null if neither is set
 * @param ownDue whether the endpoint itself sets it; a pause does not end by that of the component
 * @param group that of its messages, or the one that an operation is about; null for none
 * @param message the settings that its messages bring along
 * @param rule the recurring schedule that its messages are; null if they are none
 * @param cron its expression; null if it has none
 * @param timeZone that of cron expressions, if no header says another one
 * @param maximumQueueLength the most messages that the queue may hold; 0 for any number
 * @param limit the most messages of a list
 * @param outlookStep how long each step of an outlook is, 1 ms or more
 * @param outlookSteps how many, 1 to {@value Outlook#MAX_STEPS}; all together not above 100 years
 * @param choice the messages that redrive, purge and promote mean if no id is given
 * @param state the messages that an operation is about; null if the option is not set
 */
public record ProducerSettings(
        DueTime due,
        boolean ownDue,
        RedisDelayOperation operation,
        DuplicatePolicy onDuplicate,
        boolean batching,
        int priority,
        String group,
        Envelope.Settings message,
        Schedule rule,
        String cron,
        ZoneId timeZone,
        long maximumQueueLength,
        int limit,
        Duration outlookStep,
        int outlookSteps,
        MessageChoice choice,
        MessageScope state) {

    private static final String GROUP = "header '" + RedisDelayConstants.GROUP + "'";
    private static final Duration LONGEST_OUTLOOK = Duration.ofDays(36_500);

    /** @throws IllegalArgumentException naming the option, its value and what would be right */
    public ProducerSettings {
        int highest = ScheduleRequest.MAX_PRIORITY;
        long most = DueTime.MAX_MICROS;
        OptionValues.check("priority", priority, 0, highest, "from 0 to " + highest);
        OptionValues.checkOne(
                "option 'group'",
                group,
                "option 'priority'",
                priority > 0 ? priority + ", which breaks its order" : null);
        OptionValues.check(
                "maximumQueueLength", maximumQueueLength, 0, most, "from 1 to " + most + ", or 0 for any number");
        OptionValues.check("outlookSteps", outlookSteps, 1, Outlook.MAX_STEPS, "from 1 to " + Outlook.MAX_STEPS);
        if (outlookStep.compareTo(LONGEST_OUTLOOK.dividedBy(outlookSteps)) > 0) {
            throw new IllegalArgumentException("options 'outlookStep' (" + outlookStep + ") and 'outlookSteps' ("
                    + outlookSteps + ") reach over more than 100 years: lower one");
        }
        OptionValues.check("limit", limit, 1, QueueAdmin.MAX_PAGE, "from 1 to " + QueueAdmin.MAX_PAGE);
    }

    /**
     * The group that an operation is about: that of the header, which overrides the option. Null if all messages are meant.
     *
     * @throws IllegalArgumentException if the operation cannot be about a group
     */
    public String group(RedisDelayOperation operation, Message message) {
        Object own = HeaderValues.of(message, RedisDelayConstants.GROUP);
        String found = group(own);
        String refused = found == null
                ? null
                : switch (operation) {
                    case OUTLOOK, QUEUES, CHECK, IMPORT -> " is about all messages: remove it";
                    case LIST, STATS, PAUSE, RESUME ->
                        state == null ? null : " of a group has no option 'state': remove one of them";
                    default -> null;
                };
        if (refused != null) {
            throw new IllegalArgumentException((own == null ? "option 'group'" : GROUP) + " is '"
                    + OptionValues.shown(found) + "', and operation '" + operation + "'" + refused);
        }
        return found;
    }

    /** The group that a header's value names, or else the option; null for none. */
    String group(Object own) {
        return own == null ? group : IdHeaders.group(GROUP, own);
    }

    /** The state of the messages that a list shows, unless they are dead letters. */
    public MessageState listed() {
        return state == null || state == MessageScope.DEAD ? MessageState.DELAYED : MessageState.valueOf(state.name());
    }

    /**
     * Checks that an operation can be about the messages that the option {@code state} names. The operation may come
     * with the message, so the constructor cannot check this.
     *
     * @throws IllegalArgumentException if it cannot
     */
    public void checkState(RedisDelayOperation operation) {
        boolean ofDead =
                switch (operation) {
                    case SCHEDULE, QUEUES, IMPORT -> false;
                    default -> true;
                };
        if (state != null && operation != RedisDelayOperation.LIST && !(ofDead && state == MessageScope.DEAD)) {
            throw new IllegalArgumentException("option 'state' is '" + OptionValues.lower(state)
                    + "', which means nothing to operation '" + operation + "': remove it"
                    + (ofDead ? ", or set it to dead for the dead letters" : ""));
        }
    }
}
