// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.util.StringHelper;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * The report on a property of the starter that there is not: which ones there are. The value may be a password, and is
 * left out.
 */
@Order(Ordered.HIGHEST_PRECEDENCE) // before Spring Boot's own, which shows the value and no names
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    private static final Map<String, Class<?>> PROPERTIES = Map.of(
            RedisDelayCustomizer.PREFIX,
            RedisDelayComponentConfiguration.class,
            RedisDelayConsoleProperties.PREFIX + ".",
            RedisDelayConsoleProperties.class);

    @Override
    protected FailureAnalysis analyze(Throwable failure, UnboundConfigurationPropertiesException cause) {
        for (var properties : PROPERTIES.entrySet()) {
            String prefix = properties.getKey();
            // Not by its text: in camelCase, as a file may have it, it has no dashes.
            ConfigurationPropertyName above = ConfigurationPropertyName.of(prefix.substring(0, prefix.length() - 1));
            List<ConfigurationProperty> unknown = cause.getUnboundProperties().stream()
                    .filter(property -> above.isAncestorOf(property.getName()))
                    .toList();
            if (!unknown.isEmpty()) {
                return new FailureAnalysis(
                        unknown.stream()
                                .map(property -> "There is no property '" + property.getName() + "' ("
                                        + property.getOrigin() + ").")
                                .collect(Collectors.joining("\n")),
                        "Behind '" + prefix + "' there are:\n    " + names(properties.getValue()),
                        cause);
            }
        }
        return null;
    }

    private static String names(Class<?> properties) {
        return Stream.of(BeanUtils.getPropertyDescriptors(properties))
                .filter(property -> !property.getName().equals("class"))
                .map(property -> StringHelper.camelCaseToDash(property.getName())
                        + (property.getWriteMethod() == null ? ".enabled" : ""))
                .sorted()
                .collect(Collectors.joining(", "))
                .replaceAll("(.{90}\\S*) ", "$1\n    ");
    }
}
