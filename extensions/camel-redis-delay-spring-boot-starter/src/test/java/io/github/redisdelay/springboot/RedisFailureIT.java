// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.test.TestPorts;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.spring.starter.RedissonAutoConfigurationCustomizer;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A start without a Redis that can be used. */
@ExtendWith(OutputCaptureExtension.class)
class RedisFailureIT {

    private static final String PASSWORD = "very-secret";
    static final String WITHOUT_REDISSONS_STARTER =
            "--spring.autoconfigure.exclude=org.redisson.spring.starter.RedissonAutoConfigurationV2";

    private static RedisServer redis;
    private static final int NOBODY = TestPorts.next();

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.dedicated("requirepass " + PASSWORD);
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {

        @Bean
        BlockingQueue<String> received() {
            return new LinkedBlockingQueue<>();
        }

        /** Redisson's own starter would wait between five attempts. */
        @Bean
        RedissonAutoConfigurationCustomizer oneAttempt() {
            return config -> config.useSingleServer().setRetryAttempts(0);
        }

        @Bean
        RouteBuilder orders(BlockingQueue<String> received) {
            return new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:orderPlaced").to("redis-delay:orders?delay=50");
                    from("redis-delay:orders")
                            .process(exchange ->
                                    received.add(exchange.getMessage().getBody(String.class)));
                }
            };
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            own      | camel.component.redis-delay.address=redis://localhost:NOBODY          | Redis at redis://localhost:NOBODY cannot be used: Connection refused | Start this Redis
            own      | camel.component.redis-delay.address=redis://localhost:PORT            | Redis at redis://localhost:PORT cannot be used: NOAUTH               | Set the password
            own      | camel.component.redis-delay.address=redis://:wrong-one@localhost:PORT | Redis at redis://localhost:PORT cannot be used: WRONGPASS            | Correct the username and the password
            own      | spring.data.redis.port=NOBODY                                         | Redis at redis://localhost:NOBODY cannot be used: Connection refused | Start this Redis
            own      | spring.data.redis.port=PORT                                           | Redis at redis://localhost:PORT cannot be used: NOAUTH               | Set the password
            own      | spring.data.redis.url=redis://:wrong-one@localhost:PORT               | Redis at redis://localhost:PORT cannot be used: WRONGPASS            | Correct the username and the password
            redisson | spring.data.redis.port=NOBODY                                         | localhost/127.0.0.1:NOBODY: Connection refused                       | Start this Redis
            redisson | spring.data.redis.port=PORT                                           | localhost/127.0.0.1:PORT: NOAUTH                                     | Set the password
            redisson | spring.data.redis.url=redis://:wrong-one@localhost:PORT               | localhost/127.0.0.1:PORT: WRONGPASS                                  | Correct the username and the password
            """)
    void should_be_a_report_of_ten_lines(
            String client, String property, String answer, String action, CapturedOutput output) {
        assertThatThrownBy(() -> SpringApplication.run(
                Application.class,
                "--" + withPorts(property),
                "--logging.level.io.github.redisdelay=INFO",
                client.equals("own") ? WITHOUT_REDISSONS_STARTER : "--nothing"));
        assertThat(output)
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .contains(
                        withPorts(answer),
                        "This Redis is named by " + property.split("=")[0] + " (\"" + property.split("=")[0]
                                + "\" from property source \"commandLineArgs\")",
                        action)
                .doesNotContain("\tat org.redisson.", "wrong-one");
        String report = output.getOut().substring(output.getOut().indexOf("APPLICATION FAILED"));
        assertThat(report.strip().lines()).hasSizeLessThanOrEqualTo(12);
    }

    /** As an application may have it, whose cache is in Spring's Redis. */
    @Configuration
    static class OwnClient {
        @Bean(destroyMethod = "shutdown")
        RedissonClient messages() {
            Config config = new Config();
            config.useSingleServer().setAddress("redis://localhost:" + NOBODY).setRetryAttempts(0);
            return Redisson.create(config);
        }
    }

    @Test
    void should_not_blame_a_property_for_a_client_that_the_application_makes(CapturedOutput output) {
        assertThatThrownBy(() -> SpringApplication.run(
                new Class<?>[] {OwnClient.class, Application.class},
                new String[] {WITHOUT_REDISSONS_STARTER, "--spring.data.redis.host=cache.example.org"}));
        assertThat(output)
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .contains(
                        withPorts("localhost/127.0.0.1:NOBODY: Connection refused"),
                        "This Redis is named by a bean of type RedissonClient.")
                .doesNotContain("spring.data.redis.host");
    }

    private static String withPorts(String text) {
        return text.replace("PORT", String.valueOf(redis.port())).replace("NOBODY", String.valueOf(NOBODY));
    }
}
