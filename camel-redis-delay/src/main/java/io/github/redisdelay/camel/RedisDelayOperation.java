// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.util.Locale;

/** The operations of a producer. */
public enum RedisDelayOperation {
    /** Stores a message that is delivered when it is due. */
    SCHEDULE,
    /** Removes the message with the given id, whatever its state. */
    CANCEL,
    /** Changes the due time of a message that is not leased. */
    RESCHEDULE,
    /** Makes a delayed message due now, or all of them. */
    PROMOTE,
    /** Reads the message with the given id. */
    GET,
    /** Lists messages, page by page. */
    LIST,
    /** Reads the queue's figures. */
    STATS,
    /** Counts what becomes due when. */
    OUTLOOK,
    /** Lists the names of all queues that were used. */
    QUEUES,
    /** Stops deliveries of the queue, or of a group, to all consumers everywhere. */
    PAUSE,
    /** Ends a pause. */
    RESUME,
    /** Moves dead letters back into the queue. */
    REDRIVE,
    /** Removes dead letters. */
    PURGE,
    /** Finds messages that are in no state, and makes them wait again. */
    CHECK,
    /** Moves the messages of a delayed queue of Redisson's here. */
    IMPORT;

    /** The name as it is written in options and headers. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
