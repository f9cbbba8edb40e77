// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * How many messages of a group may be leased at a time, over all consumers of a queue. It is the queue's, and kept in Redis.
 *
 * @param concurrency how many; with 1 they come in the order of their due times; 0 for any number, so that a group has no order
 *     and is a key only
 * @param strict whether a failed message keeps its place until it is acknowledged or given up; otherwise its retry lets others of
 *     its group pass
 */
public record GroupLimit(int concurrency, boolean strict) {

    /** The limit of a queue for which none was set: one at a time, in strict order. */
    public static final GroupLimit DEFAULT = new GroupLimit(1, true);

    /** The highest limit. */
    public static final int MAX_CONCURRENCY = 1_000;

    public GroupLimit {
        if (concurrency < 0 || concurrency > MAX_CONCURRENCY) {
            throw new IllegalArgumentException(
                    "groupConcurrency is " + concurrency + ": it must be from 0 to " + MAX_CONCURRENCY);
        }
    }

    /** As the options are written. */
    @Override
    public String toString() {
        return "groupConcurrency=" + concurrency + " and groupRetry=" + (strict ? "strict" : "relaxed");
    }
}
