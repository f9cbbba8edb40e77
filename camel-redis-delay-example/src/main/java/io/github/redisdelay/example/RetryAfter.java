// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import org.apache.camel.ExchangeException;
import org.apache.camel.http.base.HttpOperationFailedException;

/**
 * Reads {@code Retry-After} of an answer 429, seconds or a date (RFC 9110, 10.2.3). Nobody outside may park a
 * notification for ever, so there is a limit.
 */
public final class RetryAfter {

    private final Duration limit;
    private final Clock clock;

    RetryAfter(Duration limit, Clock clock) {
        this.limit = limit;
        this.clock = clock;
    }

    /** The wait that the answer asks for, or null if it asks for none: then the steps decide. */
    public Duration of(@ExchangeException HttpOperationFailedException answer) {
        return answer.getResponseHeaders().entrySet().stream()
                .filter(header -> "Retry-After".equalsIgnoreCase(header.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .map(String::trim)
                .map(this::read)
                .orElse(null);
    }

    private Duration read(String text) {
        Duration wait;
        if (text.matches("[0-9]+")) {
            wait = text.length() > 9 ? limit : Duration.ofSeconds(Long.parseLong(text));
        } else {
            try {
                Instant then = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text));
                wait = Duration.between(clock.instant(), then);
            } catch (DateTimeException e) {
                return null;
            }
        }
        if (wait.isNegative()) {
            return Duration.ZERO;
        }
        return wait.compareTo(limit) > 0 ? limit : wait;
    }
}
