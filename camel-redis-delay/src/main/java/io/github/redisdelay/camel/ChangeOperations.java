// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.SentChanges.Change;
import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.ReplicationTimeoutException;
import io.github.redisdelay.queue.Submission;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/** The operations that change waiting messages, or pause their queue. Holds nothing of an exchange. */
final class ChangeOperations {

    private static final String NONE = "none";
    private static final String DEAD = "dead";

    private final ProducerSettings settings;
    private final DelayQueue queue;

    ChangeOperations(ProducerSettings settings, DelayQueue queue) {
        this.settings = settings;
        this.queue = queue;
    }

    /**
     * Sends what a message asks for.
     *
     * @throws IllegalArgumentException if that is not possible; then nothing was sent
     */
    SentRequest send(RedisDelayOperation operation, Exchange exchange) {
        Message message = exchange.getMessage();
        settings.checkState(operation);
        boolean dead = settings.state() == MessageSet.DEAD;
        DelayQueue target = dead ? queue.deadLetters() : queue;
        return switch (operation) {
            case cancel ->
                change(
                        required(operation, message, dead),
                        dead,
                        id -> cancel(target, id, exchange),
                        result -> removed(result, dead));
            case reschedule -> {
                ScheduleIds ids = required(operation, message, dead);
                DueTime time = dueTime(message, ids);
                yield change(ids, dead, id -> target.reschedule(id, time), result -> moved(result, dead));
            }
            case promote -> {
                ScheduleIds ids = ScheduleIds.of(message, dead);
                yield ids == null
                        ? all(() -> target.promoteAll(each -> true))
                        : change(ids, dead, target::promote, result -> moved(result, dead));
            }
            case redrive -> {
                ScheduleIds ids = ScheduleIds.of(message, true);
                Predicate<MessageInfo> which = failedWith(message);
                yield ids == null
                        ? all(() -> queue.redriveAll(which))
                        : change(
                                withoutClass(ids, operation, message),
                                true,
                                queue::redrive,
                                ChangeOperations::redriven);
            }
            case purge -> {
                ScheduleIds ids = ScheduleIds.of(message, true);
                DelayQueue letters = queue.deadLetters();
                Predicate<MessageInfo> which = failedWith(message);
                yield ids == null
                        ? all(() -> letters.cancelAll(which))
                        : change(
                                withoutClass(ids, operation, message),
                                true,
                                id -> cancel(letters, id, exchange),
                                result -> removed(result, true));
            }
            case pause -> pause(target::pause);
            case resume -> pause(target::resume);
            case check -> new SentCall<>(() -> check(target, dead), this::put);
            default -> throw new IllegalArgumentException("operation '" + operation + "' changes no message");
        };
    }

    /** A route that cancels its own message is done with that delivery, and may plan the message anew. */
    private static Submission<ChangeResult> cancel(DelayQueue target, String id, Exchange exchange) {
        DeliveryCompletion held = HeldDeliveries.find(exchange, target, id);
        Submission<ChangeResult> submission = target.cancel(id);
        if (held != null) {
            submission.outcome().whenComplete((result, error) -> {
                if (error == null || error instanceof ReplicationTimeoutException) {
                    held.superseded();
                }
            });
        }
        return submission;
    }

    private static ScheduleIds required(RedisDelayOperation operation, Message message, boolean dead) {
        ScheduleIds ids = ScheduleIds.of(message, dead);
        if (ids == null) {
            throw new IllegalArgumentException("operation '" + operation + "' needs the id of a message: set header '"
                    + RedisDelayConstants.SCHEDULE_ID + "'");
        }
        return ids;
    }

    private DueTime dueTime(Message message, ScheduleIds ids) {
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

    private String exceptionClass(Message message) {
        Object name = GivenHeader.of(message, RedisDelayConstants.EXCEPTION_CLASS);
        if (name == null) {
            return settings.exceptionClass();
        }
        if (name instanceof Class<?> type) {
            return type.getName();
        }
        if (name instanceof CharSequence text && !text.toString().isBlank()) {
            return text.toString().strip();
        }
        throw new IllegalArgumentException("header '" + RedisDelayConstants.EXCEPTION_CLASS + "' is '"
                + Names.shown(name) + "': give the name of a class, such as java.net.ConnectException");
    }

    private Predicate<MessageInfo> failedWith(Message message) {
        String name = exceptionClass(message);
        if (name == null) {
            return each -> true;
        }
        return each -> {
            FailureRecord failure = FailureRecord.decode(each.lastFailure());
            return failure != null && name.equals(failure.exception());
        };
    }

    /** Ids say which messages are meant; a class as well would be two answers to one question. */
    private ScheduleIds withoutClass(ScheduleIds ids, RedisDelayOperation operation, Message message) {
        if (exceptionClass(message) != null) {
            throw new IllegalArgumentException("operation '" + operation + "' has ids (header '"
                    + RedisDelayConstants.SCHEDULE_ID + "') and an exception class (" + exceptionClass(message)
                    + "): the class chooses among all dead letters, remove one of the two");
        }
        return ids;
    }

    /**
     * @param deadLetters whether the ids are those of dead letters
     */
    private <T> SentRequest change(
            ScheduleIds ids, boolean deadLetters, Function<String, Submission<T>> call, Function<T, Change> change) {
        List<SentChanges.Part<T>> parts = queue.together(() -> ids.ids().stream()
                .map(id -> new SentChanges.Part<>(
                        id,
                        new SentOperation<>(
                                () -> "the change of message '" + id + "' of queue '" + queue.name() + "'",
                                () -> call.apply(id),
                                (result, message) -> {})))
                .toList());
        return new SentChanges<>(queue.name(), ids.list(), deadLetters, parts, change);
    }

    private static Change removed(ChangeResult result, boolean dead) {
        return switch (result.previousState()) {
            case DELAYED, LEASED -> new Change(state(result.previousState(), dead), Change.DONE, 0);
            default -> new Change(NONE, NONE, 0);
        };
    }

    private static Change moved(ChangeResult result, boolean dead) {
        return switch (result.previousState()) {
            case DELAYED -> new Change(state(result.previousState(), dead), Change.DONE, result.dueMicros() / 1000);
            case LEASED -> new Change(state(result.previousState(), dead), Names.lower(MessageState.LEASED), 0);
            default -> new Change(NONE, NONE, 0);
        };
    }

    private static String state(MessageState state, boolean dead) {
        return dead ? DEAD : Names.lower(state);
    }

    private static Change redriven(RedriveOutcome outcome) {
        return switch (outcome) {
            case REDRIVEN -> new Change(DEAD, Change.DONE, 0);
            case DUPLICATE, LEASED -> new Change(DEAD, Names.lower(outcome), 0);
            case NONE -> new Change(NONE, NONE, 0);
        };
    }

    private SentRequest all(Supplier<CompletableFuture<Long>> call) {
        return new SentCall<>(call, this::putCount);
    }

    private void putCount(long count, Message message) {
        // What an earlier change answered is no answer to this one.
        message.removeHeader(RedisDelayConstants.PREVIOUS_STATE);
        message.removeHeader(RedisDelayConstants.RESULT);
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setHeader(RedisDelayConstants.COUNT, count);
    }

    /** A queue is checked together with its dead letters, unless only they are meant. */
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

    private SentRequest pause(Supplier<Submission<Boolean>> call) {
        return new SentOperation<>(
                () -> "the pause of queue '" + queue.name() + "'",
                call,
                (changed, message) -> message.setHeader(RedisDelayConstants.QUEUE, queue.name()));
    }
}
