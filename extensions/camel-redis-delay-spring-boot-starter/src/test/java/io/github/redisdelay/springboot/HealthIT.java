// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisServer;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The consumer's check in Spring Boot's health endpoint. */
@SpringBootTest(properties = {"camel.health.exposure-level=full", "management.endpoint.health.show-details=always"})
class HealthIT {

    private static RedisServer redis;

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {
        @Bean
        RouteBuilder orders() {
            return new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:orders").routeId("orders").stop();
                }
            };
        }
    }

    @Autowired
    private HealthEndpoint health;

    @DynamicPropertySource
    static void startRedis(DynamicPropertyRegistry properties) {
        redis = RedisServer.dedicated();
        properties.add("spring.data.redis.host", redis::host);
        properties.add("spring.data.redis.port", redis::port);
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @Test
    void should_show_the_consumer() {
        Health camel = (Health) health.healthForPath("camelHealth");
        assertThat(camel).as("%s", health.health()).isNotNull();
        assertThat(camel.getStatus()).isEqualTo(Status.UP);
        assertThat(camel.getDetails().toString()).contains("redis.queue", "redis.overdue", "redis.consumers");
    }
}
