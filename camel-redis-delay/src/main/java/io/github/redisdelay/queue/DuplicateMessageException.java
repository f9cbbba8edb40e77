// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A message was not scheduled because its id is pending, being delivered, or was finished less than its deduplication
 * period ago. Nothing was changed.
 */
public class DuplicateMessageException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String messageId;
    private final MessageState state;

    public DuplicateMessageException(String queue, String messageId, MessageState state) {
        super("message '" + messageId + "' " + text(state) + " in queue '" + queue
                + "': use another id, or onDuplicate=ignore or replace");
        this.messageId = messageId;
        this.state = state;
    }

    private static String text(MessageState state) {
        return switch (state) {
            case LEASED -> "is already being delivered";
            case FINISHED -> "was finished less than its deduplication period ago";
            default -> "is already pending";
        };
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
