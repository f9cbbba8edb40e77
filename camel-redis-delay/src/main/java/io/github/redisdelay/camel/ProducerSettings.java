// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.Envelope;
import io.github.redisdelay.queue.ScheduleRequest;
import java.time.Duration;

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
record ProducerSettings(
        DueTime due,
        RedisDelayOperation operation,
        DuplicatePolicy onDuplicate,
        boolean batching,
        int priority,
        Envelope.Settings message,
        long maximumQueueLength,
        int limit,
        MessageChoice choice,
        MessageSet state) {

    /**
     * Reads the options.
     *
     * @param ownLimit whether the endpoint itself sets the option limit
     * @throws IllegalArgumentException naming the option, its value and what would be right
     */
    static ProducerSettings of(RedisDelayConfiguration options, boolean ownLimit) {
        DueTime due = null;
        if (options.getDelay() != null && options.getDeliverAt() != null) {
            throw new IllegalArgumentException("options 'delay' (" + options.getDelay() + ") and 'deliverAt' ("
                    + options.getDeliverAt() + ") are both set: set one of them");
        }
        if (options.getDelay() != null) {
            due = DueTime.after(Durations.parse("option 'delay'", options.getDelay()));
        } else if (options.getDeliverAt() != null) {
            due = DueTime.at(Durations.instant("option 'deliverAt'", options.getDeliverAt()));
        }
        int priority = options.getPriority();
        if (priority < 0 || priority > ScheduleRequest.MAX_PRIORITY) {
            throw new IllegalArgumentException(
                    "option 'priority' is " + priority + ": it must be from 0 to " + ScheduleRequest.MAX_PRIORITY);
        }
        long length = options.getMaximumQueueLength();
        if (length < 0 || length > DueTime.MAX_MICROS) {
            throw new IllegalArgumentException("option 'maximumQueueLength' is " + length + ": it must be from 1 to "
                    + DueTime.MAX_MICROS + ", or 0 for any number");
        }
        int limit = options.getLimit();
        if (limit < 1 || limit > DelayQueue.MAX_PAGE) {
            throw new IllegalArgumentException(
                    "option 'limit' is " + limit + ": it must be from 1 to " + DelayQueue.MAX_PAGE);
        }
        return new ProducerSettings(
                due,
                RedisDelayOperation.of("option 'operation'", options.getOperation()),
                Names.constant(DuplicatePolicy.class, "option 'onDuplicate'", options.getOnDuplicate()),
                options.isBatching(),
                priority,
                new Envelope.Settings(
                        positive("deduplicationPeriod", options.getDeduplicationPeriod()),
                        positive("timeToLive", options.getTimeToLive()),
                        null),
                length,
                limit,
                MessageChoice.of(options, ownLimit),
                MessageSet.of(options.getState()));
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
                    default -> state == null || state == MessageSet.DEAD;
                };
        if (!possible) {
            throw new IllegalArgumentException("option 'state' is '" + Names.lower(state)
                    + "', which means nothing to operation '" + operation + "': remove it"
                    + (operation == RedisDelayOperation.schedule ? "" : ", or set it to dead for the dead letters"));
        }
    }

    private static Duration positive(String option, String text) {
        if (text == null) {
            return null;
        }
        Duration duration = Durations.parse("option '" + option + "'", text);
        if (duration.isZero()) {
            throw new IllegalArgumentException("option '" + option + "' is '" + text
                    + "': it must be 1 millisecond or more; leave it out for none");
        }
        return duration;
    }
}
