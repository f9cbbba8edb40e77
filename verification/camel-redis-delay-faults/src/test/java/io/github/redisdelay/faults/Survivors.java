// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.queue.client.DelayQueueClient;
import org.redisson.api.RedissonClient;

/** A producer and a consumer in the test's own JVM, for experiments in which others die. */
final class Survivors implements AutoCloseable {

    private final Experiment experiment;
    private final RedissonClient redisson;
    private final DelayQueueClient producerClient;
    private final DelayQueueClient consumerClient;
    private LoadProducer producer;
    private LoadConsumer consumer;

    Survivors(Experiment experiment) {
        this.experiment = experiment;
        redisson = experiment.connect();
        producerClient = experiment.open(redisson);
        consumerClient = experiment.open(redisson);
    }

    /** Begins to produce, if it does not yet. */
    Survivors produce() {
        if (producer == null) {
            producer = new LoadProducer(
                    experiment.queue(producerClient),
                    experiment.newHistory("survivor-p"),
                    "survivor-p",
                    200,
                    experiment.seed,
                    experiment.groups());
        }
        return this;
    }

    /** Begins to consume, if it does not yet. */
    void consume() {
        if (consumer == null) {
            consumer = new LoadConsumer(
                    experiment.newConsumer("survivor-c"), Experiment.LEASE, experiment.seed, step -> {});
            consumer.consume(experiment.queue(consumerClient), Experiment.SLOTS);
        }
    }

    /** As {@link LoadProducer#end}. */
    void endProducer() {
        if (producer != null) {
            producer.end();
        }
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close();
        }
        producerClient.close();
        consumerClient.close();
        if (consumer != null) {
            consumer.close();
        }
        redisson.shutdown();
    }
}
