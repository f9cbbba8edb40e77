// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** The outcome of an acknowledgement, a return or an extension of a delivery. */
public enum Settlement {
    /** The delivery held its lease and the call took effect. */
    DONE,
    /**
     * The message is not in the queue any more: cancelled, or finished by another delivery or call. Nothing changed.
     */
    STALE_GONE,
    /** The message waits, or is held by another delivery; it may be delivered again. Nothing changed. */
    STALE_HELD
}
