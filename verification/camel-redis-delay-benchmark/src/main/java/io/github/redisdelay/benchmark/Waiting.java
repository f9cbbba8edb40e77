// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** Waits for what has no event, looking once in a millisecond. */
public final class Waiting {

    private Waiting() {}

    /**
     * Waits.
     *
     * @param what a clause for the error
     * @throws TimeoutException if it has not come true within the limit
     */
    public static void until(Duration limit, String what, BooleanSupplier condition)
            throws InterruptedException, TimeoutException {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin > limit.toNanos()) {
                throw new TimeoutException("Not within " + limit + ": " + what);
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
