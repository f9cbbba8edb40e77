// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call to a delay queue failed. The message says all, in one line: such an error is made on a thread of Redisson's or of
 * a timer, whose stack says nothing, and so it has none. Its cause is null, or another error of this type.
 */
public class DelayQueueException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private static final Logger LOG = LoggerFactory.getLogger(DelayQueueException.class);

    private final transient Throwable clientError;

    public DelayQueueException(String message) {
        this(message, null);
    }

    /** @param cause kept as the cause if it is of this type; else logged at DEBUG, and had by {@link #getClientError} */
    public DelayQueueException(String message, Throwable cause) {
        super(message, cause instanceof DelayQueueException ? cause : null, true, false);
        clientError = cause instanceof DelayQueueException ? null : cause;
        if (clientError != null && LOG.isDebugEnabled()) {
            LOG.debug(message, clientError);
        }
    }

    /**
     * The error of Redisson, or of the JDK, that the message tells of; null if there is none, or after this one was
     * serialized. It is not the cause, so that nobody logs its stack, nor the call that Redisson's errors quote.
     */
    public Throwable getClientError() {
        return clientError;
    }
}
