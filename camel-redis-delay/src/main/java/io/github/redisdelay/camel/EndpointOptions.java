// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.option.OptionValues;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.spi.UriParam;

/**
 * The options that an endpoint's own URI sets: checks them, and puts them in the place of the component's. Camel would
 * say nothing of an option of the other side, which does nothing: {@code from("redis-delay:orders?delay=30m")} looks as
 * if the queue delayed. {@link OptionReader} checks values and their ranges.
 */
final class EndpointOptions {

    static final String PRODUCER = "producer";
    static final String CONSUMER = "consumer";

    /** The limits of a queue, which its consumers set. */
    static final List<String> LIMITS =
            List.of("groupConcurrency", "groupRetry", "rate", "groupRate", "queueConcurrency");

    /** All options, by their names in any letter case. */
    private static final Map<String, Field> OPTIONS = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    static {
        for (Field field : RedisDelayConfiguration.class.getDeclaredFields()) {
            if (field.isAnnotationPresent(UriParam.class)) {
                OPTIONS.put(field.getName(), field);
            }
        }
    }

    private EndpointOptions() {}

    /** True if an option is labelled as one of this side only. */
    private static boolean isOf(String side, String option) {
        Field field = OPTIONS.get(option);
        return field != null
                && List.of(field.getAnnotation(UriParam.class).label().split(","))
                        .contains(side);
    }

    /**
     * The component's options without those that an endpoint replaces as a whole. A connection, a delivery time or a
     * redelivery delay that the endpoint names must not be mixed with the component's.
     *
     * @param own the names of the options that the endpoint sets
     * @throws IllegalArgumentException if the endpoint sets a part of a connection that it cannot change, or the
     *     component an option that only an endpoint can set
     */
    static RedisDelayConfiguration inherit(RedisDelayConfiguration component, Set<String> own) {
        Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        names.addAll(own);
        checkChooses("all", component.isAll());
        checkChooses("schedules", component.isSchedules());
        checkChooses("failureException", component.getFailureException() != null);
        checkChooses("deadLetterReason", component.getDeadLetterReason() != null);
        checkChooses("failureRouteId", component.getFailureRouteId() != null);
        checkChooses("every", component.getEvery() != null);
        checkChooses("cron", component.getCron() != null);
        checkChooses("scheduleId", component.getScheduleId() != null);
        checkChooses("group", component.getGroup() != null);
        checkChooses("importOptions[from]", component.getImportOptions().containsKey("from"));
        RedisDelayConfiguration options = component.copy();
        if (names.contains("delay") || names.contains("deliverAt")) {
            options.setDelay(null);
            options.setDeliverAt(null);
        }
        if (names.contains("redeliveryDelay")) {
            options.setRedeliveryDelays(null); // as with a message's own delay
        }
        long connections = Stream.of("redisson", "configurationUri", "address")
                .filter(names::contains)
                .count();
        if (connections > 1) {
            throw new IllegalArgumentException(
                    "more than one of the options 'redisson', 'configurationUri' and 'address' is set: set one of"
                            + " them");
        }
        if (connections == 1) {
            options.setRedisson(null);
            options.setConfigurationUri(null);
            options.setAddress(null);
            options.setUsername(null);
            options.setPassword(null);
            options.setDatabase(0);
            options.setSslContextParameters(null);
        }
        return options;
    }

    /** An endpoint, and not the component, chooses the messages of an operation. */
    private static void checkChooses(String option, boolean set) {
        if (set) {
            throw new IllegalArgumentException(
                    "option '" + option + "' is set on the component, where it would apply to every"
                            + " endpoint: set it on the endpoint that is meant");
        }
    }

