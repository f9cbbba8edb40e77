// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.ConsoleRights;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisExtension;
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
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A console on a real Redis with a key prefix of its own for each test, and short words to plant what it shows. */
abstract class ApiIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    static final DueTime LONG_AGO = new DueTime(false, 1);
    static final DueTime IN_AN_HOUR = DueTime.after(Duration.ofHours(1));
    static final ConsoleUser ANYBODY = user(ConsoleRights.all());

    final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<DelayQueueConsumer> consumers = new ArrayList<>();
    DelayQueueClient client;
    DelayQueueClient consoles;
    ConsoleApi api;

    @BeforeEach
    void open() {
        ClientOptions options = ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix());
        client = DelayQueueClient.create(redis.client(), options);
        consoles = DelayQueueClient.create(redis.client(), options);
        api = console(ConsoleOptions.DEFAULTS);
    }

    @AfterEach
    void close() {
        consumers.forEach(consumer -> consumer.stop(true));
        api.close();
        consoles.close();
        client.close();
        executor.shutdownNow();
    }

    ConsoleApi console(ConsoleOptions options) {
        return new ConsoleApi(() -> List.of(new QueueSource(consoles, redis.address(), Map.of())), List::of, options);
    }

    /** A console in a process with a route that declares the schedule of this id in each queue. */
    ConsoleApi consoleBeside(String declared) {
        return new ConsoleApi(
                () -> List.of(new QueueSource(consoles, redis.address(), Map.of(), (queue, id) -> id.equals(declared))),
                List::of,
                ConsoleOptions.DEFAULTS);
    }

    static ConsoleUser user(ConsoleRights rights) {
        return new ConsoleUser("operator", "127.0.0.1", rights, false);
    }

    static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(20));
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

    static ScheduleRequest message(String id, DueTime due, Object body, Map<String, ?> headers) {
        return ScheduleRequest.of(id, Envelope.of(body, "text/plain", headers).encode(), due);
    }

    /** Waits until so many queues are noted, which is done in the background. */
    void awaitKnown(int queues) {
        await().until(() -> get(client.queues(1000)).size() == queues);
    }

    void schedule(DelayQueue queue, String id, DueTime due) {
        get(queue.schedule(message(id, due, "body of " + id, Map.of())));
    }

    /** A recurring schedule of an hour. */
    void recur(DelayQueue queue, String id, Map<String, ?> headers) {
        get(queue.schedule(message(id, DueTime.now(), "body of " + id, headers)
                .recurring(Schedule.every(Duration.ofHours(1)), 0)));
    }

    /** Many messages of a prefix and a number. */
    void scheduleMany(DelayQueue queue, String prefix, int count, DueTime due) {
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        queue.together(() -> {
            for (int i = 0; i < count; i++) {
                sent.add(queue.schedule(message(prefix + i, due, "body", Map.of())));
            }
            return null;
        });
        sent.forEach(ApiIT::get);
    }

    /** A consumer that does this with each message, once it is known to Redis. */
    DelayQueueConsumer consume(DelayQueue queue, String name, int concurrent, Consumer<Delivery> work) {
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(concurrent)
                .withMaxMessagesPerPoll(concurrent)
                .withName(name);
        DelayQueueConsumer consumer = queue.consume(options, executor, work::accept);
        consumers.add(consumer);
        await().until(() -> get(queue.admin().consumers()).stream()
                .anyMatch(seen -> seen.name().equals(name)));
        return consumer;
    }

    void stop(DelayQueueConsumer consumer) {
        consumer.stop(true);
        consumers.remove(consumer);
    }

    /** A consumer that keeps what it gets. */
    Queue<Delivery> hold(DelayQueue queue, String name, int concurrent) {
        Queue<Delivery> held = new ConcurrentLinkedQueue<>();
        consume(queue, name, concurrent, held::add);
        return held;
    }

    static FailureRecord failure(String exception, String route, String reason) {
        return new FailureRecord(
                exception, "it is " + exception, route, "app-1", 3, Instant.parse("2026-11-22T14:03:11Z"), reason);
    }

    /** Gives up messages that are due now, in this order; each with a failure. */
    void bury(DelayQueue queue, Map<String, FailureRecord> failures) {
        long before = get(queue.admin().stats()).dead();
        DelayQueueConsumer consumer =
                consume(queue, "undertaker", 1, delivery -> delivery.settle(new Settlement.DeadLetter(
                                failures.get(delivery.id()) == null
                                        ? new byte[0]
                                        : failures.get(delivery.id()).encode()))
                        .result()
                        .join());
        long buried = before;
        for (String id : failures.keySet()) {
            // One after the other: two that share a call have one time.
            schedule(queue, id, LONG_AGO);
            long after = ++buried;
            await().until(() -> get(queue.admin().stats()).dead() == after);
        }
        stop(consumer);
    }
}
