// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.camel.CamelContext;
import org.apache.camel.Component;
import org.apache.camel.spi.ComponentCustomizer;
import org.apache.camel.spi.PropertiesComponent;
import org.apache.camel.spi.PropertyConfigurerGetter;
import org.apache.camel.util.StringHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A warning about options of the component in the properties of Spring Boot, which nobody reads where the component's
 * starter is missing or disabled: Camel leaves that to it.
 */
public final class SpringBootProperties {

    /** The name of the starter's bean that sets the properties on the component. */
    public static final String CUSTOMIZER = "redis-delay-component-customizer";

    private static final String STARTER = "camel-redis-delay-spring-boot-starter";

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

    /** The way to name a Redis on Spring Boot, for an error. */
    static String waysToRedis(CamelContext context) {
        String ways = "set spring.data.redis.host, spring.data.redis.url or " + key("address")
                + ", or add redisson-spring-boot-starter, which spring.data.redis.cluster, sentinel, masterreplica and"
                + " ssl.bundle need";
        return context.getRegistry().lookupByName(CUSTOMIZER) == null ? "add " + STARTER + " and " + ways : ways;
    }

    private static boolean isRead(Component component) {
        ComponentCustomizer starter =
                component.getCamelContext().getRegistry().lookupByNameAndType(CUSTOMIZER, ComponentCustomizer.class);
        return starter != null && starter.isEnabled(component.getDefaultName(), component);
    }

    /**
     * Warns of properties whose values the component does not have.
     *
     * @param endpointOptions the names of the options that the component shares with its endpoints
     */
    public static void warnOfIgnored(Component component, Set<String> endpointOptions) {
        if (!isSpringBoot(component.getCamelContext()) || isRead(component)) {
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
                    "Nobody reads these properties: {}. Camel on Spring Boot leaves them to a component's starter: add {}",
                    String.join(", ", ignored),
                    STARTER);
        }
    }
}
