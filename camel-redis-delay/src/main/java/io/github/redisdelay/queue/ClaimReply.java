// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What a claim gave.
 *
 * @param timeMicros the server's time at the claim
 * @param nextDueMicros in how many microseconds, from the claim, the next message is due; 0 now, -1 none is pending
 * @param nextEndMicros in how many microseconds the next lease ends; 0 now, -1 nothing is leased
 * @param messages what was claimed
 * @param dropped ids that had no body
 */
record ClaimReply(
        long timeMicros, long nextDueMicros, long nextEndMicros, List<ClaimedMessage> messages, List<String> dropped) {

    private static final int HEAD_BYTES = 32;
    /** A message as the claim gave it. */
    record ClaimedMessage(
            String id,
            byte[] idBytes,
            byte[] body,
            int attempt,
            int lostLeases,
            RedeliveryReason redeliveryReason,
            int priority,
            long scheduledMicros,
            long dueMicros,
            long firstDueMicros,
            byte[] lastFailure) {}

    /** Reads the reply of {@code claim.lua}. */
    static ClaimReply parse(List<?> reply) {
        ByteBuffer head = little((byte[]) reply.get(0));
        if (head.remaining() != HEAD_BYTES) {
            throw new DelayQueueException("the reply to a claim has a head of " + head.remaining() + " bytes");
        }
        long time = (long) head.getDouble();
        long nextDue = (long) head.getDouble();
        long nextEnd = (long) head.getDouble();
        int count = head.getInt();
        int droppedCount = head.getInt();
        List<ClaimedMessage> messages = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] id = (byte[]) reply.get(1 + i);
            byte[] stored = (byte[]) reply.get(1 + count + i);
            byte[] record = (byte[]) reply.get(1 + 2 * count + i);
            messages.add(message(id, stored, record));
        }
        List<String> dropped = new ArrayList<>(droppedCount);
        for (int i = 0; i < droppedCount; i++) {
            dropped.add(new String((byte[]) reply.get(1 + 3 * count + i), StandardCharsets.UTF_8));
        }
        return new ClaimReply(time, nextDue, nextEnd, messages, dropped);
    }

    private static ClaimedMessage message(byte[] id, byte[] bytes, byte[] stateRecord) {
        StateRecord state = StateRecord.parse(stateRecord);
        StoredBody stored = StoredBody.parse(bytes, state.firstDueMicros());
        return new ClaimedMessage(
                new String(id, StandardCharsets.UTF_8),
                // Another client's id may be no text: only as it came can its message be finished.
                id,
                stored.body(),
                state.attempts(),
                state.lostLeases(),
                state.redeliveryReason(),
                state.priority(),
                stored.scheduledMicros(),
                state.dueMicros(),
                state.firstDueMicros(),
                state.lastFailure());
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
