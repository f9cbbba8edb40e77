// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The reasons why a message is delivered again, as Redis knows them. What lies behind them is told in {@code
 * docs/guarantees.md}, "What is not". A lost acknowledgement shows as {@link #LEASE_EXPIRED}; a message that was
 * scheduled a second time, as {@link #NONE}.
 */
public enum RedeliveryReason {
    /** None: this is the first delivery. */
    NONE,
    /** The delivery before failed, or asked for another one. */
    FAILED,
    /** The lease of the delivery before expired: its consumer died, was cut off, or worked for too long. */
    LEASE_EXPIRED,
    /** The consumer before released the message and had not begun it. */
    RELEASED;

    private static final RedeliveryReason[] ALL = values();

    /** The reason that a state record has; {@link #NONE} for a number that is none. */
    public static RedeliveryReason of(int number) {
        return number > 0 && number < ALL.length ? ALL[number] : NONE;
    }
}
