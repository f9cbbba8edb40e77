// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.monitor.MessageLog;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.Meters.Event;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.redelivery.MessagePolicy;
import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The counts and the log lines of a consumer's deliveries. A failed attempt is one line; the line has a stack trace only
 * where no error handler of the route has logged it already. Thread-safe.
 */
public final class DeliveryReport {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryReport.class);

    private static final int MAX_TEXT = 300;
    private static final int MAX_IDS = 5;

    private final LongAdder received;
    private final Runnable onDeadLetter;
    private final Meters.Consuming meters;

    private final Map<Event, LongAdder> counts = new EnumMap<>(Event.class); // filled by the constructor

    /**
     * @param received counts the messages that are handed to a route
     * @param onDeadLetter told when a message was moved to the dead letters; must not block
     * @param meters count the same, and measure
     */
    public DeliveryReport(LongAdder received, Runnable onDeadLetter, Meters.Consuming meters) {
        this.received = received;
        this.onDeadLetter = onDeadLetter;
        this.meters = meters;
        for (Event event : Event.values()) {
            counts.put(event, new LongAdder());
        }
    }

    /** Counts a message that is handed to the route. */
    void received(Delivery delivery) {
        received.increment();
        meters.delivered(delivery);
        MessageLog.delivered(delivery);
    }

    /** Gives the meters back. Deliveries that end later are counted here only. */
    public void close() {
        meters.release();
    }

    Meters.Consuming meters() {
        return meters;
    }

    /** The number of these events since it was made. */
    public long count(Event event) {
        return counts.get(event).sum();
    }

    private void add(Event event) {
        counts.get(event).increment();
        meters.count(event, 1);
    }

    /**
     * Logs that a delivery is about to end without its route, if another one follows.
     *
     * @param routeId the route that received it; null if none did
     */
    void refused(Delivery delivery, String routeId, Decision refusal) {
        if (refusal.settlement() instanceof Settlement.Retry retry) {
            LOG.warn(
                    "{} is a dead letter whose last {} deliveries ended without a word: the JVM died or the lease ran out."
                            + " It is not begun{}, but retried in {}",
                    delivery,
                    delivery.lostLeases(),
                    on(routeId),
                    retry.delay());
        }
    }

    /**
     * Counts and logs an end of a delivery that Redis has carried out.
     *
     * @param completedNanoTime when its exchange had completed; 0 where nothing is measured
     */
    void carriedOut(Delivery delivery, String routeId, Decision decision, long completedNanoTime) {
        if (completedNanoTime != 0) {
            meters.acknowledged(completedNanoTime);
        }
        Settlement how = decision.settlement();
        if (decision.why() != null && decision.why().expired()) {
            add(Event.EXPIRED);
        }
        if (how instanceof Settlement.Retry) {
            add(Event.RETRIED);
        } else if (how instanceof Settlement.DeadLetter) {
            add(Event.DEAD_LETTERED);
            DeadLetterId letter = delivery.deadLetterId();
            if (letter != null) {
                logGivenUp(
                        delivery, routeId, decision.why(), "kept among the dead letters as '" + letter.shown() + "'");
            }
            onDeadLetter.run();
        } else if (how instanceof Settlement.Drop) {
            add(Event.DROPPED);
            logGivenUp(delivery, routeId, decision.why(), "dropped, as " + decision.option() + " says");
        }
    }

    private static void logGivenUp(Delivery delivery, String routeId, Decision.Reason why, String end) {
        if (why.expired()) {
            LOG.info("{} is expired{} and {}", delivery, on(routeId), end);
            return;
        }
        String detail = why.detail() == null ? "" : " (" + oneLine(why.detail()) + ")";
        warn(
                LOG,
                delivery + " is given up" + on(routeId) + " and " + end + ": " + oneLine(why.text()) + detail,
                why.trace());
    }

    /**
     * Logs that a delivery is about to end because its route has ended, if another one follows.
     *
     * @param routeId the route that worked on it; null if none did
     */
    static void decided(
            Delivery delivery, MessagePolicy terms, String routeId, RouteOutcome outcome, Decision decision) {
        if (!(decision.settlement() instanceof Settlement.Retry retry)) {
            return;
        }
        RetryPolicy retries = terms.retries();
        boolean expected = !outcome.failed() && outcome.unreadable() == null; // the route asked for it
        if (expected || outcome.batchLogged() ? !LOG.isDebugEnabled() : !LOG.isWarnEnabled()) {
            return;
        }
        StringBuilder line = new StringBuilder(200).append(delivery);
        if (retries.maximumRedeliveries() >= 0) {
            line.append(" of ").append(retries.maximumRedeliveries() + 1L);
        }
        line.append(outcome.failed() ? " failed" : " asked for another delivery")
                .append(on(routeId))
                .append(", again in ")
                .append(Durations.text(outcome.asked() == null ? retry.delay() : outcome.asked()));
        if (outcome.asked() != null) {
            line.append(" as ").append(outcome.askedBy()).append(" says");
        } else if (outcome.unreadable() != null) {
            line.append(" as the redelivery policy says");
        }
        if (outcome.unreadable() != null) {
            line.append(": ").append(oneLine(outcome.unreadable()));
        }
        if (outcome.failed()) {
            line.append(outcome.unreadable() == null ? ": " : "; ").append(why(outcome));
        }
        if (expected || outcome.batchLogged()) {
            LOG.debug(line.toString());
        } else {
            warn(LOG, line.toString(), outcome.untracedCause());
        }
    }

    /** Logs that the messages of a batch have failed, with a few of their ids. */
    static void failedTogether(List<Delivery> batch, String routeId, RouteOutcome outcome) {
        String line = batch.size() + " messages of queue '" + batch.get(0).queue() + "' "
                + (outcome.failed() ? "failed" : "asked for another delivery") + " together" + on(routeId) + ": "
                + (outcome.failed() ? why(outcome) : oneLine(outcome.unreadable())) + ". They are "
                + batch.stream()
                        .limit(MAX_IDS)
                        .map(each -> "'" + oneLine(each.id()) + "'")
                        .collect(Collectors.joining(", "))
                + (batch.size() > MAX_IDS ? " and " + (batch.size() - MAX_IDS) + " others" : "");
        warn(LOG, line, outcome.untracedCause());
    }

    /**
     * Warns with a stack trace, or without it if the trace cannot be written: the {@code getMessage} of a user's exception,
     * or of one of its causes, may throw. The end of the delivery must not depend on that.
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

    /** The route as a part of a sentence; nothing is said of no route. */
    private static String on(String routeId) {
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

    /** A text of others, which must neither begin a line of the log nor fill it. */
    private static String oneLine(String text) {
        String cut = text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "…";
        return cut.replaceAll("[\\p{Cc}\\x{2028}\\x{2029}]+", " ");
    }
}
