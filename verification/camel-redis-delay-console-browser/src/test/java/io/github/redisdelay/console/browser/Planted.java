// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.redisson.api.RedissonClient;

/** Queues under a key prefix of their own, and short words to put into them what a page shows. */
final class Planted implements AutoCloseable {

    static final DueTime LONG_AGO = new DueTime(false, 1);
    static final DueTime IN_AN_HOUR = DueTime.after(Duration.ofHours(1));

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<DelayQueueConsumer> consumers = new ArrayList<>();
    private final DelayQueueClient client;

    Planted(RedissonClient redisson, String keyPrefix) {
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS.withKeyPrefix(keyPrefix));
    }

    DelayQueueClient client() {
        return client;
    }

    DelayQueue queue(String name) {
        return client.queue(name);
    }

    static <T> T get(Submission<T> sent) {
        return get(sent.result());
    }

    static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(20));
    }

    static ScheduleRequest message(String id, DueTime due, Object body, String contentType, Map<String, ?> headers) {
        return ScheduleRequest.of(id, Envelope.of(body, contentType, headers).encode(), due);
    }

    void waits(String queue, String id, DueTime due) {
        get(queue(queue).schedule(message(id, due, "body of " + id, "text/plain", Map.of())));
    }

    /** A recurring schedule of an hour. */
    void recurs(String queue, String id, Map<String, ?> headers) {
        get(queue(queue)
                .schedule(message(id, DueTime.now(), "body of " + id, "text/plain", headers)
                        .recurring(Schedule.every(Duration.ofHours(1)), 0)));
    }

    /** Many messages, sent together. */
    void wait(String queue, int count, IntFunction<ScheduleRequest> request) {
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        queue(queue).together(() -> {
            for (int i = 0; i < count; i++) {
                sent.add(queue(queue).schedule(request.apply(i)));
            }
            return null;
        });
        sent.forEach(Planted::get);
    }

    QueueStats stats(String queue) {
        return get(queue(queue).admin().stats());
    }

    /** A consumer that does this with each message, once it is known to Redis. */
    DelayQueueConsumer consume(String queue, String name, int concurrent, Consumer<Delivery> work) {
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(concurrent)
                .withMaxMessagesPerPoll(concurrent)
                .withName(name);
        DelayQueueConsumer consumer = queue(queue).consume(options, executor, work::accept);
        consumers.add(consumer);
        await().until(() -> get(queue(queue).admin().consumers()).stream()
                .anyMatch(seen -> seen.name().equals(name)));
        return consumer;
    }

    /** A consumer that keeps what it gets. */
    Queue<Delivery> hold(String queue, String name, int concurrent) {
        Queue<Delivery> held = new ConcurrentLinkedQueue<>();
        consume(queue, name, concurrent, held::add);
        return held;
    }

    void stop(DelayQueueConsumer consumer) {
        consumer.stop(true);
        consumers.remove(consumer);
    }

    static FailureRecord failure(String exception, String message, String route, String host) {
        return new FailureRecord(exception, message, route, host, 3, Instant.now(), "failed");
    }

    /** Gives messages up one after the other, as due now; each with its failure. */
    void bury(String queue, List<ScheduleRequest> requests, IntFunction<FailureRecord> failures) {
        buryWith(queue, requests, i -> failures.apply(i).encode());
    }

    /** The same with any bytes, as another client may leave them. */
    void buryWith(String queue, List<ScheduleRequest> requests, IntFunction<byte[]> failures) {
        long before = stats(queue).dead();
        wait(queue, requests.size(), requests::get);
        Map<String, Integer> order = new java.util.HashMap<>();
        requests.forEach(request -> order.put(request.id(), order.size()));
        DelayQueueConsumer consumer = consume(queue, "undertaker", 1, delivery -> {
            Integer index = order.get(delivery.id());
            delivery.settle(new Settlement.DeadLetter(index == null ? new byte[0] : failures.apply(index)));
        });
        await().until(() -> stats(queue).dead() == before + requests.size());
        stop(consumer);
    }

    /** Messages that wait for an hour after a delivery that has failed; each with what it left. */
    void fail(String queue, List<String> ids, IntFunction<byte[]> failures) {
        ids.forEach(id -> waits(queue, id, LONG_AGO));
        DelayQueueConsumer consumer = consume(
                queue,
                "failing",
                1,
                delivery -> delivery.settle(
                        new Settlement.Retry(Duration.ofHours(1), failures.apply(ids.indexOf(delivery.id())))));
        await().until(() -> stats(queue).overdue() + stats(queue).leased() == 0);
        stop(consumer);
    }

    @Override
    public void close() {
        consumers.forEach(consumer -> consumer.stop(true));
        client.close();
        executor.shutdownNow();
    }
}
