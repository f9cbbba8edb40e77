// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.after;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.camel.ProducerTemplate;
import org.springframework.stereotype.Service;

/** The producer when the old queue is empty. */
@Service
public class OrderService {

    private final ProducerTemplate producer;

    public OrderService(ProducerTemplate producer) {
        this.producer = producer;
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
        producer.sendBodyAndHeader("redis-delay:orders?operation=cancel", null, "CamelRedisDelayScheduleId", order);
    }
}
