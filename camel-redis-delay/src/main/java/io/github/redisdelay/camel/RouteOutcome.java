// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Duration;
import org.apache.camel.CamelExchangeException;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a route ended, and what it asked for by the headers or exchange properties {@code CamelRedisDelayRetryAfter} and
 * {@code CamelRedisDelayDeadLetterReason}. A property wins over the header of the same name: other components do not
 * replace it, as they do headers.
 *
 * @param failed whether the exchange failed or was marked rollback-only
 * @param cause why; null if it was marked rollback-only without an exception, or did not fail
 * @param retryAfter after which delay it asked for another delivery; null if it did not
 * @param unreadable what is wrong with the delay that it asked for; null if nothing is
 * @param deadLetterReason why it gave the message up; null if it did not
 */
record RouteOutcome(boolean failed, Throwable cause, Duration retryAfter, String unreadable, String deadLetterReason) {

    private static final Logger LOG = LoggerFactory.getLogger(RouteOutcome.class);

    static final RouteOutcome SUCCEEDED = new RouteOutcome(false, null, null, null, null);

    private static final String NO_REASON = "no reason was given";

    /** An exchange that could not be made or handed to its route. */
    static RouteOutcome failed(Throwable cause) {
        return new RouteOutcome(true, cause, null, null, null);
    }

    /**
     * What became of an exchange that completes.
     *
     * @param failed whether Camel says so; one that is marked rollback-only completes as if it had succeeded
     */
    static RouteOutcome of(Exchange exchange, boolean failed) {
        boolean returned = failed || exchange.isRollbackOnly() || exchange.isRollbackOnlyLast();
        Throwable cause = returned ? cause(exchange) : null;
        Duration retryAfter = null;
        String unreadable = null;
        Object delay = exchange.getProperty(RedisDelayConstants.RETRY_AFTER);
        String what = "exchange property";
        if (delay == null) {
            delay = exchange.getMessage().getHeader(RedisDelayConstants.RETRY_AFTER);
            what = "header";
        }
        if (delay != null) {
            try {
                retryAfter = Durations.of(what + " '" + RedisDelayConstants.RETRY_AFTER + "'", delay);
            } catch (IllegalArgumentException e) {
                unreadable = e.getMessage();
                LOG.warn(
                        "Exchange {} of route '{}' asks for another delivery: {}. The redelivery policy decides instead",
                        exchange.getExchangeId(),
                        exchange.getFromRouteId(),
                        unreadable);
            }
        }
        String reason = deadLetterReason(exchange);
        if (!returned && delay == null && reason == null) {
            return SUCCEEDED;
        }
        return new RouteOutcome(returned, cause, retryAfter, unreadable, reason);
    }

    private static Throwable cause(Exchange exchange) {
        Throwable cause = exchange.getException() != null
                ? exchange.getException()
                : exchange.getProperty(ExchangePropertyKey.EXCEPTION_CAUGHT, Throwable.class);
        // What split and multicast put around it says nothing of the failure.
        while (cause instanceof CamelExchangeException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static String deadLetterReason(Exchange exchange) {
        Object reason = exchange.getProperty(RedisDelayConstants.DEAD_LETTER_REASON);
        if (reason == null) {
            reason = exchange.getMessage().getHeader(RedisDelayConstants.DEAD_LETTER_REASON);
            // A dead letter comes with this header: that is no wish of the route's.
            if (reason == null || HeldDeliveries.isKnownReason(exchange, reason)) {
                return null;
            }
        }
        String text = String.valueOf(reason);
        return text.isBlank() ? NO_REASON : text;
    }

    /** Whether the route asked for another delivery, readably or not. */
    boolean asksForAnother() {
        return retryAfter != null || unreadable != null;
    }
}
