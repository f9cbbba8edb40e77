// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisExtension;
import java.math.BigDecimal;
import org.apache.camel.ProducerTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@SpringBootTest
@DirtiesContext // or the context consumes the queue until the JVM ends
class UnpaidOrdersTest {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    static final String PREFIX = redis.keyPrefix();

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) {
        properties.add("spring.data.redis.host", () -> redis.server().host());
        properties.add("spring.data.redis.port", () -> redis.server().port());
        properties.add("camel.component.redis-delay.key-prefix", () -> PREFIX);
    }

    @Autowired
    OrderService service;

    @Autowired
    OrderTable table;

    @Autowired
    ProducerTemplate producer;

    @Test
    void anUnpaidOrderIsClosedAfterHalfAnHour() {
        service.place(new Order("A-1", "Ada", new BigDecimal("12.5")));
        assertThat(service.message("A-1")).isEqualTo("delayed");

        producer.sendBody("redis-delay:orders?operation=promote&all=true", null); // the half hour is over

        await().until(() -> table.state("A-1").equals("CLOSED"));
        assertThat(service.pay("A-1")).isFalse();
    }

    @Test
    void aPaidOrderIsNotClosed() {
        service.place(new Order("A-2", "Amir", new BigDecimal("20")));

        assertThat(service.pay("A-2")).isTrue();

        assertThat(service.message("A-2")).isEqualTo("none");
        assertThat(table.state("A-2")).isEqualTo("PAID");
    }
}
