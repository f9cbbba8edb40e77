// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.MessageState;

/**
 * A message was not scheduled because its id is delayed, leased, or was finished less than its deduplication
 * period ago; or a dead letter was not redriven by its own delivery because a newer message has its id. Nothing was changed.
 */
public class DuplicateMessageException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String messageId;
    private final MessageState state;

    public DuplicateMessageException(String queue, String messageId, MessageState state) {
        this(
                messageId,
                state,
                "message '" + messageId + "' " + text(state) + " in queue '" + queue
                        + "': use another id, or onDuplicate=ignore or replace");
    }

    private DuplicateMessageException(String messageId, MessageState state, String text) {
        super(text);
        this.messageId = messageId;
        this.state = state;
    }

    /** An error for a dead letter that cannot go back, because its message's id is in use. */
    public static DuplicateMessageException ofDeadLetter(String queue, String deadLetterId) {
        String id = DeadLetterId.messageIdOf(deadLetterId);
        return new DuplicateMessageException(
                id,
                MessageState.DELAYED,
                "dead letter '" + deadLetterId + "' of queue '" + queue + "' was not redriven: its message's id '" + id
                        + "' is in use by a newer message; redrive it when that one is done or cancelled, or purge it");
    }

    private static String text(MessageState state) {
        return switch (state) {
            case LEASED -> "is already leased";
            case FINISHED -> "was finished less than its deduplication period ago";
            default -> "is already delayed";
        };
    }

    /** The id that is in use. */
    public String getMessageId() {
        return messageId;
    }

    /** The state of the message with this id. */
    public MessageState getState() {
        return state;
    }
}
