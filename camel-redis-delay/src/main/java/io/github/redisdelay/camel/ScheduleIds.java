// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.ScheduleRequest;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.apache.camel.Message;

/**
 * The ids in the header {@code CamelRedisDelayScheduleId}.
 *
 * @param list whether they were given as a list; otherwise there is exactly one
 */
record ScheduleIds(List<String> ids, boolean list) {

    private static final String HEADER = "header '" + RedisDelayConstants.SCHEDULE_ID + "'";

    /**
     * The ids that a message names.
     *
     * @param deadLetters whether they are those of dead letters
     * @return null if it names none
     * @throws IllegalArgumentException if one cannot be an id
     */
    static ScheduleIds of(Message message, boolean deadLetters) {
        Object value = GivenHeader.of(message, RedisDelayConstants.SCHEDULE_ID);
        if (value == null) {
            return null;
        }
        if (!(value instanceof Collection<?> all)) {
            return new ScheduleIds(List.of(id(value, deadLetters)), false);
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException(HEADER + " is an empty list: name the messages that are meant");
        }
        return new ScheduleIds(all.stream().map(id -> id(id, deadLetters)).toList(), true);
    }

    /**
     * The one id that a message names.
     *
     * @return null if it names none
     * @throws IllegalArgumentException if it cannot be an id, or is a list
     */
    static String single(Message message, boolean deadLetter) {
        Object value = GivenHeader.of(message, RedisDelayConstants.SCHEDULE_ID);
        return value == null ? null : id(value, deadLetter);
    }

    private static String id(Object value, boolean deadLetter) {
        if (value instanceof CharSequence || value instanceof Number || value instanceof UUID) {
            try {
                return ScheduleRequest.requireId(value.toString(), deadLetter);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(HEADER + ": " + e.getMessage(), e);
            }
        }
        throw new IllegalArgumentException(HEADER
                + (value instanceof Collection<?>
                        ? " is a list: give one id"
                        : " is of type "
                                + (value == null ? "null" : value.getClass().getTypeName()) + ": give a String"));
    }
}
