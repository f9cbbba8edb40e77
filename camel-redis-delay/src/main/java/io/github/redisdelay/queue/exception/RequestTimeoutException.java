// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

/** Redis did not answer within the request timeout. */
public class RequestTimeoutException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final boolean possiblyStored;

    public RequestTimeoutException(String message, boolean possiblyStored, Throwable cause) {
        super(message, cause);
        this.possiblyStored = possiblyStored;
    }

    /**
     * True if the request may have taken effect or may still do so. If false it was never sent and never will be.
     */
    public boolean isPossiblyStored() {
        return possiblyStored;
    }
}
