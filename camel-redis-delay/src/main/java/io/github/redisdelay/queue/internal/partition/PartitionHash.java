// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.internal.redis.ClusterSlot;
import java.nio.charset.StandardCharsets;

/**
 * The partition of a message, and the hash tags of a queue's partitions. Both follow from names and numbers alone, so every
 * client in every language comes to the same result. They need one function: CRC16 as Redis Cluster uses it for its slots
 * (XMODEM: polynomial 0x1021, start value 0).
 */
public final class PartitionHash {

    /** The most partitions of a queue. */
    public static final int MAX = 64;

    private PartitionHash() {}

    /**
     * The partition of a message: CRC16 of its id's bytes in UTF-8, modulo the number of partitions. An id that ends in {@code @}
     * and 16 digits, once or more often, counts without these, as a run of a recurring schedule that was redriven stays where its
     * dead letter was.
     */
    public static int of(String id, int partitions) {
        DeadLetterId run = DeadLetterId.parse(id);
        return run != null && run.time().length() == 16
                ? of(run.messageId(), partitions)
                : ClusterSlot.crc16(0, id.getBytes(StandardCharsets.UTF_8)) % partitions;
    }

    /** The partition of a dead letter: that of its message, so it stays there when it is given up or redriven. */
    static int ofDeadLetter(String id, int partitions) {
        return of(DeadLetterId.messageIdOf(id), partitions);
    }

    /**
     * The hash tag of a partition, which looks like <code>orders&#123;1/3.12</code>: the queue's name, an opening brace, the
     * number of the partition from 0, a slash, the number of partitions, a dot, and a whole number k. k is the smallest number
     * from 0 for which the slot of the tag lies in the middle half of the partition's share of all slots. So the partitions
     * spread evenly over the nodes of a cluster whose slots are divided evenly. A queue's name has no brace, so no queue has
     * such a tag.
     */
    public static String tag(String queue, int partition, int partitions) {
        String stem = queue + "{" + partition + "/" + partitions + ".";
        int begun = ClusterSlot.crc16(0, stem.getBytes(StandardCharsets.UTF_8));
        // The share is from partition / partitions to (partition + 1) / partitions of the slots; all of it times 4.
        long low = (long) ClusterSlot.SLOTS * (4 * partition + 1);
        long high = (long) ClusterSlot.SLOTS * (4 * partition + 3);
        for (int k = 0; ; k++) {
            int slot = ClusterSlot.crc16(begun, Integer.toString(k).getBytes(StandardCharsets.US_ASCII))
                    % ClusterSlot.SLOTS;
            long scaled = 4L * partitions * slot;
            if (scaled >= low && scaled < high) {
                return stem + k;
            }
        }
    }
}
