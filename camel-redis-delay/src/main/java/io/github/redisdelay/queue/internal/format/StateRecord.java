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

    public static StateRecord parse(byte[] bytes) {
        return parse(bytes, 0, bytes.length, 0);
    }

    /**
     * The record in a part of some bytes, from a position and before another one.
     *
     * @param dueOtherwise the due time if the record ends behind the claim id, as that of a first delivery may
     */
    static StateRecord parse(byte[] bytes, int from, int to, long dueOtherwise) {
        ByteBuffer record = ByteBuffer.wrap(bytes, from, to - from).order(ByteOrder.LITTLE_ENDIAN);
        record.get();
        int lost = record.get() & 0xff;
        int reason = record.get();
        int priority = (record.get() & 0xff) % DEAD;
        int attempts = record.getInt();
        record.position(record.position() + ClaimId.LENGTH);
        boolean brief = to - from < LENGTH;
        return new StateRecord(
                lost,
                RedeliveryReason.of(reason),
                priority,
                attempts,
                brief ? dueOtherwise : (long) record.getDouble(),
                brief ? dueOtherwise : (long) record.getDouble(),
                brief || to - from == LENGTH ? NO_FAILURE : Arrays.copyOfRange(bytes, from + LENGTH, to));
    }
}
