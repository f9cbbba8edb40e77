// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.contender.BareChanges;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RedissonClient;

/**
 * Requests of different kinds beside one kind alone, by one client of the queue layer: schedules and cancels of other
 * messages, acknowledgements and returns.
 */
public final class Mixes implements Experiment {

    private static final int UNDER_WAY = 2_000;
    private static final int CALLERS = 16;
    private static final Duration FAR = Duration.ofHours(1);
    private static final byte[] BODY = Environment.body(100);
    private static final byte[] FAILURE = new byte[300];

    /** How {@link ConsumerOptions} were when mixed deliveries were first measured: fewer than fill a call. */
    private static final ConsumerOptions CONSUMER =
            ConsumerOptions.DEFAULTS.withConcurrentConsumers(50).withMaximumVisibilityExtension(FAR);

    private static final List<Step> STEPS = List.of(
            new Step("async=2000 schedule", Mixes::producer, 0, 0),
            new Step("async=2000 cancel", Mixes::producer, 0, 100),
            new Step("async=2000 schedule and cancel 1:1", Mixes::producer, 0, 50),
            new Step("async=2000 schedule and cancel 10:1", Mixes::producer, 0, 9),
            new Step("callers=16 schedule", Mixes::producer, CALLERS, 0),
            new Step("callers=16 cancel", Mixes::producer, CALLERS, 100),
            new Step("callers=16 schedule and cancel 1:1", Mixes::producer, CALLERS, 50),
            new Step("deliver acknowledge", Mixes::consumer, 0, 0),
            new Step("deliver return", Mixes::consumer, 0, 1),
            new Step("deliver acknowledge and return 1:1", Mixes::consumer, 0, 2),
            new Step("deliver acknowledge and return 9:1", Mixes::consumer, 0, 10));

    /**
     * A mix.
     *
     * @param callers how many wait for each answer; 0 if {@value #UNDER_WAY} are under way
     * @param share percent of cancels; of a consumer, it returns each so manieth delivery, 0 for none
     */
    private record Step(String parameter, Way way, int callers, int share) {}

    @FunctionalInterface
    private interface Way {
        /** Makes so many requests, of which the first ones have been prepared. Returns the nanoseconds. */
        long run(Step step, Queue queue, int requests, Runnable begin) throws Exception;
    }

    /** One of the subjects. */
    private interface Queue {
        CompletableFuture<?> schedule(String id, Duration delay);

        CompletableFuture<?> cancel(String id);

        /** Acknowledges so many deliveries, and returns each so manieth with a failure, none for 0. */
        void deliver(int messages, int share) throws Exception;
    }

