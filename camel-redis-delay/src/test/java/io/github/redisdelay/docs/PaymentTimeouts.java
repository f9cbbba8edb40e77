// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.api.RedissonClient;

/** The example of {@code docs/queue-layer.md}. */
class PaymentTimeouts implements AutoCloseable {

    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final DelayQueueClient client;
    private final DelayQueue queue;
    private final DelayQueueConsumer consumer;
    private final Consumer<String> closeIfUnpaid;

    PaymentTimeouts(RedissonClient redisson, ClientOptions options, Consumer<String> closeIfUnpaid) {
        this.closeIfUnpaid = closeIfUnpaid;
        client = DelayQueueClient.create(redisson, options); // such as ClientOptions.DEFAULTS
        queue = client.queue("payments");
        ConsumerOptions four =
                ConsumerOptions.DEFAULTS.withConcurrentConsumers(4).withName("payments on host-1");
        consumer = queue.consume(four, threads, this::deliver);
    }

    void placed(String order) {
        byte[] body = order.getBytes(UTF_8);
        queue.schedule(ScheduleRequest.of(order, body, DueTime.after(Duration.ofMinutes(30))))
                .result()
                .join(); // it is in Redis when this returns
    }

    void paid(String order) {
        queue.cancel(order).result().join();
    }

    private void deliver(Delivery delivery) {
        if (delivery.attempt() > 5) { // the fifth one killed its JVM, or lost its lease
            delivery.settle(new Settlement.DeadLetter("5 deliveries were not finished".getBytes(UTF_8)));
            return;
        }
        try {
            closeIfUnpaid.accept(new String(delivery.body(), UTF_8));
            delivery.settle(Settlement.ACKNOWLEDGE);
        } catch (RuntimeException e) {
            byte[] failure = e.toString().getBytes(UTF_8);
            if (delivery.attempt() < 5) {
                delivery.settle(new Settlement.Retry(Duration.ofMinutes(1), failure)); // again in a minute
            } else {
                delivery.settle(new Settlement.DeadLetter(failure)); // to queue.deadLetters()
            }
        }
    }

    @Override
    public void close() throws InterruptedException {
        consumer.stop(true); // claims nothing more; leases of what is under way are extended
        threads.shutdown();
        threads.awaitTermination(20, TimeUnit.SECONDS);
        client.close(); // sends the last acknowledgements; the RedissonClient stays open
    }
}
