// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import io.github.redisdelay.console.ConsoleAccess;
import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.console.server.ConsoleFilter;
import jakarta.servlet.Filter;
import org.apache.camel.CamelContext;
import org.apache.camel.spring.boot.CamelAutoConfiguration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The console, if {@code camel.redis-delay.console.enabled=true}: a filter behind the application's own security, or a
 * server of its own where there are no servlets. A bean of type {@link ConsoleAccess} says who may do what; without one
 * it is for local browsers.
 */
@AutoConfiguration(after = {CamelAutoConfiguration.class, RedisDelayAutoConfiguration.class})
@ConditionalOnClass(RedisDelayConsole.class)
@ConditionalOnBean(CamelAutoConfiguration.class)
@ConditionalOnProperty(prefix = RedisDelayConsoleProperties.PREFIX, name = "enabled", havingValue = "true")
@EnableConfigurationProperties(RedisDelayConsoleProperties.class)
public class RedisDelayConsoleAutoConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    RedisDelayConsole redisDelayConsole(
            CamelContext context, RedisDelayConsoleProperties properties, ObjectProvider<ConsoleAccess> access) {
        RedisDelayConsole console = RedisDelayConsole.on(context)
                .host(properties.getHost())
                .port(properties.getPort())
                .hostNames(properties.getHostNames().toArray(String[]::new))
                .actions(properties.isActions())
                .bodies(properties.isBodies())
                .environment(properties.getEnvironment())
                .queues(properties.getQueues().toArray(String[]::new));
        if (properties.getHiddenHeaders() != null) {
            console.hiddenHeaders(properties.getHiddenHeaders());
        }
        access.ifAvailable(console::access); // of several, none of which is primary, the start fails
        return console;
    }

    /** In a web application. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(Filter.class)
    static class InTheWebApplication {

        /**
         * Without an order it is the last one: behind those of Spring Security. Made before the context, which it asks
         * for later.
         */
        @Bean
        ConsoleFilter redisDelayConsoleFilter(
                ObjectProvider<RedisDelayConsole> console, RedisDelayConsoleProperties properties) {
            return new ConsoleFilter(() -> console.getObject().router(), properties.getPath());
        }
    }

    /** Starts and stops the console's own server. */
    @Bean
    @ConditionalOnMissingBean(type = "io.github.redisdelay.console.server.ConsoleFilter")
    SmartLifecycle redisDelayConsoleServer(RedisDelayConsole console) {
        return new OwnServer(console);
    }

    private static final class OwnServer implements SmartLifecycle {

        private final RedisDelayConsole console;
        private volatile boolean running; // written by the thread that starts and stops the application

        OwnServer(RedisDelayConsole console) {
            this.console = console;
        }

        @Override
        public void start() {
            console.start();
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            console.close();
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }
}
