// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.Objects;

/**
 * The safety that a change needs before its caller is told that it is done. It holds for the changes of producers
 * (schedule, cancel, reschedule, promote, redrive, pause, import): if one of these is lost, a message is lost or is delivered
 * in vain. Claims and acknowledgements never wait: if one of these is lost, a message is delivered again.
 *
 * <p>Redis replicates asynchronously. {@code WAIT} tells how many replicas have a write; it neither undoes the write where
 * that is too few, nor makes sure that one of those replicas is promoted.
 *
 * @param replicas how many replicas must have received a change, 0 or more
 * @param disk whether the change must have been written to disk (fsync), on the master and on as many replicas: needs
 *     the append-only file, and Redis 7.2, or Valkey with {@code appendfsync always}
 * @param timeout how long to wait for that, 1 ms or more
 */
public record Durability(int replicas, boolean disk, Duration timeout) {

    /** Nothing is waited for. */
    public static final Durability NONE = new Durability(0, false, Duration.ofSeconds(1));

    public Durability {
        Objects.requireNonNull(timeout, "timeout");
        if (replicas < 0) {
            throw new IllegalArgumentException("replicas is " + replicas + ": it must be 0 or more");
        }
        // WAIT takes 0 for "for ever".
        if (timeout.toMillis() < 1) {
            throw new IllegalArgumentException("timeout is " + timeout + ": it must be 1 millisecond or more");
        }
    }

    /** A wait of up to a second for so many replicas. */
    public static Durability replicas(int replicas) {
        return new Durability(replicas, false, NONE.timeout);
    }

    /** True if there is anything to wait for. */
    public boolean waits() {
        return replicas > 0 || disk;
    }
}
