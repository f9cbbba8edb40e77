// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.redelivery;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.HeaderValues;
import io.github.redisdelay.camel.option.OptionValues;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.camel.Message;

/**
 * The redelivery policy that a message brings along. It overrides its consumer's options of the same names.
 *
 * <p>As text it is {@code name=value} pairs with {@code ;} between them, in any order, each name once:
 *
 * <pre>{@code maximumRedeliveries=5;redeliveryDelays=15000,180000,600000}</pre>
 *
 * <p>Names are {@code maximumRedeliveries}, {@code redeliveryDelay}, {@code backOffMultiplier}, {@code
 * maximumRedeliveryDelay} and {@code redeliveryDelays}; durations are whole milliseconds. What is not said is missing.
 */
public record MessageRetryPolicy(Map<Value, Object> values) {

    /** The longest stored policy; others may have written any. It is some thousands of steps. */
    private static final int MAX_LENGTH = 65_536;

    /** Reads a value, and names what it belongs to if it cannot be read. */
    private interface Reader {
        Object read(String what, Object value);
    }

    /** A value that a policy may have. */
    enum Value {
        MAXIMUM("maximumRedeliveries", RedisDelayConstants.MAXIMUM_REDELIVERIES, MessageRetryPolicy::maximum),
        DELAY("redeliveryDelay", RedisDelayConstants.REDELIVERY_DELAY, Durations::of),
        MULTIPLIER("backOffMultiplier", RedisDelayConstants.BACK_OFF_MULTIPLIER, MessageRetryPolicy::multiplier),
        MAXIMUM_DELAY("maximumRedeliveryDelay", RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY, Durations::of),
        DELAYS("redeliveryDelays", RedisDelayConstants.REDELIVERY_DELAYS, Durations::list);

        static final List<Value> ALL = List.of(values());

        private final String stored;
        private final String header;
        private final Reader reader;

        Value(String stored, String header, Reader reader) {
            this.stored = stored;
            this.header = header;
            this.reader = reader;
        }
    }

    /**
     * The policy that the headers of a message to schedule ask for.
     *
     * @return null if they ask for none
     * @throws IllegalArgumentException naming the header and its value
     */
    public static MessageRetryPolicy ofHeaders(Message message) {
        if (!message.hasHeaders()) {
            return null;
        }
        // Most messages ask for none: this map makes room for what is put into it only then.
        Map<Value, Object> found = new TreeMap<>();
        for (Value value : Value.ALL) {
            Object asked = HeaderValues.of(message, value.header);
            if (asked != null) {
                found.put(value, value.reader.read("header '" + value.header + "'", asked));
            }
        }
        if (found.containsKey(Value.DELAY) && found.containsKey(Value.DELAYS)) {
            throw new IllegalArgumentException("headers '" + RedisDelayConstants.REDELIVERY_DELAY + "' and '"
                    + RedisDelayConstants.REDELIVERY_DELAYS + "' are both set: set one of them");
        }
        if (found.get(Value.DELAY) instanceof Duration delay
                && found.get(Value.MAXIMUM_DELAY) instanceof Duration longest
                && delay.compareTo(longest) > 0) {
            throw new IllegalArgumentException("header '" + RedisDelayConstants.REDELIVERY_DELAY + "' is " + delay
                    + ", longer than header '" + RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY + "', which is " + longest
                    + ": make that one longer too");
        }
        return found.isEmpty() ? null : new MessageRetryPolicy(found);
    }

    /**
     * Reads a policy as it is stored.
     *
     * @throws IllegalArgumentException if it has anything that is not known
     */
    public static MessageRetryPolicy parse(String text) {
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("the message's retry policy has " + text.length()
                    + " characters: at most " + MAX_LENGTH + " are read");
        }
        Map<Value, Object> found = new TreeMap<>();
        for (String pair : text.split(";", -1)) {
            int at = pair.indexOf('=');
            String name = pair.substring(0, Math.max(0, at));
            Value value = Value.ALL.stream()
                    .filter(each -> each.stored.equals(name))
                    .findFirst()
                    .orElse(null);
            if (at < 0 || (value != null && found.containsKey(value))) {
                throw new IllegalArgumentException("the message's retry policy '" + OptionValues.shown(text)
                        + "' cannot be read: it must be name=value pairs with ; between them, each name once");
            }
            if (value == null) {
                throw new IllegalArgumentException("the message's retry policy '" + OptionValues.shown(text) + "' has '"
                        + OptionValues.shown(name) + "', which is not known");
            }
            found.put(value, value.reader.read("'" + name + "' of the message's retry policy", pair.substring(at + 1)));
        }
        return new MessageRetryPolicy(found);
    }

    private static Integer maximum(String what, Object value) {
        return OptionValues.wholeNumber(what, value, -1, Integer.MAX_VALUE, "0 or more, or -1 for any number");
    }

    private static Double multiplier(String what, Object value) {
        try {
            double multiplier = Double.parseDouble(value.toString().strip());
            if (multiplier >= 1 && multiplier < Double.POSITIVE_INFINITY) {
                return multiplier;
            }
        } catch (NumberFormatException e) {
            // The error follows.
        }
        throw new IllegalArgumentException(
                what + " is '" + OptionValues.shown(value) + "': it must be 1 or more; 1 keeps the delay the same");
    }

    /**
     * The policy as it is stored.
     *
     * @throws IllegalArgumentException if that is too long to be read again
     */
    public String encode() {
        String text = values.entrySet().stream()
                .map(each -> each.getKey().stored + "=" + text(each.getValue()))
                .collect(Collectors.joining(";"));
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("header '" + RedisDelayConstants.REDELIVERY_DELAYS + "' has "
                    + or(Value.DELAYS, List.of()).size() + " steps: give fewer; as text they may have " + MAX_LENGTH
                    + " characters");
        }
        return text;
    }

    private static String text(Object value) {
        if (value instanceof List<?> steps) {
            return steps.stream().map(MessageRetryPolicy::text).collect(Collectors.joining(","));
        }
        return value instanceof Duration delay ? Long.toString(delay.toMillis()) : value.toString();
    }

    /**
     * A consumer's policy with what this one says in the place of its own. Steps without a maximum set the maximum to
     * their number, and a delay without steps sets the consumer's steps aside.
     */
    RetryPolicy over(RetryPolicy other) {
        boolean ownDelay = values.containsKey(Value.DELAY);
        List<Duration> steps = or(Value.DELAYS, ownDelay ? List.of() : other.redeliveryDelays());
        boolean ownSteps = values.containsKey(Value.DELAYS);
        int maximum = or(Value.MAXIMUM, ownSteps ? (Integer) steps.size() : (Integer) other.maximumRedeliveries());
        Duration delay = or(Value.DELAY, other.redeliveryDelay());
        Duration longest = or(Value.MAXIMUM_DELAY, other.maximumRedeliveryDelay());
        if (delay.compareTo(longest) > 0) {
            // The two may come from different places: what the message says counts.
            if (values.containsKey(Value.MAXIMUM_DELAY)) {
                delay = longest;
            } else {
                longest = delay;
            }
        }
        double multiplier = or(Value.MULTIPLIER, other.backOffMultiplier());
        return new RetryPolicy(maximum, delay, multiplier, longest, other.redeliveryJitter(), steps);
    }

    /** The value of the policy, or else the consumer's. */
    @SuppressWarnings("unchecked") // the reader of a value gives its type
    private <T> T or(Value value, T other) {
        return (T) values.getOrDefault(value, other);
    }
}
