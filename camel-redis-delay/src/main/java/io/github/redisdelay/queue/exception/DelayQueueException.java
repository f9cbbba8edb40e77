// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

/** A call to a delay queue failed. */
public class DelayQueueException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public DelayQueueException(String message) {
        super(message);
    }

    public DelayQueueException(String message, Throwable cause) {
        super(message, cause);
    }
}
