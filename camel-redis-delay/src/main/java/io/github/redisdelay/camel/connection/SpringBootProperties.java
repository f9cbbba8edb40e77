// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.camel.CamelContext;
import org.apache.camel.Component;
import org.apache.camel.spi.PropertiesComponent;
import org.apache.camel.spi.PropertyConfigurerGetter;
import org.apache.camel.util.StringHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A warning about options of the component in the properties of Spring Boot, which nobody reads: Camel leaves that to a
 * component's starter, and there is none.
 */
public final class SpringBootProperties {

    /** The place where options are set instead. */
    static final String INSTEAD = "set options on a bean of type RedisDelayComponent named redis-delay";

    private static final Logger LOG = LoggerFactory.getLogger(SpringBootProperties.class);

    private static final String PREFIX = "camel.component.redis-delay.";

    /** The options of the component that no endpoint has. */
    private static final List<String> COMPONENT_ONLY = List.of(
            "autowiredEnabled",
            "healthCheckConsumerEnabled",
            "healthCheckProducerEnabled",
            "useGlobalSslContextParameters");

    private SpringBootProperties() {}

    /** The name of a property in Spring's own form, by which it finds all other forms. */
    private static String key(String option) {
        return PREFIX + StringHelper.camelCaseToDash(option);
    }

    static boolean isSpringBoot(CamelContext context) {
        return context.getClass().getName().startsWith("org.apache.camel.spring.boot.");
    }

    /**
     * Warns of properties whose values the component does not have.
     *
     * @param endpointOptions the names of the options that the component shares with its endpoints
     */
    public static void warnOfIgnored(Component component, Set<String> endpointOptions) {
        if (!isSpringBoot(component.getCamelContext())) {
            return;
        }
        PropertiesComponent properties = component.getCamelContext().getPropertiesComponent();
        PropertyConfigurerGetter options = (PropertyConfigurerGetter) component.getComponentPropertyConfigurer();
        Set<String> names = new TreeSet<>(endpointOptions);
        names.addAll(COMPONENT_ONLY);
        List<String> ignored = names.stream()
                .filter(option -> properties
                        .resolveProperty(key(option))
                        .filter(value -> !value.equals(String.valueOf(options.getOptionValue(component, option, true))))
                        .isPresent())
                .map(SpringBootProperties::key)
                .toList();
        if (!ignored.isEmpty()) {
            LOG.warn(
                    "Nobody reads these properties: {}. Camel on Spring Boot leaves them to a component's starter, and there"
                            + " is none: {}",
                    String.join(", ", ignored),
                    INSTEAD);
        }
    }
}
