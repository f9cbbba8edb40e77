// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.delivery.DeliveriesOfExchange;
import io.github.redisdelay.camel.delivery.DeliveryCompletion;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.StatsText;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.producer.ChangeHeaders.Change;
import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.Message;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operations that change waiting messages, or pause their queue. Holds nothing of an exchange. */
public final class ManageOperations {

    private static final Logger LOG = LoggerFactory.getLogger(ManageOperations.class);

    private static final String NONE = "none";
    private static final String DEAD = "dead";

    private final ProducerSettings settings;
    private final DelayQueue queue;
    private final Meters.Producing meters;
    private final Runnable foundNothing;

    /** @param foundNothing told when there is nothing to cancel */
    public ManageOperations(
            ProducerSettings settings, DelayQueue queue, Meters.Producing meters, Runnable foundNothing) {
        this.settings = settings;
        this.queue = queue;
        this.foundNothing = foundNothing;
        this.meters = settings.state() == MessageScope.DEAD ? Meters.Producing.NONE : meters;
    }

    /**
     * Sends the change that a message asks for.
     *
     * @throws IllegalArgumentException if the message asks for none; then nothing was sent
     */
    public PendingRequest send(RedisDelayOperation operation, Exchange exchange) {
        Message message = exchange.getMessage();
        settings.checkState(operation);
        boolean dead = settings.state() == MessageScope.DEAD;
        DelayQueue target = dead ? queue.deadLetters() : queue;
        return switch (operation) {
            case cancel -> {
                IdHeaders ids = required(operation, message, dead);
                yield changes(
                        ids,
                        dead,
                        exchange,
                        id -> counted(told(cancel(target, id, exchange)), MessageState.LEASED, meters::cancelled),
                        result -> removed(result, dead));
            }
            case reschedule -> {
                IdHeaders ids = required(operation, message, dead);
                DueTime time = dueTime(message, ids);
                yield changes(ids, dead, exchange, id -> target.reschedule(id, time), result -> moved(result, dead));
            }
            case promote -> {
                MessageChoice choice = settings.choice().with(message);
                IdHeaders ids = chosen(operation, exchange, choice);
                if (ids == null && choice.reason() != null && !dead) {
                    throw new IllegalArgumentException("option or header 'reason' (" + choice.reason()
                            + ") means nothing to operation 'promote': only dead letters have one, set option 'state=dead' for"
                            + " them");
                }
                yield ids == null
                        ? new RepeatableCall<>(() -> promoteAll(target, choice), this::putCount)
                        : changes(
                                ids,
                                dead,
                                exchange,
                                id -> counted(target.promote(id), MessageState.DELAYED, () -> meters.promoted(1)),
                                result -> moved(result, dead));
            }
            case redrive -> {
                MessageChoice choice = settings.choice().with(message);
                IdHeaders ids = chosen(operation, exchange, choice);
                yield ids == null
                        ? new RepeatableCall<>(() -> queue.redriveAll(choice.which(), choice.most()), this::putCount)
                        : changes(ids, true, exchange, id -> redrive(id, exchange), redriven(ids, exchange));
            }
            case purge -> {
                DelayQueue letters = queue.deadLetters();
                MessageChoice choice = settings.choice().with(message);
                IdHeaders ids = chosen(operation, exchange, choice);
                yield ids == null
                        ? new RepeatableCall<>(() -> letters.cancelAll(choice.which(), choice.most()), this::putCount)
                        : changes(
                                ids,
                                true,
                                exchange,
                                id -> cancel(letters, id, exchange),
                                result -> removed(result, true));
            }
            case pause -> setPaused("the pause of ", () -> logged(target, dead, "paused", target.pause()));
            case resume ->
                setPaused("the end of the pause of ", () -> logged(target, dead, "resumed", target.resume()));
            case check -> new RepeatableCall<>(() -> check(target, dead), this::put);
            default -> throw new IllegalArgumentException("operation '" + operation + "' changes no message");
        };
    }

    /** Counts a change if it has met a waiting message, or one in the other state. */
    private Submission<ChangeResult> counted(Submission<ChangeResult> change, MessageState other, Runnable count) {
        if (meters != Meters.Producing.NONE) {
            change.outcome().whenComplete((result, error) -> {
                Object answer = error instanceof ReplicationTimeoutException done ? done.getResult() : result;
                if (answer instanceof ChangeResult found
                        && (found.previousState() == MessageState.DELAYED || found.previousState() == other)) {
                    count.run();
                }
            });
        }
        return change;
    }

