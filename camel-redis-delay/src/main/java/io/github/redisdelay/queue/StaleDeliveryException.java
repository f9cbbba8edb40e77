// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A message was not scheduled in the place of its own delivery, because that is none any more: the message was cancelled, or
 * finished by another delivery after the lease had ended. Nothing was changed.
 */
public class StaleDeliveryException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String messageId;

    public StaleDeliveryException(String queue, String messageId) {
        super("message '" + messageId + "' of queue '" + queue + "' was not scheduled again by its own delivery: it was"
                + " cancelled meanwhile, or finished by another delivery");
        this.messageId = messageId;
    }

    /** The id of the message that was not scheduled. */
    public String getMessageId() {
        return messageId;
    }
}
