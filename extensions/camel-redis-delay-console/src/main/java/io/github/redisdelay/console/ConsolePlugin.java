// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.camel.CamelContext;
import org.apache.camel.spi.ContextServicePlugin;
import org.apache.camel.spi.PropertiesComponent;

/**
 * Starts a console with a context whose property {@code camel.redis-delay.console.enabled} is {@code true}; Camel finds
 * it by itself. The other options are properties of the same prefix, and a bean of type {@link ConsoleAccess} is the
 * access hook. On Spring Boot the starter does this. An option that is wrong stops the start of the context.
 */
public final class ConsolePlugin implements ContextServicePlugin {

    private static final String PREFIX = "camel.redis-delay.console.";
    private static final String ENABLED = "enabled";
    private static final String SPRING_BOOT = "org.apache.camel.spring.boot.";

    private static final Map<String, Option> OPTIONS = Map.of(
            "host", RedisDelayConsole::host,
            "port", (console, value) -> console.port(number(value)),
            "hostNames", (console, value) -> console.hostNames(list(value)),
            "actions", (console, value) -> console.actions(yes("actions", value)),
            "bodies", (console, value) -> console.bodies(yes("bodies", value)),
            "hiddenHeaders", RedisDelayConsole::hiddenHeaders,
            "environment", RedisDelayConsole::environment,
            "queues", (console, value) -> console.queues(list(value)));

    private interface Option {
        void set(RedisDelayConsole console, String value);
    }

    /** Comes when the context is made, before its properties are known. */
    @Override
    public void load(CamelContext context) {
        try {
            context.addStartupListener((started, already) -> start(started));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void start(CamelContext context) {
        PropertiesComponent properties = context.getPropertiesComponent();
        if (context.getClass().getName().startsWith(SPRING_BOOT)
                || !yes(ENABLED, properties.resolveProperty(PREFIX + ENABLED).orElse("false"))) {
            return;
        }
        Set<String> unknown = new TreeSet<>(
                properties.loadProperties(name -> name.startsWith(PREFIX)).stringPropertyNames());
        unknown.remove(PREFIX + ENABLED);
        OPTIONS.keySet().forEach(name -> unknown.remove(PREFIX + name));
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "there is no option " + unknown.iterator().next() + ": there are enabled, "
                            + String.join(", ", new TreeSet<>(OPTIONS.keySet())));
        }
        RedisDelayConsole console = RedisDelayConsole.on(context);
        OPTIONS.forEach((name, option) ->
                properties.resolveProperty(PREFIX + name).ifPresent(value -> option.set(console, value.trim())));
        Set<ConsoleAccess> access = context.getRegistry().findByType(ConsoleAccess.class);
        if (access.size() > 1) {
            throw new IllegalArgumentException("there are " + access.size()
                    + " beans of type ConsoleAccess: there must be one, which says who may do what");
        }
        access.forEach(console::access);
        console.start();
    }

    private static boolean yes(String name, String value) {
        if (value.equals("true") || value.equals("false")) {
            return value.equals("true");
        }
        throw new IllegalArgumentException(PREFIX + name + " is '" + value + "': it must be true or false");
    }

    private static int number(String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(PREFIX + "port is '" + value + "': it must be a number", e);
        }
    }

    private static String[] list(String value) {
        return value.isEmpty() ? new String[0] : value.split("\\s*,\\s*");
    }
}
