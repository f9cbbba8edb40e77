// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.RedisDelayClients.OpenClient;
import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.support.DefaultAsyncProducer;

/**
 * Schedules, cancels and reschedules messages. The message is made on the caller's thread; the exchange goes on, on a thread
 * of the component, when Redis has answered. Holds nothing of an exchange itself.
 */
public class RedisDelayProducer extends DefaultAsyncProducer {

    // Set by doStart, cleared by doStop; read by the callers' threads.
    private volatile Reference<OpenClient> client;

    public RedisDelayProducer(RedisDelayEndpoint endpoint) {
        super(endpoint);
    }

    @Override
    public RedisDelayEndpoint getEndpoint() {
        return (RedisDelayEndpoint) super.getEndpoint();
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        client = getEndpoint().acquireClient();
    }

    @Override
    protected void doStop() throws Exception {
        Reference<OpenClient> open = client;
        client = null;
        if (open != null) {
            open.release();
        }
        super.doStop();
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        SentRequest request;
        CompletableFuture<Void> answered;
        try {
            request = SentRequest.Unanswered.take(exchange, getEndpoint().getEndpointUri());
            if (request == null) {
                request = send(exchange);
                answered = request.answered();
            } else {
                answered = request.again(getEndpoint().clientOptions().requestTimeout());
            }
        } catch (Exception e) {
            exchange.setException(e);
            callback.done(true);
            return true;
        }
        if (exchange.isTransacted()) {
            // A transaction belongs to its thread, so this one has to wait.
            answered.join();
        }
        if (answered.isDone()) {
            finish(exchange, request);
            callback.done(true);
            return true;
        }
        SentRequest sent = request;
        answered.thenRun(() -> getEndpoint().getComponent().goOn(() -> {
            finish(exchange, sent);
            callback.done(false);
        }));
        return false;
    }

    private void finish(Exchange exchange, SentRequest request) {
        try {
            request.complete(exchange.getMessage());
            ScheduleHeaders.remove(exchange.getMessage());
        } catch (Exception e) {
            exchange.setException(e);
            if (request.isToBeContinued()) {
                SentRequest.Unanswered.keep(exchange, getEndpoint().getEndpointUri(), request);
            }
        }
    }

    private SentRequest send(Exchange exchange) {
        Reference<OpenClient> open = client;
        if (open == null) {
            throw new IllegalStateException(
                    "the producer of queue '" + getEndpoint().getQueueName() + "' is stopped");
        }
        DelayQueue queue = getEndpoint().queue(open);
        Message message = exchange.getMessage();
        ProducerSettings settings = getEndpoint().producerSettings();
        RedisDelayOperation operation = ScheduleHeaders.operation(message, settings.operation());
        return switch (operation) {
            case schedule ->
                settings.batching() && message.getBody() instanceof List<?> list
                        ? scheduleAll(list, exchange, open, queue)
                        : schedule(exchange, open, queue);
            case cancel -> {
                String id = ScheduleHeaders.requiredId(message, operation);
                yield change(id, () -> queue.cancel(id));
            }
            case reschedule -> {
                String id = ScheduleHeaders.requiredId(message, operation);
                DueTime due = ScheduleHeaders.due(message);
                DueTime time = due == null ? settings.due() : due;
                if (time == null) {
                    throw new IllegalArgumentException("operation 'reschedule' of message '" + id
                            + "' needs a time: set header '" + RedisDelayConstants.DELAY + "' or '"
                            + RedisDelayConstants.DELIVER_AT + "', or option 'delay' or 'deliverAt'");
                }
                yield change(id, () -> queue.reschedule(id, time));
            }
        };
    }

    private SentRequest change(String id, java.util.function.Supplier<Submission<ChangeResult>> call) {
        return new SentOperation<>(describe(id), call, (result, message) -> {
            message.setHeader(RedisDelayConstants.MESSAGE_ID, result.id());
            message.setHeader(RedisDelayConstants.QUEUE, getEndpoint().getQueueName());
            message.setHeader(RedisDelayConstants.PREVIOUS_STATE, Names.lower(result.previousState()));
            if (result.dueMicros() > 0) {
                message.setHeader(RedisDelayConstants.DUE_TIME, result.dueMicros() / 1000);
            }
        });
    }

