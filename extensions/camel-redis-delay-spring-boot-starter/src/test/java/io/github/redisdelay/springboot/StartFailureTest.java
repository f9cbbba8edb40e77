// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;

/** The reports of Spring Boot on wrong properties. */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureTest {

    @SpringBootConfiguration
    @EnableAutoConfiguration(excludeName = "org.redisson.spring.starter.RedissonAutoConfigurationV2")
    static class Application {
        @Bean
        RouteBuilder orders() {
            return new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:orders").to("redis-delay:others");
                }
            };
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            camel.component.redis-delay.visibility-timeout=5x         | Invalid value '5x' for configuration property 'camel.component.redis-delay.visibility-timeout' | is no duration
            camel.component.redis-delay.header-filter-strategy=mine   | Invalid value 'mine' for configuration property 'camel.component.redis-delay.header-filter-strategy' | No bean could be found in the registry for: mine
            camel.component.redis-delay.header-filter-strategy=#mine  | Invalid value '#mine' for configuration property 'camel.component.redis-delay.header-filter-strategy' | No bean could be found in the registry for: mine
            camel.component.redis-delay.visibility-timout=5s          | There is no property 'camel.component.redis-delay.visibility-timout' | , visibility-timeout
            camel.component.redis-delay.customiser.enabled=false      | There is no property 'camel.component.redis-delay.customiser.enabled' | customizer.enabled,
            camel.redis-delay.console.acitons=true                    | There is no property 'camel.redis-delay.console.acitons' | actions, bodies, enabled,
            camel.redis-delay.console.enabeld=true                    | There is no property 'camel.redis-delay.console.enabeld' | actions, bodies, enabled,
            """)
    void should_be_reports_and_no_stack_traces(String property, String name, String reason, CapturedOutput output) {
        assertThatThrownBy(() -> SpringApplication.run(Application.class, "--" + property));
        assertThat(output)
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .contains(name, reason, "\"" + property.split("=")[0] + "\" from property source")
                .doesNotContain("\tat ");
    }

    @Test
    void should_show_no_password_whose_property_is_misspelt(CapturedOutput output) {
        for (String prefix : List.of("redis-delay", "redisDelay", "redisdelay", "REDIS-DELAY")) {
            assertThatThrownBy(() ->
                    SpringApplication.run(Application.class, "--camel.component." + prefix + ".pasword=very-secret"));
        }
        assertThat(output).contains("There is no property").doesNotContain("very-secret");
    }

    @Test
    void should_name_all_ways_to_a_redis_where_there_is_none() {
        assertThatThrownBy(() ->
                        SpringApplication.run(Application.class, "--camel.component.redis-delay.visibility-timeout=5s"))
                .hasStackTraceContaining("no Redis is named: set camel.component.redis-delay.address")
                .hasStackTraceContaining(
                        "In Spring Boot camel-redis-delay-spring-boot-starter reads"
                                + " spring.data.redis.host and .url, and redisson-spring-boot-starter all of spring.data.redis");
    }
}
