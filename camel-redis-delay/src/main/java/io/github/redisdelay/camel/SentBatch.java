// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.ScheduleResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.camel.Message;

/** A batch of messages that were sent at once. */
final class SentBatch implements SentRequest {

    /**
     * One message of the batch.
     *
     * @param operation null if the message could not be made
     * @param refusal why it could not be made, or null
     */
    record Element(String id, SentOperation<ScheduleResult> operation, Exception refusal) {

        Throwable error() {
            return operation == null ? refusal : operation.error();
        }
    }

    private final String queue;
    private final List<Element> elements;

    SentBatch(String queue, List<Element> elements) {
        this.queue = queue;
        this.elements = elements;
    }

    @Override
    public CompletableFuture<?> answered() {
        return CompletableFuture.allOf(elements.stream()
                .filter(element -> element.operation() != null)
                .map(element -> element.operation().answered())
                .toArray(CompletableFuture[]::new));
    }

    @Override
    public CompletableFuture<?> again(Duration timeout) {
        for (Element element : elements) {
            if (element.operation() != null) {
                element.operation().again(timeout);
            }
        }
        return answered();
    }

    @Override
    public void complete(Message message) {
        Map<String, Throwable> failures = new LinkedHashMap<>();
        List<String> ids = new ArrayList<>(elements.size());
        List<Long> scheduled = new ArrayList<>(elements.size());
        List<Long> due = new ArrayList<>(elements.size());
        for (Element element : elements) {
            Throwable error = element.error();
            if (error != null) {
                failures.put(element.id(), error);
                continue;
            }
            ScheduleResult result = element.operation().result();
            ids.add(result.id());
            scheduled.add(result.scheduledMicros() / 1000);
            due.add(result.dueMicros() / 1000);
        }
        if (!failures.isEmpty()) {
            throw new BatchScheduleException(queue, failures, ids);
        }
        message.setHeader(RedisDelayConstants.MESSAGE_ID, ids);
        message.setHeader(RedisDelayConstants.QUEUE, queue);
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, scheduled);
        message.setHeader(RedisDelayConstants.DUE_TIME, due);
    }

    /** Always: what is scheduled must not be scheduled once more because something else failed. */
    @Override
    public boolean isToBeContinued() {
        return true;
    }
}
