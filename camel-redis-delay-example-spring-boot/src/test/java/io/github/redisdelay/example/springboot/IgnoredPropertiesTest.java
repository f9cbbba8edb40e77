// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.redisdelay.example.options.RedisDelayOptions;
import org.apache.camel.builder.LambdaRouteBuilder;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;

/** The error where properties of the component are set without its starter, which reads them. */
class IgnoredPropertiesTest {

    @EnableAutoConfiguration(excludeName = "org.redisson.spring.starter.RedissonAutoConfigurationV2")
    static class WithoutStarter {

        @Bean
        LambdaRouteBuilder orders() {
            return route -> route.from("redis-delay:orders").stop();
        }
    }

    @Test
    void theErrorNamesTheStarterWhereItIsMissing() {
        Throwable failure =
                catchThrowable(() -> new SpringApplicationBuilder(WithoutStarter.class, RedisDelayOptions.class)
                        .web(WebApplicationType.NONE)
                        .run(
                                "--camel.component.redis-delay.enabled=false",
                                "--camel.component.redis-delay.address=redis://localhost:1",
                                "--camel.component.redis-delay.visibility-timeout=5m",
                                "--camel.component.redis-delay.maximumRedeliveries=2",
                                "--camel.component.redis-delay.health-check-consumer-enabled=false",
                                "--camel.component.redis-delay.keyPrefix=shop")); // what the bean says

        assertThat(failure)
                .hasStackTraceContaining("no Redis is named: set camel.component.redis-delay.address")
                .hasStackTraceContaining("camel-redis-delay-spring-boot-starter reads spring.data.redis.host");
    }
}
