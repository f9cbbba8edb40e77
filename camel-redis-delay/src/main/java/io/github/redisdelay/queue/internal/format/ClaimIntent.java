// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

/** The intents of a consumer with a claim: how it goes on behind it, with their words in {@code claim.lua}. */
public enum ClaimIntent {
    /** It does not wait for more: it leaves the waiters. */
    LEAVE,
    /** It waits until it is given what it asks for. Then it comes again when it has capacity. */
    FILL,
    /** It keeps waiting, as it has capacity for more than it asks for. */
    STAY,
    /** It keeps waiting, as its work is short: it has capacity again in a moment. */
    QUICK;

    private final byte[] word = WireWord.bytes(this);

    public byte[] word() {
        return word;
    }
}
