// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import java.nio.charset.StandardCharsets;

/** The slot of a key in a Redis Cluster: CRC16 (XMODEM: polynomial 0x1021, start value 0) of its hash tag. */
public final class ClusterSlot {

    /** The number of slots of a Redis Cluster. */
    public static final int SLOTS = 16384;

    private static final int[] TABLE = table();

    private ClusterSlot() {}

    /** The slot of a key: that of the text between its first brace and the next closing one, if there is any, else of all. */
    public static int of(String key) {
        int open = key.indexOf('{');
        int close = open < 0 ? -1 : key.indexOf('}', open);
        String tag = close > open + 1 ? key.substring(open + 1, close) : key;
        return crc16(0, tag.getBytes(StandardCharsets.UTF_8)) % SLOTS;
    }

    /** Continues a checksum, which begins with 0. */
    public static int crc16(int begun, byte[] bytes) {
        int crc = begun;
        for (byte b : bytes) {
            crc = ((crc << 8) ^ TABLE[((crc >>> 8) ^ b) & 0xFF]) & 0xFFFF;
        }
        return crc;
    }

    private static int[] table() {
        int[] table = new int[256];
        for (int i = 0; i < 256; i++) {
            int crc = i << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : (crc << 1) ^ 0x1021;
            }
            table[i] = crc & 0xFFFF;
        }
        return table;
    }
}
