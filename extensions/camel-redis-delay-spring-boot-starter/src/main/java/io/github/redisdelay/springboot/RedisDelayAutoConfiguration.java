// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import org.apache.camel.CamelContext;
import org.apache.camel.spi.ComponentCustomizer;
import org.apache.camel.spring.boot.CamelAutoConfiguration;
import org.apache.camel.spring.boot.CamelContextConfiguration;
import org.apache.camel.spring.boot.util.ConditionalOnHierarchicalProperties;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/** The beans of the starter; {@code camel.component.redis-delay.enabled=false} leaves them out. */
@AutoConfiguration(after = CamelAutoConfiguration.class)
@ConditionalOnBean(CamelAutoConfiguration.class)
@ConditionalOnHierarchicalProperties({"camel.component", "camel.component.redis-delay"})
// Those of the console as well: a name that there is not is an error, also where the console is off because of it.
@EnableConfigurationProperties({RedisDelayComponentConfiguration.class, RedisDelayConsoleProperties.class})
@ImportRuntimeHints(RedisDelayRuntimeHints.class)
public class RedisDelayAutoConfiguration {

    @Lazy
    @Bean("redis-delay-component-customizer")
    ComponentCustomizer redisDelayComponentCustomizer(
            RedisDelayComponentConfiguration properties, Environment environment) {
        return new RedisDelayCustomizer(properties, environment);
    }

    /** Makes the component at the start, so that wrong options stop it, and not the first message. */
    @Bean
    CamelContextConfiguration redisDelayAtStart() {
        return new CamelContextConfiguration() {
            @Override
            public void beforeApplicationStart(CamelContext context) {
                context.getComponent(RedisDelayCustomizer.SCHEME);
            }

            @Override
            public void afterApplicationStart(CamelContext context) {}
        };
    }
}
