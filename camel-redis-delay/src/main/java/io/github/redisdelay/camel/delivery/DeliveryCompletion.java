// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.monitor.MessageLog;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.redelivery.MessagePolicy;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a delivery: asks the policy for a decision, carries it out once, and looks at what Redis answers. Thread-safe.
 */
public final class DeliveryCompletion {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryCompletion.class);

    /** The delay of a delivery about which nothing could be decided. */
    private static final Duration AFTER_ERROR = Duration.ofSeconds(10);

    private final Delivery delivery;
    private final DeliveryPolicy policy;
    private final DeliveryReport report;
    private final String routeId;
    private final Runnable finished;
    private final Envelope envelope;
    private final MessagePolicy terms;

    /**
     * True once the route has scheduled its own message again, or cancelled it. Set by the producer, read when the exchange
     * completes.
     */
    private volatile boolean superseded;

    /**
     * Start of the phase that is being measured: the route's work, then the acknowledgement; 0 if nothing is measured.
     * Written by the thread that hands the exchange over, then by the one that completes it, each before it sends what the
     * next reads.
     */
    private long sinceNanos;

    /** True once the delivery was finished, in whatever way. Only the first way counts. */
    private final AtomicBoolean done = new AtomicBoolean();

    /**
     * @param routeId the route that received the message; null if none did
     * @param finished called once, when nothing more has to be told to Redis about the delivery; must not block
     * @param admission the message as it was read; null if its route is not to begin
     */
    DeliveryCompletion(
            Delivery delivery,
            DeliveryPolicy policy,
            DeliveryReport report,
            String routeId,
            Runnable finished,
            DeliveryPolicy.Admission admission) {
        this.delivery = delivery;
        this.policy = policy;
        this.report = report;
        this.routeId = routeId;
        this.finished = finished;
        this.envelope = admission == null ? null : admission.envelope();
        this.terms = admission == null ? null : admission.terms();
    }

    /**
     * Reads a message, and finishes its delivery if its route must not begin.
     *
     * @param routeId the route that received it; null if none did
     * @param finished called once, when nothing more has to be told to Redis about the delivery; must not block
     * @return what finishes the delivery when its route has ended; null if the delivery was finished instead
     */
    public static DeliveryCompletion admit(
            Delivery delivery, DeliveryPolicy policy, DeliveryReport report, String routeId, Runnable finished) {
        DeliveryPolicy.Admission admission = policy.admit(delivery, routeId);
        DeliveryCompletion completion = new DeliveryCompletion(delivery, policy, report, routeId, finished, admission);
        Decision refusal = admission.refusal();
        if (refusal == null) {
            return completion;
        }
        completion.finish(routeId, () -> {
            report.refused(delivery, routeId, refusal);
            return refusal;
        });
        return null;
    }

    /** Notes that its exchange is handed over next. */
    public void begun() {
        report.received(delivery);
        sinceNanos = report.meters().nanoTime();
    }

    /**
     * Ends the delivery after its exchange.
     *
     * @param from the route where the exchange began, for a delivery that no route received; may be null
     */
    void ended(RouteOutcome outcome, String from) {
        String route = routeId == null ? from : routeId;
        Meters.Consuming meters = report.meters();
        if (sinceNanos != 0) {
            meters.processed(sinceNanos);
            sinceNanos = meters.nanoTime();
        }
        finish(route, () -> {
            Decision decision = policy.decide(delivery, terms, route, outcome);
            if (outcome.pauseGroup() != null && (isOfDeadLetters() || delivery.group() == null)) {
                LOG.warn("{} has no group that {} could pause", delivery, RedisDelayConstants.PAUSE_GROUP);
            }
            DeliveryReport.decided(delivery, terms, route, outcome, decision);
            return decision;
        });
    }

    /** Gives the delivery back, which was not begun. */
    void release() {
        finish(routeId, () -> new Decision(Settlement.RELEASE));
    }

    /** Notes that the route has scheduled its own message again, or cancelled it. Nothing is left to be sent. */
    public void superseded() {
        // The exchange goes on: its slot is free when it has completed.
        superseded = true;
    }

    /** Returns whether the delivery was finished or superseded. Its claim id has no effect any more. */
    public boolean isOver() {
        return superseded || done.get();
    }

    public Delivery delivery() {
        return delivery;
    }

    /** The message; null for a dead letter that cannot be read. */
    Envelope envelope() {
        return envelope;
    }

    boolean isOfDeadLetters() {
        return policy.isOfDeadLetters();
    }

    private void finish(String route, Supplier<Decision> decide) {
        if (!done.compareAndSet(false, true)) {
            return;
        }
        if (superseded) {
            delivery.superseded();
            finished.run();
            return;
        }
        Decision decision;
        Submission<SettleResult> sent;
        try {
            decision = decide.get();
            sent = delivery.settle(decision.sent());
        } catch (Throwable e) {
            // For example, the getMessage of a user's exception throws.
            DeliveryReport.warn(LOG, "The end of " + delivery + " could not be decided; it is delivered again", e);
            decision = new Decision(new Settlement.Retry(AFTER_ERROR, delivery.lastFailure()));
            sent = delivery.settle(decision.settlement());
        }
        Decision made = decision;
        sent.outcome().whenComplete((result, error) -> {
            if (result == SettleResult.STALE_HELD) {
                delivery.isReplaced()
                        .whenComplete((replaced, unknown) -> end(() -> stale(made, unknown == null && replaced)));
            } else {
                end(() -> answered(made, route, result, error));
            }
        });
    }

    private void end(Runnable last) {
        try {
            last.run();
        } finally {
            finished.run();
        }
    }

    private void answered(Decision decision, String route, SettleResult result, Throwable error) {
        if (error != null) {
            LOG.warn(
                    "The settlement of {} ({}) could not be sent; it may be delivered again: {}",
                    delivery,
                    decision.settlement().word(),
                    error.getMessage());
        } else if (result == SettleResult.STALE_GONE) {
            LOG.debug(
                    "The settlement of {} ({}) is void: the message was cancelled, or another delivery has finished it",
                    delivery,
                    decision.settlement().word());
        } else {
            MessageLog.ended(delivery, decision.settlement());
            report.carriedOut(delivery, route, decision, sinceNanos);
        }
    }

    private void stale(Decision decision, boolean replaced) {
        if (replaced) {
            LOG.debug(
                    "The settlement of {} ({}) is void: the message was replaced, and what has replaced it is delivered"
                            + " when it is due",
                    delivery,
                    decision.settlement().word());
        } else {
            LOG.warn(
                    "The settlement of {} ({}) came too late: its lease had expired; it may be delivered again",
                    delivery,
                    decision.settlement().word());
        }
    }

    @Override
    public String toString() {
        return "completion of " + delivery;
    }
}
