// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.monitor.QueueFigure;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.option.OwnHeaders;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueInfo;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/**
 * The operations that read a queue, or all queues, and change nothing. Holds nothing of an exchange.
 *
 * @param queues reads the names of all queues, at most as many as it is given
 */
public record QueryOperations(
        ProducerSettings settings,
        DelayQueue queue,
        MessageMapper mapper,
        IntFunction<CompletableFuture<List<QueueInfo>>> queues) {

    /** The headers that get sets. Those of other operations and of the route's own delivery stay. */
    private static final List<String> HEADERS_OF_GET = OwnHeaders.RESPONSE_HEADERS.stream()
            .filter(Predicate.not(Set.of(
                    RedisDelayConstants.PREVIOUS_STATE,
                    RedisDelayConstants.RESULT,
                    RedisDelayConstants.COUNT,
                    RedisDelayConstants.LATENESS)::contains))
            .toList();

    /**
     * A message that was found.
     *
     * @param dead true if it is a dead letter
     */
    private record Found(StoredMessage message, boolean dead) {}

    /**
     * Sends the query that a message asks for.
     *
     * @throws IllegalArgumentException if the message asks for none; then nothing was sent
     */
    public PendingRequest send(RedisDelayOperation operation, Exchange exchange) {
        settings.checkState(operation);
        Message message = exchange.getMessage();
        String name = settings.group(operation, message);
        MessageGroup group = name == null ? null : queue.group(name);
        return switch (operation) {
            case GET -> {
                String id = IdHeaders.singleOrDeadLetter(message);
                if (id == null) {
                    throw new IllegalArgumentException("operation 'get' needs the id of a message: set header '"
                            + RedisDelayConstants.SCHEDULE_ID + "'");
                }
                // Of a queue with partitions, one has the group.
                DelayQueue from = group == null ? queue : group.queue();
                yield PendingRequest.of(find(from, id), (found, result) -> put(id, found, result, exchange));
            }
            case LIST -> {
                Object cursor = message.getHeader(RedisDelayConstants.CURSOR);
                String from = cursor == null ? null : cursor.toString();
                Integer limit = MessageChoice.limitOf(message);
                yield PendingRequest.of(page(group, from, limit == null ? settings.limit() : limit), this::put);
            }
            case STATS ->
                group == null
                        ? PendingRequest.of(stats(), this::put)
                        : PendingRequest.of(group.info(), (found, result) -> {
                            put(entry(found), result);
                            result.setHeader(RedisDelayConstants.COUNT, found.messages());
                        });
            case OUTLOOK -> PendingRequest.of(outlook(), (outlook, result) -> put(figures(outlook), result));
            case QUEUES -> {
                // Names are short: all of them, unless the endpoint or the message sets a limit.
                Integer limit = settings.choice().with(message).limit();
                yield PendingRequest.of(
                        queues.apply(limit == null ? DelayQueueClient.MAX_QUEUES : limit), QueryOperations::put);
            }
            default -> throw new IllegalArgumentException("operation '" + operation + "' is not a query");
        };
    }

    private void put(Map<String, Object> figures, Message message) {
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setBody(figures);
    }

    /** The figures, with the groups of which the most messages are parked, if any is. */
    private CompletableFuture<Map<String, Object>> stats() {
        QueueAdmin admin = target().admin();
        return admin.stats().thenCompose(stats -> {
            Map<String, Object> figures = QueueFigure.of(stats);
            return stats.parked() == 0
                    ? CompletableFuture.completedFuture(figures)
                    : admin.groups().thenApply(groups -> {
                        figures.put(
                                "groups",
                                groups.stream().map(QueryOperations::entry).toList());
                        return figures;
                    });
        });
    }

    private static Map<String, Object> entry(GroupInfo group) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("group", group.name());
        entry.put("parked", group.parked());
        entry.put("messages", group.messages());
        if (group.pausedUntilMicros() > 0) {
            entry.put("pausedUntil", group.pausedUntilMicros() / 1000);
        }
        return entry;
    }

    /** Looks ahead, from now on. Dead letters were given up in the past: of these it looks back. */
    private CompletableFuture<Outlook> outlook() {
        Duration step = settings.outlookStep();
        int steps = settings.outlookSteps();
        QueueAdmin admin = target().admin();
        long back = settings.state() == MessageScope.DEAD ? DueTime.toMicros(step) * steps : 0;
        return admin.outlook(List.of(0L, 1L))
                .thenCompose(now -> admin.outlook(Outlook.bounds(Math.max(0, now.timeMicros() - back), step, steps)));
    }

    private Map<String, Object> figures(Outlook outlook) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("fromTime", outlook.boundsMicros().get(0) / 1000);
        figures.put("stepMillis", settings.outlookStep().toMillis());
        figures.put("before", outlook.before());
        figures.put("counts", outlook.counts());
        figures.put("after", outlook.after());
        return figures;
    }

    private DelayQueue target() {
        return settings.state() == MessageScope.DEAD ? queue.deadLetters() : queue;
    }

    /** Looks for a message in the queue, then for a dead letter with this id, then for the newest one of the message. */
    private CompletableFuture<Optional<Found>> find(DelayQueue from, String id) {
        // Only a dead letter's id may be longer than an id can be.
        if (settings.state() == MessageScope.DEAD
                || id.getBytes(StandardCharsets.UTF_8).length > ScheduleRequest.MAX_ID_BYTES) {
            return findDead(from, id);
        }
        CompletableFuture<Optional<Found>> found = or(findWaiting(from, id), () -> findDead(from, id));
        return or(found, () -> findWaiting(from, id)); // it may have been moved back in between
    }

    /** The result of a search; that of another one if it has found nothing. */
    private static <T> CompletableFuture<Optional<T>> or(
            CompletableFuture<Optional<T>> search, Supplier<CompletableFuture<Optional<T>>> otherwise) {
        return search.thenCompose(
                found -> found.isPresent() ? CompletableFuture.completedFuture(found) : otherwise.get());
    }

    private static CompletableFuture<Optional<Found>> findWaiting(DelayQueue from, String id) {
        return from.get(id).thenApply(found -> found.map(message -> new Found(message, false)));
    }

    private static CompletableFuture<Optional<Found>> findDead(DelayQueue from, String id) {
        return from.admin().deadLettersOf(id).thenCompose(letters -> {
            // Another client may give dead letters any id.
            String letter = letters.isEmpty() ? id : letters.get(0).toString();
            return from.deadLetters().get(letter).thenApply(found -> found.map(message -> new Found(message, true)));
        });
    }

    private void put(String id, Optional<Found> found, Message message, Exchange exchange) {
        // Headers of an earlier message must not stay, or a route that looks at several mixes them up.
        HEADERS_OF_GET.forEach(message::removeHeader);
        message.removeHeader(RedisDelayConstants.DEAD_LETTER_ID);
        message.removeHeader(Exchange.CONTENT_TYPE);
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        if (found.isEmpty()) {
            message.setHeader(RedisDelayConstants.MESSAGE_ID, id);
            message.setHeader(RedisDelayConstants.MESSAGE_STATE, OptionValues.lower(MessageState.NONE));
            message.setBody(null);
            return;
        }
        StoredMessage stored = found.get().message();
        StoredMessageReader.fill(stored, queue.name(), mapper, message, exchange);
        // Without the reason why it is a dead letter: in the exchange of a delivery, that header would ask to give up
        // the delivery.
        Map<String, Object> told =
                StoredMessageReader.headersOf(stored.info(), found.get().dead());
        told.remove(RedisDelayConstants.DEAD_LETTER_REASON);
        if (stored.pausedUntilMicros() > 0) {
            told.put(RedisDelayConstants.PAUSED_UNTIL, stored.pausedUntilMicros() / 1000);
        }
        told.forEach(message::setHeader);
    }

    private CompletableFuture<MessagePage> page(MessageGroup group, String from, int limit) {
        try {
            return group == null
                    ? target().admin().list(settings.listed(), PageStart.next(from), limit)
                    : group.list(from, limit);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "header '" + RedisDelayConstants.CURSOR + "': " + e.getMessage() + ", by removing the header", e);
        }
    }

    private void put(MessagePage page, Message message) {
        List<Map<String, Object>> all = new ArrayList<>(page.messages().size());
        page.messages().forEach(info -> all.add(entry(info)));
        message.setBody(all);
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setHeader(RedisDelayConstants.COUNT, (long) all.size());
        if (page.next() == null) {
            message.removeHeader(RedisDelayConstants.CURSOR);
        } else {
            message.setHeader(RedisDelayConstants.CURSOR, page.next());
        }
    }

    /** A message of a list: each value under its header's name without the beginning that all names share. */
    private Map<String, Object> entry(MessageInfo info) {
        Map<String, Object> entry = new LinkedHashMap<>();
        StoredMessageReader.headersOf(info, settings.state() == MessageScope.DEAD)
                .forEach((header, value) -> {
                    String name = header.substring(OwnHeaders.PREFIX.length());
                    entry.put(Character.toLowerCase(name.charAt(0)) + name.substring(1), value);
                });
        entry.put("priority", info.priority());
        return entry;
    }

    private static void put(List<QueueInfo> found, Message message) {
        List<Map<String, Object>> all = new ArrayList<>(found.size());
        for (QueueInfo queue : found) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("queue", queue.name());
            entry.put("lastUsedTime", queue.lastUsedMicros() / 1000);
            all.add(entry);
        }
        message.setBody(all);
        message.setHeader(RedisDelayConstants.COUNT, (long) all.size());
    }
}
