// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.redelivery;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.HeaderValues;
import io.github.redisdelay.camel.option.OptionValues;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
 * maximumRedeliveryDelay} and {@code redeliveryDelays}; durations are whole milliseconds. Each is null if it is not said.
 */
public record MessageRetryPolicy(
        Integer maximumRedeliveries,
        Duration redeliveryDelay,
        Double backOffMultiplier,
        Duration maximumRedeliveryDelay,
        List<Duration> redeliveryDelays) {

    /** The longest stored policy; others may have written any. It is some thousands of steps. */
    private static final int MAX_LENGTH = 65_536;

    private static final MessageRetryPolicy NOTHING = new MessageRetryPolicy(null, null, null, null, null);

    private static final String MAXIMUM_REDELIVERIES = "maximumRedeliveries";
    private static final String REDELIVERY_DELAY = "redeliveryDelay";
    private static final String BACK_OFF_MULTIPLIER = "backOffMultiplier";
    private static final String MAXIMUM_REDELIVERY_DELAY = "maximumRedeliveryDelay";
    private static final String REDELIVERY_DELAYS = "redeliveryDelays";

    /** Reads a value, and names what it belongs to if it cannot be read. */
    private interface Reader<T> {
        T read(String what, Object value);
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
        MessageRetryPolicy policy = new MessageRetryPolicy(
                header(message, RedisDelayConstants.MAXIMUM_REDELIVERIES, MessageRetryPolicy::maximum),
                header(message, RedisDelayConstants.REDELIVERY_DELAY, Durations::of),
                header(message, RedisDelayConstants.BACK_OFF_MULTIPLIER, MessageRetryPolicy::multiplier),
                header(message, RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY, Durations::of),
                header(message, RedisDelayConstants.REDELIVERY_DELAYS, Durations::list));
        if (policy.redeliveryDelay != null && policy.redeliveryDelays != null) {
            throw new IllegalArgumentException("headers '" + RedisDelayConstants.REDELIVERY_DELAY + "' and '"
                    + RedisDelayConstants.REDELIVERY_DELAYS + "' are both set: set one of them");
        }
        if (policy.redeliveryDelay != null
                && policy.maximumRedeliveryDelay != null
                && policy.redeliveryDelay.compareTo(policy.maximumRedeliveryDelay) > 0) {
            throw new IllegalArgumentException("header '" + RedisDelayConstants.REDELIVERY_DELAY + "' is "
                    + policy.redeliveryDelay + ", longer than header '" + RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY
                    + "', which is " + policy.maximumRedeliveryDelay + ": make that one longer too");
        }
        return policy.equals(NOTHING) ? null : policy;
    }

    private static <T> T header(Message message, String name, Reader<T> reader) {
        Object value = HeaderValues.of(message, name);
        return value == null ? null : reader.read("header '" + name + "'", value);
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
        Map<String, String> values = new LinkedHashMap<>();
        for (String pair : text.split(";", -1)) {
            int at = pair.indexOf('=');
            if (at < 0 || values.put(pair.substring(0, at), pair.substring(at + 1)) != null) {
                throw new IllegalArgumentException("the message's retry policy '" + OptionValues.shown(text)
                        + "' cannot be read: it must be name=value pairs with ; between them, each name once");
            }
        }
        MessageRetryPolicy policy = new MessageRetryPolicy(
                stored(values, MAXIMUM_REDELIVERIES, MessageRetryPolicy::maximum),
                stored(values, REDELIVERY_DELAY, Durations::of),
                stored(values, BACK_OFF_MULTIPLIER, MessageRetryPolicy::multiplier),
                stored(values, MAXIMUM_REDELIVERY_DELAY, Durations::of),
                stored(values, REDELIVERY_DELAYS, Durations::list));
        if (!values.isEmpty()) {
            throw new IllegalArgumentException("the message's retry policy '" + OptionValues.shown(text) + "' has '"
                    + OptionValues.shown(values.keySet().iterator().next()) + "', which is not known");
        }
        return policy;
    }

    private static <T> T stored(Map<String, String> values, String name, Reader<T> reader) {
        String value = values.remove(name);
        return value == null ? null : reader.read("'" + name + "' of the message's retry policy", value);
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
     * The policy as it is stored; empty if it says nothing.
     *
     * @throws IllegalArgumentException if that is too long to be read again
     */
    public String encode() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put(MAXIMUM_REDELIVERIES, maximumRedeliveries);
        values.put(REDELIVERY_DELAY, redeliveryDelay == null ? null : redeliveryDelay.toMillis());
        values.put(BACK_OFF_MULTIPLIER, backOffMultiplier);
        values.put(MAXIMUM_REDELIVERY_DELAY, maximumRedeliveryDelay == null ? null : maximumRedeliveryDelay.toMillis());
        values.put(
                REDELIVERY_DELAYS,
                redeliveryDelays == null
                        ? null
                        : redeliveryDelays.stream()
                                .map(step -> Long.toString(step.toMillis()))
                                .collect(Collectors.joining(",")));
        String text = values.entrySet().stream()
                .filter(value -> value.getValue() != null)
                .map(value -> value.getKey() + "=" + value.getValue())
                .collect(Collectors.joining(";"));
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "header '" + RedisDelayConstants.REDELIVERY_DELAYS + "' has " + redeliveryDelays.size()
                            + " steps: give fewer; as text they may have " + MAX_LENGTH + " characters");
        }
        return text;
    }

    /**
     * A consumer's policy with what this one says in the place of its own. Steps without a maximum set the maximum to
     * their number, and a delay without steps sets the consumer's steps aside.
     */
    RetryPolicy over(RetryPolicy other) {
        List<Duration> steps = redeliveryDelays;
        if (steps == null) {
            steps = redeliveryDelay == null ? other.redeliveryDelays() : List.of();
        }
        int maximum = other.maximumRedeliveries();
        if (maximumRedeliveries != null) {
            maximum = maximumRedeliveries;
        } else if (redeliveryDelays != null) {
            maximum = redeliveryDelays.size();
        }
        Duration delay = redeliveryDelay == null ? other.redeliveryDelay() : redeliveryDelay;
        Duration longest = maximumRedeliveryDelay == null ? other.maximumRedeliveryDelay() : maximumRedeliveryDelay;
        if (delay.compareTo(longest) > 0) {
            // The two may come from different places: what the message says counts.
            if (maximumRedeliveryDelay == null) {
                longest = delay;
            } else {
                delay = longest;
            }
        }
        return new RetryPolicy(
                maximum,
                delay,
                backOffMultiplier == null ? other.backOffMultiplier() : backOffMultiplier,
                longest,
                other.redeliveryJitter(),
                steps);
    }
}
