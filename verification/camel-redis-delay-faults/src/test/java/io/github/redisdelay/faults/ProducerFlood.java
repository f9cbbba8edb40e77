// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.testkit.FaultyProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.redisson.api.RedissonClient;

/**
 * Redis answers nothing for a while, and producers go on: they are pushed back, and told the truth about each message.
 */
final class ProducerFlood {

    private ProducerFlood() {}

    static void run() throws Exception {
        // 64 MB or 16384 requests that wait, and as many again that are being told that their time is over; two calls
        // under way, and what a thread is about to add.
        flood(1_000_000, 4, 2 * (64L + 2) * 1_048_576 + 4 * 1_000_000, Long.MAX_VALUE);
        flood(100, 4, Long.MAX_VALUE, 2 * (16_384 + 256) + 4);
    }

    /** Schedules on some threads without waiting for answers, while no answer comes. */
    private static void flood(int bodyBytes, int threads, long maximumBytes, long maximumRequests) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try (OverloadBench bench = new OverloadBench();
                FaultyProxy proxy = new FaultyProxy(bench.server.host(), bench.server.port())) {
            RedissonClient redisson = TestConnections.open(proxy.address());
            try (DelayQueueClient client = DelayQueueClient.create(redisson, Experiment.OPTIONS)) {
                DelayQueue queue = client.queue(Experiment.QUEUE);
                byte[] body = new byte[bodyBytes];
                queue.schedule(ScheduleRequest.of("first", body, DueTime.after(Duration.ofHours(1))))
                        .result()
                        .get(20, TimeUnit.SECONDS);
                AtomicInteger numbers = new AtomicInteger();
                AtomicLong outstanding = new AtomicLong();
                AtomicLong most = new AtomicLong();
                LongAdder stored = new LongAdder();
                LongAdder refused = new LongAdder();
                proxy.stall();
                long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
                List<Future<?>> floods = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    floods.add(executor.submit(() -> {
                        while (System.nanoTime() - end < 0) {
                            most.accumulateAndGet(outstanding.incrementAndGet(), Math::max);
                            Submission<ScheduleResult> submission = queue.schedule(ScheduleRequest.of(
                                    "m" + numbers.getAndIncrement(), body, DueTime.after(Duration.ofHours(1))));
                            // Once it is known not to be sent, or answered, nothing is kept of it.
                            submission.outcome().whenComplete((result, error) -> {
                                outstanding.decrementAndGet();
                                if (error == null) {
                                    stored.increment();
                                } else if (error instanceof RequestTimeoutException timeout
                                        && !timeout.isPossiblyStored()) {
                                    refused.increment();
                                }
                            });
                        }
                    }));
                }
                for (Future<?> flood : floods) {
                    flood.get(60, TimeUnit.SECONDS);
                }
                proxy.heal();
                await().atMost(Duration.ofSeconds(60)).until(() -> outstanding.get() == 0);
                OverloadBench.LOG.info(
                        "Redis stalled under {} threads that schedule {} bytes each: {} kept at the most, {} stored in the"
                                + " end, {} refused",
                        threads,
                        bodyBytes,
                        most.get(),
                        stored.sum(),
                        refused.sum());
                assertThat(most.get()).as("kept at the most").isLessThanOrEqualTo(maximumRequests);
                assertThat(most.get() * bodyBytes).as("bytes kept at the most").isLessThanOrEqualTo(maximumBytes);
                assertThat(refused.sum()).as("pushed back").isPositive();
                // The answers to the callers are true.
                assertThat(stored.sum() + refused.sum()).isEqualTo(numbers.get());
                assertThat(bench.stats().delayed()).isEqualTo(1 + stored.sum());
                Experiment.row(
                        "Redis stalled under a flood of " + bodyBytes + " bytes each",
                        1,
                        stored.sum(),
                        most.get(),
                        0,
                        0,
                        null);
            } finally {
                redisson.shutdown();
            }
        } finally {
            executor.shutdownNow();
        }
    }
}
