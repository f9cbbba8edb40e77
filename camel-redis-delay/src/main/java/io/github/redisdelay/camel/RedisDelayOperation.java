// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.util.Locale;

/** The operations of a producer. */
public enum RedisDelayOperation {
    /** Stores a message that is delivered when it is due. */
    schedule,
    /** Removes the message with the given id, whatever its state. */
    cancel,
    /** Changes the due time of a message that is not being delivered. */
    reschedule,
    /** Makes a message due now, or all waiting ones. */
    promote,
    /** Reads the message with the given id. */
    get,
    /** Lists messages, page by page. */
    list,
    /** Reads the queue's figures. */
    stats,
    /** Counts what becomes due when. */
    outlook,
    /** Lists the names of all queues that were used. */
    queues,
    /** Stops deliveries to all consumers everywhere. */
    pause,
    /** Ends a pause. */
    resume,
    /** Moves dead letters back into the queue. */
    redrive,
    /** Removes dead letters. */
    purge,
    /** Finds messages that are in no state, and makes them wait again. */
    check,
    /** Moves the messages of a delayed queue of Redisson's here. {@code import} is a Java keyword. */
    IMPORT;

    /** The name as it is written in options and headers. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
