// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

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
 * @param onDuplicate what to do if the id is pending or being delivered
 * @param supersedes the claim id of a delivery of the same id that the caller holds, whose message this one takes the
 *     place of whatever {@code onDuplicate} says; null if there is none. A claim id that no longer holds the lease
 *     grants nothing.
 */
public record ScheduleRequest(String id, DueTime due, byte[] body, DuplicatePolicy onDuplicate, ClaimId supersedes) {

    /** The longest id, in bytes of UTF-8. */
    public static final int MAX_ID_BYTES = 256;

    public ScheduleRequest {
        Objects.requireNonNull(due, "due");
        Objects.requireNonNull(body, "body");
        Objects.requireNonNull(onDuplicate, "onDuplicate");
        if (id != null) {
            checkId(id);
        }
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
     * Checks an id.
     *
     * @return its bytes
     * @throws IllegalArgumentException saying what is wrong with it
     */
    static byte[] checkId(String id) {
        byte[] bytes;
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(id));
            bytes = Arrays.copyOf(encoded.array(), encoded.limit());
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "message id '" + abbreviate(id) + "' has half of a surrogate pair: it cannot be written as UTF-8",
                    e);
        }
        if (bytes.length == 0 || bytes.length > MAX_ID_BYTES) {
            throw new IllegalArgumentException("message id '" + abbreviate(id) + "' has " + bytes.length
                    + " bytes: it must have 1 to " + MAX_ID_BYTES + " bytes of UTF-8");
        }
        for (int i = 0; i < id.length(); i++) {
            if (Character.isISOControl(id.charAt(i))) {
                throw new IllegalArgumentException("message id '" + id.replaceAll("\\p{Cc}", "?")
                        + "' has a control character at position " + i + ": remove it");
            }
        }
        return bytes;
    }

    private static String abbreviate(String id) {
        return id.length() <= 40 ? id : id.substring(0, 40) + "…";
    }
}
