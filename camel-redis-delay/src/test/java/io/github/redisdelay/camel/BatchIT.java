// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.processor.aggregate.GroupedBodyAggregationStrategy;
import org.junit.jupiter.api.Test;

class BatchIT extends ConsumerSideIT {

    private static final String BATCHES = FAST + "&batching=true";

    /** The batches that routes took, as lists of bodies. */
    private final BlockingQueue<List<Object>> batches = new LinkedBlockingQueue<>();

    @SuppressWarnings("unchecked")
    private static List<Message> messages(Exchange exchange) {
        return exchange.getMessage().getBody(List.class);
    }

    private List<Object> takeBatch(Exchange exchange) {
        List<Object> bodies = messages(exchange).stream().map(Message::getBody).toList();
        batches.add(bodies);
        return bodies;
    }

    private List<Object> nextBatch() throws InterruptedException {
        List<Object> batch = batches.poll(20, TimeUnit.SECONDS);
        assertThat(batch).as("a batch within 20 s").isNotNull();
        return batch;
    }

    private void scheduleMany(int from, int to) {
        for (int i = from; i < to; i++) {
            schedule("m" + i, i);
        }
    }

    @Test
    void should_route_a_full_batch_as_one_exchange() throws Exception {
        for (int i = 0; i < 3; i++) {
            context.start();
            send(uri, "body " + i, Map.of("n", i, RedisDelayConstants.SCHEDULE_ID, "m" + i));
        }
        BlockingQueue<Exchange> exchanges = new LinkedBlockingQueue<>();
        start(consume(BATCHES + "&batchSize=3&batchTimeout=30m", exchange -> exchanges.add(exchange.copy())));
        Exchange exchange = exchanges.poll(20, TimeUnit.SECONDS);
        assertThat(exchange.getProperty(Exchange.BATCH_SIZE)).isEqualTo(3);
        assertThat(exchange.getMessage().getHeaders())
                .containsExactlyEntriesOf(Map.of(RedisDelayConstants.QUEUE, queue));
        List<Message> messages = messages(exchange);
        for (int i = 0; i < 3; i++) {
            assertThat(messages.get(i).getBody()).isEqualTo("body " + i);
            assertThat(messages.get(i).getHeaders())
                    .containsEntry("n", i)
                    .containsEntry(RedisDelayConstants.MESSAGE_ID, "m" + i)
                    .containsEntry(RedisDelayConstants.QUEUE, queue)
                    .containsEntry(RedisDelayConstants.ATTEMPT, 1);
        }
        assertEmpty();
        assertThat(consumer().getReceived()).isEqualTo(3);
    }