    private SentRequest schedule(Exchange exchange, Reference<OpenClient> open, DelayQueue queue) {
        Message message = exchange.getMessage();
        String id = ScheduleHeaders.id(message);
        if (id == null) {
            id = open.get().queues().nextId();
        }
        DueTime due = due(message, message);
        byte[] body = getEndpoint().mapper().toEnvelope(exchange).encode();
        return schedule(id, due, body, exchange, queue);
    }

    private SentOperation<ScheduleResult> schedule(
            String id, DueTime due, byte[] body, Exchange exchange, DelayQueue queue) {
        // Only who holds the lease may put a message in the place of its own delivery.
        DeliveryCompletion held = HeldDeliveries.find(exchange, queue.name(), id);
        ClaimId supersedes = held == null ? null : held.delivery().claimId();
        ScheduleRequest request = new ScheduleRequest(
                id, due, body, getEndpoint().producerSettings().onDuplicate(), supersedes);
        return new SentOperation<>(
                describe(id),
                () -> {
                    Submission<ScheduleResult> submission = queue.schedule(request);
                    if (held != null) {
                        submission.outcome().thenAccept(result -> {
                            if (result.outcome() == ScheduleOutcome.SUPERSEDED) {
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
        message.setHeader(RedisDelayConstants.QUEUE, getEndpoint().getQueueName());
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, result.scheduledMicros() / 1000);
        message.setHeader(RedisDelayConstants.DUE_TIME, result.dueMicros() / 1000);
    }

    private SentRequest scheduleAll(List<?> list, Exchange exchange, Reference<OpenClient> open, DelayQueue queue) {
        if (ScheduleHeaders.id(exchange.getMessage()) != null) {
            throw new IllegalArgumentException(
                    "header '" + RedisDelayConstants.SCHEDULE_ID + "' is set on a batch of " + list.size()
                            + " messages, which cannot have one id: make each a Message with this header, or remove it");
        }
        List<SentBatch.Element> elements = new ArrayList<>(list.size());
        for (Object element : list) {
            elements.add(scheduleElement(element, exchange, open, queue));
        }
        return new SentBatch(queue.name(), elements);
    }

    private SentBatch.Element scheduleElement(
            Object element, Exchange exchange, Reference<OpenClient> open, DelayQueue queue) {
        Message outer = exchange.getMessage();
        Message own = outer;
        if (element instanceof Exchange part) {
            own = part.getMessage();
        } else if (element instanceof Message part) {
            own = part;
        }
        String id = null;
        try {
            id = ScheduleHeaders.id(own);
            if (id == null) {
                id = open.get().queues().nextId();
            }
            RedisDelayOperation operation = ScheduleHeaders.operation(own, RedisDelayOperation.schedule);
            if (operation != RedisDelayOperation.schedule) {
                throw new IllegalArgumentException(
                        "a message of a batch asks for operation '" + operation + "': a batch can only be scheduled");
            }
            DueTime due = due(own, outer);
            byte[] body = getEndpoint().mapper().toEnvelope(element, exchange).encode();
            return new SentBatch.Element(id, schedule(id, due, body, exchange, queue), null);
        } catch (RuntimeException e) {
            return new SentBatch.Element(id == null ? open.get().queues().nextId() : id, null, e);
        }
    }

    /** A message's own headers win over those of its batch, and these over the options. */
    private DueTime due(Message own, Message outer) {
        DueTime due = ScheduleHeaders.due(own);
        if (due == null && own != outer) {
            due = ScheduleHeaders.due(outer);
        }
        if (due == null) {
            due = getEndpoint().producerSettings().due();
        }
        return due == null ? DueTime.now() : due;
    }

    private String describe(String id) {
        return "message '" + id + "' of queue '" + getEndpoint().getQueueName() + "'";
    }
}
