// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Makes message ids: 16 characters of {@code -0-9A-Z_a-z} whose byte order is the order in which one client made them.
 *
 * <p>A queue asks for one where a message is scheduled without an id, a {@code PartitionedQueue} before it chooses the
 * partition; imports do, too.
 *
 * <p>The first 7 characters are 42 bits of milliseconds since the epoch (until the year 2109), the other 9 are 54 bits
 * that begin at random in each millisecond and count from there, so that ids of other clients do not collide with them.
 * When the clock steps back the last millisecond is counted on.
 */
public final class MessageIdGenerator {

    private static final byte[] ALPHABET = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final int RANDOM_BITS = 54;
    private static final long RANDOM_LIMIT = 1L << RANDOM_BITS;

    private final LongSupplier clock;
    private final RandomGenerator random;

    // Guarded by this.
    private long millis;
    private long count;

    /**
     * @param clock the time in milliseconds since the epoch; only for the order of ids, never for a due time
     */
    public MessageIdGenerator(LongSupplier clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
    }

    public String next() {
        long time;
        long number;
        synchronized (this) {
            long now = clock.getAsLong();
            if (now > millis) {
                millis = now;
                // The upper half stays free to count into.
                count = random.nextLong(RANDOM_LIMIT / 2);
            } else if (++count == RANDOM_LIMIT) {
                millis++;
                count = 0;
            }
            time = millis;
            number = count;
        }
        byte[] id = new byte[16];
        for (int i = 15; i >= 7; i--) {
            id[i] = ALPHABET[(int) (number & 63)];
            number >>>= 6;
        }
        for (int i = 6; i >= 0; i--) {
            id[i] = ALPHABET[(int) (time & 63)];
            time >>>= 6;
        }
        return new String(id, java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
