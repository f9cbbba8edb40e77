// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.queue.QueueStats;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.camel.RuntimeCamelException;

/**
 * The figures of a queue for a reader of many of them, one after the other. Redis is asked once a second. A failure
 * holds as long, or each of the figures would wait for a Redis that does not answer.
 */
final class CachedStats {

    private static final long KEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<QueueStats> read;
    private final LongSupplier nanoTime;

    // Guarded by this.
    private QueueStats latest;
    private RuntimeCamelException failure; // null if the latest reading gave figures
    private boolean isRead;
    private long readNanos;

    /** @param read asks Redis, and throws a RuntimeCamelException if it cannot be asked */
    CachedStats(Supplier<QueueStats> read, LongSupplier nanoTime) {
        this.read = read;
        this.nanoTime = nanoTime;
    }

    /**
     * The figures, at most a second old.
     *
     * @throws RuntimeCamelException if Redis cannot be asked
     */
    synchronized QueueStats get() {
        if (!isRead || nanoTime.getAsLong() - readNanos >= KEEP_NANOS) {
            try {
                latest = read.get();
                failure = null;
            } catch (RuntimeCamelException e) {
                failure = e;
            }
            isRead = true;
            readNanos = nanoTime.getAsLong(); // after it: a failure may have taken long
        }
        if (failure != null) {
            throw failure;
        }
        return latest;
    }
}
