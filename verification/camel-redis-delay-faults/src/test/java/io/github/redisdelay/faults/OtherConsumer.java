// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.queue.client.DelayQueueClient;
import org.redisson.api.RedissonClient;

/** A consumer beside the one of the {@link Survivors}, with connections of its own: takes what that one loses. */
final class OtherConsumer implements AutoCloseable {

    private final RedissonClient redisson;
    private final DelayQueueClient client;
    private final LoadConsumer consumer;

    /** Begins to consume. */
    OtherConsumer(Experiment experiment) {
        redisson = experiment.connect();
        client = experiment.open(redisson);
        consumer = new LoadConsumer(experiment.newConsumer("other-c"), Experiment.LEASE, experiment.seed, step -> {});
        consumer.consume(experiment.queue(client), Experiment.SLOTS);
    }

    @Override
    public void close() {
        client.close();
        consumer.close();
        redisson.shutdown();
    }
}
