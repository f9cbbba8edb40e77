// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisExtension;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** All tests of a class have one context on Spring Boot, and so one queue. */
@SpringBootTest
@DirtiesContext // or the context consumes the queue until the JVM ends
class OrdersApplicationTest {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    static final String QUEUE = redis.uniqueQueue();

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) {
        properties.add("spring.data.redis.host", () -> redis.server().host());
        properties.add("spring.data.redis.port", () -> redis.server().port());
        properties.add("orders.queue", () -> QUEUE);
    }

    // Stands for the reader's application.
    @SpringBootApplication
    static class OrdersApplication {

        @Bean
        RouteBuilder orders() {
            return new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:orderPlaced").to("redis-delay:{{orders.queue}}?delay=30m");
                    from("direct:waiting")
                            .to("redis-delay:{{orders.queue}}?operation=stats")
                            .setBody(simple("${body[delayed]}"));
                }
            };
        }
    }

    @Autowired
    private ProducerTemplate template;

    @Test
    void anOrderWaitsInTheQueueOfThisClass() {
        template.sendBody("direct:orderPlaced", "order A-1");
        assertThat(template.requestBody("direct:waiting", null, Integer.class)).isOne();
        assertThat(redis.client().getKeys().countExists("shop:{" + QUEUE + "}:messages"))
                .isOne();
    }
}
