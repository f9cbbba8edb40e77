// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ReplicationTimeoutException;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/** Schedules the message of an exchange, or those of a list. Holds nothing of an exchange. */
final class ScheduleOperation {

    private final ProducerSettings settings;
    private final DelayQueue queue;
    private final MessageMapper mapper;
    private final Supplier<String> ids;

    /**
     * @param ids makes an id for a message that has none
     */
    ScheduleOperation(ProducerSettings settings, DelayQueue queue, MessageMapper mapper, Supplier<String> ids) {
        this.settings = settings;
        this.queue = queue;
        this.mapper = mapper;
        this.ids = ids;
    }

    /**
     * Sends the message.
     *
     * @throws IllegalArgumentException if it cannot be stored; then nothing was sent
     */
    SentRequest send(Exchange exchange) {
        settings.checkState(RedisDelayOperation.schedule);
        return settings.batching() && exchange.getMessage().getBody() instanceof List<?> list
                ? all(list, exchange)
                : one(exchange);
    }

    private SentRequest one(Exchange exchange) {
        Message message = exchange.getMessage();
        String id = ScheduleIds.single(message);
        ScheduleHeaders headers = new ScheduleHeaders(message, message, settings);
        DueTime due = headers.due();
        byte[] body = mapper.toEnvelope(exchange, headers.settings()).encode();
        return schedule(id == null ? ids.get() : id, due, headers.priority(), body, exchange);
    }

    private SentOperation<ScheduleResult> schedule(
            String id, DueTime due, int priority, byte[] body, Exchange exchange) {
        // Only who holds the lease may put a message in the place of its own delivery.
        DeliveryCompletion held = HeldDeliveries.find(exchange, queue, id);
        ClaimId supersedes =
                held == null || held.isOver() ? null : held.delivery().claimId();
        ScheduleRequest request = new ScheduleRequest(
                id, due, body, settings.onDuplicate(), supersedes, priority, settings.maximumQueueLength());
        return new SentOperation<>(
                queue,
                () -> "message '" + id + "' of queue '" + queue.name() + "'",
                () -> {
                    Submission<ScheduleResult> submission = queue.schedule(request);
                    if (held != null) {
                        submission.outcome().whenComplete((result, error) -> {
                            Object answer =
                                    error instanceof ReplicationTimeoutException stored ? stored.getResult() : result;
                            if (answer instanceof ScheduleResult done && done.outcome() == ScheduleOutcome.SUPERSEDED) {
                                held.superseded();
                            }
                        });
                    }
                    return submission;
                },
                this::putResult);
    }

    private void putResult(ScheduleResult result, Message message) {
        message.setHeader(RedisDelayConstants.MESSAGE_ID, result.id());
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, result.scheduledMicros() / 1000);
        if (result.dueMicros() > 0) {
            message.setHeader(RedisDelayConstants.DUE_TIME, result.dueMicros() / 1000);
        } else {
            message.removeHeader(RedisDelayConstants.DUE_TIME); // an ignored one that was finished already
        }
    }

    private SentRequest all(List<?> list, Exchange exchange) {
        if (exchange.getMessage().getHeader(RedisDelayConstants.SCHEDULE_ID) != null) {
            throw new IllegalArgumentException(
                    "header '" + RedisDelayConstants.SCHEDULE_ID + "' is set on a batch of " + list.size()
                            + " messages, which cannot have one id: make each a Message with this header, or remove it");
        }
        return queue.together(() -> {
            List<SentBatch.Element> elements = new ArrayList<>(list.size());
            for (Object element : list) {
                elements.add(element(element, exchange));
            }
            return new SentBatch(queue.name(), elements);
        });
    }

    private SentBatch.Element element(Object element, Exchange exchange) {
        Message outer = exchange.getMessage();
        Message own = outer;
        if (element instanceof Exchange part) {
            own = part.getMessage();
        } else if (element instanceof Message part) {
            own = part;
        }
        String id = null;
        try {
            id = ScheduleIds.single(own);
            if (id == null) {
                id = ids.get();
            }
            if (own != outer) {
                OwnHeaders.check(own);
            }
            RedisDelayOperation operation = ScheduleHeaders.operation(own, RedisDelayOperation.schedule);
            if (operation != RedisDelayOperation.schedule) {
                throw new IllegalArgumentException(
                        "a message of a batch asks for operation '" + operation + "': a batch can only be scheduled");
            }
            ScheduleHeaders headers = new ScheduleHeaders(own, outer, settings);
            DueTime due = headers.due();
            byte[] body =
                    mapper.toEnvelope(element, exchange, headers.settings()).encode();
            return new SentBatch.Element(id, schedule(id, due, headers.priority(), body, exchange), null);
        } catch (RuntimeException e) {
            return new SentBatch.Element(id == null ? ids.get() : id, null, e);
        }
    }
}
