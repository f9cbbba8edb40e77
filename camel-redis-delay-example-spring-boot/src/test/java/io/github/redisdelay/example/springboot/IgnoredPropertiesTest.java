// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.redisdelay.example.options.RedisDelayOptions;
import org.apache.camel.builder.LambdaRouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;

/** The warning for properties of the component that are set without its starter; those of application.yml are among them. */
@ExtendWith(OutputCaptureExtension.class)
class IgnoredPropertiesTest {

    @EnableAutoConfiguration(excludeName = "org.redisson.spring.starter.RedissonAutoConfigurationV2")
    static class WithoutStarter {

        @Bean
        LambdaRouteBuilder orders() {
            return route -> route.from("redis-delay:orders").stop();
        }
    }

    @Test
    void propertiesThatNobodyReadsAreNamedAndSoIsTheStarter(CapturedOutput output) {
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
                .hasStackTraceContaining(
                        "no Redis is named: add camel-redis-delay-spring-boot-starter and set spring.data.redis.host,"
                                + " spring.data.redis.url or camel.component.redis-delay.address, or add"
                                + " redisson-spring-boot-starter");
        assertThat(output)
                .containsOnlyOnce("Nobody reads these properties: camel.component.redis-delay.address,"
                        + " camel.component.redis-delay.health-check-consumer-enabled,"
                        + " camel.component.redis-delay.maximum-redeliveries,"
                        + " camel.component.redis-delay.redelivery-delay,"
                        + " camel.component.redis-delay.visibility-timeout. Camel on Spring Boot")
                .contains("a component's starter: add camel-redis-delay-spring-boot-starter");
    }
}
