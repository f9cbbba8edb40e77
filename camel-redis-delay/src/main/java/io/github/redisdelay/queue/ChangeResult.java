// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * What a cancel or reschedule found and did.
 *
 * @param id the message's id
 * @param previousState where the message was. A cancel removes it from any state; a reschedule changes only a
 *     {@link MessageState#DELAYED} one.
 * @param dueMicros the new due time of a rescheduled message, in microseconds since the epoch by the Redis server's
 *     clock; 0 if nothing was rescheduled
 */
public record ChangeResult(String id, MessageState previousState, long dueMicros) {}
