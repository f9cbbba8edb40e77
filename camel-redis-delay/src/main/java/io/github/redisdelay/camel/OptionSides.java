// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.camel.spi.UriParam;

/**
 * Which options of an endpoint's own URI mean something to a producer, and which to a consumer. One of the other side would be
 * accepted and do nothing: who writes {@code from("redis-delay:orders?delay=30m")} believes that the queue delays.
 */
final class OptionSides {

    private static final String PRODUCER = "producer";
    private static final String CONSUMER = "consumer";

    /** The options of one side only, by their names in any letter case, as the documentation labels them. */
    private static final Map<String, String> SIDES = sides();

    private OptionSides() {}

    private static Map<String, String> sides() {
        Map<String, String> sides = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (Field field : RedisDelayConfiguration.class.getDeclaredFields()) {
            UriParam option = field.getAnnotation(UriParam.class);
            if (option != null) {
                Arrays.stream(option.label().split(","))
                        .filter(List.of(PRODUCER, CONSUMER)::contains)
                        .forEach(side -> sides.put(field.getName(), side));
            }
        }
        return sides;
    }

    /**
     * Checks the options of an endpoint that gets a consumer.
     *
     * @param own those that its URI sets
     * @throws IllegalArgumentException if one is the producer's
     */
    static void checkConsumer(String queue, Map<String, Object> own) {
        Map<String, Object> others = of(PRODUCER, own);
        if (!others.isEmpty()) {
            throw new IllegalArgumentException(
                    misplaced(others, PRODUCER, "to", queue) + "; a consumer receives messages when they are due");
        }
    }

    /**
     * Checks the options of an endpoint that gets a producer.
     *
     * @param own those that its URI sets
     * @throws IllegalArgumentException if one is the consumer's
     */
    static void checkProducer(String queue, Map<String, Object> own) {
        Map<String, Object> others = of(CONSUMER, own);
        if (!others.isEmpty()) {
            String headers = others.keySet().stream()
                    .map(OwnHeaders::ofOption)
                    .filter(header -> header != null)
                    .map(header -> "'" + header + "'")
                    .collect(Collectors.joining(", "));
            throw new IllegalArgumentException(misplaced(others, CONSUMER, "from", queue)
                    + (headers.isEmpty() ? "" : ", or send header " + headers + " with the message"));
        }
    }

    private static Map<String, Object> of(String side, Map<String, Object> own) {
        Map<String, Object> some = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        some.putAll(own);
        some.keySet().removeIf(name -> !side.equals(SIDES.get(name)));
        return some;
    }

    private static String misplaced(Map<String, Object> options, String side, String step, String queue) {
        boolean one = options.size() == 1;
        return (one ? "option " : "options ")
                + options.keySet().stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "))
                + (one ? " is the " : " are the ") + side + "'s: write " + (one ? "it" : "them") + " at " + step
                + "(\"redis-delay:" + queue + "?"
                + options.entrySet().stream()
                        .map(option -> option.getKey() + "=" + Names.shown(option.getValue()))
                        .collect(Collectors.joining("&"))
                + "\")";
    }

    /**
     * Checks that nothing in a URI waits to be evaluated: the URI of an endpoint is fixed, only {@code toD} makes a new one for each
     * message.
     *
     * @throws IllegalArgumentException if something does
     */
    static void checkExpressions(String queue, Map<String, Object> own) {
        if (isExpression(queue)) {
            throw expression("queueName '" + queue + "'", "to() does not evaluate: use toD()");
        }
        own.forEach((name, value) -> {
            String side = SIDES.get(name);
            if (side == null || !(value instanceof String text) || !isExpression(text)) {
                return;
            }
            String header = OwnHeaders.ofOption(name);
            throw expression(
                    "option '" + name + "' '" + Names.shown(text) + "'",
                    side.equals(CONSUMER)
                            ? "from() does not evaluate: use a property"
                            : "to() does not evaluate: use toD()"
                                    + (header == null ? "" : ", or header '" + header + "'"));
        });
    }

    private static boolean isExpression(String text) {
        return text.contains("${") || text.contains("$simple{");
    }

    private static IllegalArgumentException expression(String what, String problem) {
        return new IllegalArgumentException(
                what + " has an expression, which " + problem + "; a property is written {{name}}");
    }
}