    private Submission<ChangeResult> told(Submission<ChangeResult> cancel) {
        cancel.outcome().thenAccept(result -> {
            if (result.previousState() == MessageState.NONE) {
                foundNothing.run();
            }
        });
        return cancel;
    }

    private CompletableFuture<Long> promoteAll(DelayQueue target, MessageChoice choice) {
        return target.promoteAll(choice.which(), choice.most()).thenApply(count -> {
            meters.promoted(count);
            return count;
        });
    }

    /**
     * Cancels a message. A route that cancels its own message has ended that delivery, and may schedule the message
     * anew.
     */
    private static Submission<ChangeResult> cancel(DelayQueue target, String id, Exchange exchange) {
        return superseding(DeliveriesOfExchange.find(exchange, target, id), target.cancel(id));
    }

    /** Moves a dead letter back. Only the route that holds a dead letter may move it, which ends its delivery. */
    private Submission<RedriveOutcome> redrive(String id, Exchange exchange) {
        DeliveryCompletion held = DeliveriesOfExchange.find(exchange, queue.deadLetters(), id);
        return held == null || held.isOver()
                ? queue.redrive(id)
                : superseding(held, queue.redrive(id, held.delivery().claimId()));
    }

    /** @param held the delivery that ends with the change, or null */
    private static <T> Submission<T> superseding(DeliveryCompletion held, Submission<T> submission) {
        if (held != null) {
            submission.outcome().whenComplete((result, error) -> {
                if (error == null || error instanceof ReplicationTimeoutException) {
                    held.superseded();
                }
            });
        }
        return submission;
    }

    /** The ids that an operation cannot do without. */
    private IdHeaders required(RedisDelayOperation operation, Message message, boolean dead) {
        IdHeaders ids = IdHeaders.of(message, dead);
        if (ids == null) {
            throw new IllegalArgumentException("operation '" + operation + "' needs the id of a message: set header '"
                    + RedisDelayConstants.SCHEDULE_ID + "'" + others(message));
        }
        String asking = settings.choice().with(message).asking(message);
        if (asking != null) {
            throw new IllegalArgumentException(
                    asking + " means nothing to operation '" + operation + "', which takes ids: remove it");
        }
        return ids;
    }

    /**
     * The ids for an operation that can be about many messages; null if the message chooses them otherwise.
     *
     * @throws IllegalArgumentException if the message names none and chooses none, or does both
     */
    private IdHeaders chosen(RedisDelayOperation operation, Exchange exchange, MessageChoice choice) {
        Message message = exchange.getMessage();
        boolean letters = operation != RedisDelayOperation.promote;
        IdHeaders ids = letters
                ? IdHeaders.ofDeadLetters(message)
                : IdHeaders.of(message, settings.state() == MessageScope.DEAD);
        String asking = choice.asking(message);
        if (ids != null && asking != null) {
            String header = letters ? IdHeaders.headerOfDeadLetter(message) : RedisDelayConstants.SCHEDULE_ID;
            throw new IllegalArgumentException("operation '" + operation + "' has ids (header '" + header + "') and "
                    + asking + ", which chooses among all messages: remove one of the two");
        }
        if (ids != null || asking != null) {
            return ids;
        }
        List<String> held = letters ? heldLetters(exchange) : List.of();
        if (!held.isEmpty()) {
            return new IdHeaders(held, exchange.getProperty(ExchangePropertyKey.BATCH_SIZE) != null, true);
        }
        throw new IllegalArgumentException(
                "operation '" + operation + "' does not know which messages are meant: set header '"
                        + RedisDelayConstants.SCHEDULE_ID
                        + "' to the id of one, or choose some by option 'exceptionClass', 'routeId',"
                        + (letters || settings.state() == MessageScope.DEAD ? " 'reason'" : "")
                        + " or 'limit', or ask for all by option 'all' or header '"
                        + RedisDelayConstants.ALL
                        + "'" + others(message));
    }

    /** A note for errors about a header that looks as if it asked for a message. */
    private static String others(Message message) {
        Object id = message.getHeader(RedisDelayConstants.MESSAGE_ID);
        return id == null
                ? ""
                : " (header '" + RedisDelayConstants.MESSAGE_ID + "', " + OptionValues.shown(id)
                        + ", says of which message the exchange is, and asks for none)";
    }

