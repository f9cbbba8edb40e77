// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.options;

import io.github.redisdelay.camel.RedisDelayComponent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The component as a bean, as {@code docs/spring-boot.md} shows it; in a package that the example does not scan. */
@Configuration
public class RedisDelayOptions {

    @Bean("redis-delay")
    public RedisDelayComponent redisDelay() {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setKeyPrefix("shop");
        return component;
    }
}
