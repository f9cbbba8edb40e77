// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.internal.format.LittleEndian;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The answer of {@code look.lua}.
 *
 * @param timeMicros the time of the call
 * @param ready how many messages are ready in all
 * @param pending how many messages are pending in all
 * @param more true if there is more to answer
 * @param until the score up to which pending messages are answered, in Redis's text
 * @param nextMillis the score of the next pending message behind that; NaN if there is none
 */
public record LookReply(
        long timeMicros,
        long ready,
        long pending,
        boolean more,
        byte[] until,
        double nextMillis,
        List<Entry> messages) {

    /**
     * A message that was found.
     *
     * @param score its score in Redis's text; empty if the message is ready
     * @param bytes its element, or its payload if it is ready
     */
    public record Entry(byte[] score, byte[] bytes) {

        public boolean isReady() {
            return score.length == 0;
        }

        /** The due time, in milliseconds; maybe no whole number. */
        public double millis() {
            return number(score);
        }
    }

    public static LookReply parse(List<?> reply) {
        ByteBuffer head = LittleEndian.of((byte[]) reply.get(0));
        byte[] next = (byte[]) reply.get(2);
        List<Entry> messages = new ArrayList<>((reply.size() - 3) / 2);
        for (int i = 3; i < reply.size(); i += 2) {
            messages.add(new Entry((byte[]) reply.get(i), (byte[]) reply.get(i + 1)));
        }
        return new LookReply(
                (long) head.getDouble(),
                (long) head.getDouble(),
                (long) head.getDouble(),
                head.getDouble() != 0,
                (byte[]) reply.get(1),
                next.length == 0 ? Double.NaN : number(next),
                messages);
    }

    private static double number(byte[] score) {
        String text = new String(score, StandardCharsets.US_ASCII);
        return switch (text) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }
}
