// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.TestClients;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.redisson.api.RedissonClient;

/** The same messages are rescheduled in a tight loop: consumers sleep on. */
final class RescheduleLoop {

    private static final Duration LATER = Duration.ofSeconds(5);

    private RescheduleLoop() {}

    static void run() throws Exception {
        int count = 100;
        ExecutorService executor = Executors.newFixedThreadPool(5);
        AtomicInteger claims = new AtomicInteger();
        AtomicIntegerArray deliveries = new AtomicIntegerArray(count);
        try (OverloadBench bench = new OverloadBench()) {
            RedissonClient redisson = TestConnections.open(bench.server.address());
            try (DelayQueueClient consuming =
                    TestClients.listening(redisson, Experiment.OPTIONS, (script, group, moment) -> {
                        if (script.equals("CLAIM") && moment == TestClients.Moment.SENT) {
                            claims.incrementAndGet();
                        }
                    })) {
                for (int i = 0; i < count; i++) {
                    bench.queue
                            .schedule(ScheduleRequest.of("m" + i, new byte[10], DueTime.after(LATER)))
                            .result()
                            .get(20, TimeUnit.SECONDS);
                }
                consuming.queue(Experiment.QUEUE).consume(OverloadBench.concurrent(8), executor, delivery -> {
                    deliveries.incrementAndGet(Integer.parseInt(delivery.id().substring(1)));
                    delivery.settle(Settlement.ACKNOWLEDGE);
                });
                await().until(() -> claims.get() > 0);
                OverloadBench.Work before = bench.work();
                long end = System.nanoTime()
                        + OverloadBench.lasting(Duration.ofSeconds(3)).toNanos();
                List<Future<Integer>> loops = new ArrayList<>();
                for (int thread = 0; thread < 4; thread++) {
                    Random random = new Random(thread);
                    loops.add(executor.submit(() -> {
                        int done = 0;
                        for (; System.nanoTime() - end < 0; done++) {
                            // Earlier ones and later ones: of those that were the first, and of others.
                            Duration delay = LATER.plusMillis(random.nextInt(10_000));
                            bench.queue
                                    .reschedule("m" + random.nextInt(count), DueTime.after(delay))
                                    .result()
                                    .get(20, TimeUnit.SECONDS);
                        }
                        return done;
                    }));
                }
                int rescheduled = 0;
                for (Future<Integer> loop : loops) {
                    rescheduled += loop.get();
                }
                OverloadBench.Work work = bench.work().since(before);
                OverloadBench.LOG.info(
                        "{} reschedules of {} messages in a loop: {} wake-ups, {} claims, {} scripts in all, {} us of Redis"
                                + " time each",
                        rescheduled,
                        count,
                        work.published(),
                        claims.get(),
                        work.scripts(),
                        work.scriptMicros() / Math.max(1, work.scripts()));
                assertThat(claims.get()).as("claims").isLessThan(20 + rescheduled / 50);
                assertThat(bench.stats().delayed()).isEqualTo(count);
                for (int i = 0; i < count; i++) {
                    bench.queue.reschedule("m" + i, DueTime.now()).result().get(20, TimeUnit.SECONDS);
                }
                bench.awaitEmpty(Duration.ofSeconds(30));
                for (int i = 0; i < count; i++) {
                    assertThat(deliveries.get(i)).as("deliveries of m" + i).isEqualTo(1);
                }
                Experiment.row("rescheduled in a tight loop", rescheduled, count, count, 0, 0, null);
            } finally {
                redisson.shutdown();
            }
        } finally {
            executor.shutdown();
        }
    }
}
