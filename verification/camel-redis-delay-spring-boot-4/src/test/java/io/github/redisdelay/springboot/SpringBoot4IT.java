// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.test.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.apache.camel.CamelContext;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.api.RedissonClient;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.actuate.endpoint.IndicatedHealthDescriptor;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The starter, compiled on Spring Boot 3.5, on Spring Boot 4. */
@ExtendWith(OutputCaptureExtension.class)
class SpringBoot4IT {

    private static final String PASSWORD = "very-secret";
    private static final String OPTION = "--camel.component.redis-delay.";
    private static final String WITHOUT_REDISSONS_STARTER =
            "--spring.autoconfigure.exclude=org.redisson.spring.starter.RedissonAutoConfigurationV4";

    private static RedisServer redis;

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

    private static RedisDelayConfiguration deliver(ConfigurableApplicationContext started) throws InterruptedException {
        CamelContext camel = started.getBean(CamelContext.class);
        camel.createProducerTemplate().sendBody("direct:orderPlaced", "A-1");
        assertThat(started.getBean(BlockingQueue.class).poll(20, TimeUnit.SECONDS))
                .isEqualTo("A-1");
        return camel.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
    }

    @Test
    void should_be_the_version_that_this_is_about() {
        assertThat(SpringBootVersion.getVersion()).startsWith("4.");
    }

    @Test
    void should_name_no_class_that_only_spring_boot_3_has() throws Exception {
        Path starter = Path.of(RedisDelayAutoConfiguration.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        StringWriter missing = new StringWriter();
        ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(
                        new PrintWriter(missing),
                        new PrintWriter(missing),
                        "--multi-release",
                        "base",
                        "--missing-deps",
                        "--class-path",
                        System.getProperty("java.class.path"),
                        starter.toString());
        assertThat(missing.toString()).isEmpty();
    }

    @Test
    void should_have_hints_for_native_images() {
        RuntimeHints hints = new RuntimeHints();
        new RedisDelayRuntimeHints().registerHints(hints, getClass().getClassLoader());
        assertThat(RuntimeHintsPredicates.resource().forResource("io/github/redisdelay/queue/lua/command/claim.lua"))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onType(RedisDelayComponent.class))
                .accepts(hints);
    }

    @Test
    void should_take_options_and_springs_properties(CapturedOutput output) throws InterruptedException {
        try (ConfigurableApplicationContext started = SpringApplication.run(
                Application.class,
                WITHOUT_REDISSONS_STARTER,
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port(),
                "--spring.data.redis.password=" + PASSWORD,
                OPTION + "visibility-timeout=77s",
                OPTION + "maximumRedeliveries=3",
                "--camel.health.exposure-level=full",
                "--management.endpoint.health.show-details=always")) {
            assertThat(deliver(started))
                    .returns(redis.address(), RedisDelayConfiguration::getAddress)
                    .returns("77s", RedisDelayConfiguration::getVisibilityTimeout)
                    .returns(3, RedisDelayConfiguration::getMaximumRedeliveries);
            // The figures are left out where Redis does not answer within a second.
            await().untilAsserted(() -> {
                IndicatedHealthDescriptor camel = (IndicatedHealthDescriptor)
                        started.getBean(HealthEndpoint.class).healthForPath("camelHealth");
                assertThat(camel.getStatus()).isEqualTo(Status.UP);
                assertThat(camel.getDetails().toString()).contains("redis.queue", "redis.overdue", "redis.consumers");
            });
            assertThat(started.getBean(MeterRegistry.class).getMeters())
                    .anySatisfy(meter -> assertThat(meter.getId().getName()).isEqualTo("camel.redis.delay.lateness"));
        }
        assertThat(output).doesNotContain(PASSWORD);
    }

    @Configuration
    static class Details {
        @Bean
        DataRedisConnectionDetails details() {
            return new DataRedisConnectionDetails() {
                @Override
                public String getPassword() {
                    return PASSWORD;
                }

                @Override
                public Standalone getStandalone() {
                    return Standalone.of(redis.host(), redis.port());
                }
            };
        }
    }

    @Test
    void should_take_connection_details_through_redissons_starter() throws InterruptedException {
        try (ConfigurableApplicationContext started =
                SpringApplication.run(new Class<?>[] {Application.class, Details.class}, new String[0])) {
            assertThat(deliver(started).getRedisson()).isSameAs(started.getBean(RedissonClient.class));
        }
    }

    @Test
    void should_take_the_client_that_is_named() throws InterruptedException {
        try (ConfigurableApplicationContext started = SpringApplication.run(
                Application.class,
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port(),
                "--spring.data.redis.password=" + PASSWORD,
                OPTION + "redisson=#bean:redisson",
                OPTION + "autowired-enabled=false")) {
            assertThat(deliver(started).getRedisson()).isSameAs(started.getBean("redisson"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "visibility-timeout=5x, is no duration",
        "visibility-timout=5s,  There is no property 'camel.component.redis-delay.visibility-timout'",
        "header-filter-strategy=mine, No bean could be found in the registry for: mine",
        "address=redis://localhost:1, Redis at redis://localhost:1 cannot be used: Connection refused",
    })
    void should_stop_the_start_on_what_is_wrong(String property, String reason, CapturedOutput output) {
        assertThatThrownBy(
                () -> SpringApplication.run(Application.class, WITHOUT_REDISSONS_STARTER, OPTION + property));
        assertThat(output)
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .contains(
                        reason, "\"camel.component.redis-delay." + property.split("=")[0] + "\" from property source");
    }
}
