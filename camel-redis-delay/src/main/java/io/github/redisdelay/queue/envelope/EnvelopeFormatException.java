// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.envelope;

import io.github.redisdelay.queue.exception.DelayQueueException;

/** Stored bytes are not a readable {@link Envelope}: damaged, not ours, or of a format that this version does not know. */
public class EnvelopeFormatException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final int offset;

    /**
     * @param problem what is wrong; never contains the message's data
     * @param offset where, in bytes from the start of the envelope
     */
    public EnvelopeFormatException(String problem, int offset) {
        super("unreadable envelope: " + problem + " (at byte " + offset + ")");
        this.offset = offset;
    }

    /** The position of the problem, in bytes from the start of the envelope. */
    public int getOffset() {
        return offset;
    }
}
