// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.delivery.DeliveriesOfExchange;
import io.github.redisdelay.camel.delivery.DeliveryCompletion;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.Meters.Event;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.producer.ChangeHeaders.Change;
import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.Submission;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/**
 * The operations that change messages, or pause their queue or group. Holds nothing of an exchange.
 *
 * @param declared whether a route of the context declares the recurring schedule with this id
 * @param foundNothing told when there is nothing to cancel
 */
public record ManageOperations(
        ProducerSettings settings,
        DelayQueue queue,
        Meters.Use meters,
        Predicate<String> declared,
        Runnable foundNothing) {

    private static final String NONE = "none";
    private static final String DEAD = "dead";

    /** Dead letters have no meters. */
    public ManageOperations {
        meters = settings.state() == MessageScope.DEAD ? Meters.Use.NONE : meters;
    }

    /**
     * Sends the change that a message asks for.
     *
     * @throws IllegalArgumentException if the message asks for none; then nothing was sent
     */
    public PendingRequest send(RedisDelayOperation operation, Exchange exchange) {
        settings.checkState(operation);
        String group = settings.group(operation, exchange.getMessage());
        if (group == null) {
            return send(operation, exchange, null);
        }
        // Of a queue with partitions, one has the group.
        MessageGroup messages = queue.group(group);
        return new ManageOperations(settings, messages.queue(), meters, declared, foundNothing)
                .send(operation, exchange, messages);
    }

    /** @param group the group that is meant; null for none */
    private PendingRequest send(RedisDelayOperation operation, Exchange exchange, MessageGroup group) {
        Message message = exchange.getMessage();
        MessageChoice choice = settings.choice().with(message);
        DelayQueue target = isDead() ? queue.deadLetters() : queue;
        return switch (operation) {
            case CANCEL, RESCHEDULE -> {
                IdHeaders ids = choice.required(operation, message, isDead(), group != null && !isDead());
                yield ids == null
                        ? PendingRequest.of(changeAll(operation, group, choice.schedules(), exchange), this::putCount)
                        : change(operation, target, ids, exchange);
            }
            case PROMOTE, REDRIVE, PURGE -> {
                String name = group == null ? null : group.name();
                IdHeaders ids = choice.ids(operation, message, isDead(), name, () -> heldLetters(exchange));
                if (ids != null) {
                    yield change(operation, target, ids, exchange);
                }
                boolean whole =
                        group != null && operation == RedisDelayOperation.PROMOTE && !isDead() && choice.isOfAll();
                yield PendingRequest.of(
                        whole
                                ? changeAll(operation, group, choice.schedules(), exchange)
                                : changeAll(operation, target, choice, name),
                        this::putCount);
            }
            case PAUSE, RESUME -> new PauseOperation(settings, queue, group).send(operation, message);
            case CHECK -> PendingRequest.of(check(target), this::put);
            default -> throw new IllegalArgumentException("operation '" + operation + "' changes no message");
        };
    }

    private boolean isDead() {
        return settings.state() == MessageScope.DEAD;
    }

    /** Changes the messages with these ids. */
    private PendingRequest change(RedisDelayOperation operation, DelayQueue target, IdHeaders ids, Exchange exchange) {
        if (operation == RedisDelayOperation.REDRIVE) {
            return changes(ids, true, exchange, id -> redrive(id, exchange), redriven(ids, exchange));
        }
        boolean dead = isDead() || operation == RedisDelayOperation.PURGE;
        DueTime time = operation == RedisDelayOperation.RESCHEDULE ? dueTime(exchange.getMessage()) : null;
        boolean moving = time != null || operation == RedisDelayOperation.PROMOTE;
        if (operation == RedisDelayOperation.CANCEL && !dead) {
            ids.ids().stream().filter(declared).findFirst().ifPresent(id -> {
                throw new IllegalArgumentException("schedule '" + OptionValues.shown(id)
                        + "' is declared by a route: pause the queue, or remove cron and every from the route");
            });
        }
        Function<String, Submission<ChangeResult>> call = id -> switch (operation) {
            case CANCEL -> counted(cancel(target, id, exchange), MessageState.LEASED, Event.CANCELLED);
            case RESCHEDULE -> target.reschedule(id, time);
            case PROMOTE -> counted(target.promote(id), MessageState.DELAYED, Event.PROMOTED);
            default -> cancel(queue.deadLetters(), id, exchange); // PURGE
        };
        return changes(ids, dead, exchange, call, result -> changed(result, dead, moving));
    }

    /** Changes all messages that were chosen. */
    private CompletableFuture<Long> changeAll(
            RedisDelayOperation operation, DelayQueue target, MessageChoice choice, String group) {
        Predicate<MessageInfo> which = choice.which(group);
        return switch (operation) {
            case PROMOTE ->
                counted(target.admin().promoteAll(which, choice.most(), choice.schedules()), Event.PROMOTED);
            case REDRIVE -> queue.admin().redriveAll(which, choice.most());
            default -> queue.deadLetters().admin().cancelAll(which, choice.most()); // PURGE
        };
    }

    /** Changes all messages of a group, in any state. A route that cancels its own message has ended that delivery. */
    private CompletableFuture<Long> changeAll(
            RedisDelayOperation operation, MessageGroup group, boolean schedules, Exchange exchange) {
        return switch (operation) {
            case RESCHEDULE -> group.rescheduleAll(dueTime(exchange.getMessage()));
            case PROMOTE -> counted(group.promoteAll(schedules), Event.PROMOTED);
            default -> {
                List<DeliveryCompletion> held = DeliveriesOfExchange.all(exchange, queue).stream()
                        .filter(each -> group.name().equals(each.delivery().group()))
                        .toList();
                yield counted(group.cancelAll(schedules, true), Event.CANCELLED).thenApply(count -> {
                    held.forEach(DeliveryCompletion::superseded);
                    return count;
                });
            }
        };
    }

    private CompletableFuture<Long> counted(CompletableFuture<Long> change, Event event) {
        return change.thenApply(count -> {
            meters.count(event, count);
            return count;
        });
    }

    /** Counts the change if the message was DELAYED or in the other state. */
    private Submission<ChangeResult> counted(Submission<ChangeResult> change, MessageState other, Event event) {
        return PendingChange.telling(change, found -> {
            if (found.previousState() == MessageState.DELAYED || found.previousState() == other) {
                meters.count(event, 1);
            } else if (event == Event.CANCELLED && found.previousState() == MessageState.NONE) {
                foundNothing.run();
            }
        });
    }

    /**
     * Cancels a message. A route that cancels its own message has ended that delivery, and may schedule the message
     * anew.
     */
    private static Submission<ChangeResult> cancel(DelayQueue target, String id, Exchange exchange) {
        DeliveryCompletion held = DeliveriesOfExchange.find(exchange, target, id);
        return superseding(held, ofGroup(target, held).cancel(id));
    }

    /** Of a queue with partitions, the one that has a delivery's message, whose group the caller need not name. */
    private static DelayQueue ofGroup(DelayQueue target, DeliveryCompletion held) {
        String group = held == null ? null : held.delivery().group();
        return group == null ? target : target.group(group).queue();
    }

    /** Moves a dead letter back. Only the route that holds a dead letter may move it, which ends its delivery. */
    private Submission<RedriveOutcome> redrive(String id, Exchange exchange) {
        DeliveryCompletion held = DeliveriesOfExchange.find(exchange, queue.deadLetters(), id);
        return held == null || held.isOver()
                ? queue.redrive(id, null)
                : superseding(
                        held, ofGroup(queue, held).redrive(id, held.delivery().claimId()));
    }

    /** @param held the delivery that ends with the change, or null */
    private static <T> Submission<T> superseding(DeliveryCompletion held, Submission<T> submission) {
        return held == null ? submission : PendingChange.telling(submission, done -> held.superseded());
    }

    private DueTime dueTime(Message message) {
        DueTime due = ScheduleHeaders.due(message);
        if (due == null && settings.due() == null) {
            throw new IllegalArgumentException("operation 'reschedule' needs a time: set header '"
                    + RedisDelayConstants.DELAY + "' or '" + RedisDelayConstants.DELIVER_AT
                    + "', or option 'delay' or 'deliverAt'");
        }
        return due == null ? settings.due() : due;
    }

    /** @param deadLetters true if dead letters are meant, by ids of their own or by those of their messages */
    private <T> PendingRequest changes(
            IdHeaders ids,
            boolean deadLetters,
            Exchange exchange,
            Function<String, Submission<T>> call,
            Function<T, Change> change) {
        return new PendingChanges<>(
                ids.list(),
                !deadLetters || ids.known()
                        ? CompletableFuture.completedFuture(send(ids.ids(), call))
                        : letters(ids, heldLetters(exchange)).thenApply(letters -> send(letters, call)),
                new ChangeHeaders(queue.name(), ids.list(), deadLetters).results(change));
    }

    private <T> List<PendingChange<T>> send(List<String> ids, Function<String, Submission<T>> call) {
        return queue.together(() -> ids.stream()
                .map(id -> PendingChange.send(id, () -> call.apply(id)))
                .toList());
    }

    /**
     * The dead letters that ids of dead letters or messages mean. An id of a message means its held dead letter, or its
     * newest.
     */
    private CompletableFuture<List<String>> letters(IdHeaders ids, List<String> held) {
        List<CompletableFuture<String>> letters =
                ids.ids().stream().map(id -> letter(id, held)).toList();
        return CompletableFuture.allOf(letters.toArray(CompletableFuture[]::new))
                .thenApply(done -> letters.stream().map(CompletableFuture::join).toList());
    }

    private CompletableFuture<String> letter(String id, List<String> held) {
        for (String letter : held) {
            if (letter.equals(id) || DeadLetterId.messageIdOf(letter).equals(id)) {
                return CompletableFuture.completedFuture(letter);
            }
        }
        return queue.admin()
                .deadLettersOf(id)
                .thenApply(found -> found.isEmpty() ? id : found.get(0).toString());
    }

    private List<String> heldLetters(Exchange exchange) {
        return DeliveriesOfExchange.all(exchange, queue.deadLetters()).stream()
                .map(each -> each.delivery().id())
                .toList();
    }

    /** @param moving true if its due time changes, which that of a leased message cannot */
    private static Change changed(ChangeResult result, boolean dead, boolean moving) {
        String state = dead ? DEAD : OptionValues.lower(result.previousState());
        return switch (result.previousState()) {
            case DELAYED -> new Change(state, Change.DONE, moving ? result.dueMicros() / 1000 : 0);
            case LEASED -> new Change(state, moving ? OptionValues.lower(MessageState.LEASED) : Change.DONE, 0);
            // It was given up: nothing is done, and its newest dead letter is named.
            case DEAD -> new Change(DEAD, DEAD, 0, result.deadLetterId().toString());
            default -> new Change(NONE, NONE, 0);
        };
    }

    /** Refuses an id that names no dead letter if the exchange holds another one, which would be lost in silence. */
    private Function<RedriveOutcome, Change> redriven(IdHeaders ids, Exchange exchange) {
        List<String> held = ids.list() ? List.of() : heldLetters(exchange);
        String header = IdHeaders.headerOfDeadLetter(exchange.getMessage());
        return outcome -> switch (outcome) {
            case REDRIVEN -> new Change(DEAD, Change.DONE, 0);
            case DUPLICATE, LEASED -> new Change(DEAD, OptionValues.lower(outcome), 0);
            case NONE -> {
                if (!held.isEmpty()) {
                    throw new IllegalArgumentException("header '" + header + "' ('"
                            + ids.ids().get(0) + "') names no dead letter of queue '" + queue.name()
                            + "', and the exchange has leased dead letter '" + held.get(0)
                            + "', which would be lost: remove the header to redrive that one");
                }
                yield new Change(NONE, NONE, 0);
            }
        };
    }

    private void putCount(long count, Message message) {
        // The answers to an earlier change are none to this one.
        message.removeHeader(RedisDelayConstants.PREVIOUS_STATE);
        message.removeHeader(RedisDelayConstants.RESULT);
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setHeader(RedisDelayConstants.COUNT, count);
    }

    /** Checks a queue together with its dead letters, unless only they are meant. */
    private CompletableFuture<List<CheckResult>> check(DelayQueue target) {
        return target.admin()
                .check()
                .thenCompose(found -> isDead()
                        ? CompletableFuture.completedFuture(List.of(found))
                        : queue.deadLetters().admin().check().thenApply(letters -> List.of(found, letters)));
    }

    private void put(List<CheckResult> results, Message message) {
        Map<String, Long> figures = new LinkedHashMap<>();
        put(figures, results.get(0), "messages", "restored", "bodiesMissing", "recordsDropped");
        if (results.size() > 1) {
            put(
                    figures,
                    results.get(1),
                    "deadLetters",
                    "deadLettersRestored",
                    "deadBodiesMissing",
                    "deadRecordsDropped");
        }
        message.setBody(figures);
        putCount(results.stream().mapToLong(CheckResult::restored).sum(), message);
    }

    private static void put(Map<String, Long> figures, CheckResult found, String... names) {
        figures.put(names[0], found.messages());
        figures.put(names[1], found.restored());
        figures.put(names[2], found.bodiesMissing());
        figures.put(names[3], found.recordsDropped());
    }
}
