// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.api.RedissonClient;

/** The queue layer without Camel. */
public final class QueueRequests implements Requests {

    /** How {@link ConsumerOptions} were when mixed deliveries were first measured: fewer than fill a call. */
    private static final ConsumerOptions CONSUMER =
            ConsumerOptions.DEFAULTS.withConcurrentConsumers(50).withMaximumVisibilityExtension(FAR);

    private static final byte[] FAILURE = new byte[300];

    private final DelayQueueClient client;
    private final DelayQueue queue;

    public QueueRequests(RedissonClient redisson, String name) {
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
        queue = client.queue(name);
    }

    @Override
    public void call(Kind kind, int number) {
        send(kind, number).join();
    }

    @Override
    public CompletableFuture<?> send(Kind kind, int number) {
        String id = Requests.id(number);
        return switch (kind) {
            case SCHEDULE, SCHEDULE_DUE ->
                queue.schedule(ScheduleRequest.of(
                                id, Message.of(number, kind.due()).body(), kind.due()))
                        .result();
            case CANCEL -> queue.cancel(id).result();
            case RESCHEDULE -> queue.reschedule(id, DueTime.now()).result();
            case GET -> queue.get(id);
        };
    }

    @Override
    public Consumption consume(Duration redeliveryDelay, Deliveries deliveries) {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        DelayQueueConsumer consumer = queue.consume(
                CONSUMER,
                threads,
                delivery -> delivery.settle(
                        deliveries.fails(delivery.body())
                                ? new Settlement.Retry(redeliveryDelay, FAILURE)
                                : Settlement.ACKNOWLEDGE));
        return () -> {
            consumer.stop(true);
            threads.shutdown();
        };
    }

    @Override
    public boolean holds(long delayed) {
        return Requests.holds(queue, delayed);
    }

    @Override
    public void close() {
        client.close();
    }
}
