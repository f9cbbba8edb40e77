// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** The effect of a successful schedule call. */
public enum ScheduleOutcome {
    /** A new message is stored. */
    SCHEDULED,
    /** The id was delayed or leased and {@link DuplicatePolicy#IGNORE} left it as it was. */
    IGNORED,
    /** A delayed message was replaced. */
    REPLACED,
    /** A leased message was replaced; that delivery is stale from now on. */
    SUPERSEDED
}
