// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.ShownId;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A message to schedule.
 *
 * @param id the id, 1 to {@link #MAX_ID_BYTES} bytes of UTF-8 without control characters, or null to have one generated
 * @param due when it is due
 * @param body the bytes to store; the array must not be changed afterwards
 * @param onDuplicate what to do if the id is pending or being delivered. Always {@link DuplicatePolicy#REJECT} for a generated
 *     id: one that is in use is another message's, which must be neither replaced nor taken for this one.
 * @param supersedes the claim id of a delivery of the same id that the caller holds, whose message this one takes the
 *     place of whatever {@code onDuplicate} says; null if there is none. A claim id that no longer holds the lease
 *     grants nothing, and if the message is gone (cancelled, or finished by another delivery), this one is refused.
 * @param priority 0 to {@value #MAX_PRIORITY}: among due messages, the highest is delivered first
 * @param maximumQueueLength how many messages the queue may hold, pending or being delivered, for this one to be added;
 *     0 for any number. A message that takes the place of another one is not refused.
 */
public record ScheduleRequest(
        String id,
        DueTime due,
        byte[] body,
        DuplicatePolicy onDuplicate,
        ClaimId supersedes,
        int priority,
        long maximumQueueLength) {

    /** The highest priority. */
    public static final int MAX_PRIORITY = 9;

    /** The longest id, in bytes of UTF-8. */
    public static final int MAX_ID_BYTES = 256;

    /** The longest id of a dead letter: a message's id, {@code @} and a time in microseconds. */
    public static final int MAX_DEAD_LETTER_ID_BYTES = MAX_ID_BYTES + 1 + 16;

    public ScheduleRequest {
        Objects.requireNonNull(due, "due");
        Objects.requireNonNull(body, "body");
        Objects.requireNonNull(onDuplicate, "onDuplicate");
        if (id == null) {
            onDuplicate = DuplicatePolicy.REJECT;
        } else {
            checkId(id);
        }
        checkPriority(priority);
        checkMaximumQueueLength(maximumQueueLength);
    }

    public static void checkPriority(int priority) {
        if (priority < 0 || priority > MAX_PRIORITY) {
            throw new IllegalArgumentException("priority is " + priority + ": it must be from 0 to " + MAX_PRIORITY);
        }
    }

    public static void checkMaximumQueueLength(long maximumQueueLength) {
        if (maximumQueueLength < 0 || maximumQueueLength > DueTime.MAX_MICROS) {
            throw new IllegalArgumentException(
                    "maximumQueueLength is " + maximumQueueLength + ": it must be 1 or more, or 0 for no limit");
        }
    }

    /** A message of priority 0 for a queue without a limit. */
    public ScheduleRequest(String id, DueTime due, byte[] body, DuplicatePolicy onDuplicate, ClaimId supersedes) {
        this(id, due, body, onDuplicate, supersedes, 0, 0);
    }

    /** A message with a generated id. */
    public static ScheduleRequest of(byte[] body, DueTime due) {
        return new ScheduleRequest(null, due, body, DuplicatePolicy.REJECT, null);
    }

    /** A message with an id; an id in use is an error. */
    public static ScheduleRequest of(String id, byte[] body, DueTime due) {
        return new ScheduleRequest(id, due, body, DuplicatePolicy.REJECT, null);
    }

    /**
     * Checks the id of a message.
     *
     * @param deadLetter whether it is that of a dead letter, which may be longer
     * @return the id
     * @throws IllegalArgumentException saying what is wrong with it
     */
    public static String requireId(String id, boolean deadLetter) {
        checkId(id, deadLetter ? MAX_DEAD_LETTER_ID_BYTES : MAX_ID_BYTES);
        return id;
    }

    /** Checks a message's id, as {@link #checkId(String, int)}. */
    public static byte[] checkId(String id) {
        return checkId(id, MAX_ID_BYTES);
    }

    /**
     * Checks an id.
     *
     * @param maximum how many bytes it may have
     * @return its bytes
     * @throws IllegalArgumentException saying what is wrong with it
     */
    public static byte[] checkId(String id, int maximum) {
        byte[] bytes;
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(id));
            bytes = Arrays.copyOf(encoded.array(), encoded.limit());
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "message id '" + abbreviate(id) + "' has half of a surrogate pair: it cannot be written as UTF-8",
                    e);
        }
        if (bytes.length == 0 || bytes.length > maximum) {
            throw new IllegalArgumentException("message id '" + abbreviate(id) + "' has " + bytes.length
                    + " bytes: it must have 1 to " + maximum + " bytes of UTF-8");
        }
        for (int i = 0; i < id.length(); i++) {
            if (Character.isISOControl(id.charAt(i))) {
                throw new IllegalArgumentException(
                        "message id '" + ShownId.of(id) + "' has a control character at position " + i + ": remove it");
            }
        }
        return bytes;
    }

    private static String abbreviate(String id) {
        return ShownId.of(id.length() <= 40 ? id : id.substring(0, 40) + "…");
    }
}
