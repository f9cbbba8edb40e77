// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A queue's figures at one moment, read in one script without disturbing it.
 *
 * @param timeMicros the Redis server's time, in microseconds since the epoch
 * @param delayed messages that are delayed, due ones included
 * @param overdue messages that are due and not claimed, without parked ones
 * @param leased messages that are leased
 * @param dead dead letters
 * @param oldestOverdueMicros for how long the oldest overdue message has been due, in microseconds; 0 if there is none
 * @param nextDueMicros in how many microseconds the next message that is not yet due will be; -1 if there is none
 * @param consumers how many running consumers were seen in the last 140 s: each has a heartbeat every 60 s, also while it
 *     is suspended or full
 * @param pausedMicros since when the queue is paused, in microseconds since the epoch by the Redis server's clock; 0 if it
 *     is not
 * @param lastDueMicros when the last of the delayed messages is due, in microseconds since the epoch by the Redis server's
 *     clock; 0 if there is none
 * @param stored how many messages are stored: more than are delayed and leased if an evicted or deleted key has left some
 *     behind, which {@link QueueAdmin#check()} mends; fewer if messages are lost
 * @param lostMicros when a consumer last found that Redis had lost what the queue held, in microseconds since the epoch by
 *     the Redis server's clock; 0 if none did in the last day
 * @param parked messages that are due, and that their groups hold back
 * @param oldestParkedMicros for how long the oldest of these has been due, in microseconds; 0 if there is none
 */
public record QueueStats(
        long timeMicros,
        long delayed,
        long overdue,
        long leased,
        long dead,
        long oldestOverdueMicros,
        long nextDueMicros,
        int consumers,
        long pausedMicros,
        long lastDueMicros,
        long stored,
        long lostMicros,
        long parked,
        long oldestParkedMicros) {

    /** Returns whether the queue is paused. */
    public boolean paused() {
        return pausedMicros != 0;
    }
}
