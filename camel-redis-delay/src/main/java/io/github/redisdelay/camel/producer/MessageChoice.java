// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.option.HeaderValues;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.QueueAdmin;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.Message;

/**
 * The choice among many messages that redrive, purge and promote make. Without a choice they mean none: an operation
 * without an id must not mean all messages by accident.
 *
 * @param all true if all of them are asked for
 * @param schedules true if recurring schedules are meant, too
 * @param failureException the exception of the last failed delivery; null for any
 * @param deadLetterReason the reason for which the message was given up; null for any
 * @param failureRouteId the route of the last failed delivery; null for any
 * @param limit the most messages; null for any number
 */
public record MessageChoice(
        boolean all,
        boolean schedules,
        String failureException,
        String deadLetterReason,
        String failureRouteId,
        Integer limit) {

    private static final String A_CLASS = "the name of a class, such as java.net.ConnectException";
    private static final String PART = "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*+";
    private static final Pattern CLASS = Pattern.compile(PART + "(?:\\." + PART + ")*+");

    /** @throws IllegalArgumentException naming the option, its value and what would be right */
    public MessageChoice {
        failureException = name("failureException", failureException, A_CLASS);
        deadLetterReason = name("deadLetterReason", deadLetterReason, "a reason, such as failed");
        failureRouteId = name("failureRouteId", failureRouteId, "the id of a route");
        limit = limit == null ? null : limit("option 'limit'", limit);
        if (failureException != null && !CLASS.matcher(failureException).matches()) {
            throw new IllegalArgumentException("option 'failureException' '" + OptionValues.shown(failureException)
                    + "' is no name of a class: give " + A_CLASS + " or ConnectException");
        }
    }

    /**
     * This choice with the limit of a message's header, which overrides it.
     *
     * @throws IllegalArgumentException naming the header, its value and what would be right
     */
    public MessageChoice with(Message message) {
        Integer own = limitOf(message);
        return own == null
                ? this
                : new MessageChoice(all, schedules, failureException, deadLetterReason, failureRouteId, own);
    }

    /** The limit that a message's header sets, or null. */
    static Integer limitOf(Message message) {
        Object value = HeaderValues.of(message, RedisDelayConstants.LIMIT);
        return value == null ? null : limit("header '" + RedisDelayConstants.LIMIT + "'", value);
    }

    /** Reads a limit. */
    private static int limit(String what, Object value) {
        return OptionValues.wholeNumber(what, value, 1, QueueAdmin.MAX_PAGE, "from 1 to " + QueueAdmin.MAX_PAGE);
    }

    /** @param right the right kind of value, for the error */
    private static String name(String option, String value, String right) {
        if (value != null && value.isBlank()) {
            throw new IllegalArgumentException(
                    "option '" + option + "' is '': give " + right + ", or leave it out for any");
        }
        return value == null ? null : value.strip();
    }

    /** The option or header that asks for many messages, such as {@code option 'all' (true)}; null if none does. */
    private String asking(Message message) {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("option 'all'", all ? true : null);
        options.put("option 'failureException'", failureException);
        options.put("option 'deadLetterReason'", deadLetterReason);
        options.put("option 'failureRouteId'", failureRouteId);
        boolean own = message.getHeader(RedisDelayConstants.LIMIT) != null;
        options.put(own ? "header '" + RedisDelayConstants.LIMIT + "'" : "option 'limit'", limit);
        return options.entrySet().stream()
                .filter(option -> option.getValue() != null)
                .map(option -> option.getKey() + " (" + OptionValues.shown(option.getValue()) + ")")
                .findFirst()
                .orElse(null);
    }

    /**
     * The ids for an operation that cannot do without, unless it is about a whole group.
     *
     * @param dead true if they are those of dead letters
     * @param group true if the message has a group; then null is returned if it names no id
     * @throws IllegalArgumentException if the message names none, or chooses messages otherwise
     */
    IdHeaders required(RedisDelayOperation operation, Message message, boolean dead, boolean group) {
        IdHeaders ids = IdHeaders.of(message, dead);
        if (ids == null && !group) {
            throw new IllegalArgumentException("operation '" + operation + "' needs the id of a message: set header '"
                    + RedisDelayConstants.SCHEDULE_ID + "'"
                    + (dead ? "" : ", or header '" + RedisDelayConstants.GROUP + "' for all messages of a group"));
        }
        String asking = asking(message);
        if (asking != null && !(ids == null && isOfAll())) {
            throw new IllegalArgumentException(asking + " means nothing to operation '" + operation
                    + "', which takes ids" + (dead ? "" : " or a group") + ": remove it");
        }
        return ids;
    }

    /**
     * The ids for an operation that can be about many messages; null if they are chosen otherwise.
     *
     * @param dead true if the endpoint is about dead letters
     * @param group the group whose messages are meant where nothing else is said; null for none
     * @param held the dead letters that the exchange holds, which redrive and purge mean where nothing is said
     * @throws IllegalArgumentException if the message names none and chooses none, or does both
     */
    IdHeaders ids(
            RedisDelayOperation operation, Message message, boolean dead, String group, Supplier<List<String>> held) {
        boolean letters = operation != RedisDelayOperation.PROMOTE;
        IdHeaders ids = letters ? IdHeaders.ofDeadLetters(message) : IdHeaders.of(message, dead);
        String asking = asking(message);
        if (ids != null && asking != null) {
            String header = letters ? IdHeaders.headerOfDeadLetter(message) : RedisDelayConstants.SCHEDULE_ID;
            throw new IllegalArgumentException("operation '" + operation + "' has ids (header '" + header + "') and "
                    + asking + ", which chooses among all messages: remove one");
        }
        if (deadLetterReason != null && !letters && !dead) {
            throw new IllegalArgumentException("option 'deadLetterReason' (" + OptionValues.shown(deadLetterReason)
                    + ") means nothing to operation 'promote': set option 'state=dead' for dead letters");
        }
        if (ids != null || asking != null || group != null) {
            return ids;
        }
        List<String> own = letters ? held.get() : List.of();
        if (!own.isEmpty()) {
            boolean batch = message.getExchange().getProperty(ExchangePropertyKey.BATCH_SIZE) != null;
            return new IdHeaders(own, batch, true);
        }
        throw new IllegalArgumentException("operation '" + operation
                + "' does not know which messages are meant: set header '" + RedisDelayConstants.SCHEDULE_ID
                + "' to the id of one, or header '" + RedisDelayConstants.GROUP
                + "', or choose some by option 'failureException', 'failureRouteId',"
                + (letters || dead ? " 'deadLetterReason'" : "") + " or 'limit', or all by option 'all'");
    }

    /** Returns whether nothing but their group chooses among messages. */
    boolean isOfAll() {
        return failureException == null && deadLetterReason == null && failureRouteId == null && limit == null;
    }

    /**
     * The test for each message.
     *
     * @param group their group; null for any
     */
    Predicate<MessageInfo> which(String group) {
        return group == null ? which() : which().and(each -> group.equals(each.group()));
    }

    private Predicate<MessageInfo> which() {
        if (failureException == null && deadLetterReason == null && failureRouteId == null) {
            return each -> true;
        }
        return each -> {
            FailureRecord failure = FailureRecord.decode(each.lastFailure());
            return failure != null
                    && (failureException == null || isNamed(failure.exception()))
                    && (deadLetterReason == null || deadLetterReason.equals(failure.reason()))
                    && (failureRouteId == null || failureRouteId.equals(failure.routeId()));
        };
    }

    /** Returns whether the name means this class, which is named in full. One without a package is that of any package. */
    private boolean isNamed(String exception) {
        if (exception == null || !exception.endsWith(failureException)) {
            return false;
        }
        int before = exception.length() - failureException.length() - 1;
        return before < 0
                || (failureException.indexOf('.') < 0
                        && (exception.charAt(before) == '.' || exception.charAt(before) == '$'));
    }

    /** The most messages. */
    long most() {
        return limit == null ? Long.MAX_VALUE : limit;
    }
}
