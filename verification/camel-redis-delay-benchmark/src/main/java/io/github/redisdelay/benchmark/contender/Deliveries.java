// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntPredicate;

/** Counts deliveries of which some fail the first time, and sees that none comes too often. Thread-safe. */
public final class Deliveries {

    private final int expected;
    private final IntPredicate failsOnce;
    private final AtomicIntegerArray seen;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicInteger wrong = new AtomicInteger();
    private final CountDownLatch all = new CountDownLatch(1);

    /**
     * @param messages their numbers are below this
     * @param expected how many deliveries, those that fail and come again included
     */
    public Deliveries(int messages, int expected, IntPredicate failsOnce) {
        this.expected = expected;
        this.failsOnce = failsOnce;
        seen = new AtomicIntegerArray(messages);
    }

    /** A message is delivered. Returns whether it fails this time. */
    public boolean fails(byte[] body) {
        return fails((int) Message.number(body));
    }

    boolean fails(int number) {
        boolean failing = failsOnce.test(number);
        int times = seen.incrementAndGet(number);
        if (times > (failing ? 2 : 1)) {
            wrong.incrementAndGet();
        }
        if (count.incrementAndGet() == expected) {
            all.countDown();
        }
        return failing && times == 1;
    }

    int expected() {
        return expected;
    }

    /** @throws IllegalStateException if not all have come within this time, or one too often */
    public void await(Duration limit) throws InterruptedException {
        if (!all.await(limit.toNanos(), TimeUnit.NANOSECONDS) || wrong.get() > 0) {
            throw new IllegalStateException(
                    count + " of " + expected + " deliveries within " + limit + ", " + wrong + " of them too often");
        }
    }
}
