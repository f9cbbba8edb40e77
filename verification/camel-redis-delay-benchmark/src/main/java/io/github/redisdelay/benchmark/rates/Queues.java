// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.contender.Message;
import io.github.redisdelay.benchmark.contender.Requests;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;

/** Callers that schedule to many queues beside the same to one queue: a call is about one queue. */
public final class Queues implements Experiment {

    private static final int CALLERS = 200;
    private static final int QUEUES = 200;
    private static final int BURST = 100;

    private static final List<Step> STEPS = List.of(
            new Step("callers=200 one queue", i -> 0),
            new Step("callers=200 queues=200 evenly", i -> i % QUEUES),
            new Step("callers=200 queues=200 bursts of 100", i -> i / BURST % QUEUES));

    /** @param queue of a message, by its number */
    private record Step(String parameter, IntUnaryOperator queue) {}

    @Override
    public String name() {
        return "queues";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        int messages = environment.quick() ? 5_000 : 60_000;
        RedissonClient redisson = environment.newRedisson();
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            List<DelayQueue> queues = IntStream.range(0, QUEUES)
                    .mapToObj(i -> client.queue("queues-" + i))
                    .toList();
            for (int round = 0; round <= environment.rounds(); round++) { // 0 warms up
                List<Step> steps = new ArrayList<>(STEPS);
                Collections.rotate(steps, round - 1); // in their order at first, as in the report
                for (Step step : steps) {
                    environment.clear();
                    Calls calls = Calls.begin(environment);
                    Calls.waiting(CALLERS, messages, i -> {
                        DueTime due = Requests.Kind.SCHEDULE.due();
                        queues.get(step.queue().applyAsInt(i))
                                .schedule(ScheduleRequest.of(
                                        null, Message.of(i, due).body(), due))
                                .result()
                                .join();
                    });
                    calls.end(figures, name(), Subject.QUEUE, step.parameter(), round, messages);
                }
            }
        } finally {
            redisson.shutdown();
        }
    }
}
