// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A message as it is stored.
 *
 * @param info what the queue knows of it
 * @param scheduledMicros when it was scheduled, in microseconds since the epoch by the Redis server's clock
 * @param body the bytes that were scheduled. Not a copy.
 */
public record StoredMessage(MessageInfo info, long scheduledMicros, byte[] body) {}
