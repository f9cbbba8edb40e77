// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

/** The changes of messages and of a queue, with their words in {@code change.lua}. */
public enum ChangeAction {
    /** Removes a message in any state. */
    CANCEL,
    /** Removes a message that is not leased. */
    CANCEL_DELAYED,
    /** Makes a message due after a delay. */
    RESCHEDULE_AFTER,
    /** Makes a message due at a time. */
    RESCHEDULE_AT,
    /** Makes a message due at a time, 0 is now, unless it is due earlier. */
    PROMOTE,
    /** Pauses the queue. */
    PAUSE,
    /** Resumes the queue. */
    RESUME,
    /** Pauses a group for so long. */
    PAUSE_GROUP_AFTER,
    /** Pauses a group until a time. */
    PAUSE_GROUP_AT,
    /** Resumes a group. */
    RESUME_GROUP,
    /** Limits the groups of the queue; a failed message keeps its place. */
    LIMIT_STRICT,
    /** Limits the groups of the queue; a retry lets others of its group pass. */
    LIMIT_RELAXED,
    /** Limits the rate of the queue. */
    LIMIT_RATE,
    /** Limits the rate of each group of the queue. */
    LIMIT_GROUP_RATE,
    /** Limits the leased messages of the queue. */
    LIMIT_CONCURRENCY;

    private final byte[] word = WireWord.bytes(this);

    public byte[] word() {
        return word;
    }
}
