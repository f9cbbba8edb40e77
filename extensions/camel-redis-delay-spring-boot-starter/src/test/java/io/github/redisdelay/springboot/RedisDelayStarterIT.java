// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.test.RedisServer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spring.boot.CamelAutoConfiguration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.redisson.api.RedissonClient;
import org.redisson.spring.starter.RedissonAutoConfigurationV2;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;

/** The ways to name a Redis, each until a message comes back. */
@ExtendWith(OutputCaptureExtension.class)
class RedisDelayStarterIT {

    private static final String PASSWORD = "very-secret";

    private static RedisServer redis;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(CamelAutoConfiguration.class, RedisDelayAutoConfiguration.class))
            .withUserConfiguration(Orders.class);
    private final ApplicationContextRunner withRedissonStarter =
            application.withConfiguration(AutoConfigurations.of(RedissonAutoConfigurationV2.class));

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.dedicated("requirepass " + PASSWORD);
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @Configuration
    static class Orders {

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

    private static RedisDelayConfiguration deliver(ApplicationContext started) throws InterruptedException {
        CamelContext camel = started.getBean(CamelContext.class);
        camel.createProducerTemplate().sendBody("direct:orderPlaced", "A-1");
        assertThat(started.getBean(BlockingQueue.class).poll(20, TimeUnit.SECONDS))
                .isEqualTo("A-1");
        return camel.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
    }

    private static String[] springDataRedis() {
        return new String[] {
            "spring.data.redis.host=" + redis.host(),
            "spring.data.redis.port=" + redis.port(),
            "spring.data.redis.password=" + PASSWORD,
        };
    }

    @Test
    void should_take_the_components_own_properties(CapturedOutput output) {
        application
                .withPropertyValues(
                        "camel.component.redis-delay.address=" + redis.address(),
                        "camel.component.redis-delay.password=" + PASSWORD,
                        "camel.component.redis-delay.group-concurrency=3",
                        "camel.component.redis-delay.group-retry=relaxed",
                        "camel.component.redis-delay.visibility-timeout=77s")
                .run(started -> assertThat(deliver(started))
                        .returns(3, RedisDelayConfiguration::getGroupConcurrency)
                        .returns("relaxed", RedisDelayConfiguration::getGroupRetry)
                        .returns("77s", RedisDelayConfiguration::getVisibilityTimeout));
        assertThat(output).doesNotContain(PASSWORD);
    }

    @Test
    void should_take_springs_properties(CapturedOutput output) {
        String expected = System.getProperty("redisson.version", "3.52.0");
        assertThat(RedissonClient.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .endsWith("redisson-" + expected + ".jar");
        application
                .withPropertyValues(springDataRedis())
                .run(started -> assertThat(deliver(started).getAddress()).isEqualTo(redis.address()));
        assertThat(output).doesNotContain(PASSWORD);
    }

    @Test
    void should_take_springs_properties_through_redissons_starter() {
        withRedissonStarter
                .withPropertyValues(springDataRedis())
                .withPropertyValues("camel.component.redis-delay.visibility-timeout=66s")
                .run(started -> assertThat(deliver(started))
                        .returns(started.getBean(RedissonClient.class), RedisDelayConfiguration::getRedisson)
                        .returns(null, RedisDelayConfiguration::getAddress)
                        .returns("66s", RedisDelayConfiguration::getVisibilityTimeout));
    }

    @Test
    void should_take_the_client_that_is_named() {
        withRedissonStarter
                .withPropertyValues(springDataRedis())
                .withPropertyValues(
                        "camel.component.redis-delay.redisson=#bean:redisson",
                        "camel.component.redis-delay.autowired-enabled=false")
                .run(started -> assertThat(deliver(started).getRedisson()).isSameAs(started.getBean("redisson")));
    }

    @Configuration
    static class Details {
        @Bean
        RedisConnectionDetails details() {
            return new RedisConnectionDetails() {
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
    void should_take_connection_details_through_redissons_starter() {
        withRedissonStarter.withUserConfiguration(Details.class).run(started -> assertThat(
                        deliver(started).getRedisson())
                .isSameAs(started.getBean(RedissonClient.class)));
    }

    @Configuration
    @EnableAutoConfiguration
    static class Containers {
        @Bean
        @ServiceConnection(name = "redis")
        GenericContainer<?> container() {
            return new GenericContainer<>("redis:8").withExposedPorts(6379);
        }
    }

    @Test
    void should_take_a_container_by_service_connection() throws InterruptedException {
        assumeTrue(
                DockerClientFactory.instance().isDockerAvailable(),
                "no container engine was found: start Docker, or another one that Testcontainers finds");
        try (ConfigurableApplicationContext started =
                SpringApplication.run(new Class<?>[] {Containers.class, Orders.class}, new String[0])) {
            assertThat(deliver(started).getRedisson()).isSameAs(started.getBean(RedissonClient.class));
        }
    }
}
