// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import io.github.redisdelay.camel.OptionReader;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayComponentConfigurer;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.queue.exception.ErrorText;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.CamelContext;
import org.apache.camel.Component;
import org.apache.camel.PropertyBindingException;
import org.apache.camel.spi.ComponentCustomizer;
import org.apache.camel.spring.boot.util.HierarchicalPropertiesEvaluator;
import org.apache.camel.support.PropertyBindingSupport;
import org.apache.camel.util.StringHelper;
import org.redisson.api.RedissonClient;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Sets the properties on the component {@code redis-delay}, whoever made it, and checks what has come of it. A property
 * that is not set changes nothing. Components of other names are left alone: they are there to differ.
 */
final class RedisDelayCustomizer implements ComponentCustomizer {

    static final String SCHEME = "redis-delay";

    static final String PREFIX = "camel.component." + SCHEME + ".";
    /** The properties that are the starter's own. */
    private static final Set<String> NOT_OPTIONS = Set.of("class", "customizer", "enabled");
    /** The options whose values no report may show. */
    private static final Set<String> SECRET = Set.of("address", "configurationUri", "username", "password");
    /** The option that an error of the component is about. */
    private static final Pattern OPTION = Pattern.compile("options? '(\\w+)'");

    private final RedisDelayComponentConfigurer options = new RedisDelayComponentConfigurer();
    private final RedisDelayComponentConfiguration properties;
    private final Environment environment;

    RedisDelayCustomizer(RedisDelayComponentConfiguration properties, Environment environment) {
        this.properties = properties;
        this.environment = environment;
    }

    @Override
    public boolean isEnabled(String name, Component target) {
        return name.equals(SCHEME)
                && target instanceof RedisDelayComponent
                && HierarchicalPropertiesEvaluator.evaluate(
                        environment, "camel.component.customizer", PREFIX + "customizer");
    }

    /**
     * Sets the properties.
     *
     * @throws InvalidConfigurationPropertyValueException if a property is wrong; Spring Boot reports it with its place
     * @throws IllegalArgumentException if another option of the component is wrong, or one that is secret
     */
    @Override
    public void configure(String name, Component target) {
        RedisDelayComponent component = (RedisDelayComponent) target;
        Map<String, Object> set = new TreeMap<>();
        BeanWrapper source = PropertyAccessorFactory.forBeanPropertyAccess(properties);
        for (var property : source.getPropertyDescriptors()) {
            Object value = source.getPropertyValue(property.getName());
            if (value != null && !NOT_OPTIONS.contains(property.getName())) {
                set.put(property.getName(), value);
            }
        }
        Object whole = set.remove("configuration"); // first: it takes the place of all the others
        if (whole != null) {
            set(component, "configuration", whole);
        }
        set.forEach((option, value) -> set(component, option, value));
        useSpringsRedis(component);
        check(component.getConfiguration(), set);
    }

    private void set(RedisDelayComponent component, String option, Object value) {
        boolean simple =
                value instanceof Map || BeanUtils.isSimpleValueType((Class<?>) options.getOptionType(option, true));
        String text = String.valueOf(value);
        try {
            PropertyBindingSupport.build()
                    .withConfigurer(options)
                    .withMandatory(true)
                    .bind(
                            component.getCamelContext(),
                            component,
                            option,
                            simple || text.startsWith("#") ? value : "#bean:" + text);
        } catch (PropertyBindingException e) {
            throw wrong(option, value, ErrorText.of(e));
        }
    }

    /** Takes Spring's own settings where nothing else names a Redis. */
    private void useSpringsRedis(RedisDelayComponent component) {
        RedisDelayConfiguration configuration = component.getConfiguration();
        CamelContext context = component.getCamelContext();
        if (configuration.getAddress() == null
                && configuration.getConfigurationUri() == null
                && configuration.getRedisson() == null
                && context.getRegistry().findByType(RedissonClient.class).isEmpty()) {
            SpringDataRedis.in(environment).ifPresent(redis -> redis.applyTo(configuration));
        }
    }

    private static void check(RedisDelayConfiguration configuration, Map<String, Object> set) {
        try {
            new OptionReader(configuration).checkComponent();
        } catch (IllegalArgumentException e) {
            Matcher named = OPTION.matcher(e.getMessage());
            String option = named.find() ? named.group(1) : "";
            if (!set.containsKey(option)) {
                throw e; // set by a bean, or by spring.data.redis
            }
            throw wrong(option, set.get(option), e.getMessage());
        }
    }

    private static RuntimeException wrong(String option, Object value, String reason) {
        String property = PREFIX + StringHelper.camelCaseToDash(option);
        return SECRET.contains(option)
                ? new IllegalArgumentException(property + ": " + reason)
                : new InvalidConfigurationPropertyValueException(property, value, reason);
    }
}
