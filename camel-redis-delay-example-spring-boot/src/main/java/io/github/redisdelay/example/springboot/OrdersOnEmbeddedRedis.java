// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import io.github.redisdelay.test.RedisServer;
import java.util.Map;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** The same application for who has no Redis at hand: on one of its own, which ends with it and keeps nothing. */
public final class OrdersOnEmbeddedRedis implements ApplicationContextInitializer<GenericApplicationContext> {

    public static void main(String[] args) {
        new SpringApplicationBuilder(OrdersApplication.class)
                .initializers(new OrdersOnEmbeddedRedis())
                .run(args);
    }

    @Override
    public void initialize(GenericApplicationContext context) {
        RedisServer redis = RedisServer.dedicated("appendonly yes");
        // The first bean of all is closed last, when nothing needs Redis any more.
        context.registerBean(RedisServer.class, () -> redis);
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "embedded-redis",
                        Map.of("spring.data.redis.host", redis.host(), "spring.data.redis.port", redis.port())));
    }
}