    private DueTime dueTime(Message message, IdHeaders ids) {
        DueTime due = ScheduleHeaders.due(message);
        DueTime time = due == null ? settings.due() : due;
        if (time == null) {
            throw new IllegalArgumentException("operation 'reschedule' of "
                    + (ids.list()
                            ? ids.ids().size() + " messages"
                            : "message '" + ids.ids().get(0) + "'")
                    + " needs a time: set header '"
                    + RedisDelayConstants.DELAY + "' or '" + RedisDelayConstants.DELIVER_AT
                    + "', or option 'delay' or 'deliverAt'");
        }
        return time;
    }

    /** @param deadLetters true if dead letters are meant, by ids of their own or by those of their messages */
    private <T> PendingRequest changes(
            IdHeaders ids,
            boolean deadLetters,
            Exchange exchange,
            Function<String, Submission<T>> call,
            Function<T, Change> change) {
        PendingChanges.Results<T> results = new ChangeHeaders(queue.name(), ids.list(), deadLetters).results(change);
        if (!deadLetters || ids.known()) {
            return new PendingChanges<>(ids.list(), send(ids.ids(), call), results);
        }
        List<String> held = heldLetters(exchange);
        return new PendingChanges<>(
                ids.list(), () -> letters(ids, held).thenApply(letters -> send(letters, call)), results);
    }

    private <T> List<PendingChange<T>> send(List<String> ids, Function<String, Submission<T>> call) {
        return queue.together(() -> ids.stream()
                .map(id -> new PendingChange<>(id, queue, "the change of ", () -> call.apply(id)))
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
        return queue.deadLettersOf(id)
                .thenApply(found -> found.isEmpty() ? id : found.get(0).toString());
    }

    private List<String> heldLetters(Exchange exchange) {
        return DeliveriesOfExchange.all(exchange, queue.deadLetters()).stream()
                .map(each -> each.delivery().id())
                .toList();
    }

    private static Change removed(ChangeResult result, boolean dead) {
        return switch (result.previousState()) {
            case DELAYED, LEASED -> new Change(state(result.previousState(), dead), Change.DONE, 0);
            case DEAD -> dead(result);
            default -> new Change(NONE, NONE, 0);
        };
    }

    private static Change moved(ChangeResult result, boolean dead) {
        return switch (result.previousState()) {
            case DELAYED -> new Change(state(result.previousState(), dead), Change.DONE, result.dueMicros() / 1000);
            case LEASED -> new Change(state(result.previousState(), dead), OptionValues.lower(MessageState.LEASED), 0);
            case DEAD -> dead(result);
            default -> new Change(NONE, NONE, 0);
        };
    }

    /** The result for a message that was given up: nothing is done, and its newest dead letter is named. */
    private static Change dead(ChangeResult result) {
        return new Change(DEAD, DEAD, 0, result.deadLetterId().toString(), result.deadLetters());
    }

    private static String state(MessageState state, boolean dead) {
        return dead ? DEAD : OptionValues.lower(state);
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
                            + "', and the exchange holds dead letter '" + held.get(0)
                            + "', which would be lost with it: remove the header to redrive that one");
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
    private CompletableFuture<List<CheckResult>> check(DelayQueue target, boolean dead) {
        return target.check()
                .thenCompose(found -> dead
                        ? CompletableFuture.completedFuture(List.of(found))
                        : queue.deadLetters().check().thenApply(letters -> List.of(found, letters)));
    }

    private void put(List<CheckResult> results, Message message) {
        Map<String, Long> figures = new LinkedHashMap<>();
        CheckResult found = results.get(0);
        figures.put("messages", found.messages());
        figures.put("restored", found.restored());
        figures.put("bodiesMissing", found.bodiesMissing());
        figures.put("recordsDropped", found.recordsDropped());
        if (results.size() > 1) {
            CheckResult letters = results.get(1);
            figures.put("deadLetters", letters.messages());
            figures.put("deadLettersRestored", letters.restored());
            figures.put("deadBodiesMissing", letters.bodiesMissing());
            figures.put("deadRecordsDropped", letters.recordsDropped());
        }
        message.setBody(figures);
        putCount(results.stream().mapToLong(CheckResult::restored).sum(), message);
    }

    private static Submission<Boolean> logged(
            DelayQueue target, boolean dead, String what, Submission<Boolean> change) {
        change.result().thenAccept(changed -> {
            if (changed) {
                LOG.info("{}: {} by an operation", StatsText.label(target, dead), what);
            }
        });
        return change;
    }

    private PendingRequest setPaused(String what, Supplier<Submission<Boolean>> call) {
        return new PendingChanges<>(
                false,
                List.of(new PendingChange<>(null, queue, what, call)),
                (changes, message) -> message.setHeader(RedisDelayConstants.QUEUE, queue.name()));
    }
}
