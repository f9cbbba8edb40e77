// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Map;
import java.util.TreeMap;
import org.apache.camel.ExchangeException;
import org.apache.camel.http.base.HttpOperationFailedException;

/** Reads Retry-After: from 1 s to 1 h, and 30 s without one. */
public class RetryAfter {

    public Duration of(@ExchangeException HttpOperationFailedException answer) {
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.putAll(answer.getResponseHeaders());
        String value = headers.getOrDefault("Retry-After", "");
        long seconds = value.matches("\\d{1,9}") ? Long.parseLong(value) : 30;
        if (value.endsWith(" GMT")) {
            seconds = Duration.between(Instant.now(), ZonedDateTime.parse(value, RFC_1123_DATE_TIME))
                    .toSeconds();
        }
        return Duration.ofSeconds(Math.max(1, Math.min(3600, seconds)));
    }
}
