// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.exception.DelayQueueException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/** Reads the replies of {@code get.lua}, {@code browse.lua} and {@code group.lua}. */
public final class MessageRows {

    /** The columns of a reply, for each message: id, score, priority, record, holder. */
    private static final int COLUMNS = 5;

    private MessageRows() {}

    /**
     * A message and its body; empty if there is none.
     *
     * @throws DelayQueueException if the reply is none of the script's
     */
    public static Optional<StoredMessage> get(List<?> reply) {
        return reply.isEmpty() ? Optional.empty() : read(() -> stored(reply));
    }

    private static Optional<StoredMessage> stored(List<?> reply) {
        MessageState state = state(reply.get(COLUMNS));
        MessageInfo info = info(reply, 0, state);
        StoredBody stored = StoredBody.parse((byte[]) reply.get(COLUMNS + 1), info.dueMicros());
        long paused = (long) LittleEndian.of((byte[]) reply.get(COLUMNS + 2)).getDouble();
        return Optional.of(new StoredMessage(info, stored.scheduledMicros(), stored.body(), paused));
    }

    /**
     * The next messages of several replies, each of which has them in order.
     *
     * @param newest whether that is the opposite order
     */
    public static List<Object> merge(List<List<?>> replies, int limit, boolean newest) {
        int[] at = new int[replies.size()];
        List<Object> merged = new ArrayList<>();
        for (int n = 0; n < limit; n++) {
            int first = -1;
            for (int i = 0; i < at.length; i++) {
                if (at[i] < replies.get(i).size()
                        && (first < 0 || newest != compare(replies.get(i), at[i], replies.get(first), at[first]) < 0)) {
                    first = i;
                }
            }
            if (first < 0) {
                break;
            }
            merged.addAll(replies.get(first).subList(at[first], at[first] + COLUMNS));
            at[first] += COLUMNS;
        }
        return merged;
    }

    private static int compare(List<?> one, int at, List<?> other, int otherAt) {
        double score = score(one, at);
        double otherScore = score(other, otherAt);
        // Not Double.compare, for which -0 is less than 0, unlike for Redis.
        return score < otherScore
                ? -1
                : score > otherScore ? 1 : Arrays.compareUnsigned((byte[]) one.get(at), (byte[]) other.get(otherAt));
    }

    /**
     * A page of messages.
     *
     * @param list the letter of the list, for the cursor
     * @param newest whether the newest come first, for the cursor
     * @throws DelayQueueException if the reply is none of the script's
     */
    public static MessagePage page(List<?> reply, MessageState state, int limit, char list, boolean newest) {
        return read(() -> messages(reply, state, limit, list, newest));
    }

    private static MessagePage messages(List<?> reply, MessageState state, int limit, char list, boolean newest) {
        List<MessageInfo> messages = new ArrayList<>(reply.size() / COLUMNS);
        for (int at = 0; at < reply.size(); at += COLUMNS) {
            messages.add(info(reply, at, state));
        }
        if (messages.size() < limit) {
            return new MessagePage(messages, null);
        }
        int last = reply.size() - COLUMNS;
        return new MessagePage(messages, PageCursor.text(list, newest, score(reply, last), (byte[]) reply.get(last)));
    }

    private static <T> T read(Supplier<T> reader) {
        try {
            return reader.get();
        } catch (RuntimeException e) {
            throw new DelayQueueException("the reply of a script cannot be read: " + e, e);
        }
    }

    private static double score(List<?> reply, int at) {
        return LittleEndian.of((byte[]) reply.get(at + 1)).getDouble();
    }

    private static MessageInfo info(List<?> reply, int at, MessageState state) {
        String id = text(reply.get(at));
        long score = (long) score(reply, at);
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
                record.lastFailure(),
                record.rule(),
                record.firstDueMicros(),
                record.runsGivenUp(),
                record.lastRunMicros(),
                record.newDueMicros(),
                record.group());
    }

    private static MessageState state(Object word) {
        return MessageState.valueOf(text(word).toUpperCase(Locale.ROOT));
    }

    /**
     * A page of a group: the time, the figures, where the next page begins, then the rows, each with its state behind it.
     *
     * @throws DelayQueueException if the reply is none of the script's
     */
    public static GroupPage group(List<?> reply) {
        return read(() -> {
            ByteBuffer head = LittleEndian.of((byte[]) reply.get(0));
            byte[] next = (byte[]) reply.get(1);
            List<MessageInfo> messages = new ArrayList<>();
            for (int at = 2; at < reply.size(); at += COLUMNS + 1) {
                messages.add(info(reply, at, state(reply.get(at + COLUMNS))));
            }
            String cursor = next.length == 0 ? null : PageCursor.text('g', false, 0, next);
            return new GroupPage(
                    (long) head.getDouble(),
                    (long) head.getDouble(),
                    (long) head.getDouble(),
                    (long) head.getDouble(),
                    new MessagePage(messages, cursor));
        });
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }
}
