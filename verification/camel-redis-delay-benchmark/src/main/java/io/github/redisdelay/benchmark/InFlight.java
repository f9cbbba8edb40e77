// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** Bounds how many asynchronous calls are under way, and keeps the first error. */
public final class InFlight {

    private static final long LIMIT_SECONDS = 60;

    private final int maximum;
    private final Semaphore free;
    private final AtomicReference<Throwable> error = new AtomicReference<>();

    public InFlight(int maximum) {
        this.maximum = maximum;
        this.free = new Semaphore(maximum);
    }

    /** Waits until another call may be made. */
    public void begin() throws Exception {
        if (!free.tryAcquire() && !free.tryAcquire(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new TimeoutException("No answer within " + LIMIT_SECONDS + " s");
        }
        check();
    }

    /** A call was answered. */
    public void end(Throwable failure) {
        if (failure != null) {
            error.compareAndSet(null, failure);
        }
        free.release();
    }

    /** Waits until all are answered. */
    public void awaitAll() throws Exception {
        if (!free.tryAcquire(maximum, LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new TimeoutException("Not all answers within " + LIMIT_SECONDS + " s");
        }
        free.release(maximum);
        check();
    }

    private void check() {
        Throwable failure = error.get();
        if (failure != null) {
            throw new IllegalStateException("A call failed: " + failure, failure);
        }
    }
}
