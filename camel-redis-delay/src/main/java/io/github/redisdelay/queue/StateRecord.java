// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A state record as {@code record.lua} writes it. */
record StateRecord(
        int lostLeases,
        RedeliveryReason redeliveryReason,
        int priority,
        int attempts,
        byte[] claimId,
        long dueMicros,
        long firstDueMicros,
        byte[] lastFailure) {

    private static final int LENGTH = 40;

    /** What a dead letter's priority is written with on top. */
    private static final int DEAD = 16;

    static StateRecord parse(byte[] bytes) {
        ByteBuffer record = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        record.get();
        int lost = record.get() & 0xff;
        int reason = record.get();
        int priority = (record.get() & 0xff) % DEAD;
        int attempts = record.getInt();
        byte[] claim = new byte[ClaimId.LENGTH];
        record.get(claim);
        return new StateRecord(
                lost,
                RedeliveryReason.of(reason),
                priority,
                attempts,
                claim,
                (long) record.getDouble(),
                (long) record.getDouble(),
                Arrays.copyOfRange(bytes, LENGTH, bytes.length));
    }
}
