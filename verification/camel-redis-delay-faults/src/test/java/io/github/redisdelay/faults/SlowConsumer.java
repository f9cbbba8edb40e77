// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.faults.RouteProcess.Question;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A consumer is slower than its producers: what it cannot do yet stays in Redis. */
final class SlowConsumer {

    private SlowConsumer() {}

    static void run() throws Exception {
        int minutes = OverloadBench.minutes();
        Duration duration = minutes > 0 ? Duration.ofMinutes(minutes) : OverloadBench.lasting(Duration.ofSeconds(8));
        Duration pause = duration.dividedBy(8);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        AtomicBoolean over = new AtomicBoolean();
        try (OverloadBench bench = new OverloadBench();
                RouteChild child = RouteChild.start(RouteProcess.Role.SLOW, bench.server.address())) {
            child.awaitReady();
            byte[] body = Envelope.of("x".repeat(2_000)).encode();
            // 600 in a second: about three times what the consumer can do.
            Future<Integer> producer = executor.submit(() -> {
                int produced = 0;
                while (!over.get()) {
                    long begin = System.nanoTime();
                    List<Submission<ScheduleResult>> sent = new ArrayList<>();
                    for (int i = 0; i < 60; i++) {
                        sent.add(bench.queue.schedule(ScheduleRequest.of(null, body, DueTime.now())));
                    }
                    for (Submission<ScheduleResult> each : sent) {
                        each.result().get(20, TimeUnit.SECONDS);
                    }
                    produced += sent.size();
                    OverloadBench.run(Duration.ofMillis(100).minus(OverloadBench.since(begin)));
                }
                return produced;
            });
            List<Long> heaps = new ArrayList<>();
            long mostLeased = 0;
            for (int i = 0; i < 8; i++) {
                OverloadBench.run(pause);
                heaps.add(child.ask(Question.HEAP));
                for (int look = 0; look < 20; look++) {
                    mostLeased = Math.max(mostLeased, bench.stats().leased());
                }
            }
            over.set(true);
            int produced = producer.get(60, TimeUnit.SECONDS);
            child.end();
            long received = child.received();
            QueueStats left = bench.stats();
            OverloadBench.LOG.info(
                    "a consumer slower than its producers for {}: {} produced, {} consumed, {} left; leased at the most {};"
                            + " heap after a collection {} kB",
                    duration,
                    produced,
                    received,
                    left.delayed(),
                    mostLeased,
                    heaps.stream().map(heap -> heap / 1024).toList());
            assertThat(received + left.delayed() + left.leased()).isEqualTo(produced);
            assertThat(left.delayed()).as("what the consumer could not do").isPositive();
            // Those under way, and some just finished whose acknowledgements are on their way.
            assertThat(mostLeased).as("leased at the most").isLessThanOrEqualTo(5L * RouteProcess.SLOW_CONSUMERS);
            long first = heaps.get(0);
            assertThat(heaps).as("heap after a collection").allMatch(heap -> heap < first + 16 * 1024 * 1024);
            Experiment.row(
                    "a consumer slower than its producers for " + duration.toSeconds() + " s",
                    1,
                    produced,
                    left.delayed(),
                    0,
                    0,
                    null);
        } finally {
            over.set(true);
            executor.shutdown();
        }
    }
}
