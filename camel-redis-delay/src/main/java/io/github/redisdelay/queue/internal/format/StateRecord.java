// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.RedeliveryReason;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A state record as {@code record.lua} writes it, but for its claim id. */
public record StateRecord(
        int lostLeases,
        RedeliveryReason redeliveryReason,
        int priority,
        int attempts,
        long dueMicros,
        long firstDueMicros,
        byte[] lastFailure) {

    private static final int LENGTH = 40;
    private static final byte[] NO_FAILURE = {};

    /** The number that is added to the priority of a dead letter. */
    private static final int DEAD = 16;

    /** The record of a message without priority that is delivered for the first time. */
    static StateRecord ofFirstDelivery(long dueMicros) {
        return new StateRecord(0, RedeliveryReason.of(0), 0, 1, dueMicros, dueMicros, NO_FAILURE);
    }

    public static StateRecord parse(byte[] bytes) {
        return parse(bytes, 0, bytes.length);
    }

    /** The record in a part of some bytes, from a position and before another one. */
    public static StateRecord parse(byte[] bytes, int from, int to) {
        ByteBuffer record = ByteBuffer.wrap(bytes, from, to - from).order(ByteOrder.LITTLE_ENDIAN);
        record.get();
        int lost = record.get() & 0xff;
        int reason = record.get();
        int priority = (record.get() & 0xff) % DEAD;
        int attempts = record.getInt();
        record.position(record.position() + ClaimId.LENGTH);
        return new StateRecord(
                lost,
                RedeliveryReason.of(reason),
                priority,
                attempts,
                (long) record.getDouble(),
                (long) record.getDouble(),
                to - from == LENGTH ? NO_FAILURE : Arrays.copyOfRange(bytes, from + LENGTH, to));
    }
}
