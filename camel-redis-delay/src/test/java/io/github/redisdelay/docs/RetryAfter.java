// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/** Reads the header Retry-After: from 1 s to 1 h, and 30 s if the partner does not say. */
public class RetryAfter {

    public Duration of(String value) {
        long seconds = 30;
        if (value != null && value.matches("\\d{1,9}")) {
            seconds = Long.parseLong(value);
        } else if (value != null && value.endsWith("GMT")) {
            ZonedDateTime until = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME);
            seconds = Duration.between(Instant.now(), until.toInstant()).toSeconds();
        }
        return Duration.ofSeconds(Math.max(1, Math.min(3600, seconds)));
    }
}
