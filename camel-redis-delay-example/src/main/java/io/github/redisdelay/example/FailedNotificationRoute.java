// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Instant;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** Writes the notifications that were given up into the database, and so empties the dead letters. */
final class FailedNotificationRoute extends RouteBuilder {

    @Override
    public void configure() {
        // If the database is out of order, the message goes back to the dead letters and comes again.
        from("redis-delay:notifications?state=dead")
                .routeId("store-failed-notification")
                .setVariable("failedAt")
                .exchange(exchange -> {
                    Long time = exchange.getMessage().getHeader(RedisDelayConstants.FAILURE_TIME, Long.class);
                    return time == null ? null : Instant.ofEpochMilli(time);
                })
                .to("sql:classpath:sql/store-failed-notification.sql")
                .log(
                        LoggingLevel.INFO,
                        Story.NOTIFICATIONS,
                        "notify   ${header." + RedisDelayConstants.MESSAGE_ID + "}  given up after"
                                + " ${header." + RedisDelayConstants.FAILURE_ATTEMPTS + "} tries"
                                + " (${header." + RedisDelayConstants.DEAD_LETTER_REASON
                                + "}) and stored in the database");
    }
}
