// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/** The effect of a successful schedule call. */
public enum ScheduleOutcome {
    /** A new message is stored. */
    SCHEDULED,
    /** The id was pending or being delivered and {@link DuplicatePolicy#IGNORE} left it as it was. */
    IGNORED,
    /** A pending message was replaced. */
    REPLACED,
    /** A message that was being delivered was replaced; that delivery is stale from now on. */
    SUPERSEDED
}
