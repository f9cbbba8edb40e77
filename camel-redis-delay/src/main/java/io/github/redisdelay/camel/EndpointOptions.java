// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.option.OwnHeaders;
import java.lang.reflect.Field;
import java.math.BigInteger;
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

    private static final String PRODUCER = "producer";
    private static final String CONSUMER = "consumer";

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
        checkChooses("failureException", component.getFailureException() != null);
        checkChooses("deadLetterReason", component.getDeadLetterReason() != null);
        checkChooses("failureRouteId", component.getFailureRouteId() != null);
        checkChooses("importOptions[from]", component.getImportOptions().containsKey("from"));
        RedisDelayConfiguration options = component.copy();
        if (names.contains("delay") || names.contains("deliverAt")) {
            options.setDelay(null);
            options.setDeliverAt(null);
        }
        if (names.contains("redeliveryDelay")) {
            options.setRedeliveryDelays(null); // as with a message's own delay
        }
        boolean client = names.contains("redisson");
        boolean file = names.contains("configurationUri");
        boolean address = names.contains("address");
        String part = Stream.of("username", "password", "database", "sslContextParameters")
                .filter(names::contains)
                .findFirst()
                .orElse(null);
        if ((client && (file || address)) || (file && address)) {
            throw new IllegalArgumentException(
                    "more than one of the options 'redisson', 'configurationUri' and 'address' is set: set one of them");
        }
        if (part != null && !address && (client || file || component.getAddress() == null)) {
            throw ConnectionSettings.partWithoutAddress(part);
        }
        if (client || file || address) {
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
                    "option '" + option + "' is set on the component, where it would choose for every"
                            + " endpoint: set it on the endpoint that is meant");
        }
    }

    /** A sentence about the options of a URI that have no effect on a consumer; null if there are none. */
    static String unusedByConsumer(String queue, Map<String, Object> own) {
        return unused(PRODUCER, own, CONSUMER, "to", queue);
    }

    /** A sentence about the options of a URI that have no effect on a producer; null if there are none. */
    static String unusedByProducer(String queue, Map<String, Object> own) {
        String unused = unused(CONSUMER, own, PRODUCER, "from", queue);
        String headers = own.keySet().stream()
                .filter(option -> isOf(CONSUMER, option) && OwnHeaders.ofOption(option) != null)
                .sorted(String.CASE_INSENSITIVE_ORDER)
                .map(option -> "'" + OwnHeaders.ofOption(option) + "'")
                .collect(Collectors.joining(", "));
        return unused == null || headers.isEmpty()
                ? unused
                : unused + ", or send header " + headers + " with the message";
    }

    private static String unused(String other, Map<String, Object> own, String side, String step, String queue) {
        Map<String, Object> options = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        options.putAll(own);
        options.keySet().removeIf(name -> !isOf(other, name));
        if (options.isEmpty()) {
            return null;
        }
        boolean one = options.size() == 1;
        return (one ? "option " : "options ")
                + options.keySet().stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "))
                + (one ? " has" : " have") + " no effect on a " + side + ": write " + (one ? "it" : "them") + " at "
                + step + "(\"redis-delay:" + queue + "?"
                + options.entrySet().stream()
                        .map(option -> option.getKey() + "=" + OptionValues.shown(option.getValue()))
                        .collect(Collectors.joining("&"))
                + "\")";
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
     * expression: it makes a new URI for each message. Camel reads a number that it cannot read as a duration, so that
     * "x" and "" become 0.
     *
     * @param own the options that the URI sets
     * @throws IllegalArgumentException naming the option, its value and what would be right
     */
    static void check(String queue, Map<String, Object> own) {
        if (isExpression(queue)) {
            throw expression("queueName '" + queue + "'", "to() does not evaluate: use toD()");
        }
        own.forEach((name, value) -> {
            if (value instanceof String text) {
                checkExpression(name, text);
                checkNumber(name, text);
            }
        });
    }

    private static void checkExpression(String option, String text) {
        boolean consumer = isOf(CONSUMER, option);
        if (!isExpression(text) || !(consumer || isOf(PRODUCER, option))) {
            return;
        }
        String header = OwnHeaders.ofOption(option);
        String problem = consumer
                ? "from() does not evaluate: use a property"
                : "to() does not evaluate: use toD()" + (header == null ? "" : ", or header '" + header + "'");
        throw expression("option '" + option + "' '" + OptionValues.shown(text) + "'", problem);
    }

    private static boolean isExpression(String text) {
        return text.contains("${") || text.contains("$simple{");
    }

    private static IllegalArgumentException expression(String what, String problem) {
        return new IllegalArgumentException(
                what + " has an expression, which " + problem + "; a property is written {{name}}");
    }

    private static void checkNumber(String option, String text) {
        Class<?> type = OPTIONS.containsKey(option) ? OPTIONS.get(option).getType() : null;
        if ((type != int.class && type != Integer.class && type != long.class) || text.startsWith("#")) {
            return;
        }
        String problem = "option '" + option + "' is '" + OptionValues.shown(text) + "': ";
        String digits = text.strip();
        if (!digits.matches("-?[0-9]+")) {
            throw new IllegalArgumentException(problem + "give a whole number");
        }
        // Camel silently truncates values beyond int.
        if (new BigInteger(digits).bitLength() > (type == long.class ? Long.SIZE : Integer.SIZE) - 1) {
            throw new IllegalArgumentException(problem + "that is too " + (digits.startsWith("-") ? "small" : "large"));
        }
    }
}
