// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The result of a schedule call.
 *
 * @param id the message's id, given or generated
 * @param outcome what happened
 * @param scheduledMicros when Redis executed the call, in microseconds since the epoch by its clock
 * @param dueMicros when the message with this id is due, in microseconds since the epoch by the Redis server's clock.
 *     If it was {@link ScheduleOutcome#IGNORED}, that of the message that was there: when its lease expires if it is
 *     leased, and 0 if it was finished already
 */
public record ScheduleResult(String id, ScheduleOutcome outcome, long scheduledMicros, long dueMicros) {}
