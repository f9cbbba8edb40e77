// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.CompletableFuture;

/**
 * The messages of one group of a queue. A handle, as the queue. What it costs depends on the size of the group, not of the queue.
 * Dead letters have no index by group: choose them by {@link MessageInfo#group()} among those of {@link #queue()}.
 */
public interface MessageGroup {

    /** The time of a pause without an end, in the year 2255. */
    DueTime UNTIL_RESUMED = new DueTime(false, DueTime.MAX_MICROS);

    /** The group's name. */
    String name();

    /**
     * The queue for calls by id that are about messages of this group: of a queue with partitions the group's partition, whose
     * dead letters are those of its messages; of any other queue the queue itself.
     */
    DelayQueue queue();

    /**
     * Lists messages of the group: first failed ones that keep their places, then the others with a place, then those that are
     * parked, these two in the order of their due times.
     *
     * @param cursor where the page begins: the {@link MessagePage#next()} of the page before; null for the first page
     * @param limit how many at the most, 1 to {@value QueueAdmin#MAX_PAGE}
     */
    CompletableFuture<MessagePage> list(String cursor, int limit);

    /**
     * Pauses the group for all consumers everywhere, also while it has no message: until then no claim gives a message of it, and
     * other groups go on. What was claimed before goes on. A pause never shortens one that is there: end that by {@link #resume}.
     *
     * @param until for how long, or until when; {@link #UNTIL_RESUMED} for no end. A pause that is over changes nothing
     * @return whether it was not paused before
     * @throws IllegalStateException if the queue is one of dead letters, which have no groups
     */
    Submission<Boolean> pause(DueTime until);

    /**
     * Ends a pause of the group, and wakes a consumer.
     *
     * @return whether it was paused before
     */
    Submission<Boolean> resume();

    /** How many messages the group has in any state, how many of them are parked, and until when it is paused. */
    CompletableFuture<GroupInfo> info();

    /**
     * Removes all messages of the group.
     *
     * @param schedules whether recurring schedules are removed, too
     * @param leased whether leased ones are removed, too, whose deliveries become stale then
     * @return how many
     */
    CompletableFuture<Long> cancelAll(boolean schedules, boolean leased);

    /**
     * Makes all messages of the group due now that are not due yet.
     *
     * @param schedules whether recurring schedules are, too
     * @return how many
     */
    CompletableFuture<Long> promoteAll(boolean schedules);

    /**
     * Gives all messages of the group that are neither leased nor recurring schedules a new due time, and counts them. Each is due a
     * microsecond after the one before, so that they stay in order.
     */
    CompletableFuture<Long> rescheduleAll(DueTime due);
}
