// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

/**
 * A mark on a thread that completes futures of callers. Such a thread also runs what depends on them. It must not wait
 * for space among the requests, because only its own return makes space. The mark is one for all clients, because they
 * may share threads.
 */
public final class CompletingThread {

    private static final ThreadLocal<Boolean> COMPLETING = new ThreadLocal<>();

    private CompletingThread() {}

    static boolean isCurrent() {
        return COMPLETING.get() != null;
    }

    /** Completes futures of callers, whose dependents run on this thread. */
    public static void run(Runnable completions) {
        Boolean before = COMPLETING.get();
        COMPLETING.set(true);
        try {
            completions.run();
        } finally {
            // Not removed: the next look would make a new entry.
            COMPLETING.set(before);
        }
    }
}
