// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The byte order in which scripts pack their numbers. */
public final class LittleEndian {

    private LittleEndian() {}

    /** A reader of bytes that a script has packed. */
    public static ByteBuffer of(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
