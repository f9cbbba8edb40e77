// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.console.api.ApiException;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.console.api.ConsoleUser;
import io.github.redisdelay.queue.exception.ShownId;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request that was let in: who asks, and for what.
 *
 * @param parameters those of the query, each a text, or the members of the body
 */
record Call(ConsoleUser user, Map<String, Object> parameters) {

    /** A text that has to be there. */
    String text(String name) {
        return optional(name).orElseThrow(() -> bad("Parameter '" + name + "' is missing."));
    }

    /** A text; empty if it is not given, or null. */
    Optional<String> optional(String name) {
        Object value = parameters.get(name);
        if (value == null || value instanceof String) {
            return Optional.ofNullable((String) value);
        }
        throw bad("Parameter '" + name + "' has to be a text.");
    }

    /** Returns whether a parameter is {@code true}. */
    boolean isSet(String name) {
        Object value = parameters.get(name);
        if (value == null || value.equals(false) || value.equals("false")) {
            return false;
        }
        if (value.equals(true) || value.equals("true")) {
            return true;
        }
        throw bad("Parameter '" + name + "' has to be true or false.");
    }

    /** A whole number; empty if it is not given. */
    Optional<Long> number(String name) {
        Object value = parameters.get(name);
        if (value == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    value instanceof Number
                            ? new BigDecimal(value.toString()).longValueExact()
                            : Long.parseLong((String) value));
        } catch (ArithmeticException | NumberFormatException | ClassCastException e) {
            throw bad("Parameter '" + name + "' has to be a whole number.");
        }
    }

    /** A point in time; empty if it is not given. */
    Optional<Instant> time(String name) {
        return optional(name).map(text -> {
            try {
                return Instant.parse(text);
            } catch (DateTimeException e) {
                throw bad("Parameter '" + name + "' has to be a time such as 2026-11-22T14:03:11.204000Z.");
            }
        });
    }

    /** Refuses other parameters than these: one that is misspelt must not make a change do more than was meant. */
    void only(String... names) {
        for (String name : parameters.keySet()) {
            if (!List.of(names).contains(name)) {
                throw bad("Parameter '" + ShownId.of(name) + "' is unknown here: there are " + String.join(", ", names)
                        + ".");
            }
        }
    }

    static ApiException bad(String text) {
        return new ApiException(Kind.BAD_REQUEST, text);
    }
}