    @Test
    void should_route_what_there_is_after_the_timeout_and_split_it_with_bodies_and_headers() throws Exception {
        scheduleMany(0, 2);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?batching=true&batchSize=10&batchTimeout=2s")
                        .routeId("consumer")
                        .process(BatchIT.this::takeBatch)
                        .split(body())
                        .process(BatchIT.this::take);
            }
        });
        assertThat(nextBatch()).containsExactly(0, 1);
        for (int i = 0; i < 2; i++) {
            Message part = next();
            assertThat(part.getBody()).isEqualTo(i);
            assertThat(part.getHeader(RedisDelayConstants.MESSAGE_ID)).isEqualTo("m" + i);
        }
        assertEmpty();
    }

    @Test
    void should_convert_the_bodies_of_a_batch_to_what_is_asked_for() throws Exception {
        schedule("m0", "text".getBytes(StandardCharsets.UTF_8));
        schedule("m1", 7);
        start(consume(
                BATCHES + "&batchSize=2&batchTimeout=30m",
                exchange -> batches.add(messages(exchange).stream()
                        .map(message -> (Object) message.getBody(String.class))
                        .toList())));
        assertThat(nextBatch()).containsExactly("text", "7");
        assertEmpty();
    }

    @Test
    void should_work_on_as_many_batches_as_there_are_consumers() throws Exception {
        scheduleMany(0, 12);
        AtomicInteger busy = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch two = new CountDownLatch(2);
        start(consume(BATCHES + "&concurrentConsumers=2&batchSize=3&batchTimeout=200ms", exchange -> {
            most.accumulateAndGet(busy.incrementAndGet(), Math::max);
            two.countDown();
            two.await(20, TimeUnit.SECONDS);
            busy.decrementAndGet();
            takeBatch(exchange);
        }));
        List<Object> all = new ArrayList<>();
        while (all.size() < 12) {
            List<Object> batch = nextBatch();
            assertThat(batch).hasSizeLessThanOrEqualTo(3);
            all.addAll(batch);
        }
        assertThat(all).doesNotHaveDuplicates().hasSize(12);
        assertThat(most).hasValue(2);
        assertEmpty();
    }

    @Test
    void should_send_a_poison_message_to_the_dead_letters_alone() throws Exception {
        Map<Object, AtomicInteger> succeeded = new ConcurrentHashMap<>();
        scheduleMany(0, 10);
        start(consume(BATCHES + "&maximumRedeliveries=3&batchSize=10&batchTimeout=30m", exchange -> {
            List<Object> bodies = takeBatch(exchange);
            if (bodies.contains(5)) {
                throw new IllegalStateException("poison");
            }
            bodies.forEach(body ->
                    succeeded.computeIfAbsent(body, key -> new AtomicInteger()).incrementAndGet());
        }));
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertEmpty();
        assertThat(succeeded).hasSize(9).allSatisfy((body, times) -> assertThat(times)
                .hasValue(1));
        assertThat(stored().deadLetters()
                        .admin()
                        .list(io.github.redisdelay.queue.MessageState.DELAYED, PageStart.first(), 10)
                        .join()
                        .messages())
                .singleElement()
                .satisfies(message -> assertThat(message.id()).startsWith("m5@"));
        List<Object> first = nextBatch();
        assertThat(first).hasSizeGreaterThan(1);
        assertThat(batches.stream().filter(batch -> batch.contains(5)))
                .as("after the failed batch it came alone")
                .allSatisfy(batch -> assertThat(batch).hasSize(1));
    }

    @Test
    void should_acknowledge_each_of_many_once_while_some_batches_fail() throws Exception {
        int messages = 2000;
        Map<Object, AtomicInteger> succeeded = new ConcurrentHashMap<>();
        AtomicInteger failures = new AtomicInteger();
        List<CompletableFuture<?>> schedules = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            schedules.add(
                    stored().schedule(ScheduleRequest.of(null, Envelope.of(i).encode(), DueTime.now()))
                            .result());
        }
        schedules.forEach(CompletableFuture::join);
        String options = "?redeliveryDelay=5ms&batching=true&concurrentConsumers=3&batchSize=50&batchTimeout=20ms";
        start(consume(options, exchange -> {
            for (Message message : messages(exchange)) {
                // Each message whose number ends with 7 fails in its first two deliveries.
                if ((int) message.getBody() % 100 == 7
                        && message.getHeader(RedisDelayConstants.ATTEMPT, int.class) < 3) {
                    failures.incrementAndGet();
                    throw new IllegalStateException("not yet");
                }
            }
            for (Message message : messages(exchange)) {
                succeeded
                        .computeIfAbsent(message.getBody(), key -> new AtomicInteger())
                        .incrementAndGet();
            }
        }));
        await().atMost(Duration.ofSeconds(60)).until(() -> succeeded.size() == messages);
        assertEmpty();
        assertThat(succeeded.values()).allSatisfy(times -> assertThat(times).hasValue(1));
        assertThat(failures).hasPositiveValue();
        assertThat(stats().dead()).isZero();
        await().until(() -> consumer().getProcessing() == 0); // a slot is free once its answer was sent
    }

    @Test
    void should_deliver_alone_what_came_in_a_batch_whose_consumer_died() throws Exception {
        scheduleMany(0, 3);
        for (int i = 0; i < 3; i++) {
            claim(stored(), Duration.ofMillis(100));
        }
        start(consume(BATCHES + "&batchSize=3&batchTimeout=5s", this::takeBatch));
        for (int i = 0; i < 3; i++) {
            assertThat(nextBatch()).hasSize(1);
        }
        assertEmpty();
    }

    @Test
    void should_apply_to_all_what_the_exchange_of_the_batch_asks_for() throws Exception {
        scheduleMany(0, 3);
        start(consume(BATCHES + "&batchSize=3&batchTimeout=30m", exchange -> {
            takeBatch(exchange);
            exchange.getMessage().setHeader(RedisDelayConstants.RETRY_AFTER, "1h");
        }));
        nextBatch();
        await().untilAsserted(() -> assertThat(stats().leased()).isZero());
        assertThat(stats().delayed()).isEqualTo(3);
        assertThat(stats().nextDueMicros()).isGreaterThan(3_500_000_000L);
        context.getRouteController().stopRoute("consumer");
        context.removeRoute("consumer");

        start(consume(
                BATCHES + "&batchSize=2&batchTimeout=30m",
                exchange -> exchange.setProperty(RedisDelayConstants.DEAD_LETTER_REASON, "no use")));
        scheduleMany(10, 12);
        await().untilAsserted(() -> assertThat(stats().dead()).isEqualTo(2));
        assertThat(failureOfDeadLetter()).contains("\"reason\":\"no use\"");
    }

    @Test
    void should_leave_the_messages_of_a_batch_that_is_not_complete_to_others() throws Exception {
        start(consume(BATCHES + "&batchSize=10&batchTimeout=30m", this::takeBatch));
        scheduleMany(0, 9);
        var taken = claim(stored());
        assertThat(taken.attempt()).isOne();
        taken.settle(Settlement.ACKNOWLEDGE).result().join();
        assertThat(stats().leased()).isZero();
        assertThat(stats().overdue()).isEqualTo(8);
        scheduleMany(9, 11);
        assertThat(nextBatch()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        assertEmpty();
    }

    @Test
    void should_let_a_route_schedule_one_of_its_messages_again() throws Exception {
        scheduleMany(0, 3);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?batching=true&batchSize=3&batchTimeout=30m")
                        .routeId("consumer")
                        .split(body())
                        .filter(body().isEqualTo(1))
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, header(RedisDelayConstants.MESSAGE_ID))
                        .to(uri + "?delay=1h")
                        .end()
                        .end()
                        .process(exchange -> received.add(exchange.getMessage().copy()));
            }
        });
        next();
        await().untilAsserted(() -> assertThat(stats().leased()).isZero());
        assertThat(stats().delayed()).isOne();
        assertThat(stats().nextDueMicros()).isGreaterThan(3_500_000_000L);
        assertThat(stored().get("m1").join()).isPresent();
        await().until(() -> consumer().getProcessing() == 0);
    }

    @Test
    void should_fail_as_a_whole_when_a_part_of_a_split_fails() throws Exception {
        scheduleMany(0, 3);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?batching=true&batchSize=3&batchTimeout=30m&redeliveryDelay=20ms&maximumRedeliveries=1")
                        .routeId("consumer")
                        .split(body(), new GroupedBodyAggregationStrategy())
                        .stopOnException()
                        .process(exchange -> {
                            if (exchange.getMessage().getBody().equals(1)) {
                                throw new IllegalStateException("poison");
                            }
                        })
                        .end()
                        .process(BatchIT.this::takeBodies);
            }
        });
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(List.of(nextBatch(), nextBatch())).containsExactlyInAnyOrder(List.of(0), List.of(2));
        assertEmpty();
        assertThat(batches).isEmpty();
    }

    private void takeBodies(Exchange exchange) {
        batches.add(List.copyOf(exchange.getMessage().getBody(List.class)));
    }

    @Test
    void should_return_all_of_a_batch_that_failed_after_it_went_through_seda() throws Exception {
        scheduleMany(0, 3);
        CountDownLatch go = new CountDownLatch(1);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?batching=true&batchSize=3&batchTimeout=30m&redeliveryDelay=1h")
                        .routeId("consumer")
                        .to("seda:later");
                from("seda:later").process(exchange -> {
                    takeBatch(exchange);
                    go.await(20, TimeUnit.SECONDS);
                    throw new IllegalStateException("no");
                });
            }
        });
        assertThat(nextBatch()).hasSize(3);
        await().until(() -> context.getInflightRepository().size("consumer") == 0);
        assertThat(stats().leased()).isEqualTo(3);
        go.countDown();
        await().untilAsserted(() -> assertThat(stats().delayed()).isEqualTo(3));
        assertThat(stats().leased()).isZero();
    }

    @Test
    void should_leave_to_others_what_it_has_no_free_exchange_for() throws Exception {
        Semaphore go = new Semaphore(0);
        start(consume(BATCHES + "&batchSize=10&batchTimeout=100ms", exchange -> {
            takeBatch(exchange);
            go.acquire();
        }));
        schedule("busy", "busy");
        assertThat(nextBatch()).containsExactly("busy");
        scheduleMany(0, 2);
        await().untilAsserted(() -> {
            assertThat(stats().leased()).isOne();
            assertThat(stats().overdue()).isEqualTo(2);
        });
        claim(stored()).settle(Settlement.ACKNOWLEDGE).result().join();
        go.release(100);
        assertThat(nextBatch()).as("it goes on when it is free").containsExactly(1);
        assertEmpty();
    }

    @Test
    void should_keep_what_is_expired_out_of_a_batch() throws Exception {
        Envelope.Settings settings = new Envelope.Settings(null, Duration.ofSeconds(1), null);
        schedule("late", "late", settings, DueTime.at(java.time.Instant.now().minusSeconds(60)));
        scheduleMany(0, 2);
        start(consume(BATCHES + "&batchSize=3&batchTimeout=30m", this::takeBatch));
        assertThat(nextBatch()).containsExactly(0, 1);
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
    }

    @Test
    void should_receive_dead_letters_in_batches() throws Exception {
        bury("a", "x");
        bury("b", "y");
        start(consume("?state=dead&batching=true&batchSize=2&batchTimeout=30m", exchange -> {
            messages(exchange).forEach(received::add);
            takeBatch(exchange);
        }));
        assertThat(nextBatch()).containsExactly("x", "y");
        assertThat(next().getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.DEAD_LETTER_REASON, "failed");
        await().untilAsserted(() -> assertThat(stats().dead()).isZero());
    }
}
