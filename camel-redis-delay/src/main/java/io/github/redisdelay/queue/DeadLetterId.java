// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.ShownId;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The id of a dead letter: the id of its message, {@code @}, and the time at which it was given up, in microseconds
 * since 1970 by the Redis server's clock, in digits. This is the one place in Java that knows this rule; {@code
 * index.lua} has it for the scripts.
 *
 * @param messageId the id of the message
 * @param time the digits
 */
public record DeadLetterId(String messageId, String time) {

    private static final Pattern FORM = Pattern.compile("(.+)@([0-9]+)", Pattern.DOTALL);

    /**
     * Reads an id.
     *
     * @return null if it is none of a dead letter. A message may have an id that looks like one
     */
    public static DeadLetterId parse(String id) {
        Matcher parts = FORM.matcher(id);
        return parts.matches() ? new DeadLetterId(parts.group(1), parts.group(2)) : null;
    }

    /** The id of a message that was given up at this time. */
    public static DeadLetterId of(String messageId, long micros) {
        return new DeadLetterId(messageId, Long.toString(micros));
    }

    /** The id of a dead letter's message; another client's id that is none of a dead letter is taken as it is. */
    public static String messageIdOf(String id) {
        DeadLetterId letter = parse(id);
        return letter == null ? id : letter.messageId;
    }

    /**
     * The time when the message was given up, in milliseconds since 1970; 0 if others have written a time that there
     * cannot be.
     */
    public long millis() {
        return time.length() > 16 ? 0 : Long.parseLong(time) / 1000;
    }

    /** The id for a log, without control characters, which other clients may have written. */
    public String shown() {
        return ShownId.of(toString());
    }

    /** The id as text. */
    @Override
    public String toString() {
        return messageId + "@" + time;
    }
}
