// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.ClaimId;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/**
 * Distinguishes consumers: 64 random bits, made when a consumer starts. Its claim ids begin with them, so that it can be found
 * who holds a message.
 */
public record ConsumerId(long bits) {

    /** Length in bytes. */
    public static final int LENGTH = 8;

    public static ConsumerId next(RandomGenerator random) {
        return new ConsumerId(random.nextLong());
    }

    public byte[] bytes() {
        return java.nio.ByteBuffer.allocate(LENGTH).putLong(bits).array();
    }

    /** A new claim id of this consumer. */
    public ClaimId nextClaimId(RandomGenerator random) {
        return ClaimId.of(java.nio.ByteBuffer.allocate(ClaimId.LENGTH)
                .putLong(bits)
                .putLong(random.nextLong())
                .array());
    }

    @Override
    public String toString() {
        return HexFormat.of().toHexDigits(bits);
    }
}
