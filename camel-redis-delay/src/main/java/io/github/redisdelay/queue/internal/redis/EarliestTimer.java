// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Timers;

/**
 * A timer for the earliest of several times. It is moved to an earlier time, never to a later one: to fire once too early
 * costs less than to set it anew for each time. Its owner's lock guards what changes it.
 */
public final class EarliestTimer {

    private final Timers timers;
    private final Runnable action;
    /** Null if it is not set. */
    private volatile Timers.Timer timer;

    private volatile long atNanos;

    /** @param action runs without the lock; it begins with {@link #fired} */
    public EarliestTimer(Timers timers, Runnable action) {
        this.timers = timers;
        this.action = action;
    }

    /** Returns whether it is set to no later time than this. Needs no lock: a stale answer is then possible. */
    public boolean comesBy(long nanos) {
        return timer != null && nanos - atNanos >= 0;
    }

    /** Has it fire at this time of the local clock at the latest. */
    public void arm(long nanos) {
        if (!comesBy(nanos)) {
            cancel();
            atNanos = nanos;
            timer = timers.schedule(Math.max(0, nanos - timers.nanoTime()), action);
        }
    }

    public boolean isSet() {
        return timer != null;
    }

    /** It has fired, and is not set any more. */
    public void fired() {
        timer = null;
    }

    public void cancel() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
