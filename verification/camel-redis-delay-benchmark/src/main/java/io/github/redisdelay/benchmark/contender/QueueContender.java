// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RedissonClient;

/** The queue layer without Camel. */
final class QueueContender implements Contender {

    static final ConsumerOptions CONSUMER =
            ConsumerOptions.DEFAULTS.withConcurrentConsumers(256).withMaxMessagesPerPoll(256);

    private final DelayQueueClient client;
    private final DelayQueue queue;

    QueueContender(RedissonClient redisson, String name) {
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
        queue = client.queue(name);
    }

    @Override
    public String subject() {
        return Subject.QUEUE;
    }

    @Override
    public void schedule(Message message) throws Exception {
        queue.schedule(ScheduleRequest.of(null, message.body(), message.due()))
                .result()
                .get();
    }

    @Override
    public void scheduleBatch(List<byte[]> bodies, DueTime due) throws Exception {
        List<CompletableFuture<?>> answers = new ArrayList<>(bodies.size());
        queue.together(() -> {
            for (byte[] body : bodies) {
                answers.add(queue.schedule(ScheduleRequest.of(null, body, due)).result());
            }
            return answers;
        });
        for (CompletableFuture<?> answer : answers) {
            answer.get();
        }
    }

    @Override
    public void scheduleAll(Source source) throws Exception {
        InFlight inFlight = new InFlight(UNDER_WAY);
        for (Message message = source.next(); message != null; message = source.next()) {
            inFlight.begin();
            queue.schedule(ScheduleRequest.of(null, message.body(), message.due())
                            .withGroup(message.group()))
                    .result()
                    .whenComplete((result, error) -> inFlight.end(error));
        }
        inFlight.awaitAll();
    }

    @Override
    public Consumption consume(Arrivals arrivals) {
        DelayQueueConsumer consumer = queue.consume(CONSUMER, Runnable::run, delivery -> {
            arrivals.arrived(delivery.body());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        return () -> consumer.stop(false);
    }

    @Override
    public long remaining() {
        return remaining(queue);
    }

    static long remaining(DelayQueue queue) {
        QueueStats stats = queue.admin().stats().join();
        return stats.delayed() + stats.leased() + stats.dead();
    }

    @Override
    public void close() {
        client.close();
    }
}
