// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

/**
 * Tells whether the current thread completes futures of callers. Such a thread runs what depends on them, and it must not wait for
 * space among the requests: only its own return makes space. It is the same for all clients, which may share their threads.
 */
public final class CompletingThread {

    private static final ThreadLocal<Boolean> COMPLETING = new ThreadLocal<>();

    private CompletingThread() {}

    static boolean isCurrent() {
        return COMPLETING.get() != null;
    }

    /** Completes futures of callers, whose dependents run on this thread. */
    public static void run(Runnable completions) {
        boolean outermost = !isCurrent();
        COMPLETING.set(Boolean.TRUE);
        try {
            completions.run();
        } finally {
            if (outermost) {
                COMPLETING.remove();
            }
        }
    }
}
