// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts what is delivered, and sees that nothing comes twice. Thread-safe. */
public final class Arrivals {

    private final int expected;
    private final AtomicLongArray seen;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicInteger wrong = new AtomicInteger();
    private final CountDownLatch all = new CountDownLatch(1);

    /** @param expected the messages have the numbers from 0 to below this */
    public Arrivals(int expected) {
        this.expected = expected;
        this.seen = new AtomicLongArray((expected + 63) / 64);
    }

    public void arrived(byte[] body) {
        long number = Message.number(body);
        if (number < 0 || number >= expected) {
            wrong.incrementAndGet();
            return;
        }
        long bit = 1L << number;
        if ((seen.getAndAccumulate((int) (number / 64), bit, (a, b) -> a | b) & bit) != 0) {
            wrong.incrementAndGet();
        } else if (count.incrementAndGet() == expected) {
            all.countDown();
        }
    }

    /** The number of messages that have arrived. */
    public int count() {
        return count.get();
    }

    int expected() {
        return expected;
    }

    /** Waits; tells whether all have arrived within this time. */
    public boolean await(Duration limit) throws InterruptedException {
        return all.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** @throws IllegalStateException if something came twice, or was not expected at all */
    public void check() {
        if (wrong.get() > 0) {
            throw new IllegalStateException(
                    wrong.get() + " deliveries of messages that had been delivered already or were"
                            + " not to be, beside " + count.get() + " of " + expected + " expected ones");
        }
    }
}
