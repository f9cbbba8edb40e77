// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.before;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RDelayedQueue;
import org.springframework.stereotype.Service;

/** The producer of an application that has not been migrated. */
@Service
public class OrderService {

    private final RDelayedQueue<String> delayedQueue;

    public OrderService(RDelayedQueue<String> delayedQueue) {
        this.delayedQueue = delayedQueue;
    }

    public void placed(String order) {
        delayedQueue.offer(order, 30, TimeUnit.MINUTES);
    }

    public void placed(String order, Instant deadline) {
        long delay = Duration.between(Instant.now(), deadline).toMillis();
        if (delay < 0) {
            delay = 0;
        }
        delayedQueue.offer(order, delay, TimeUnit.MILLISECONDS);
    }

    public void paid(String order) {
        delayedQueue.remove(order);
    }
}
