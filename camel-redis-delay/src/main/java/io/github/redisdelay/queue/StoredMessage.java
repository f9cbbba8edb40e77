// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A message as it is stored.
 *
 * @param info what the queue knows of it
 * @param scheduledMicros when it was scheduled, in microseconds since the epoch by the Redis server's clock
 * @param body the bytes that were scheduled. Not a copy.
 * @param pausedUntilMicros until when its group is paused, as {@link GroupInfo#pausedUntilMicros()}; 0 if it is not, or has none
 */
public record StoredMessage(MessageInfo info, long scheduledMicros, byte[] body, long pausedUntilMicros) {}
