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
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.api.RedissonClient;

/**
 * Redis restarts with many messages pending, while producers and consumers of another queue work: they go on by
 * themselves when it has loaded, and what was pending still is.
 */
final class PendingRestart {

    /** How many schedules wait for an answer at a time. */
    private static final int WINDOW = 10_000;

    private PendingRestart() {}

    static void run(int pending) throws Exception {
        try (Experiment experiment =
                new Experiment("restart with " + pending + " pending", "appendonly yes", "appendfsync everysec")) {
            long inFlight;
            RedissonClient redisson = TestConnections.open(experiment.server.address());
            LoadConsumer consumer =
                    new LoadConsumer(experiment.newConsumer("c"), Experiment.LEASE, experiment.seed, step -> {});
            try (DelayQueueClient producing = DelayQueueClient.create(redisson, Experiment.OPTIONS);
                    DelayQueueClient consuming = DelayQueueClient.create(redisson, Experiment.OPTIONS)) {
                DelayQueue archive = producing.queue("archive");
                try (DelayQueueClient filling = DelayQueueClient.create(redisson, OverloadBench.PATIENT)) {
                    fill(filling.queue("archive"), pending);
                }
                compact(experiment.server.address());
                consumer.consume(consuming.queue(Experiment.QUEUE), Experiment.SLOTS);
                try (LoadProducer producer = new LoadProducer(
                        producing.queue(Experiment.QUEUE), experiment.newHistory("p"), "p", 200, experiment.seed)) {
                    experiment.run(Duration.ofSeconds(1));
                    inFlight = experiment.inFlightUnderLoad() + pending;
                    experiment.history.faultBegins("restart");
                    experiment.server.stop();
                    Loading loading = restart(experiment);
                    experiment.history.faultEnds("restart");
                    experiment.healed();
                    experiment.run(Duration.ofSeconds(1));
                    OverloadBench.LOG.info(
                            "restart with {} pending: Redis answered LOADING for {} ms; it was gone for {} ms",
                            pending,
                            loading.loadingMillis,
                            loading.goneMillis);
                    producer.end();
                }
                experiment.awaitEmpty();
                experiment.probe("probe");
                experiment.probeEach("probes");
                assertThat(archive.admin().stats().get(20, TimeUnit.SECONDS).delayed())
                        .isEqualTo(pending);
                for (int i = 0; i < pending; i += Math.max(1, pending / 100)) {
                    assertThat(archive.get("pending-" + i).get(20, TimeUnit.SECONDS))
                            .as("pending-" + i)
                            .isPresent();
                }
                remove(experiment.server.address());
            } finally {
                consumer.close();
                redisson.shutdown();
            }
            experiment.judge(1, inFlight);
        }
    }

    private record Loading(long goneMillis, long loadingMillis) {}

    private static void fill(DelayQueue archive, int pending) throws Exception {
        byte[] body = new byte[200];
        Queue<Submission<ScheduleResult>> sent = new ArrayDeque<>();
        for (int i = 0; i < pending; i++) {
            if (sent.size() == WINDOW) {
                sent.remove().result().get(120, TimeUnit.SECONDS);
            }
            sent.add(archive.schedule(ScheduleRequest.of("pending-" + i, body, DueTime.after(Duration.ofDays(1)))));
        }
        for (Submission<ScheduleResult> each : sent) {
            each.result().get(120, TimeUnit.SECONDS);
        }
    }

    /** Lets Redis write what it holds as one snapshot, which it loads faster than all the calls that made it. */
    private static void compact(String address) throws IOException {
        try (RedisSocket socket = RedisSocket.open(address)) {
            // It may be writing one already, of what there was before.
            await().atMost(Duration.ofMinutes(5))
                    .until(() -> socket.call("BGREWRITEAOF").startsWith("+"));
            await().atMost(Duration.ofMinutes(5)).until(() -> {
                String persistence = socket.text("INFO persistence");
                return persistence.contains("aof_rewrite_in_progress:0")
                        && persistence.contains("aof_rewrite_scheduled:0");
            });
        }
    }

    /** Not with DEL, which Redis would be busy with for long. */
    private static void remove(String address) throws IOException {
        try (RedisSocket socket = RedisSocket.open(address)) {
            assertThat(socket.call("UNLINK redis-delay:{archive}:messages redis-delay:{archive}:delayed"))
                    .isEqualTo(":2");
        }
    }

    /** Starts the server again, and watches what it answers meanwhile. */
    private static Loading restart(Experiment experiment) throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        AtomicBoolean over = new AtomicBoolean();
        try {
            Future<Long> watch = executor.submit(() -> {
                long first = 0;
                long last = 0;
                while (!over.get()) {
                    if (isLoading(experiment.server.address())) {
                        last = System.nanoTime();
                        first = first == 0 ? last : first;
                    }
                    OverloadBench.run(Duration.ofMillis(5));
                }
                return (last - first) / 1_000_000;
            });
            long begin = System.nanoTime();
            experiment.server.start();
            long gone = (System.nanoTime() - begin) / 1_000_000;
            over.set(true);
            return new Loading(gone, watch.get(20, TimeUnit.SECONDS));
        } finally {
            over.set(true);
            executor.shutdown();
        }
    }

    private static boolean isLoading(String address) {
        try (RedisSocket socket = RedisSocket.open(address)) {
            String answer = socket.call("PING");
            return answer != null && answer.startsWith("-LOADING");
        } catch (IOException e) {
            return false;
        }
    }
}
