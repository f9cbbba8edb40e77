// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** The outcome of sending a dead letter back to its queue. */
public enum RedriveOutcome {
    /** The message is delayed in its queue again and is due now; its attempts begin anew. */
    REDRIVEN,
    /** A message with its id is delayed or leased: it stays a dead letter. */
    DUPLICATE,
    /** A consumer of the dead letters is working on it: it stays there. */
    LEASED,
    /** There is no such dead letter. */
    NONE
}
