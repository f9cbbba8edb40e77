// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import java.util.Arrays;

/**
 * The stored form of a message: 16 bytes, the time of scheduling and the time it was scheduled for, as little-endian doubles, and
 * then its body.
 *
 * @param scheduledMicros when it was scheduled, in microseconds since the epoch
 */
public record StoredBody(long scheduledMicros, byte[] body) {

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
        return bytes.length < HEAD_BYTES
                ? new StoredBody(scheduledOtherwise, bytes)
                : new StoredBody(
                        (long) LittleEndian.of(bytes).getDouble(), Arrays.copyOfRange(bytes, HEAD_BYTES, bytes.length));
    }
}
