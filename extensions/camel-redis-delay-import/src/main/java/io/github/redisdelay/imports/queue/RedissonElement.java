// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.internal.format.LittleEndian;
import java.util.Arrays;

/**
 * An element of Redisson's delayed queue: a random id, 8 bytes with the length of the payload, and the payload. Lengths
 * are little-endian. Up to 3.20.1 the id is 8 bytes; since 3.21.1 it has its own length in a byte before it, which is
 * 8.
 *
 * @param newFormat true for the format since 3.21.1
 */
public record RedissonElement(boolean newFormat, byte[] payload) {

    private static final int ID = 8;

    /** Reads an element by the length that it names; null if it has neither format. */
    public static RedissonElement parse(byte[] element) {
        if (element.length > 0 && element[0] == ID && endsAfter(element, 1 + ID)) {
            return of(element, true, 1 + ID);
        }
        if (endsAfter(element, ID)) {
            return of(element, false, ID);
        }
        int id = element.length == 0 ? 0 : element[0] & 0xFF;
        return endsAfter(element, 1 + id) ? of(element, true, 1 + id) : null;
    }

    /** True if the length at this place is that of the rest. */
    private static boolean endsAfter(byte[] element, int at) {
        int rest = element.length - at - Long.BYTES;
        return rest >= 0 && LittleEndian.of(element).getLong(at) == rest;
    }

    private static RedissonElement of(byte[] element, boolean newFormat, int at) {
        return new RedissonElement(newFormat, Arrays.copyOfRange(element, at + Long.BYTES, element.length));
    }
}
