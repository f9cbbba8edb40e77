// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * The token of a delivery: 128 random bits, made by the client for each claim call. Only who knows the claim id under
 * which a message is leased can acknowledge, return, extend or supersede it.
 */
public final class ClaimId {

    /** Length in bytes. */
    public static final int LENGTH = 16;

    private final byte[] bytes;

    private ClaimId(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * A claim id of these bytes.
     *
     * @throws IllegalArgumentException if there are not exactly {@value #LENGTH} of them
     */
    public static ClaimId of(byte[] bytes) {
        if (bytes.length != LENGTH) {
            throw new IllegalArgumentException("a claim id has " + LENGTH + " bytes, not " + bytes.length);
        }
        return new ClaimId(bytes.clone());
    }

    public byte[] bytes() {
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ClaimId that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
