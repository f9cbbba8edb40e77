// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The figures of a group.
 *
 * @param name its name
 * @param parked how many of its messages wait for others of it
 * @param messages how many messages it has, parked, delayed and leased
 * @param pausedUntilMicros until when it is paused, in microseconds since the epoch by the Redis server's clock, {@link
 *     DueTime#MAX_MICROS} for no end; 0 if it is not
 */
public record GroupInfo(String name, long parked, long messages, long pausedUntilMicros) {}
