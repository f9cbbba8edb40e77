// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.console.ConsoleAccess;
import io.github.redisdelay.console.ConsoleRights;
import io.github.redisdelay.console.attack.AttackedConsole;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The console in an application on Spring Boot 3. */
class RedisDelayConsoleStarterIT extends ConsoleStories {

    @Override
    String withoutSecurity() {
        return "--spring.autoconfigure.exclude="
                + "org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration,org.springframework.boot.autoconfigure.security.servlet.UserDetailsServiceAutoConfiguration,org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration,org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration";
    }

    @Test
    void should_refuse_all_attacks() throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.address());
        RedissonClient redisson = Redisson.create(config);
        try (ConfigurableApplicationContext started =
                        start(null, WEB, withoutSecurity(), ON, "--camel.redis-delay.console.actions=true");
                DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            new AttackedConsole(
                            new InetSocketAddress("127.0.0.1", port(started)), "/redis-delay", client.queue("attacked"))
                    .assertRefusesAllAttacks();
        } finally {
            redisson.shutdown();
        }
    }

    /** Nobody can tell which of them is meant. */
    @Configuration
    static class TwoHooks {
        @Bean
        ConsoleAccess first() {
            return request -> ConsoleRights.none();
        }

        @Bean
        ConsoleAccess second() {
            return request -> ConsoleRights.none();
        }
    }

    @Test
    void should_not_start_with_two_access_hooks_instead_of_ignoring_both() {
        assertThatThrownBy(() -> start(TwoHooks.class, ON, "--camel.redis-delay.console.port=0")
                        .close())
                .rootCause()
                .hasMessageContaining("expected single matching bean but found 2: first,second");
    }
}
