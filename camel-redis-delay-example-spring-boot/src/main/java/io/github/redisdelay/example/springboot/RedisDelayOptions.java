// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import io.github.redisdelay.camel.RedisDelayComponent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The component's own options: Camel takes a bean of this name for the component. */
@Configuration
public class RedisDelayOptions {

    @Bean("redis-delay")
    public RedisDelayComponent redisDelay() {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setKeyPrefix("shop");
        return component;
    }
}
