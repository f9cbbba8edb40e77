// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.DuplicateMessageException;

/** The treatment of a message that is scheduled under an id which is already delayed or leased. */
public enum DuplicatePolicy {
    /** The call fails with a {@link DuplicateMessageException}; the stored message stays as it is. */
    REJECT,
    /** Nothing changes and the call succeeds with {@link ScheduleOutcome#IGNORED}. */
    IGNORE,
    /** The new body and due time take the place of the stored ones; a delivery under way becomes stale. */
    REPLACE
}
