// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in one line that an attempt has failed and when the message comes again. The line has the stack trace only where no error
 * handler of the route has logged it already.
 */
final class FailedAttempt {

    private static final Logger LOG = LoggerFactory.getLogger(FailedAttempt.class);

    private static final int MAX_TEXT = 300;
    private static final int MAX_IDS = 5;

    private FailedAttempt() {}

    /**
     * Logs the end of an attempt that is followed by another one.
     *
     * @param delay when that comes
     */
    static void log(Delivery delivery, RetryPolicy retries, String routeId, Duration delay, RouteOutcome outcome) {
        boolean expected = !outcome.failed() && outcome.unreadable() == null; // the route asked for it
        if (expected || outcome.together() ? !LOG.isDebugEnabled() : !LOG.isWarnEnabled()) {
            return;
        }
        StringBuilder line = new StringBuilder(200).append(delivery);
        if (retries.maximumRedeliveries() >= 0) {
            line.append(" of ").append(retries.maximumRedeliveries() + 1L);
        }
        line.append(outcome.failed() ? " failed" : " asked for another delivery")
                .append(on(routeId))
                .append(", again in ")
                .append(QueueReport.text(delay));
        if (outcome.unreadable() != null) {
            line.append(" as the redelivery policy says: ").append(oneLine(outcome.unreadable()));
        } else if (outcome.retryAfter() != null) {
            line.append(" as ").append(RedisDelayConstants.RETRY_AFTER).append(" says");
        }
        if (outcome.failed()) {
            line.append(outcome.unreadable() == null ? ": " : "; ").append(why(outcome));
        }
        if (expected || outcome.together()) {
            LOG.debug(line.toString());
        } else {
            warn(LOG, line.toString(), outcome.untracedCause());
        }
    }

    /** Logs that the messages of a batch have failed, with a few of their ids. */
    static void log(List<DeliveryCompletion> batch, String routeId, RouteOutcome outcome) {
        Delivery first = batch.get(0).delivery();
        String line = batch.size() + " messages of queue '" + first.queue() + "' "
                + (outcome.failed() ? "failed" : "asked for another delivery") + " together" + on(routeId) + ": "
                + (outcome.failed() ? why(outcome) : oneLine(outcome.unreadable())) + ". They are "
                + batch.stream()
                        .limit(MAX_IDS)
                        .map(each -> "'" + oneLine(each.delivery().id()) + "'")
                        .collect(Collectors.joining(", "))
                + (batch.size() > MAX_IDS ? " and " + (batch.size() - MAX_IDS) + " others" : "");
        warn(LOG, line, outcome.untracedCause());
    }

    /**
     * Warns with a stack trace, or without it if that cannot be written: an exception of a user's, or one of its causes, may fail to
     * say what it is about, and what is done with its message must not hang on that.
     *
     * @param trace may be null
     */
    static void warn(Logger log, String line, Throwable trace) {
        try {
            log.warn(line, trace);
        } catch (Throwable e) {
            log.warn(line);
        }
    }

    /** Where it was worked on, as a part of a sentence; nothing is said of no route. */
    static String on(String routeId) {
        return routeId == null ? "" : " on route '" + routeId + "'";
    }

    private static String why(RouteOutcome outcome) {
        Throwable cause = outcome.cause();
        if (cause == null) {
            return "the exchange was marked rollback-only";
        }
        String name = cause.getClass().getName();
        String shortName = name.substring(name.lastIndexOf('.') + 1);
        String message = outcome.causeMessage();
        return message == null ? shortName : shortName + ": " + oneLine(message);
    }

    /** What others wrote must neither begin a line of the log nor fill it. */
    static String oneLine(String text) {
        String cut = text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "…";
        return cut.replaceAll("[\\p{Cc}\\x{2028}\\x{2029}]+", " ");
    }
}
