// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.MessagePage;

/**
 * A part of a group's messages, as {@code group.lua} answers it.
 *
 * @param timeMicros the server's time
 * @param count how many messages the group has
 * @param parked how many of them are parked
 * @param pausedUntilMicros until when the group is paused; 0 if it is not
 */
public record GroupPage(long timeMicros, long count, long parked, long pausedUntilMicros, MessagePage page) {

    /** The figures of the group, which has this name. */
    public GroupInfo info(String name) {
        return new GroupInfo(name, parked, count, pausedUntilMicros);
    }
}
