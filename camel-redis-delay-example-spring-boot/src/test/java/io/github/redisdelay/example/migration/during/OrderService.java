// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.during;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.redisson.api.RDelayedQueue;
import org.springframework.stereotype.Service;

/** The producer while the old queue has messages that may have to be removed. */
@Service
public class OrderService {

    private final ProducerTemplate producer;
    private final RDelayedQueue<String> delayedQueue;

    public OrderService(ProducerTemplate producer, RDelayedQueue<String> delayedQueue) {
        this.producer = producer;
        this.delayedQueue = delayedQueue;
    }

    public void placed(String order) {
        producer.sendBodyAndHeaders(
                "redis-delay:orders?onDuplicate=ignore",
                order,
                Map.of("CamelRedisDelayDelay", Duration.ofMinutes(30), "CamelRedisDelayScheduleId", order));
    }

    public void placed(String order, Instant deadline) {
        producer.sendBodyAndHeaders(
                "redis-delay:orders?onDuplicate=ignore",
                order,
                Map.of("CamelRedisDelayDeliverAt", deadline, "CamelRedisDelayScheduleId", order));
    }

    public void paid(String order) {
        delayedQueue.remove(order); // first there, then here: messages move in this direction
        producer.sendBodyAndHeader("redis-delay:orders?operation=cancel", null, "CamelRedisDelayScheduleId", order);
    }

    public boolean paidInTime(String order) {
        boolean removed = delayedQueue.remove(order);
        Exchange reply = producer.request("redis-delay:orders?operation=cancel", exchange -> exchange.getMessage()
                .setHeader("CamelRedisDelayScheduleId", order));
        if (reply.getException() != null) { // request() does not throw it
            throw new IllegalStateException(
                    "order " + order + " may wait or not: cancel it again", reply.getException());
        }
        return removed || "delayed".equals(reply.getMessage().getHeader("CamelRedisDelayPreviousState"));
    }
}
