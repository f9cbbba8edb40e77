// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.QueueCalls;
import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.camel.monitor.QueueFigure;
import io.github.redisdelay.camel.monitor.StatsText;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.Submission;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.camel.RuntimeCamelException;
import org.apache.camel.api.management.ManagedAttribute;
import org.apache.camel.api.management.ManagedOperation;
import org.apache.camel.api.management.ManagedResource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue, or the dead letters of one, in JMX: its figures, and what an operator does with it. There is one for each queue,
 * however many endpoints lead to it. No operation is about all messages: that is for routes.
 */
@ManagedResource(description = "Managed Redis Delay Queue")
public final class ManagedQueue {

    private static final String ONLY = "; in a queue with partitions, not one with a group";
    private static final Logger LOG = LoggerFactory.getLogger(ManagedQueue.class);

    private final RedisDelayEndpoint endpoint;
    private final QueueCalls calls;
    private final CachedStats figures;

    /** @param endpoint any of those that lead to the queue */
    ManagedQueue(RedisDelayEndpoint endpoint, LongSupplier nanoTime) {
        this.endpoint = endpoint;
        this.calls = endpoint.calls();
        this.figures = new CachedStats(
                () -> calls.ask(
                        "its figures could not be read",
                        whole -> target(whole).admin().stats()),
                nanoTime);
    }

    private DelayQueue target(DelayQueue whole) {
        return isDeadLetters() ? whole.deadLetters() : whole;
    }

    @ManagedAttribute(description = "Name of the queue")
    public String getQueueName() {
        return endpoint.getQueueName();
    }

    @ManagedAttribute(description = "What the Redis keys of the queue begin with")
    public String getKeyPrefix() {
        return endpoint.getKeyPrefix();
    }

    @ManagedAttribute(description = "Whether the figures are those of the queue's dead letters")
    public boolean isDeadLetters() {
        return endpoint.isOfDeadLetters();
    }

    @ManagedAttribute(description = "Over how many hash tags the queue is spread")
    public int getPartitions() {
        return endpoint.getPartitions();
    }

    @ManagedAttribute(description = "Where Redis is")
    public String getServiceUrl() {
        return endpoint.getServiceUrl();
    }

    @ManagedAttribute(description = "Messages that no consumer has claimed, overdue ones included")
    public long getDelayed() {
        return figures.get().delayed();
    }

    @ManagedAttribute(description = "Delayed messages that are due")
    public long getOverdue() {
        return figures.get().overdue();
    }

    @ManagedAttribute(description = "Messages that consumers have claimed")
    public long getLeased() {
        return figures.get().leased();
    }

    @ManagedAttribute(description = "Dead letters")
    public long getDead() {
        return figures.get().dead();
    }

    @ManagedAttribute(description = "For how long the oldest overdue message has been due, in milliseconds")
    public long getOldestOverdueMillis() {
        return (long) QueueFigure.OLDEST_OVERDUE.value(figures.get());
    }

    @ManagedAttribute(description = "Due messages that a limit or a pause delays")
    public long getParked() {
        return figures.get().parked();
    }

    @ManagedAttribute(description = "For how long the oldest parked message has been due, in milliseconds")
    public long getOldestParkedMillis() {
        return (long) QueueFigure.OLDEST_PARKED.value(figures.get());
    }

    @ManagedAttribute(
            description = "In how many milliseconds the next message is due that is not due yet; -1 if there is none")
    public long getNextDueMillis() {
        return (long) QueueFigure.NEXT_DUE.value(figures.get());
    }

    @ManagedAttribute(description = "Consumers of the queue, in all JVMs")
    public int getConsumers() {
        return figures.get().consumers();
    }

    @ManagedAttribute(description = "Whether the queue is paused")
    public boolean isPaused() {
        return figures.get().paused();
    }

    @ManagedOperation(description = "Pauses the queue for all consumers everywhere")
    public String pause() {
        return setPaused(null, "paused", target -> target.admin().pause()) ? "paused" : "it was paused already";
    }

