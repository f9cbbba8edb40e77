// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

/**
 * The rule by which a call of a {@link RequestBatcher} is worth its cost beside the one under way.
 *
 * <p>Guarded by the batcher's lock.
 */
final class CallPace {

    /**
     * The number of waiting requests that is worth a second call beside the one under way. The fixed cost of a call is
     * about that of 15 requests. With fewer, one call at a time was measured to be faster and cheaper than two of half
     * the size.
     */
    static final int WORTHWHILE = 64;

    /**
     * A call that took so long was on a network most of the time: next to Redis one of a few messages takes half of it. Callers who
     * come a little too late for such a call should not have to wait for its answer; see notebook.md of the benchmark.
     */
    private static final long SLOW_NETWORK_NANOS = 600_000;

    /** How long the call that was answered last was under way. */
    private long lastNanos;
    /** How many requests were under way or waiting when it was answered. */
    private int lastInPlay;

    /** A call was answered after so long, with so many requests under way or waiting. */
    void answered(long nanos, int inPlay) {
        lastNanos = nanos;
        lastInPlay = inPlay;
    }

    /**
     * How many requests are worth a call beside another one. On a slow network two fifths of those in play are, so that two calls
     * of about the same size take turns, and neither waits for a caller who comes late.
     */
    int worthwhileForSecond() {
        return lastNanos < SLOW_NETWORK_NANOS ? WORTHWHILE : Math.min(WORTHWHILE, (2 * lastInPlay + 4) / 5);
    }
}
