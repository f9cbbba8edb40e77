// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.ShownId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The changes of one message or one queue. A message is changed only if it is as the user saw it; what Redis then
 * really did is told, for others may be faster still.
 */
final class Actions {

    private final MessageViews messages;

    /**
     * A message as somebody saw it.
     *
     * @param group null for none
     * @param state {@code delayed} or {@code leased}
     */
    record Seen(String id, String group, String state, Instant due) {}

    Actions(MessageViews messages) {
        this.messages = messages;
    }

    ActionResult cancel(ObservedQueue queue, Seen seen) {
        StoredMessage found = check(queue, seen);
        boolean recurs = found.info().rule() != null;
        if (queue.isDeclaredHere(found.info())) {
            throw new ApiException(
                    Kind.BAD_REQUEST,
                    "Schedule " + shown(seen.id())
                            + " is declared by a route: pause the queue, or remove cron and every"
                            + " from the route. Nothing was changed.");
        }
        ChangeResult result = done(queue, seen.group(), asked -> asked.cancel(seen.id()));
        String ended = recurs
                ? MessageViews.isOfRoute(queue, found)
                        ? "was ended. Where the route that declared it still runs, it is back within a minute"
                        : "was ended: no run follows"
                : "";
        return switch (result.previousState()) {
            case DELAYED, PARKED -> done(seen, recurs ? ended : "was cancelled. It waited, and will not be delivered");
            case LEASED ->
                recurs
                        ? done(seen, ended + ". The run that " + leaseOwner(found) + " has begun goes on")
                        : done(
                                seen,
                                "was cancelled while " + leaseOwner(found)
                                        + " delivers it: that work goes on, its acknowledgement"
                                        + " counts for nothing, and no other delivery follows");
            case FINISHED -> nothing(seen, "had been delivered or removed by then; its id can be used again");
            case DEAD -> changed(seen, "has become a dead letter since then, and stays one");
            case NONE -> nothing(seen, "was not in the queue any more");
        };
    }

    ActionResult promote(ObservedQueue queue, Seen seen) {
        StoredMessage found = check(queue, seen);
        ChangeResult result = done(queue, seen.group(), asked -> asked.promote(seen.id()));
        if (result.previousState() != MessageState.DELAYED) {
            return notDelayed(seen, result);
        }
        return result.dueMicros() == found.info().dueMicros()
                ? nothing(seen, "was due already, and waits for a free consumer" + unlessPaused(queue))
                : done(
                        seen,
                        (found.info().rule() == null ? "is due now" : "runs now, and its rule goes on from now")
                                + unlessPaused(queue));
    }

    ActionResult reschedule(ObservedQueue queue, Seen seen, DueTime due) {
        check(queue, seen);
        ChangeResult result = done(queue, seen.group(), asked -> asked.reschedule(seen.id(), due));
        return result.previousState() == MessageState.DELAYED
                ? done(seen, "is due at " + Times.text(Times.of(result.dueMicros())) + " now")
                : notDelayed(seen, result);
    }

    private static ActionResult notDelayed(Seen seen, ChangeResult result) {
        return switch (result.previousState()) {
            case LEASED -> new ActionResult("leased", shown(seen.id()) + " is leased: it was left alone.");
            case DEAD -> changed(seen, "has become a dead letter since then, and was left alone");
            case FINISHED -> nothing(seen, "had been delivered or removed by then");
            default -> nothing(seen, "was not in the queue any more");
        };
    }

    ActionResult redrive(ObservedQueue queue, String deadLetterId, String group) {
        RedriveOutcome outcome = done(queue, group, asked -> asked.redrive(deadLetterId, null));
        String letter = shown(deadLetterId);
        return switch (outcome) {
            case REDRIVEN ->
                new ActionResult(
                        "done",
                        letter + " is in the queue again and due now; its attempts begin anew" + unlessPaused(queue)
                                + ".");
            case DUPLICATE ->
                new ActionResult(
                        "duplicate", letter + " stays a dead letter: a message with its id is delayed or leased.");
            case LEASED ->
                new ActionResult("leased", letter + " stays where it is: a consumer of dead letters is working on it.");
            case NONE -> new ActionResult("nothing", letter + " is no dead letter any more.");
        };
    }

    ActionResult purge(ObservedQueue queue, String deadLetterId, String group) {
        ChangeResult result = done(queue, group, asked -> asked.deadLetters().cancel(deadLetterId));
        String letter = shown(deadLetterId);
        return switch (result.previousState()) {
            case DELAYED -> new ActionResult("done", letter + " was purged. It is gone for good.");
            case LEASED ->
                new ActionResult(
                        "done",
                        letter + " was purged while a consumer of dead letters works on it: that work goes on.");
            default -> new ActionResult("nothing", letter + " is no dead letter any more.");
        };
    }

    ActionResult pause(ObservedQueue queue) {
        return done(queue, null, asked -> asked.admin().pause())
                ? new ActionResult(
                        "done",
                        "The queue is paused for all consumers everywhere. Leased messages go on; what becomes"
                                + " due waits for Resume.")
                : new ActionResult("nothing", "The queue was paused already.");
    }