    @ManagedOperation(description = "Ends a pause of the queue")
    public String resume() {
        return setPaused(null, "resumed", target -> target.admin().resume()) ? "resumed" : "it was not paused";
    }

    @ManagedOperation(
            description =
                    "Pauses a group of the queue for so long, such as 1h30m; if that is empty, until it is resumed")
    public String pauseGroup(String group, String delay) {
        DueTime until = delay == null || delay.isBlank()
                ? MessageGroup.UNTIL_RESUMED
                : DueTime.after(Durations.of("delay", delay));
        return setPaused(group, "paused", target -> target.group(group).pause(until))
                ? "paused"
                : "it was paused already: the longer pause counts";
    }

    @ManagedOperation(description = "Ends a pause of a group of the queue")
    public String resumeGroup(String group) {
        return setPaused(group, "resumed", target -> target.group(group).resume()) ? "resumed" : "it was not paused";
    }

    /** @param group null for the queue */
    private boolean setPaused(String group, String what, Function<DelayQueue, Submission<Boolean>> call) {
        return ask(
                (group == null ? "it" : "group '" + group + "'") + " could not be " + what,
                target -> call.apply(target).result().thenApply(changed -> {
                    if (changed) {
                        String of = group == null ? "" : ", group '" + group + "'";
                        LOG.info("{}{}: {} by JMX", StatsText.label(target, isDeadLetters()), of, what);
                    }
                    return changed;
                }));
    }

    @ManagedOperation(description = "Makes the delayed message with this id due now" + ONLY)
    public String promote(String id) {
        ChangeResult found = ask("message '" + id + "' could not be promoted", waiting -> waiting.promote(id)
                .result());
        return switch (found.previousState()) {
            case DELAYED, PARKED -> "due now";
            case LEASED -> "it is leased";
            case DEAD -> "it is among the dead letters: left alone";
            case FINISHED, NONE -> "there is no such message";
        };
    }

    @ManagedOperation(description = "Cancels the message with this id, also while it is leased" + ONLY)
    public String cancel(String id) {
        if (!isDeadLetters() && endpoint.declares(id)) {
            return "it is declared by a route: pause the queue, or remove cron and every from the route";
        }
        MessageState found = ask("message '" + id + "' could not be cancelled", waiting -> waiting.cancel(id)
                        .result())
                .previousState();
        return switch (found) {
            case DELAYED, PARKED -> "cancelled";
            case LEASED -> "cancelled while it is leased: its route goes on, and it does not come again";
            case DEAD -> "it is among the dead letters: left alone";
            case FINISHED, NONE -> "there is no such message";
        };
    }

    @ManagedOperation(
            description =
                    "Moves the dead letter with this id, or the newest one of the message with this id, back into its queue, due"
                            + " now" + ONLY)
    public String redrive(String id) {
        return switch (askWhole("dead letter '" + id + "' could not be redriven", whole -> whole.admin()
                .deadLettersOf(id)
                .thenCompose(letters -> letters.isEmpty()
                        ? CompletableFuture.completedFuture(RedriveOutcome.NONE)
                        : whole.redrive(letters.get(0).toString(), null).result()))) {
            case REDRIVEN -> "redriven";
            case DUPLICATE -> "a message with its id is in the queue: it stays a dead letter";
            case LEASED -> "a consumer of the dead letters is working on it";
            case NONE -> "there is no such dead letter";
        };
    }

    private <T> T ask(String failed, Function<DelayQueue, CompletableFuture<T>> call) {
        return askWhole(failed, whole -> call.apply(target(whole)));
    }

    private <T> T askWhole(String failed, Function<DelayQueue, CompletableFuture<T>> call) {
        try {
            return calls.ask(failed, call);
        } catch (RuntimeCamelException e) {
            // A JMX client may have none of our classes.
            throw new IllegalStateException(e.getMessage());
        }
    }
}
