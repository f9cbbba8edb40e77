// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The lateness of a thread of this JVM that only sleeps: what the machine and the JVM add to every lateness, whoever is
 * measured. Where this is large the machine was not quiet.
 */
final class TimerFloor implements AutoCloseable {

    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Histogram micros = new Histogram(3);
    private final Thread sleeper = new Thread(this::sleep, "timer-floor");
    private volatile boolean closed;

    TimerFloor() {
        sleeper.start();
    }

    private void sleep() {
        while (!closed) {
            long begin = System.nanoTime();
            LockSupport.parkNanos(SLEEP_NANOS);
            long late = System.nanoTime() - begin - SLEEP_NANOS;
            micros.recordValue(Math.max(0, TimeUnit.NANOSECONDS.toMicros(late)));
        }
    }

    /** Ends it; then its histogram, in microseconds. */
    Histogram end() throws InterruptedException {
        close();
        return micros;
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        sleeper.join();
    }
}
