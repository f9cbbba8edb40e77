// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.BatchScheduleException;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.delivery.DeliveriesOfExchange;
import io.github.redisdelay.camel.delivery.DeliveryCompletion;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.monitor.MessageLog;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.NoConsumerReport;
import io.github.redisdelay.camel.option.OwnHeaders;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.envelope.Envelope;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/**
 * Schedules the message of an exchange, or those of a list. Holds nothing of an exchange.
 *
 * @param ids makes the id of a message without one
 */
public record ScheduleOperation(
        ProducerSettings settings,
        DelayQueue queue,
        MessageMapper mapper,
        Supplier<String> ids,
        Meters.Use meters,
        NoConsumerReport.Watch deserted) {

    /**
     * Sends the message.
     *
     * @throws IllegalArgumentException if it cannot be stored; then nothing was sent
     */
    public PendingRequest send(Exchange exchange) {
        settings.checkState(RedisDelayOperation.SCHEDULE);
        return settings.batching() && exchange.getMessage().getBody() instanceof List<?> list
                ? all(list, exchange)
                : one(exchange);
    }

    private PendingRequest one(Exchange exchange) {
        Message message = exchange.getMessage();
        String id = IdHeaders.single(message);
        ScheduleHeaders headers = new ScheduleHeaders(message, message, settings);
        return new PendingChanges<>(false, List.of(schedule(id, headers, exchange, exchange)), this::putOne);
    }

    /**
     * @param ownId null for one to be generated, which never takes the place of another message's, nor is taken for it
     * @param element the exchange, or an element of the list that is its body
     */
    private PendingChange<ScheduleResult> schedule(
            String ownId, ScheduleHeaders headers, Object element, Exchange exchange) {
        String id = ownId == null ? ids.get() : ownId;
        DuplicatePolicy onDuplicate = ownId == null ? DuplicatePolicy.REJECT : settings.onDuplicate();
        DueTime due = headers.due();
        int priority = headers.priority();
        String group = headers.group();
        Schedule rule = headers.rule();
        if (rule != null && ownId == null) {
            throw new IllegalArgumentException(
                    "a recurring schedule (" + rule + ") needs an id, by which the same one again"
                            + " changes it: set header '" + RedisDelayConstants.SCHEDULE_ID + "'");
        }
        Envelope.Settings own = headers.settings();
        // The body is read last: after an error in a header, an error handler still finds a stream unread.
        byte[] body = mapper.toEnvelope(element, exchange, own).encode();
        // Only the holder of the lease may put a message in the place of its own delivery.
        DeliveryCompletion held = DeliveriesOfExchange.find(exchange, queue, id);
        ClaimId supersedes =
                held == null || held.isOver() ? null : held.delivery().claimId();
        ScheduleRequest request = ScheduleRequest.of(id, body, due)
                .withOnDuplicate(onDuplicate)
                .superseding(supersedes)
                .withPriority(priority)
                .withGroup(group == null && held != null ? held.delivery().group() : group)
                .withMaximumQueueLength(settings.maximumQueueLength());
        ScheduleRequest sent = rule == null ? request : request.recurring(rule, 0);
        boolean told = held != null || meters != Meters.Use.NONE || MessageLog.isOn();
        return PendingChange.send(
                id,
                () -> told
                        ? PendingChange.telling(queue.schedule(sent), done -> answered(done, held))
                        : queue.schedule(sent));
    }

    private void answered(ScheduleResult result, DeliveryCompletion held) {
        MessageLog.scheduled(queue.name(), result);
        if (result.outcome() != ScheduleOutcome.IGNORED) {
            meters.count(Meters.Event.SCHEDULED, 1);
        }
        if (held != null && result.outcome() == ScheduleOutcome.SUPERSEDED) {
            held.superseded();
        }
    }

    private void putOne(List<PendingChange<ScheduleResult>> changes, Message message) {
        ScheduleResult result = changes.get(0).result();
        deserted.scheduled(result);
        message.setHeader(RedisDelayConstants.MESSAGE_ID, result.id());
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, result.scheduledMicros() / 1000);
        if (result.dueMicros() > 0) {
            message.setHeader(RedisDelayConstants.DUE_TIME, result.dueMicros() / 1000);
        } else {
            message.removeHeader(RedisDelayConstants.DUE_TIME); // an ignored one that was finished already
        }
    }

    private PendingRequest all(List<?> list, Exchange exchange) {
        if (exchange.getMessage().getHeader(RedisDelayConstants.SCHEDULE_ID) != null) {
            throw new IllegalArgumentException(
                    "header '" + RedisDelayConstants.SCHEDULE_ID + "' is set on a batch of " + list.size()
                            + " messages, which cannot have one id: make each a Message with this header, or remove it");
        }
        List<PendingChange<ScheduleResult>> elements = queue.together(() -> {
            List<PendingChange<ScheduleResult>> sent = new ArrayList<>(list.size());
            for (Object element : list) {
                sent.add(element(element, exchange));
            }
            return sent;
        });
        return new PendingChanges<>(true, elements, this::putAll);
    }

    private PendingChange<ScheduleResult> element(Object element, Exchange exchange) {
        Message outer = exchange.getMessage();
        Message own =
                element instanceof Exchange part ? part.getMessage() : element instanceof Message part ? part : outer;
        String id = null;
        try {
            id = IdHeaders.single(own);
            if (own != outer) {
                OwnHeaders.check(own);
            }
            RedisDelayOperation operation = ScheduleHeaders.operation(own, RedisDelayOperation.SCHEDULE);
            if (operation != RedisDelayOperation.SCHEDULE) {
                throw new IllegalArgumentException(
                        "a message of a batch asks for operation '" + operation + "': a batch can only be scheduled");
            }
            return schedule(id, new ScheduleHeaders(own, outer, settings), element, exchange);
        } catch (RuntimeException e) {
            return PendingChange.refused(id == null ? ids.get() : id, e);
        }
    }

    private void putAll(List<PendingChange<ScheduleResult>> elements, Message message) {
        Map<String, Throwable> failures = new LinkedHashMap<>();
        List<ScheduleResult> stored = new ArrayList<>(elements.size());
        for (PendingChange<ScheduleResult> element : elements) {
            Exception error = element.error();
            if (error == null) {
                stored.add(element.result());
                deserted.scheduled(element.result());
            } else {
                failures.putIfAbsent(element.id(), error);
            }
        }
        List<String> ids = stored.stream().map(ScheduleResult::id).toList();
        if (!failures.isEmpty()) {
            throw new BatchScheduleException(queue.name(), failures, elements.size() - stored.size(), ids);
        }
        message.setHeader(RedisDelayConstants.MESSAGE_ID, ids);
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, millis(stored, ScheduleResult::scheduledMicros));
        message.setHeader(RedisDelayConstants.DUE_TIME, millis(stored, ScheduleResult::dueMicros));
    }

    private static List<Long> millis(List<ScheduleResult> results, ToLongFunction<ScheduleResult> micros) {
        return results.stream().map(result -> micros.applyAsLong(result) / 1000).toList();
    }
}
