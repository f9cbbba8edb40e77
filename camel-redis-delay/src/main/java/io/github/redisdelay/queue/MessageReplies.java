// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the replies of {@code get.lua} and {@code browse.lua}. */
final class MessageReplies {

    /** What the replies have for each message: id, score, priority, record, holder. */
    private static final int COLUMNS = 5;

    private MessageReplies() {}

    /** A message and its body; empty if there is none. */
    static Optional<StoredMessage> get(List<?> reply) {
        if (reply.isEmpty()) {
            return Optional.empty();
        }
        MessageState state = text(reply.get(COLUMNS)).equals("l") ? MessageState.LEASED : MessageState.DELAYED;
        MessageInfo info = info(reply, 0, state);
        StoredBody stored = StoredBody.parse((byte[]) reply.get(COLUMNS + 1), info.dueMicros());
        return Optional.of(new StoredMessage(info, stored.scheduledMicros(), stored.body()));
    }

    /**
     * A page of messages.
     *
     * @param list the letter of the list, for the cursor
     */
    static MessagePage page(List<?> reply, MessageState state, int limit, char list) {
        List<MessageInfo> messages = new ArrayList<>(reply.size() / COLUMNS);
        for (int at = 0; at < reply.size(); at += COLUMNS) {
            messages.add(info(reply, at, state));
        }
        if (messages.size() < limit) {
            return new MessagePage(messages, null);
        }
        MessageInfo last = messages.get(messages.size() - 1);
        long score = state == MessageState.LEASED ? last.leaseEndMicros() : last.dueMicros();
        return new MessagePage(messages, PageCursor.text(list, score, (byte[]) reply.get(reply.size() - COLUMNS)));
    }

    private static MessageInfo info(List<?> reply, int at, MessageState state) {
        String id = text(reply.get(at));
        long score = (long) ByteBuffer.wrap((byte[]) reply.get(at + 1))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getDouble();
        int priority = Integer.parseInt(text(reply.get(at + 2)));
        StateRecord record = StateRecord.parse((byte[]) reply.get(at + 3));
        boolean leased = state == MessageState.LEASED;
        return new MessageInfo(
                id,
                state,
                leased ? record.dueMicros() : score,
                leased ? score : 0,
                text(reply.get(at + 4)),
                record.attempts(),
                record.redeliveryReason(),
                priority,
                record.lastFailure());
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }
}
