// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The stored form of a message: 16 bytes, the time of scheduling and the time it was scheduled for, as little-endian doubles, and
 * then its body. If the first is negative, a byte with the length of the message's group and the group come before the body.
 *
 * @param scheduledMicros when it was scheduled, in microseconds since the epoch
 * @param group null if there is none
 */
public record StoredBody(long scheduledMicros, byte[] body, String group) {

    private static final int HEAD_BYTES = 16;

    /**
     * The time for which a message was scheduled, in microseconds since the epoch.
     *
     * @param otherwise the time for what is too short to have one
     */
    static long dueMicros(byte[] bytes, long otherwise) {
        return bytes.length < HEAD_BYTES
                ? otherwise
                : (long) LittleEndian.of(bytes).getDouble(HEAD_BYTES / 2);
    }

    /**
     * Reads it.
     *
     * @param scheduledOtherwise the time for what is too short to have one: it was not written by a client of ours, and
     *     is handed on as it is, because its reader will refuse it
     */
    static StoredBody parse(byte[] bytes, long scheduledOtherwise) {
        if (bytes.length < HEAD_BYTES) {
            return new StoredBody(scheduledOtherwise, bytes, null);
        }
        long scheduled = (long) LittleEndian.of(bytes).getDouble();
        int body =
                scheduled < 0 && bytes.length > HEAD_BYTES ? HEAD_BYTES + 1 + (bytes[HEAD_BYTES] & 0xff) : HEAD_BYTES;
        if (body > bytes.length) {
            return new StoredBody(scheduledOtherwise, bytes, null);
        }
        String group = body == HEAD_BYTES
                ? null
                : new String(bytes, HEAD_BYTES + 1, body - HEAD_BYTES - 1, StandardCharsets.UTF_8);
        return new StoredBody(Math.abs(scheduled), Arrays.copyOfRange(bytes, body, bytes.length), group);
    }
}
