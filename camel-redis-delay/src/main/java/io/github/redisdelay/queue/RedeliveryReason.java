// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** Why a message is delivered again. */
public enum RedeliveryReason {
    /** It is not: this is its first delivery. */
    NONE,
    /** The delivery before failed, or asked for another one. */
    FAILED,
    /** The lease of the delivery before ended: its consumer died, was cut off, or worked for too long. */
    LEASE_EXPIRED,
    /** It was given back without having been begun. */
    RELEASED;

    private static final RedeliveryReason[] ALL = values();

    /** The reason that a state record has; {@link #NONE} for a number that is none. */
    public static RedeliveryReason of(int number) {
        return number > 0 && number < ALL.length ? ALL[number] : NONE;
    }
}
