// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Envelope;
import io.github.redisdelay.queue.EnvelopeFormatException;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.StoredMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/** The operations that look at a queue and change nothing. Holds nothing of an exchange. */
final class LookOperations {

    /** What get tells of a message: of the one before nothing must stay, or a route that looks at several mixes them up. */
    private static final List<String> TOLD = List.of(
            Exchange.CONTENT_TYPE,
            RedisDelayConstants.SCHEDULED_TIME,
            RedisDelayConstants.DUE_TIME,
            RedisDelayConstants.ATTEMPT,
            RedisDelayConstants.MESSAGE_PRIORITY,
            RedisDelayConstants.REDELIVERY_REASON,
            RedisDelayConstants.LEASE_END,
            RedisDelayConstants.HOLDER,
            RedisDelayConstants.DEAD_LETTER_ID,
            RedisDelayConstants.FAILURE_EXCEPTION,
            RedisDelayConstants.FAILURE_MESSAGE,
            RedisDelayConstants.FAILURE_ROUTE_ID,
            RedisDelayConstants.FAILURE_HOST,
            RedisDelayConstants.FAILURE_ATTEMPTS,
            RedisDelayConstants.FAILURE_TIME);

    private final ProducerSettings settings;
    private final DelayQueue queue;
    private final MessageMapper mapper;

    /** A message that was found, and where. */
    private record Found(StoredMessage message, boolean dead) {}

    LookOperations(ProducerSettings settings, DelayQueue queue, MessageMapper mapper) {
        this.settings = settings;
        this.queue = queue;
        this.mapper = mapper;
    }

    /**
     * Sends what a message asks for.
     *
     * @throws IllegalArgumentException if that is not possible; then nothing was sent
     */
    SentRequest send(RedisDelayOperation operation, Exchange exchange) {
        settings.checkState(operation);
        Message message = exchange.getMessage();
        return switch (operation) {
            case get -> {
                String id = ScheduleIds.single(message, true);
                if (id == null) {
                    throw new IllegalArgumentException("operation 'get' needs the id of a message: set header '"
                            + RedisDelayConstants.SCHEDULE_ID + "'");
                }
                yield new SentCall<>(() -> find(id), (found, result) -> put(id, found, result, exchange));
            }
            case list -> {
                Object cursor = message.getHeader(RedisDelayConstants.CURSOR);
                String from = cursor == null ? null : cursor.toString();
                yield new SentCall<>(() -> page(from), this::put);
            }
            case stats ->
                new SentCall<>(() -> target(settings.state() == MessageSet.DEAD).stats(), (stats, result) -> {
                    result.setHeader(RedisDelayConstants.QUEUE, queue.name());
                    result.setBody(figures(stats));
                });
            default -> throw new IllegalArgumentException("operation '" + operation + "' looks at nothing");
        };
    }

    private DelayQueue target(boolean dead) {
        return dead ? queue.deadLetters() : queue;
    }

    /** Dead letters have ids of their own, which are never those of messages in the queue by accident. */
    private CompletableFuture<Optional<Found>> find(String id) {
        // Only a dead letter's id may be longer than an id can be.
        if (settings.state() == MessageSet.DEAD
                || id.getBytes(StandardCharsets.UTF_8).length > ScheduleRequest.MAX_ID_BYTES) {
            return findDead(id);
        }
        return queue.get(id)
                .thenCompose(found -> found.isPresent()
                        ? CompletableFuture.completedFuture(found.map(message -> new Found(message, false)))
                        : findDead(id));
    }

    private CompletableFuture<Optional<Found>> findDead(String id) {
        return queue.deadLetters().get(id).thenApply(found -> found.map(message -> new Found(message, true)));
    }

