// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import io.github.redisdelay.queue.DeadLetterId;

/**
 * A message was not scheduled in the place of its own delivery, or a dead letter not redriven by its own, because that is none any
 * more: the message was cancelled, or finished by another delivery after the lease had expired. Nothing was changed.
 */
public class StaleDeliveryException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String messageId;

    public StaleDeliveryException(String queue, String messageId) {
        this(
                queue,
                messageId,
                "message '" + messageId + "'",
                "was not scheduled again by its own delivery: it was cancelled, finished by another delivery,"
                        + " or, in a queue with partitions, given another group");
    }

    private StaleDeliveryException(String queue, String messageId, String what, String why) {
        super(what + " of queue '" + queue + "' " + why);
        this.messageId = messageId;
    }

    /** An error for a dead letter that its own delivery could not move. */
    public static StaleDeliveryException ofDeadLetter(String queue, String deadLetterId) {
        return new StaleDeliveryException(
                queue,
                DeadLetterId.messageIdOf(deadLetterId),
                "dead letter '" + deadLetterId + "'",
                "was not redriven by its own delivery: its lease was lost, and another consumer has it or has finished it,"
                        + " or it was purged");
    }

    /** The id of the message that was not scheduled, or redriven. */
    public String getMessageId() {
        return messageId;
    }
}
