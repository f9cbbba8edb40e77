// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Makes message ids: 14 characters of {@code -0-9A-Z_a-z} whose byte order is the order in which one client made them.
 *
 * <p>A queue asks for one where a message is scheduled without an id, before it chooses the partition; imports do, too.
 *
 * <p>Of 84 bits the first 32 are seconds since the epoch (until the year 2106), the other 52 begin at random in each second and
 * count from there, so that ids of other clients do not collide with them. When the clock steps back the last second is counted
 * on. Redis has each id twice or more: with 14 characters it takes 16 bytes there, with more of them 24.
 */
public final class MessageIdGenerator {

    private static final byte[] ALPHABET = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final int RANDOM_BITS = 52;
    private static final long RANDOM_LIMIT = 1L << RANDOM_BITS;

    private final LongSupplier clock;
    private final RandomGenerator random;

    // Guarded by this.
    private long seconds;
    private long count;

    /**
     * @param clock the time in milliseconds since the epoch; only for the order of ids and for {@link RunTimes}
     */
    public MessageIdGenerator(LongSupplier clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
    }

    /** The time by this machine's clock. */
    public long nowMicros() {
        return 1_000 * clock.getAsLong();
    }

    public String next() {
        long time;
        long number;
        synchronized (this) {
            long now = clock.getAsLong() / 1_000;
            if (now > seconds) {
                seconds = now;
                // The upper half stays free to count into.
                count = random.nextLong(RANDOM_LIMIT / 2);
            } else if (++count == RANDOM_LIMIT) {
                seconds++;
                count = 0;
            }
            time = seconds;
            number = count;
        }
        // 36 and 48 bits.
        long high = time << 4 | number >>> 48;
        byte[] id = new byte[14];
        for (int i = 13; i >= 6; i--) {
            id[i] = ALPHABET[(int) (number & 63)];
            number >>>= 6;
        }
        for (int i = 5; i >= 0; i--) {
            id[i] = ALPHABET[(int) (high & 63)];
            high >>>= 6;
        }
        return new String(id, java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
