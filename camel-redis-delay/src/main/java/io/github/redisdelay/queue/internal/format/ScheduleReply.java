// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.exception.DelayQueueException;

/** The outcomes of a schedule as {@code schedule.lua} answers them: its header has the same names, numbered from 1. */
public enum ScheduleReply {
    SCHEDULED,
    REPLACED,
    SUPERSEDED,
    DELAYED,
    LEASED,
    BEYOND_RANGE,
    FINISHED,
    FULL,
    STALE;

    private static final ScheduleReply[] ALL = values();

    /** @throws DelayQueueException if the script has no such outcome */
    public static ScheduleReply of(int outcome) {
        if (outcome < 1 || outcome > ALL.length) {
            throw new DelayQueueException("script SCHEDULE answered " + outcome);
        }
        return ALL[outcome - 1];
    }
}
