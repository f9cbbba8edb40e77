// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Durability;
import java.util.List;

/**
 * The answer to WAIT or WAITAOF.
 *
 * @param onDisk whether the master has the change on its disk; false for WAIT
 * @param replicas the number of replicas that have it, on their disks for WAITAOF
 */
public record Waited(boolean onDisk, int replicas) {

    /** @param reply to WAITAOF: on how many disks of the master it is, 0 or 1, and on those of how many replicas */
    public static Waited ofWaitaof(List<Object> reply) {
        return new Waited(((Number) reply.get(0)).intValue() > 0, ((Number) reply.get(1)).intValue());
    }

    boolean satisfies(Durability wanted) {
        return replicas >= wanted.replicas() && (onDisk || !wanted.disk());
    }
}
