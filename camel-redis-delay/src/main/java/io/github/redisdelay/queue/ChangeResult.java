// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The result of a cancel or reschedule: what it found and did.
 *
 * @param id the message's id
 * @param previousState where the message was. A cancel removes it from any state but {@link MessageState#DEAD}, which
 *     has operations of its own; a reschedule changes only a {@link MessageState#DELAYED} one.
 * @param dueMicros the new due time of a rescheduled message, in microseconds since the epoch by the Redis server's
 *     clock; 0 if nothing was rescheduled
 * @param deadLetterId of a message that is dead: its newest dead letter; else null
 * @param deadLetters how many dead letters it has then, of which at most 100 are counted; else 0
 */
public record ChangeResult(
        String id, MessageState previousState, long dueMicros, DeadLetterId deadLetterId, int deadLetters) {

    public ChangeResult(String id, MessageState previousState, long dueMicros) {
        this(id, previousState, dueMicros, null, 0);
    }
}
