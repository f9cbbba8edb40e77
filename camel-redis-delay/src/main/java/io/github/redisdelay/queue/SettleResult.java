// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** The result of a {@link Settlement}, or of an extension of a lease. */
public enum SettleResult {
    /** The delivery held its lease and the call took effect. */
    DONE,
    /**
     * The message is not in the queue any more: cancelled, or finished by another delivery or call. Nothing changed.
     */
    STALE_GONE,
    /** The message is delayed, or another delivery has leased it; it may be delivered again. Nothing changed. */
    STALE_HELD
}
