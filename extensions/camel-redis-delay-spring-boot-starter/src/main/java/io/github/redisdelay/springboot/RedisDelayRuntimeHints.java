// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayComponentConfigurer;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayEndpointConfigurer;
import io.github.redisdelay.camel.RedisDelayEndpointUriFactory;
import io.github.redisdelay.camel.RedisDelaySendDynamicAware;
import java.util.stream.Stream;
import org.redisson.config.BaseConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** The parts of the component that a native image would not find by itself. No image was built with them so far. */
final class RedisDelayRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, ClassLoader classLoader) {
        hints.resources()
                .registerPattern("io/github/redisdelay/queue/lua/**")
                .registerPattern("io/github/redisdelay/imports/queue/lua/**")
                .registerPattern("META-INF/services/org/apache/camel/redis-delay*")
                .registerPattern("META-INF/services/org/apache/camel/*/redis-delay*")
                .registerPattern("META-INF/io/github/redisdelay/camel/redis-delay.json");
        Stream.of(
                        RedisDelayComponent.class,
                        RedisDelayComponentConfigurer.class,
                        RedisDelayEndpointConfigurer.class,
                        RedisDelayEndpointUriFactory.class,
                        RedisDelaySendDynamicAware.class)
                .forEach(type -> hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS));
        // Looked for by its name: not every application has it.
        hints.reflection()
                .registerTypeIfPresent(classLoader, "io.micrometer.core.instrument.MeterRegistry", type -> {});
        Stream.of(
                        "io.github.redisdelay.imports.RedissonImports",
                        "io.github.redisdelay.micrometer.RedisDelayMicrometer",
                        "io.github.redisdelay.console.ManagedQueues",
                        "io.github.redisdelay.console.RedisDelayDevConsole")
                .forEach(type -> hints.reflection()
                        .registerTypeIfPresent(classLoader, type, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS));
        // Its fields say of which side an option is.
        hints.reflection().registerType(RedisDelayConfiguration.class, MemberCategory.DECLARED_FIELDS);
        // Its methods are looked up by name, because they are not the same in all versions of Redisson.
        Stream.of(
                        Config.class,
                        BaseConfig.class,
                        SingleServerConfig.class,
                        SentinelServersConfig.class,
                        ClusterServersConfig.class)
                .forEach(type -> hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS));
    }
}
