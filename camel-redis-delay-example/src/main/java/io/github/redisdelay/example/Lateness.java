// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.util.Arrays;

/**
 * By how many milliseconds deliveries were late: the last {@value #KEPT} of them, and the worst of all. Thread-safe.
 */
public final class Lateness {

    private static final int KEPT = 10_000;

    private final long[] last = new long[KEPT];
    private long count;
    private long max;

    public synchronized void add(long millis) {
        last[(int) (count++ % KEPT)] = millis;
        max = Math.max(max, millis);
    }

    /** For the end of a line of the log; empty as long as nothing was delivered. */
    @Override
    public synchronized String toString() {
        if (count == 0) {
            return "";
        }
        long[] sorted = Arrays.copyOf(last, (int) Math.min(count, KEPT));
        Arrays.sort(sorted);
        return "; late by p50 " + sorted[sorted.length / 2] + " ms, max " + max + " ms";
    }
}
