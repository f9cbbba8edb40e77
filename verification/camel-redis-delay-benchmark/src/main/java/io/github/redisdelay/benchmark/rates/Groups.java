// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.contender.Message;
import io.github.redisdelay.benchmark.lateness.NoisyGroup;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import org.redisson.api.RedissonClient;

/** What groups cost: delivery with and without them, the others beside a noisy one, and the memory of a message. */
public final class Groups implements Experiment {

    private static final DueTime FAR = DueTime.after(Duration.ofDays(1));
    private static final int OF_A_GROUP = 10;

    @Override
    public String name() {
        return RateSteps.GROUPS;
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        Rates.groups().run(environment, figures);
        NoisyGroup.run(environment, figures, name());
        int messages = environment.quick() ? 10_000 : 100_000;
        double without = memory(environment, figures, "no group", messages, 0);
        double delayed = memory(environment, figures, "delayed", messages, messages);
        beyond(figures, "delayed", delayed - without);
        // One of each group is delayed.
        double both = memory(environment, figures, "parked", messages, messages / OF_A_GROUP);
        beyond(figures, "parked", (OF_A_GROUP * (both - without) - (delayed - without)) / (OF_A_GROUP - 1));
    }

    private void beyond(Figures figures, String kind, double bytes) {
        figures.add(name(), Subject.QUEUE, kind, 0, "beyond", bytes, "bytes per message");
    }

    /** @param groups 0 for messages without a group */
    private double memory(Environment environment, Figures figures, String kind, int messages, int groups)
            throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson();
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            DelayQueue queue = client.queue("groups");
            long before = environment.redisMemory();
            Calls.underWay(messages, i -> {
                Message message = Message.of(i, FAR);
                String group = groups == 0 ? null : message.inOneOf(groups).group();
                return queue.schedule(ScheduleRequest.of("message-%08d".formatted(i), message.body(), message.due())
                                .withGroup(group))
                        .result();
            });
            double bytes = (double) (environment.redisMemory() - before) / messages;
            figures.add(name(), Subject.QUEUE, kind, 0, "Redis memory", bytes, "bytes per message");
            return bytes;
        } finally {
            redisson.shutdown();
        }
    }
}
