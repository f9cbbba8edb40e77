// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.OwnHeaders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.camel.CamelExchangeException;
import org.apache.camel.CamelExecutionException;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.RuntimeCamelException;

/**
 * The end of a route, with the requests that it made by the headers or exchange properties {@code CamelRedisDelayRetryAfter},
 * {@code CamelRedisDelayPauseGroup} and {@code CamelRedisDelayDeadLetterReason}. A property wins over the header of the same
 * name: other components do not replace it, as they do headers.
 *
 * @param failed whether the exchange failed or was marked rollback-only
 * @param cause why; null if it was marked rollback-only without an exception, or did not fail
 * @param retryAfter after which delay it asked for another delivery; null if it did not
 * @param pauseGroup for how long it asked for a pause of its message's group, after which it comes again; null if it did not
 * @param unreadable what is wrong with the delay or pause that it asked for; null if nothing is
 * @param deadLetterReason why it gave the message up; null if it did not
 * @param logged whether the failure was logged with its stack trace
 * @param batchLogged true if the failure was logged once for the whole batch
 */
public record RouteOutcome(
        boolean failed,
        Throwable cause,
        Duration retryAfter,
        Duration pauseGroup,
        String unreadable,
        String deadLetterReason,
        boolean logged,
        boolean batchLogged) {

    static final RouteOutcome SUCCEEDED = new RouteOutcome(false, null, null, null, null, null, false, false);

    private static final String EXECUTION = "Exception occurred during execution";

    private static final String PART = "processing failed for number ";

    private static final String UNSPEAKABLE = "its getMessage() failed";

    private static final String NO_REASON = "no reason was given";

    /** An exchange that could not be made or handed to its route. */
    static RouteOutcome failed(Throwable cause) {
        return new RouteOutcome(true, cause, null, null, null, null, false, false);
    }

    /** No exchange was made of the message, or the route lost it. The stack trace is ours and says nothing. */
    static RouteOutcome untraced(Throwable cause) {
        return new RouteOutcome(true, cause, null, null, null, null, true, false);
    }

    /**
     * The outcome of an exchange that completes.
     *
     * @param failed whether Camel completes it as failed, which it does not for one that is marked rollback-only
     * @param isKnownReason whether a dead letter came with this reason as its header: that is no wish of the route's
     */
    public static RouteOutcome of(Exchange exchange, boolean failed, Predicate<Object> isKnownReason) {
        OwnHeaders.warn(exchange);
        boolean returned = failed || exchange.isRollbackOnly() || exchange.isRollbackOnlyLast();
        Throwable cause = returned ? cause(exchange) : null;
        List<String> wrong = new ArrayList<>();
        Duration retryAfter = asked(exchange, RedisDelayConstants.RETRY_AFTER, wrong);
        Duration pauseGroup = asked(exchange, RedisDelayConstants.PAUSE_GROUP, wrong);
        String unreadable = wrong.isEmpty() ? null : String.join("; ", wrong);
        String reason = deadLetterReason(exchange, isKnownReason);
        if (!returned && retryAfter == null && pauseGroup == null && unreadable == null && reason == null) {
            return SUCCEEDED;
        }
        // An error handler of the route logs what it cannot handle. Without one the failure is in no log.
        boolean logged = exchange.getExchangeExtension().isErrorHandlerHandledSet();
        return new RouteOutcome(returned, cause, retryAfter, pauseGroup, unreadable, reason, logged, false);
    }

    /** The duration that a property, or else a header, asks for; null for none, and for a wrong one, which is noted. */
    private static Duration asked(Exchange exchange, String name, List<String> wrong) {
        Object property = exchange.getProperty(name);
        Object value = property == null ? exchange.getMessage().getHeader(name) : property;
        try {
            String what = property == null ? "header '" : "exchange property '";
            return value == null ? null : Durations.of(what + name + "'", value);
        } catch (IllegalArgumentException e) {
            wrong.add(e.getMessage());
            return null;
        }
    }

    private static Throwable cause(Exchange exchange) {
        Throwable cause = exchange.getException() != null
                ? exchange.getException()
                : exchange.getProperty(ExchangePropertyKey.EXCEPTION_CAUGHT, Throwable.class);
        while (cause != null && cause.getCause() != null && isWrapper(cause)) {
            cause = cause.getCause();
        }
        return cause;
    }

    /**
     * Returns whether Camel has wrapped a failure in this one. Camel wraps what is no {@code Exception}, failures in a part of
     * a split or multicast, and checked exceptions. An exception that a route throws itself has a class or words of its own.
     */
    private static boolean isWrapper(Throwable failure) {
        String message = String.valueOf(messageOf(failure));
        return failure instanceof CamelExecutionException && message.startsWith(EXECUTION)
                || failure.getClass() == CamelExchangeException.class && message.contains(PART)
                || failure.getClass() == RuntimeCamelException.class
                        && message.equals(failure.getCause().toString());
    }

    /** The outcome for each message of a batch whose end is in the log already. */
    RouteOutcome ofBatch() {
        return new RouteOutcome(failed, cause, retryAfter, pauseGroup, unreadable, deadLetterReason, true, true);
    }

    /** The cause if its stack trace is still to be logged; else null. */
    Throwable untracedCause() {
        return logged || UNSPEAKABLE.equals(causeMessage()) ? null : cause;
    }

    /** The message of the cause; null if there is none. */
    String causeMessage() {
        return cause == null ? null : messageOf(cause);
    }

    /** The message of an exception. The {@code getMessage} of a user's exception may throw. */
    private static String messageOf(Throwable failure) {
        try {
            return failure.getMessage();
        } catch (Throwable e) {
            return UNSPEAKABLE;
        }
    }

    private static String deadLetterReason(Exchange exchange, Predicate<Object> isKnownReason) {
        Object reason = exchange.getProperty(RedisDelayConstants.DEAD_LETTER_REASON);
        if (reason == null) {
            reason = exchange.getMessage().getHeader(RedisDelayConstants.DEAD_LETTER_REASON);
            if (reason == null || isKnownReason.test(reason)) {
                return null;
            }
        }
        String text = String.valueOf(reason);
        return text.isBlank() ? NO_REASON : text;
    }

    /** After which delay it asked for another delivery, by itself or by a pause of its group; null if it did not. */
    Duration asked() {
        return retryAfter == null ? pauseGroup : retryAfter;
    }

    /** The header or property by which it asked. */
    String askedBy() {
        return retryAfter == null ? RedisDelayConstants.PAUSE_GROUP : RedisDelayConstants.RETRY_AFTER;
    }

    /** Returns whether the route neither failed nor asked for another delivery, readably or not. */
    boolean succeeded() {
        return !failed && retryAfter == null && pauseGroup == null && unreadable == null;
    }
}
