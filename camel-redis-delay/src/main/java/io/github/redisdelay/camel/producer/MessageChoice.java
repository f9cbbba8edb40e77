// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.option.HeaderValues;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageInfo;
import java.util.List;
import java.util.function.Predicate;
import org.apache.camel.Message;

/**
 * The choice among many messages that redrive, purge and promote make. Without a choice they mean none: an operation
 * without an id must not mean all messages by accident.
 *
 * @param all true if all of them are asked for
 * @param exceptionClass the exception of the last failed delivery; null for any
 * @param reason the reason for which the message was given up; null for any
 * @param routeId the route of the last failed delivery; null for any
 * @param limit the most messages; null for any number
 */
public record MessageChoice(boolean all, String exceptionClass, String reason, String routeId, Integer limit) {

    /** A header, and the option that it overrides. */
    private record Source(String header, String option) {}

    private static final String A_CLASS = "the name of a class, such as java.net.ConnectException";
    private static final String A_REASON = "a reason, such as failed";
    private static final String A_ROUTE = "the id of a route";

    private static final List<Source> SOURCES = List.of(
            new Source(RedisDelayConstants.ALL, "all"),
            new Source(RedisDelayConstants.EXCEPTION_CLASS, "exceptionClass"),
            new Source(RedisDelayConstants.REASON, "reason"),
            new Source(RedisDelayConstants.ROUTE_ID, "routeId"),
            new Source(RedisDelayConstants.LIMIT, "limit"));

    /**
     * Reads the options; each may be null.
     *
     * @throws IllegalArgumentException naming the option, its value and what would be right
     */
    public static MessageChoice ofOptions(
            boolean all, String exceptionClass, String reason, String routeId, Integer limit) {
        return new MessageChoice(
                all,
                exception("option 'exceptionClass'", exceptionClass),
                name("option 'reason'", A_REASON, reason),
                name("option 'routeId'", A_ROUTE, routeId),
                limit == null ? null : limit("option 'limit'", limit));
    }

    /**
     * This choice with the headers of a message, which override it.
     *
     * @throws IllegalArgumentException naming the header, its value and what would be right
     */
    public MessageChoice with(Message message) {
        Object asksForAll = HeaderValues.of(message, RedisDelayConstants.ALL);
        Integer own = limitOf(message);
        return new MessageChoice(
                asksForAll == null ? all : isTrue(asksForAll),
                exceptionOf(message),
                name(message, RedisDelayConstants.REASON, A_REASON, reason),
                name(message, RedisDelayConstants.ROUTE_ID, A_ROUTE, routeId),
                own == null ? limit : own);
    }

    /** The limit that a message's header sets, or null. */
    static Integer limitOf(Message message) {
        Object value = HeaderValues.of(message, RedisDelayConstants.LIMIT);
        return value == null ? null : limit("header '" + RedisDelayConstants.LIMIT + "'", value);
    }

    /** Reads a limit. */
    static int limit(String what, Object value) {
        return OptionValues.wholeNumber(what, value, 1, DelayQueue.MAX_PAGE, "from 1 to " + DelayQueue.MAX_PAGE);
    }

    private static boolean isTrue(Object value) {
        String text = value.toString().strip();
        if (text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")) {
            return Boolean.parseBoolean(text);
        }
        throw new IllegalArgumentException("header '" + RedisDelayConstants.ALL + "' is '" + OptionValues.shown(value)
                + "': it must be true or false");
    }

    private String exceptionOf(Message message) {
        Object value = HeaderValues.of(message, RedisDelayConstants.EXCEPTION_CLASS);
        return value == null
                ? exceptionClass
                : exception("header '" + RedisDelayConstants.EXCEPTION_CLASS + "'", value);
    }

    private static String exception(String what, Object value) {
        String name = name(what, A_CLASS, value instanceof Class<?> type ? type.getName() : value);
        return name == null || value instanceof Class<?> ? name : ExceptionNames.check(what, name);
    }

    private static String name(Message message, String header, String right, String otherwise) {
        Object value = HeaderValues.of(message, header);
        return value == null ? otherwise : name("header '" + header + "'", right, value);
    }

    /** @param right the right kind of value, for the error */
    private static String name(String what, String right, Object value) {
        if (value == null) {
            return null;
        }
        if (value instanceof CharSequence text && !text.toString().isBlank()) {
            return text.toString().strip();
        }
        throw new IllegalArgumentException(
                what + " is '" + OptionValues.shown(value) + "': give " + right + ", or leave it out for any");
    }

    /** The header or option that asks for many messages, such as {@code option 'all'}; null if none does. */
    String asking(Message message) {
        Object[] values = {all ? true : null, exceptionClass, reason, routeId, limit};
        for (int i = 0; i < values.length; i++) {
            if (values[i] != null) {
                Source source = SOURCES.get(i);
                return (message.getHeader(source.header()) == null
                                ? "option '" + source.option()
                                : "header '" + source.header())
                        + "' (" + OptionValues.shown(values[i]) + ")";
            }
        }
        return null;
    }

    /** The test for each message. */
    Predicate<MessageInfo> which() {
        if (exceptionClass == null && reason == null && routeId == null) {
            return each -> true;
        }
        return each -> {
            FailureRecord failure = FailureRecord.decode(each.lastFailure());
            return failure != null
                    && (exceptionClass == null || ExceptionNames.matches(exceptionClass, failure.exception()))
                    && (reason == null || reason.equals(failure.reason()))
                    && (routeId == null || routeId.equals(failure.routeId()));
        };
    }

    /** The most messages. */
    long most() {
        return limit == null ? Long.MAX_VALUE : limit;
    }
}
