// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.api.RedissonClient;

/** The queue layer without Camel, with the options that it has by default. */
final class QueueMessaging implements Messaging {

    private final InFlight inFlight = new InFlight(OpenLoop.UNDER_WAY);
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final DelayQueueClient client;
    private final DelayQueue queue;

    QueueMessaging(RedissonClient redisson, LatenessRecorder recorder) {
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
        queue = client.queue("lateness");
        queue.consume(ConsumerOptions.DEFAULTS, executor, delivery -> {
            recorder.arrived(delivery.body());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
    }

    @Override
    public void send(long number, long dueMicros, byte[] body) throws Exception {
        inFlight.begin();
        queue.schedule(ScheduleRequest.of(null, body, new DueTime(false, dueMicros)))
                .result()
                .whenComplete((result, error) -> inFlight.end(error));
    }

    @Override
    public void awaitStored() throws Exception {
        inFlight.awaitAll();
    }

    @Override
    public void close() {
        client.close();
        executor.shutdown();
    }
}
