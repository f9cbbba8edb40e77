// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/** Very many messages are due in the same millisecond. */
final class SameMillisecond {

    private SameMillisecond() {}

    static void run() throws Exception {
        int count = 100_000;
        ExecutorService executor = Executors.newFixedThreadPool(4);
        try (OverloadBench bench = new OverloadBench()) {
            long due = (bench.stats().timeMicros() / 1000 + 8_000) * 1000;
            Queue<Submission<ScheduleResult>> sent = new ConcurrentLinkedQueue<>();
            byte[] body = new byte[200];
            for (int i = 0; i < count; i++) {
                sent.add(bench.queue.schedule(ScheduleRequest.of("m" + i, body, new DueTime(false, due))));
            }
            for (Submission<ScheduleResult> each : sent) {
                each.result().get(120, TimeUnit.SECONDS);
            }
            AtomicIntegerArray deliveries = new AtomicIntegerArray(count);
            AtomicInteger early = new AtomicInteger();
            AtomicLong last = new AtomicLong();
            for (int i = 0; i < 2; i++) {
                bench.queue.consume(OverloadBench.concurrent(64), executor, delivery -> {
                    deliveries.incrementAndGet(Integer.parseInt(delivery.id().substring(1)));
                    if (delivery.claimedMicros() < due) {
                        early.incrementAndGet();
                    }
                    last.accumulateAndGet(delivery.claimedMicros(), Math::max);
                    delivery.settle(Settlement.ACKNOWLEDGE);
                });
            }
            AtomicLong longest = new AtomicLong();
            await().atMost(Duration.ofMinutes(2))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> {
                        long begin = System.nanoTime();
                        boolean over = bench.isEmpty();
                        longest.accumulateAndGet(OverloadBench.since(begin).toMillis(), Math::max);
                        return over;
                    });
            int duplicates = 0;
            for (int i = 0; i < count; i++) {
                assertThat(deliveries.get(i)).as("deliveries of m" + i).isPositive();
                duplicates += deliveries.get(i) - 1;
            }
            Duration took = Duration.ofMillis((last.get() - due) / 1000);
            OverloadBench.LOG.info(
                    "{} messages due in the same millisecond: the last one was claimed {} ms later; meanwhile a look at the"
                            + " figures took {} ms at the most",
                    count,
                    took.toMillis(),
                    longest.get());
            assertThat(early).hasValue(0);
            assertThat(duplicates).isZero();
            Experiment.row(count + " messages due in the same millisecond", 1, count, count, 0, 0, took);
        } finally {
            executor.shutdown();
        }
    }
}
