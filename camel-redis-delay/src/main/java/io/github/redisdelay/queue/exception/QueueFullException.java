// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

/** A message was not scheduled because its queue holds as many as it may. Nothing was changed. */
public class QueueFullException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String messageId;
    private final long length;

    public QueueFullException(String queue, String messageId, long length, long maximumLength) {
        super("message '" + messageId + "' was not stored: queue '" + queue + "' has " + length
                + " messages, delayed or leased, and maximumQueueLength allows " + maximumLength);
        this.messageId = messageId;
        this.length = length;
    }

    /** The id of the message that was not stored. */
    public String getMessageId() {
        return messageId;
    }

    /** The number of messages that the queue held, delayed and leased. */
    public long getLength() {
        return length;
    }
}
