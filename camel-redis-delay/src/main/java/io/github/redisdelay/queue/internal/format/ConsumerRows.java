// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.ConsumerInfo;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the replies of {@code consumers.lua}. */
public final class ConsumerRows {

    private static final Comparator<ConsumerInfo> NEWEST_FIRST =
            Comparator.comparingLong(ConsumerInfo::lastSeenMicros).reversed().thenComparing(ConsumerInfo::name);

    private ConsumerRows() {}

    /** The consumers of one reply, or of those of all partitions, which know the same consumers; the last seen first. */
    public static List<ConsumerInfo> merge(List<List<?>> replies) {
        Map<ByteBuffer, ConsumerInfo> seen = new HashMap<>();
        for (List<?> reply : replies) {
            for (int at = 0; at < reply.size(); at += 2) {
                seen.merge(
                        ByteBuffer.wrap((byte[]) reply.get(at)),
                        consumer((byte[]) reply.get(at + 1)),
                        (one, other) -> one.lastSeenMicros() >= other.lastSeenMicros() ? one : other);
            }
        }
        return seen.values().stream().sorted(NEWEST_FIRST).toList();
    }

    private static ConsumerInfo consumer(byte[] row) {
        long lastSeen = (long) LittleEndian.of(row).getDouble();
        String text = new String(row, Double.BYTES, row.length - Double.BYTES, StandardCharsets.UTF_8);
        int space = text.indexOf(' ');
        return new ConsumerInfo(text.substring(space + 1), lastSeen, text.substring(0, Math.max(0, space)));
    }
}
