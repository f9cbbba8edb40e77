// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.faults.RouteProcess.Question;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Very many queues are consumed in one context: threads, connections and commands do not grow with them as routes do.
 */
final class ManyQueues {

    private ManyQueues() {}

    static void run() throws Exception {
        int queues = RouteProcess.QUEUES;
        try (OverloadBench bench = new OverloadBench();
                RouteChild child = RouteChild.start(RouteProcess.Role.MANY_QUEUES, bench.server.address())) {
            long starting = child.awaitReady();
            awaitQuiet(bench, queues);
            double idleRate = idleRate(bench);
            List<Submission<ScheduleResult>> sent = new ArrayList<>();
            byte[] body = Envelope.of("x").encode();
            long begin = System.nanoTime();
            for (int i = 0; i < queues; i++) {
                sent.add(bench.client
                        .queue("queue-" + i)
                        .schedule(ScheduleRequest.of("m", body, DueTime.after(Duration.ofMillis(200)))));
            }
            for (Submission<ScheduleResult> each : sent) {
                each.result().get(20, TimeUnit.SECONDS);
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> child.ask(Question.RECEIVED) == queues);
            Duration took = OverloadBench.since(begin);
            long threads = child.ask(Question.THREADS);
            long connections;
            try (RedisSocket socket = RedisSocket.open(bench.server.address())) {
                connections = socket.text("CLIENT LIST").lines().count();
            }
            long stopping = child.end();
            assertThat(child.received()).isEqualTo(queues);
            OverloadBench.LOG.info(
                    "{} queues in one context: started in {} ms, {} threads, {} connections (with the test's), {} scripts/s"
                            + " while idle, each delivered one in {} ms in all, stopped in {} ms",
                    queues,
                    starting,
                    threads,
                    connections,
                    idleRate,
                    took.toMillis(),
                    stopping);
            // Some for each, and none for each queue.
            assertThat(threads).as("threads").isLessThan(200);
            assertThat(connections).as("connections").isLessThan(120);
            // A turn of each queue in not quite 2 s, and its heartbeat once a minute.
            assertThat(idleRate).as("scripts per second while idle").isLessThan(0.65 * queues);
            assertThat(stopping).as("milliseconds to stop").isLessThan(60_000);
            Experiment.row(queues + " queues in one context", 1, queues, queues, 0, 0, took);
        }
    }

    /** Scripts a second, by the time that passed: on a busy machine a wait lasts longer than it was asked to. */
    private static double idleRate(OverloadBench bench) throws IOException {
        OverloadBench.Work before = bench.work();
        long begin = System.nanoTime();
        OverloadBench.run(OverloadBench.lasting(Duration.ofSeconds(5)));
        OverloadBench.Work work = bench.work().since(before);
        return work.scripts() * 1e9 / (System.nanoTime() - begin);
    }

    /** Waits until all have claimed for the first time. */
    private static void awaitQuiet(OverloadBench bench, int queues) {
        AtomicLong before = new AtomicLong();
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> {
                    long scripts = bench.work().scripts();
                    return scripts - before.getAndSet(scripts) < 0.65 * queues;
                });
    }
}
