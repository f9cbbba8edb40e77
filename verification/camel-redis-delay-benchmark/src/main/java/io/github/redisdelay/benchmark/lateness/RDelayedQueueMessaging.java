// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.InFlight;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * {@code RDelayedQueue}: {@code offerAsync}, and one thread that takes from its queue. Its delays are whole
 * milliseconds from its client's clock, so a message is due at the whole one before.
 */
@SuppressWarnings("deprecation") // it is what people use
final class RDelayedQueueMessaging implements Messaging {

    private final InFlight inFlight = new InFlight(OpenLoop.UNDER_WAY);
    private final RDelayedQueue<byte[]> delayed;
    private final Thread consumer;
    private volatile boolean closed;

    RDelayedQueueMessaging(RedissonClient redisson, LatenessRecorder recorder) {
        RBlockingQueue<byte[]> queue = redisson.getBlockingQueue("lateness", ByteArrayCodec.INSTANCE);
        delayed = redisson.getDelayedQueue(queue);
        consumer = new Thread(() -> consume(queue, recorder), "rdelayedqueue-consumer");
        consumer.start();
    }

    private void consume(RBlockingQueue<byte[]> queue, LatenessRecorder recorder) {
        try {
            while (!closed) {
                byte[] body = queue.poll(1, TimeUnit.SECONDS);
                if (body != null) {
                    recorder.arrived(body);
                }
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    @Override
    public void send(long number, long dueMicros, byte[] body) throws Exception {
        inFlight.begin();
        long dueMillis = Math.floorDiv(dueMicros, 1000);
        delayed.offerAsync(
                        Stamp.body(dueMillis * 1000),
                        Math.max(0, dueMillis - System.currentTimeMillis()),
                        TimeUnit.MILLISECONDS)
                .whenComplete((none, error) -> inFlight.end(error));
    }

    @Override
    public void awaitStored() throws Exception {
        inFlight.awaitAll();
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        consumer.join(TimeUnit.SECONDS.toMillis(5));
        delayed.destroy();
    }
}
