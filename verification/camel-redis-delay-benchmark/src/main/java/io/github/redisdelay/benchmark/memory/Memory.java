// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.memory;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.lateness.CamelReceiver;
import io.github.redisdelay.benchmark.lateness.CamelSender;
import io.github.redisdelay.benchmark.lateness.OpenLoop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * The memory that a pending message takes in Redis, and the garbage that a message leaves on its way through a route.
 */
public final class Memory implements Experiment {

    private static final List<String> QUEUES = List.of("memory");
    private static final Duration FAR = Duration.ofDays(1);

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        int pending = environment.quick() ? 100_000 : 1_000_000;
        for (int bytes : List.of(0, Environment.BODY_BYTES, 2_000)) {
            pendingOfOurs(environment, figures, name(), pending, bytes);
        }
        // Offered one by one: a fifth of them takes as long as all of ours.
        pendingOfRDelayedQueue(environment, figures, pending / 5);
        for (int round = 0; round <= environment.rounds(); round++) {
            allocation(environment, figures, pending / 5, round);
        }
    }

    /** Text without headers, its id generated. */
    static void pendingOfOurs(Environment environment, Figures figures, String experiment, int messages, int bodyBytes)
            throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson();
        try (CamelSender sender = CamelSender.start(redisson, QUEUES)) {
            long before = environment.redisMemory();
            String body = Environment.text(bodyBytes);
            for (int i = 0; i < messages; i++) {
                sender.sendAfter(0, FAR, body);
            }
            sender.awaitStored();
            report(environment, figures, experiment, Subject.CAMEL, messages, bodyBytes, before);
        } finally {
            redisson.shutdown();
        }
    }

    @SuppressWarnings("deprecation") // it is what people use
    private void pendingOfRDelayedQueue(Environment environment, Figures figures, int messages) throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson();
        try {
            RBlockingQueue<byte[]> queue = redisson.getBlockingQueue("memory", ByteArrayCodec.INSTANCE);
            RDelayedQueue<byte[]> delayed = redisson.getDelayedQueue(queue);
            long before = environment.redisMemory();
            InFlight inFlight = new InFlight(OpenLoop.UNDER_WAY);
            for (int i = 0; i < messages; i++) {
                inFlight.begin();
                // Each in another millisecond, as messages of real life are.
                delayed.offerAsync(Environment.body(), FAR.toMillis() + i, TimeUnit.MILLISECONDS)
                        .whenComplete((none, error) -> inFlight.end(error));
            }
            inFlight.awaitAll();
            report(environment, figures, name(), Subject.RDELAYEDQUEUE, messages, Environment.BODY_BYTES, before);
            delayed.destroy();
        } finally {
            redisson.shutdown();
        }
    }

    private static void report(
            Environment environment,
            Figures figures,
            String experiment,
            String subject,
            int messages,
            int bodyBytes,
            long before) {
        double bytes = (double) (environment.redisMemory() - before) / messages;
        figures.add(experiment, subject, "body=" + bodyBytes, 0, "Redis memory", bytes, "bytes per pending message");
    }

    /** @param round 0 for a warm-up */
    private void allocation(Environment environment, Figures figures, int messages, int round) throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson();
        try (CamelSender sender = CamelSender.start(redisson, QUEUES)) {
            String body = Environment.text(Environment.BODY_BYTES);
            try (AllocationMeter meter = new AllocationMeter()) {
                for (int i = 0; i < messages; i++) {
                    sender.sendAfter(0, Duration.ZERO, body);
                }
                sender.awaitStored();
                report(figures, round, "allocated by scheduling", (double) meter.bytes() / messages);
            }
            AtomicLong delivered = new AtomicLong();
            try (AllocationMeter meter = new AllocationMeter();
                    CamelReceiver receiver =
                            CamelReceiver.start(redisson, QUEUES, "", exchange -> delivered.incrementAndGet())) {
                long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
                while (delivered.get() < messages) {
                    if (System.nanoTime() - deadline > 0) {
                        throw new IllegalStateException(
                                delivered.get() + " of " + messages + " messages were delivered in 5 minutes");
                    }
                    TimeUnit.MILLISECONDS.sleep(5);
                }
                report(figures, round, "allocated by delivery", (double) meter.bytes() / messages);
            }
        } finally {
            redisson.shutdown();
        }
    }

    private void report(Figures figures, int round, String metric, double bytes) {
        if (round > 0) {
            figures.add(
                    name(), Subject.CAMEL, "body=" + Environment.BODY_BYTES, round, metric, bytes, "bytes per message");
        }
    }
}
