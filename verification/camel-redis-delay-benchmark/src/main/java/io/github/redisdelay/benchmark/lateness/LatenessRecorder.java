// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The lateness of messages. Counts all, and records those that were due within a window. Thread-safe. */
public final class LatenessRecorder {

    /** To a thousandth of each value. */
    private static final int DIGITS = 3;

    /** Microseconds. */
    private final Histogram lateness = new ConcurrentHistogram(DIGITS);

    private final AtomicLong delivered = new AtomicLong();
    private final AtomicLong early = new AtomicLong();
    private final AtomicLong inWindow = new AtomicLong();
    private volatile long fromMicros;
    private volatile long untilMicros = Long.MAX_VALUE;

    /** Forgets everything, and records from now on what is due within these times. Not while messages arrive. */
    public void begin(long fromMicros, long untilMicros) {
        lateness.reset();
        delivered.set(0);
        early.set(0);
        inWindow.set(0);
        this.fromMicros = fromMicros;
        this.untilMicros = untilMicros;
    }

    /** A message with this body has just arrived for the first time. */
    public void arrived(byte[] body) {
        long now = Stamp.nowMicros();
        long due = Stamp.dueMicros(body);
        if (isMeasured(due)) {
            if (now < due) {
                early.incrementAndGet();
            }
            lateness.recordValue(Math.max(0, now - due));
            inWindow.incrementAndGet();
        }
        delivered.incrementAndGet();
    }

    /** Tells whether a message that is due at this time counts. */
    public boolean isMeasured(long dueMicros) {
        return dueMicros >= fromMicros && dueMicros < untilMicros;
    }

    /** Messages that have not arrived are as late as the window's end is past: less than what they will be. */
    public void missing(long count) {
        if (count > 0) {
            lateness.recordValueWithCount(Math.max(0, Stamp.nowMicros() - untilMicros), count);
        }
    }

    /** Adds what another process has recorded, in microseconds. */
    public void add(Histogram other) {
        lateness.add(other);
    }

    /** Waits until this many have arrived. */
    public boolean await(long messages, long timeoutMillis) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        while (delivered() < messages) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        return true;
    }

    /** @throws IllegalStateException if others than these have arrived, or one before it was due */
    public void check(long messages) {
        if (delivered() != messages || early() > 0) {
            throw new IllegalStateException(
                    "of " + messages + " messages " + delivered() + " arrived, " + early() + " of them early");
        }
    }

    /** The number of messages that have arrived. */
    public long delivered() {
        return delivered.get();
    }

    /** The number of arrived messages that were due within the window. */
    public long measured() {
        return inWindow.get();
    }

    /** The number of those that arrived before they were due. */
    public long early() {
        return early.get();
    }

    /** In microseconds. */
    public Histogram lateness() {
        return lateness;
    }
}