    private void put(String id, Optional<Found> found, Message message, Exchange exchange) {
        TOLD.forEach(message::removeHeader);
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        if (found.isEmpty()) {
            message.setHeader(RedisDelayConstants.MESSAGE_ID, id);
            message.setHeader(RedisDelayConstants.MESSAGE_STATE, Names.lower(MessageState.NONE));
            message.setBody(null);
            return;
        }
        StoredMessage stored = found.get().message();
        boolean dead = found.get().dead();
        MessageInfo info = stored.info();
        try {
            mapper.fill(Envelope.decode(stored.body()), message, exchange);
        } catch (EnvelopeFormatException e) {
            message.setBody(stored.body()); // as it is, so that somebody can look at it
        }
        message.setHeader(RedisDelayConstants.MESSAGE_ID, dead ? DeliveryExchange.originalId(info.id()) : info.id());
        message.setHeader(RedisDelayConstants.MESSAGE_STATE, dead ? "dead" : Names.lower(info.state()));
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, stored.scheduledMicros() / 1000);
        message.setHeader(RedisDelayConstants.DUE_TIME, info.dueMicros() / 1000);
        message.setHeader(RedisDelayConstants.ATTEMPT, info.attempts());
        message.setHeader(RedisDelayConstants.MESSAGE_PRIORITY, info.priority());
        if (dead) {
            message.setHeader(RedisDelayConstants.DEAD_LETTER_ID, info.id());
        }
        if (info.redeliveryReason() != RedeliveryReason.NONE) {
            message.setHeader(RedisDelayConstants.REDELIVERY_REASON, DeliveryExchange.text(info.redeliveryReason()));
        }
        if (info.state() == MessageState.LEASED) {
            message.setHeader(RedisDelayConstants.LEASE_END, info.leaseEndMicros() / 1000);
            message.setHeader(RedisDelayConstants.HOLDER, info.holder());
        }
        // Without the reason why it is a dead letter: in the exchange of a delivery, that header asks to give this one
        // up.
        FailureHeaders.set(message, info.lastFailure(), false);
    }

    private CompletableFuture<MessagePage> page(String from) {
        try {
            return browse(from);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "header '" + RedisDelayConstants.CURSOR + "': " + e.getMessage() + ", by removing the header", e);
        }
    }

    private CompletableFuture<MessagePage> browse(String from) {
        MessageState state = settings.state() == MessageSet.LEASED ? MessageState.LEASED : MessageState.DELAYED;
        return target(settings.state() == MessageSet.DEAD).browse(state, from, settings.limit());
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

    private Map<String, Object> entry(MessageInfo info) {
        boolean dead = settings.state() == MessageSet.DEAD;
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("id", dead ? DeliveryExchange.originalId(info.id()) : info.id());
        if (dead) {
            entry.put("deadLetterId", info.id());
        }
        entry.put("state", dead ? "dead" : Names.lower(info.state()));
        entry.put("dueTime", info.dueMicros() / 1000);
        entry.put("attempts", info.attempts());
        entry.put("priority", info.priority());
        if (info.redeliveryReason() != RedeliveryReason.NONE) {
            entry.put("redeliveryReason", DeliveryExchange.text(info.redeliveryReason()));
        }
        if (info.state() == MessageState.LEASED) {
            entry.put("leaseEnd", info.leaseEndMicros() / 1000);
            entry.put("holder", info.holder());
        }
        FailureRecord failure = FailureRecord.decode(info.lastFailure());
        if (failure != null) {
            put(entry, "failureException", failure.exception());
            put(entry, "failureMessage", failure.message());
            put(entry, "failureRouteId", failure.routeId());
            put(entry, "failureHost", failure.host());
            put(entry, "failureAttempts", failure.attempt());
            put(entry, "failureTime", failure.time().toEpochMilli());
            if (dead) {
                put(entry, "reason", failure.reason());
            }
        }
        return entry;
    }

    private static void put(Map<String, Object> entry, String name, Object value) {
        if (value != null) {
            entry.put(name, value);
        }
    }

    /** A queue's figures as plain values. */
    private static Map<String, Object> figures(QueueStats stats) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("delayed", stats.delayed());
        figures.put("overdue", stats.overdue());
        figures.put("leased", stats.leased());
        figures.put("dead", stats.dead());
        figures.put("oldestOverdueMillis", stats.oldestOverdueMicros() / 1000);
        figures.put("nextDueMillis", stats.nextDueMicros() < 0 ? -1 : (stats.nextDueMicros() + 999) / 1000);
        figures.put("consumers", stats.consumers());
        figures.put("paused", stats.paused());
        return figures;
    }
}
