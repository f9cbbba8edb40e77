// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The facts that a queue knows of a message, apart from its body.
 *
 * @param id the message's id
 * @param state {@link MessageState#DELAYED}, {@link MessageState#PARKED} or {@link MessageState#LEASED}
 * @param dueMicros when it is or was due, in microseconds since the epoch by the Redis server's clock
 * @param leaseEndMicros the time when its lease expires, by the same clock; 0 if it is not leased
 * @param leaseOwner the name of the consumer that has leased it (see {@link ConsumerOptions#name()}); empty if it is not leased
 *     or the consumer has not been seen for a day
 * @param attempts how many deliveries were begun
 * @param redeliveryReason why its latest delivery was no first one, or why the next one will not be
 * @param priority 0 to 9; of a dead letter, the one with which it is redriven
 * @param lastFailure what the last failed delivery left; empty if there was none. Not a copy.
 * @param rule of a recurring schedule, for {@link Schedule#parse}, and of the dead letter of a run; null if it is none
 * @param runMicros the time of the rule for which the next or current run is, as {@code dueMicros}; else when it was due first
 * @param runsGivenUp how many runs of the schedule were given up; of a dead letter up to this one; 0 if it is none
 * @param lastRunMicros for which time of the rule the run was that ended last; for which the run is, of its dead letter and of
 *     one that was redriven; 0 if there is none
 * @param newDueMicros the first time of a rule that was stored during the current run; else 0
 * @param group the group; null if there is none
 */
public record MessageInfo(
        String id,
        MessageState state,
        long dueMicros,
        long leaseEndMicros,
        String leaseOwner,
        int attempts,
        RedeliveryReason redeliveryReason,
        int priority,
        byte[] lastFailure,
        String rule,
        long runMicros,
        int runsGivenUp,
        long lastRunMicros,
        long newDueMicros,
        String group) {

    /**
     * The time of the rule for the run behind that one, if no new rule came meanwhile later than a time in microseconds; -1 if it
     * is no recurring schedule, or its rule cannot be evaluated here.
     */
    public long nextRunMicros(long nowMicros) {
        try {
            long after = Math.max(Math.max(runMicros, newDueMicros - 1), nowMicros);
            return rule == null ? -1 : Schedule.parse(rule).next(Math.max(runMicros, newDueMicros), after);
        } catch (RuntimeException e) {
            return -1;
        }
    }
}
