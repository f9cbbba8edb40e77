// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** A message was not scheduled because its id is pending or being delivered. Nothing was changed. */
public class DuplicateMessageException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String messageId;
    private final MessageState state;

    public DuplicateMessageException(String queue, String messageId, MessageState state) {
        super("message '" + messageId + "' is already " + (state == MessageState.LEASED ? "being delivered" : "pending")
                + " in queue '" + queue + "': use another id, or onDuplicate=ignore or replace");
        this.messageId = messageId;
        this.state = state;
    }

    /** The id that is in use. */
    public String getMessageId() {
        return messageId;
    }

    /** Where the message with this id is. */
    public MessageState getState() {
        return state;
    }
}
