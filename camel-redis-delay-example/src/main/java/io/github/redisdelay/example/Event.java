// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;

/**
 * An event of the shop's as its organiser plans it, or plans it anew.
 *
 * @param startsAt ISO-8601 with an offset, such as {@code 2030-01-31T10:15:00Z}
 */
public record Event(String title, String startsAt) {

    public Event {
        if (title == null || title.isBlank()) {
            throw new IllegalArgumentException("the event has no title");
        }
        if (startsAt == null) {
            throw new IllegalArgumentException("the event has no startsAt, such as 2030-01-31T10:15:00Z");
        }
        try {
            OffsetDateTime.parse(startsAt);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    "startsAt '" + startsAt + "': it must be a time with an offset, such as 2030-01-31T10:15:00Z");
        }
    }

    /** As exact as it is stored: to the millisecond. */
    Instant start() {
        return OffsetDateTime.parse(startsAt).toInstant().truncatedTo(ChronoUnit.MILLIS);
    }
}
