// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.memory;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Counts the bytes that the threads of this JVM allocate on the heap. Looks at each of them every 20 ms, so of a thread
 * that ends no more than that is missed.
 */
final class AllocationMeter implements AutoCloseable {

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Map<Long, Long> before = new HashMap<>();
    private final Map<Long, Long> last = new HashMap<>(); // guarded by this
    private final ScheduledExecutorService sampler = Executors.newSingleThreadScheduledExecutor();

    /** Begins to count. */
    AllocationMeter() {
        sample();
        before.putAll(last);
        sampler.scheduleAtFixedRate(this::sample, 20, 20, TimeUnit.MILLISECONDS);
    }

    private synchronized void sample() {
        long[] ids = threads.getAllThreadIds();
        long[] bytes = threads.getThreadAllocatedBytes(ids);
        for (int i = 0; i < ids.length; i++) {
            if (bytes[i] >= 0) {
                last.put(ids[i], bytes[i]);
            }
        }
    }

    /** The bytes that all threads have allocated since it began. */
    synchronized long bytes() {
        sample();
        return last.entrySet().stream()
                .mapToLong(thread -> thread.getValue() - before.getOrDefault(thread.getKey(), 0L))
                .sum();
    }

    @Override
    public void close() {
        sampler.shutdownNow();
    }
}
