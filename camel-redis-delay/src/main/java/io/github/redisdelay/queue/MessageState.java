// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** The state of an id: exactly one of these at any time. */
public enum MessageState {
    /** Stored and waiting for its due time, or due and waiting for a consumer. */
    DELAYED,
    /** Due, and held back: as many of its group as may be leased at a time stand before it. See {@link QueueLimits}. */
    PARKED,
    /** Claimed by a consumer, under a lease. */
    LEASED,
    /** Not in the queue any more, and still a duplicate: finished less than its deduplication period ago. */
    FINISHED,
    /** Not in the queue, but among its dead letters: it was given up. */
    DEAD,
    /** Not in the queue. */
    NONE
}
