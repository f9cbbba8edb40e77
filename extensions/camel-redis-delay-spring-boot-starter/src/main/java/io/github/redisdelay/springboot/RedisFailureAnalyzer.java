// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import io.github.redisdelay.camel.connection.RedisUnusableException;
import io.github.redisdelay.queue.exception.ErrorText;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.redisson.client.RedisConnectionException;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.env.Environment;

/**
 * The report on a Redis that the application cannot start with: which one, by which property, what it answered, what to
 * do.
 */
final class RedisFailureAnalyzer implements FailureAnalyzer {

    /** The properties that name a Redis, the one that counts first. */
    private static final List<String> COMPONENT = Stream.of("redisson", "configuration-uri", "address")
            .map(RedisDelayCustomizer.PREFIX::concat)
            .toList();

    private static final List<String> SPRING = List.of(
            "spring.redis.redisson.file",
            "spring.redis.redisson.config",
            "spring.data.redis.cluster.nodes",
            "spring.data.redis.sentinel.nodes",
            "spring.data.redis.url",
            "spring.data.redis.host",
            "spring.data.redis.port");

    private static final String REDISSONS_STARTER = "org/redisson/spring/starter";

    private static final String START = "Start this Redis, or correct it or the property, as its answer says.";

    private static final String PASSWORD = " where its address is: spring.data.redis.password,"
            + " camel.component.redis-delay.password, or in the file for Redisson";

    private final Environment environment;

    RedisFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    public FailureAnalysis analyze(Throwable failure) {
        Throwable redissons = null;
        boolean starters = false;
        String definedIn = "";
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisUnusableException) {
                return report(
                        cause.getMessage(),
                        Stream.concat(COMPONENT.stream(), SPRING.stream()),
                        ", unless the URI of an endpoint or a RedissonClient of your own names it.",
                        START + " To start the application without Redis, set camel.routecontroller.enabled=true: Camel"
                                + " then starts each route when Redis answers.",
                        cause);
            }
            if (cause instanceof BeanCreationException bean && bean.getResourceDescription() != null) {
                definedIn = bean.getResourceDescription();
            }
            if (redissons == null && cause instanceof RedisConnectionException) {
                redissons = cause;
                starters = definedIn.contains(REDISSONS_STARTER); // else of a client that the application makes
            }
        }
        return redissons == null
                ? null
                : report(
                        ErrorText.said(redissons).replaceFirst("(?s)! .*", "") + ": " + ErrorText.of(redissons),
                        starters ? SPRING.stream() : Stream.empty(),
                        ".",
                        START,
                        redissons);
    }

    private FailureAnalysis report(
            String answer, Stream<String> properties, String unless, String otherwise, Throwable cause) {
        String origin = properties
                .map(this::origin)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("a bean of type RedissonClient");
        String action = answer.contains("NOAUTH")
                ? "Set the password" + PASSWORD + "."
                : answer.contains("WRONGPASS") ? "Correct the username and the password" + PASSWORD + "." : otherwise;
        return new FailureAnalysis(answer + "\n\nThis Redis is named by " + origin + unless, action, cause);
    }

    private String origin(String name) {
        ConfigurationPropertyName property = ConfigurationPropertyName.of(name);
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .map(source -> source.getConfigurationProperty(property))
                .filter(Objects::nonNull)
                .findFirst()
                .map(ConfigurationProperty::getOrigin)
                .map(origin -> name + " (" + origin + ")")
                .orElse(null);
    }
}
