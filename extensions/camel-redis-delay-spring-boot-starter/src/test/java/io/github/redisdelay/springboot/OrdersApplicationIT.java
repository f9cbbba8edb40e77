// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayHeaderFilterStrategy;
import io.github.redisdelay.test.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.HeaderFilterStrategy;
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

/** An application with the properties that docs/spring-boot.md shows, and Redisson's starter. */
@SpringBootTest(properties = "spring.config.location=classpath:docs/application.properties")
class OrdersApplicationIT {

    private static RedisServer redis;

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {

        @Bean
        RouteBuilder orders() {
            return new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:orderPlaced").to("redis-delay:orders?delay=50");
                    from("redis-delay:orders").routeId("orders").stop();
                }
            };
        }

        @Bean
        HeaderFilterStrategy orderHeaders() {
            return new RedisDelayHeaderFilterStrategy();
        }
    }

    @Autowired
    private CamelContext camel;

    @Autowired
    private ProducerTemplate template;

    @Autowired
    private HeaderFilterStrategy orderHeaders;

    @Autowired
    private HealthEndpoint health;

    @Autowired
    private MeterRegistry meters;

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
    void should_have_the_options_of_its_properties() {
        assertThat(camel.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration())
                .returns("shop", RedisDelayConfiguration::getKeyPrefix)
                .returns("1m", RedisDelayConfiguration::getVisibilityTimeout)
                .returns(orderHeaders, RedisDelayConfiguration::getHeaderFilterStrategy);
    }

    @Test
    void should_show_its_consumer_in_the_health_endpoint_and_count_what_it_received() {
        template.sendBody("direct:orderPlaced", "A-1");
        // The figures are left out where Redis does not answer within a second.
        await().untilAsserted(() -> {
            Health consumer = (Health) health.healthForPath("camelHealth");
            assertThat(consumer.getStatus()).isEqualTo(Status.UP);
            assertThat(consumer.getDetails().toString()).contains("redis.queue", "redis.overdue", "redis.consumers");
        });
        await().untilAsserted(() -> assertThat(meters.getMeters())
                .anySatisfy(meter ->
                        assertThat(meter.getId().toString()).contains("camel.redis.delay.lateness", "orders")));
    }
}