    ActionResult resume(ObservedQueue queue) {
        if (!done(queue, null, asked -> asked.admin().resume())) {
            return new ActionResult("nothing", "The queue was not paused.");
        }
        QueueStats stats = figures(queue);
        long overdue = stats == null ? 0 : stats.overdue();
        return new ActionResult(
                "done",
                "The pause has ended"
                        + (overdue == 0
                                ? "."
                                : ": " + overdue + (overdue == 1 ? " message that is" : " messages that are")
                                        + " due can be delivered now."));
    }

    /** Pauses a group. Redis only says whether it was paused before, and a pause may have become longer: so the group is read, too. */
    ActionResult pause(ObservedQueue queue, String group, DueTime until) {
        long before = pausedUntil(queue, group);
        done(queue, null, asked -> asked.group(group).pause(until));
        long after = pausedUntil(queue, group);
        if (after == 0) {
            return new ActionResult("nothing", "Group " + shown(group) + " is not paused: that time is over.");
        }
        String end = Times.pause(after);
        return after == before
                ? new ActionResult(
                        "nothing",
                        "Group " + shown(group) + " was " + end
                                + " already. A pause never shortens another one: resume the group first.")
                : new ActionResult(
                        "done",
                        "Group " + shown(group) + " is " + end
                                + " for all consumers everywhere. Its leased messages go on.");
    }

    ActionResult resume(ObservedQueue queue, String group) {
        return done(queue, null, asked -> asked.group(group).resume())
                ? new ActionResult("done", "The pause of group " + shown(group) + " has ended.")
                : new ActionResult("nothing", "Group " + shown(group) + " was not paused.");
    }

    private static long pausedUntil(ObservedQueue queue, String group) {
        return Answers.of(queue.ask(asked -> asked.group(group).info())).pausedUntilMicros();
    }

    /** Makes a change, waits for its outcome, and lets everybody see the queue anew. */
    private static <T> T done(ObservedQueue queue, String group, Function<DelayQueue, Submission<T>> change) {
        CompletableFuture<T> asked =
                queue.ask(group, asking -> change.apply(asking).result());
        try {
            return Answers.of(asked);
        } finally {
            queue.changed();
        }
    }

    /** The message, if it is still as the user saw it. */
    private StoredMessage check(ObservedQueue queue, Seen seen) {
        if (!seen.state().equals(MessageViews.DELAYED) && !seen.state().equals(MessageViews.LEASED)) {
            throw new ApiException(
                    Kind.BAD_REQUEST,
                    "Parameter 'state' is '" + ShownId.of(seen.state()) + "': it has to be delayed or leased.");
        }
        Optional<StoredMessage> found = messages.live(queue, seen.id(), seen.group());
        MessageViews.Message now = found.map(
                        stored -> MessageViews.Message.of(queue, stored.info(), false, Times.micros(Instant.now())))
                .orElse(null);
        if (now == null) {
            throw new ApiException(
                    Kind.CHANGED,
                    shown(seen.id()) + " is not in the queue any more: it was delivered, removed or given up."
                            + " Nothing was changed.");
        }
        if (!now.state().equals(seen.state()) || !now.due().equals(seen.due())) {
            throw new ApiException(
                    Kind.CHANGED,
                    shown(seen.id()) + " has changed since you saw it: "
                            + (now.state().equals(MessageViews.LEASED)
                                    ? "it is leased by " + leaseOwner(found.get())
                                    : "it is delayed, and due at " + Times.text(now.due()))
                            + ". Nothing was changed. Load it again.",
                    now);
        }
        return found.get();
    }

    private static String leaseOwner(StoredMessage message) {
        String leaseOwner = message.info().leaseOwner();
        return leaseOwner.isEmpty() ? "a consumer" : leaseOwner;
    }

    private static String unlessPaused(ObservedQueue queue) {
        QueueStats stats = figures(queue);
        return stats == null
                ? ""
                : stats.paused()
                        ? "; the queue is paused, so it waits for Resume"
                        : stats.consumers() == 0 ? "; no consumer is there, so it is not delivered" : "";
    }

    /** The figures behind a change, which only add words; null if there are none: the change was made all the same. */
    private static QueueStats figures(ObservedQueue queue) {
        CompletableFuture<QueueStats> figures = queue.figures();
        Answers.await(List.of(figures), Answers.PATIENCE);
        return Answers.now(figures);
    }

    private static ActionResult done(Seen seen, String text) {
        return new ActionResult("done", shown(seen.id()) + " " + text + ".");
    }

    private static ActionResult nothing(Seen seen, String text) {
        return new ActionResult("nothing", shown(seen.id()) + " " + text + ".");
    }

    private static ActionResult changed(Seen seen, String text) {
        return new ActionResult("changed", shown(seen.id()) + " " + text + ".");
    }

    private static String shown(String id) {
        return ShownId.of(id);
    }
}
