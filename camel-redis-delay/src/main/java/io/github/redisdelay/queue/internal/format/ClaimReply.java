// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.exception.DelayQueueException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The answer to a claim.
 *
 * @param timeMicros the server's time at the claim
 * @param nextDueMicros in how many microseconds, from the claim, the next message is due; 0 now, -1 none is pending,
 *     -2 the queue is paused
 * @param nextExpiryMicros in how many microseconds the next lease expires; 0 now, -1 nothing is leased, -2 the queue is
 *     paused
 * @param againMicros in how many microseconds, at the latest, this consumer claims again; -1 when it wants to, as it is no
 *     waiter
 * @param messages what was claimed
 * @param dropped ids that had no body
 * @param limited whether the queue has limits, so that nothing is claimed ahead of what can be begun
 */
public record ClaimReply(
        long timeMicros,
        long nextDueMicros,
        long nextExpiryMicros,
        long againMicros,
        List<ClaimedMessage> messages,
        List<String> dropped,
        boolean limited) {

    private static final int PAUSED = -2;

    private static final int HEAD_BYTES = 40;
    /** Head, lengths of ids, ids, lengths of records, records: before the bodies. */
    private static final int HEAD_ELEMENTS = 5;

    /**
     * A message as the claim gave it.
     *
     * @param idBytes its id as it came, by which it is finished: another client's id may be no text
     * @param limited whether the queue has limits
     */
    public record ClaimedMessage(String id, byte[] idBytes, StoredBody stored, StateRecord state, boolean limited) {

        /** The number of this delivery; at least 1, whatever others have written. */
        public int attempt() {
            return Math.max(1, state.attempts());
        }
    }

    /** Returns whether the queue is paused. */
    public boolean isPaused() {
        return nextDueMicros == PAUSED;
    }

    /**
     * Reads the reply of {@code claim.lua}.
     *
     * @throws DelayQueueException if it is none of that script's
     */
    public static ClaimReply parse(List<?> reply) {
        try {
            return read(reply);
        } catch (RuntimeException e) {
            throw e instanceof DelayQueueException told
                    ? told
                    : new DelayQueueException("the reply to a claim cannot be read: " + e, e);
        }
    }

    private static ClaimReply read(List<?> reply) {
        ByteBuffer head = LittleEndian.of((byte[]) reply.get(0));
        if (head.remaining() != HEAD_BYTES && head.remaining() != HEAD_BYTES + 1) {
            throw new DelayQueueException("the reply to a claim has a head of " + head.remaining() + " bytes");
        }
        boolean limited = head.remaining() > HEAD_BYTES;
        long time = (long) head.getDouble();
        long nextDue = (long) head.getDouble();
        long nextExpiry = (long) head.getDouble();
        long again = (long) head.getDouble();
        int count = head.getInt();
        int droppedCount = head.getInt();
        if (count < 0 || droppedCount < 0 || (long) count + droppedCount != reply.size() - HEAD_ELEMENTS) {
            throw new DelayQueueException("the reply to a claim has " + reply.size() + " elements for " + count
                    + " messages and " + droppedCount + " dropped ids");
        }
        List<ClaimedMessage> messages = new ArrayList<>(count);
        byte[] idLengths = (byte[]) reply.get(1);
        if (count > 0 && idLengths.length == 0) {
            // Of records that would mean that all are the same; but no two messages have the same id.
            throw new DelayQueueException("the reply to a claim has no lengths of ids");
        }
        Texts ids = new Texts(idLengths, (byte[]) reply.get(2), count);
        Texts records = new Texts((byte[]) reply.get(3), (byte[]) reply.get(4), count);
        for (int i = 0; i < count; i++) {
            ids.next(i);
            records.next(i);
            byte[] id = Arrays.copyOfRange(ids.texts, ids.from, ids.to);
            byte[] body = (byte[]) reply.get(HEAD_ELEMENTS + i);
            StateRecord state =
                    StateRecord.parse(records.texts, records.from, records.to, StoredBody.dueMicros(body, time));
            StoredBody stored = StoredBody.parse(body, state.firstDueMicros());
            messages.add(new ClaimedMessage(new String(id, StandardCharsets.UTF_8), id, stored, state, limited));
        }
        List<String> dropped = new ArrayList<>(droppedCount);
        for (int i = 0; i < droppedCount; i++) {
            dropped.add(new String((byte[]) reply.get(HEAD_ELEMENTS + count + i), StandardCharsets.UTF_8));
        }
        return new ClaimReply(time, nextDue, nextExpiry, again, messages, dropped, limited);
    }

    /** Texts of some lengths in one. */
    private static final class Texts {

        private final ByteBuffer lengths;
        private final byte[] texts;
        private int from;
        private int to;

        /** @param lengths the length of each, a single one if all have the same; empty if all are the same text */
        Texts(byte[] lengths, byte[] texts, int count) {
            int numbers = lengths.length / 4;
            if (lengths.length % 4 != 0 || (numbers > 1 && numbers != count)) {
                throw new DelayQueueException(
                        "the reply to a claim has " + lengths.length + " bytes of lengths for " + count + " messages");
            }
            this.lengths = LittleEndian.of(lengths);
            this.texts = texts;
        }

        void next(int i) {
            if (lengths.remaining() == 0) {
                to = texts.length;
                return;
            }
            from = to;
            to = from + lengths.getInt(lengths.remaining() == 4 ? 0 : 4 * i);
            // Bytes from beyond the end would be zeros, and as many as the number says.
            Objects.checkFromToIndex(from, to, texts.length);
        }
    }
}
