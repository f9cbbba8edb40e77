// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import org.apache.camel.Message;

/** Reads what the headers of a message ask of the producer. */
final class ScheduleHeaders {

    private static final String DELAY = "header '" + RedisDelayConstants.DELAY + "'";
    private static final String DELIVER_AT = "header '" + RedisDelayConstants.DELIVER_AT + "'";

    private ScheduleHeaders() {}

    /**
     * When the message is due, or null if its headers say nothing about that.
     *
     * @throws IllegalArgumentException naming the header and its value
     */
    static DueTime due(Message message) {
        Object delay = message.getHeader(RedisDelayConstants.DELAY);
        Object deliverAt = message.getHeader(RedisDelayConstants.DELIVER_AT);
        if (delay != null && deliverAt != null) {
            throw new IllegalArgumentException(DELAY + " (" + delay + ") and " + DELIVER_AT + " (" + deliverAt
                    + ") are both set: set one of them");
        }
        if (delay != null) {
            return DueTime.after(Durations.of(DELAY, delay));
        }
        return deliverAt == null ? null : DueTime.at(Durations.instant(DELIVER_AT, deliverAt));
    }

    /** The operation, or the given one if the headers name none. */
    static RedisDelayOperation operation(Message message, RedisDelayOperation otherwise) {
        Object operation = message.getHeader(RedisDelayConstants.OPERATION);
        return operation == null
                ? otherwise
                : RedisDelayOperation.of("header '" + RedisDelayConstants.OPERATION + "'", operation);
    }

    /** The id, or null if there is none. */
    static String id(Message message) {
        Object id = message.getHeader(RedisDelayConstants.SCHEDULE_ID);
        if (id == null) {
            return null;
        }
        if (id instanceof CharSequence || id instanceof Number || id instanceof java.util.UUID) {
            try {
                return ScheduleRequest.of(id.toString(), new byte[0], DueTime.now())
                        .id();
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "header '" + RedisDelayConstants.SCHEDULE_ID + "': " + e.getMessage(), e);
            }
        }
        throw new IllegalArgumentException("header '" + RedisDelayConstants.SCHEDULE_ID + "' is of type "
                + id.getClass().getTypeName() + ": give a String");
    }

    /** The id for an operation that needs one. */
    static String requiredId(Message message, RedisDelayOperation operation) {
        String id = id(message);
        if (id == null) {
            throw new IllegalArgumentException("operation '" + operation + "' needs the id of a message: set header '"
                    + RedisDelayConstants.SCHEDULE_ID + "'");
        }
        return id;
    }

    /** What is used up once it was done, and must not direct the next step of the route. */
    static void remove(Message message) {
        message.removeHeader(RedisDelayConstants.DELAY);
        message.removeHeader(RedisDelayConstants.DELIVER_AT);
        message.removeHeader(RedisDelayConstants.OPERATION);
    }
}
