// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.option.HeaderValues;
import io.github.redisdelay.queue.ScheduleRequest;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.camel.Message;

/**
 * The ids in the header {@code CamelRedisDelayScheduleId}, or in {@code CamelRedisDelayDeadLetterId}.
 *
 * @param list true if they were given as a list; otherwise there is exactly one
 * @param known true if they are certainly the ids of dead letters, and not of messages
 */
public record IdHeaders(List<String> ids, boolean list, boolean known) {

    private static final String A_TEXT = "a String, a number or a UUID";

    /**
     * The ids that a message names.
     *
     * @param deadLetters true if they are those of dead letters
     * @return null if it names none
     * @throws IllegalArgumentException if one cannot be an id
     */
    public static IdHeaders of(Message message, boolean deadLetters) {
        return of(message, RedisDelayConstants.SCHEDULE_ID, deadLetters);
    }

    /**
     * The ids of the dead letters that a message names: in the header that asks for ids, or else in the header with the
     * id of its own dead letter.
     *
     * @return null if it names none
     * @throws IllegalArgumentException if one cannot be an id
     */
    public static IdHeaders ofDeadLetters(Message message) {
        return of(message, headerOfDeadLetter(message), true);
    }

    /** The header in which {@link #ofDeadLetters} looks. */
    static String headerOfDeadLetter(Message message) {
        return HeaderValues.of(message, RedisDelayConstants.SCHEDULE_ID) == null
                ? RedisDelayConstants.DEAD_LETTER_ID
                : RedisDelayConstants.SCHEDULE_ID;
    }

    private static IdHeaders of(Message message, String header, boolean deadLetters) {
        Object value = HeaderValues.of(message, header);
        if (value == null) {
            return null;
        }
        boolean known = header.equals(RedisDelayConstants.DEAD_LETTER_ID);
        String what = "header '" + header + "'";
        if (!(value instanceof Collection<?> all)) {
            return new IdHeaders(List.of(id(what, value, deadLetters, A_TEXT + " or a list of these")), false, known);
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException(what + " is an empty list: name the messages that are meant");
        }
        return new IdHeaders(
                all.stream()
                        .map(id -> id("an element of " + what, id, deadLetters, A_TEXT))
                        .toList(),
                true,
                known);
    }

    /**
     * The one id under which a message is to be scheduled.
     *
     * @return null if it names none
     * @throws IllegalArgumentException if it cannot be an id, or is a list
     */
    public static String single(Message message) {
        return single(message, RedisDelayConstants.SCHEDULE_ID, false);
    }

    /** The one id that a message names, as {@link #ofDeadLetters}; it may be that of a dead letter. */
    public static String singleOrDeadLetter(Message message) {
        return single(message, headerOfDeadLetter(message), true);
    }

    private static String single(Message message, String header, boolean deadLetter) {
        Object value = HeaderValues.of(message, header);
        return value == null ? null : id("header '" + header + "'", value, deadLetter, "one id, as " + A_TEXT);
    }

    /**
     * @param what the header or a part of it, for errors
     * @param right the right kind of value, for errors
     */
    private static String id(String what, Object value, boolean deadLetter, String right) {
        return text(what, value, right, text -> ScheduleRequest.requireId(text, deadLetter));
    }

    /**
     * The name of a group.
     *
     * @param what the option or header, for errors
     * @throws IllegalArgumentException if it cannot be one
     */
    public static String group(String what, Object value) {
        return text(what, value, A_TEXT, ScheduleRequest::requireGroup);
    }

    private static String text(String what, Object value, String right, UnaryOperator<String> checked) {
        if (value instanceof CharSequence || value instanceof Number || value instanceof UUID) {
            try {
                return checked.apply(value.toString());
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(what + ": " + e.getMessage(), e);
            }
        }
        throw new IllegalArgumentException(what + " is "
                + (value == null
                        ? "null"
                        : value instanceof Collection<?>
                                ? "a list"
                                : "of type " + value.getClass().getTypeName())
                + ": give " + right);
    }
}
