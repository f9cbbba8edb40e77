// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

/** The ways to finish a delivery or to keep it, with their words in {@code settle.lua}. */
public enum SettleAction {
    /** The message is done. */
    ACKNOWLEDGE,
    /** It comes again after a delay. */
    RETURN,
    /** It comes again at once, and the attempt does not count. */
    RELEASE,
    /** It becomes a dead letter. */
    BURY,
    /** It is given up and not kept. */
    DISCARD,
    /** Its lease is extended. */
    EXTEND;

    private final byte[] word = WireWord.bytes(this);

    public byte[] word() {
        return word;
    }

    /** Returns whether the message stays in its queue. */
    public boolean keepsMessage() {
        return this == RETURN || this == RELEASE;
    }
}