    /**
     * The options of a URI that have no effect, in a sentence; null if there are none.
     *
     * @param used {@link #PRODUCER} or {@link #CONSUMER}, which the endpoint is used for
     */
    static String unused(String used, Map<String, Object> own) {
        boolean produces = used.equals(PRODUCER);
        boolean declares = own.containsKey("every") || own.containsKey("cron"); // its message has a time to live
        boolean imports = own.containsKey("import.from"); // into a queue that has a length
        String names = own.keySet().stream()
                .filter(name -> isOf(produces ? CONSUMER : PRODUCER, name))
                .filter(name -> !imports || !name.equalsIgnoreCase("maximumQueueLength"))
                .filter(name -> !declares || !name.equalsIgnoreCase("timeToLive"))
                .map(name -> "option '" + name + "'")
                .collect(Collectors.joining(", "));
        return names.isEmpty()
                ? null
                : "a " + used + " does not use " + names + ": set it at " + (produces ? "from()" : "to()");
    }

    /** Refuses the options of a consumer that an endpoint which is polled does not have. */
    static void checkPolled(Map<String, Object> own) {
        for (String option : LIMITS) {
            if (own.containsKey(option)) {
                throw new IllegalArgumentException("option '" + option + "' is set on an endpoint that is polled, which"
                        + " leaves the limits of its queue alone: set it where a route consumes from the queue");
            }
        }
    }

    /** Refuses the options of imports where nothing can be imported. */
    static void checkNoImport(RedisDelayConfiguration options, String where) {
        options.getImportOptions().keySet().stream().findFirst().ifPresent(option -> {
            throw new IllegalArgumentException(
                    "option '" + ImportModule.PREFIX + OptionValues.shown(option) + "' is set on " + where);
        });
    }

    /**
     * Removes the options whose optional placeholder, {@code {{?name}}}, has no value. Camel does so itself, but not in
     * {@code RAW()}, into which its YAML DSL puts all that is secret.
     *
     * @param own the options that the URI sets
     */
    static void removeUnset(CamelContext context, Map<String, Object> own) {
        own.values()
                .removeIf(value -> value instanceof String text
                        && text.startsWith("{{?")
                        && context.resolvePropertyPlaceholders(text) == null);
    }

    /**
     * Checks that a URI has no expressions, and that whole numbers are whole numbers. Only {@code toD} evaluates an
     * expression: it makes a new URI for each message.
     *
     * @param own the options that the URI sets
     * @throws IllegalArgumentException naming the option, its value and what would be right
     */
    static void check(String queue, Map<String, Object> own) {
        checkExpression("queueName", queue);
        own.forEach((option, value) -> {
            if (value instanceof String text && OPTIONS.containsKey(option)) {
                if (isOf(PRODUCER, option) || isOf(CONSUMER, option) || option.equalsIgnoreCase("group")) {
                    checkExpression("option '" + option + "'", text);
                }
                checkNumber(option, text);
            }
        });
    }

    private static void checkExpression(String what, String text) {
        if (text.contains("${") || text.contains("$simple{")) {
            throw new IllegalArgumentException(
                    what + " '" + OptionValues.shown(text) + "' has an expression: use toD(),"
                            + " which evaluates it, or a property, which is written {{name}}");
        }
    }

    /**
     * Checks that the text of an option, if it is one for a whole number, is a whole number. Camel reads a number that it
     * cannot read as a duration, so that "x", " 5" and "" become 0, and truncates one beyond int.
     */
    static void checkNumber(String option, String text) {
        Class<?> type = OPTIONS.containsKey(option) ? OPTIONS.get(option).getType() : null;
        if ((type != int.class && type != Integer.class && type != long.class) || text.startsWith("#")) {
            return;
        }
        long most = type == long.class ? Long.MAX_VALUE : Integer.MAX_VALUE;
        try {
            if (text.matches("-?[0-9]+") && Math.abs(Long.parseLong(text)) <= most) {
                return;
            }
        } catch (NumberFormatException e) {
            // The error follows.
        }
        throw new IllegalArgumentException("option '" + option + "' is '" + OptionValues.shown(text)
                + "': it must be a whole number of at most " + most);
    }
}