    @Override
    public String name() {
        return "mixes";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        RedissonClient redisson = environment.newRedisson();
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            for (int round = environment.quick() ? 1 : 0; round <= environment.rounds(); round++) { // 0 warms up
                List<Step> steps = new ArrayList<>(STEPS);
                Collections.rotate(steps, round);
                for (Step step : steps) {
                    Queue ours = layer(client.queue("mixes"));
                    measure(step, environment, Subject.QUEUE, ours, round == 0 ? null : figures, round);
                    Queue bare = bare(new BareChanges(redisson));
                    measure(step, environment, Subject.FLOOR, bare, round == 0 ? null : figures, round);
                }
            }
        } finally {
            redisson.shutdown();
        }
    }

    private void measure(Step step, Environment environment, String subject, Queue queue, Figures figures, int round)
            throws Exception {
        int requests = environment.quick() ? 5_000 : step.callers() > 0 ? 30_000 : 60_000;
        environment.clear();
        double[] before = new double[2];
        long nanos = step.way().run(step, queue, requests, () -> {
            before[0] = environment.redisCpuSeconds();
            before[1] = calls(environment);
        });
        double cpu = environment.redisCpuSeconds() - before[0];
        double calls = calls(environment) - before[1];
        if (figures != null) {
            figures.add(name(), subject, step.parameter(), round, "rate", requests * 1e9 / nanos, "requests/s");
            figures.add(name(), subject, step.parameter(), round, "script calls", calls / requests, "per request");
            figures.add(name(), subject, step.parameter(), round, "redis cpu", cpu * 1e6 / requests, "µs");
        }
    }

    /** The number of script calls that the server has executed. */
    private static double calls(Environment environment) {
        String stats = environment.info("commandstats").getOrDefault("cmdstat_evalsha", "calls=0,");
        return Double.parseDouble(stats.substring("calls=".length(), stats.indexOf(',')));
    }

    /** Schedules; some of the requests cancel what was scheduled before. */
    private static long producer(Step step, Queue queue, int requests, Runnable begin) throws Exception {
        all(requests, i -> queue.schedule("old" + i, FAR));
        begin.run();
        long start = System.nanoTime();
        Requests next = i -> (i * 37) % 100 < step.share() ? queue.cancel("old" + i) : queue.schedule("new" + i, FAR);
        if (step.callers() == 0) {
            all(requests, next);
            return System.nanoTime() - start;
        }
        AtomicInteger number = new AtomicInteger();
        ExecutorService callers = Executors.newFixedThreadPool(step.callers());
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int c = 0; c < step.callers(); c++) {
                ends.add(callers.submit(() -> {
                    for (int i = number.getAndIncrement(); i < requests; i = number.getAndIncrement()) {
                        next.make(i).join();
                    }
                }));
            }
            for (Future<?> end : ends) {
                end.get(1, TimeUnit.MINUTES);
            }
            return System.nanoTime() - start;
        } finally {
            callers.shutdownNow();
        }
    }

    /** Acknowledges deliveries; some of them are returned with a failure. */
    private static long consumer(Step step, Queue queue, int requests, Runnable begin) throws Exception {
        all(requests, i -> queue.schedule("m" + i, Duration.ZERO));
        begin.run();
        long start = System.nanoTime();
        queue.deliver(requests, step.share());
        return System.nanoTime() - start;
    }

    private static Queue layer(DelayQueue queue) {
        return new Queue() {
            @Override
            public CompletableFuture<?> schedule(String id, Duration delay) {
                return queue.schedule(ScheduleRequest.of(id, BODY, DueTime.after(delay)))
                        .result();
            }

            @Override
            public CompletableFuture<?> cancel(String id) {
                return queue.cancel(id).result();
            }

            @Override
            public void deliver(int messages, int share) throws Exception {
                ExecutorService threads = Executors.newFixedThreadPool(8);
                InFlight finished = new InFlight(messages);
                for (int i = 0; i < messages; i++) {
                    finished.begin();
                }
                AtomicInteger number = new AtomicInteger();
                DelayQueueConsumer consumer = queue.consume(CONSUMER, threads, delivery -> {
                    boolean fails = share > 0 && number.incrementAndGet() % share == 0;
                    (fails
                                    ? delivery.settle(new Settlement.Retry(FAR, FAILURE))
                                    : delivery.settle(Settlement.ACKNOWLEDGE))
                            .outcome()
                            .whenComplete((result, error) -> finished.end(error));
                });
                finished.awaitAll();
                consumer.stop(true);
                threads.shutdown();
            }
        };
    }

    private static Queue bare(BareChanges changes) {
        return new Queue() {
            @Override
            public CompletableFuture<?> schedule(String id, Duration delay) {
                return changes.schedule(id, BODY, micros(delay));
            }

            @Override
            public CompletableFuture<?> cancel(String id) {
                return changes.cancel(id);
            }

            @Override
            public void deliver(int messages, int share) throws Exception {
                changes.deliver(messages, number -> share > 0 && number % share == 0, FAILURE, micros(FAR));
            }
        };
    }

    private static long micros(Duration delay) {
        return 1_000 * (System.currentTimeMillis() + delay.toMillis());
    }

    @FunctionalInterface
    private interface Requests {
        CompletableFuture<?> make(int number);
    }

    private static void all(int requests, Requests make) throws Exception {
        InFlight inFlight = new InFlight(UNDER_WAY);
        for (int i = 0; i < requests; i++) {
            inFlight.begin();
            make.make(i).whenComplete((result, error) -> inFlight.end(error));
        }
        inFlight.awaitAll();
    }
}
