// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ConsumerDeliveries;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.internal.partition.PartitionHash;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;

/** The option partitions: routes do with three partitions what they do with one. */
class PartitionedRoutesIT extends ConsumerSideIT {

    private static final String THREE = "?partitions=3";

    @Override
    protected DelayQueue stored() {
        return outside.queue(queue, 3);
    }

    private Exchange ask(String options, String id, Map<String, Object> headers) {
        Map<String, Object> all = new java.util.HashMap<>(headers);
        if (id != null) {
            all.put(RedisDelayConstants.SCHEDULE_ID, id);
        }
        return send(uri + THREE + options, "body of " + id, all);
    }

    @Test
    void should_send_and_receive() throws Exception {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        start(consume(THREE + "&concurrentConsumers=4", exchange -> {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            take(exchange);
            underWay.decrementAndGet();
        }));
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 60; i++) {
            Exchange sent = ask("", null, Map.of());
            assertThat(sent.getException()).isNull();
            ids.add(sent.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class));
        }
        assertThat(ids).hasSize(60);
        while (!ids.isEmpty()) {
            Message message = next();
            assertThat(ids.remove(message.getHeader(RedisDelayConstants.MESSAGE_ID, String.class)))
                    .isTrue();
            assertThat(message.getHeader(RedisDelayConstants.QUEUE)).isEqualTo(queue);
        }
        assertThat(most.get()).isLessThanOrEqualTo(4);
        assertEmpty();
        await().untilAsserted(() -> assertThat(stats().consumers()).isEqualTo(1));
    }

    @Test
    void should_make_batches_of_the_messages_of_one_partition_each() throws Exception {
        BlockingQueue<List<?>> batches = new LinkedBlockingQueue<>();
        start(consume(
                THREE + "&batching=true&batchSize=20&batchTimeout=200ms&concurrentConsumers=2",
                exchange -> batches.add(exchange.getMessage().getBody(List.class))));
        Set<Object> ids = new HashSet<>();
        for (int i = 0; i < 60; i++) {
            ids.add(ask("", "m" + i, Map.of()).getMessage().getHeader(RedisDelayConstants.MESSAGE_ID));
        }
        while (!ids.isEmpty()) {
            List<?> batch = batches.poll(20, TimeUnit.SECONDS);
            assertThat(batch).as("a batch within 20 s").isNotNull();
            List<String> these = batch.stream()
                    .map(message -> ((Message) message).getHeader(RedisDelayConstants.MESSAGE_ID, String.class))
                    .toList();
            assertThat(these.stream().map(id -> PartitionHash.of(id, 3)).distinct())
                    .hasSize(1);
            assertThat(ids.removeAll(these)).isTrue();
        }
        assertEmpty();
    }

    @Test
    void should_do_all_operations() throws Exception {
        context.start();
        for (int i = 0; i < 9; i++) {
            assertThat(ask("&delay=1h", "m" + i, Map.of()).getException()).isNull();
        }
        assertThat(ask("&delay=1h", "m3", Map.of()).getException()).isNotNull();
        assertThat(ask("&delay=2h&onDuplicate=replace", "m3", Map.of()).getException())
                .isNull();
        assertThat(ask("&operation=cancel", "m1", Map.of()).getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("delayed");
        assertThat(ask("&operation=get", "m2", Map.of()).getMessage().getBody()).isEqualTo("body of m2");
        assertThat(ask("&operation=reschedule&delay=3h", "m2", Map.of())
                        .getMessage()
                        .getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("delayed");
        List<Object> listed = new ArrayList<>();
        Object cursor = null;
        do {
            Message page = ask(
                            "&operation=list&limit=3",
                            null,
                            cursor == null ? Map.of() : Map.of(RedisDelayConstants.CURSOR, cursor))
                    .getMessage();
            page.getBody(List.class).forEach(entry -> listed.add(((Map<?, ?>) entry).get("messageId")));
            cursor = page.getHeader(RedisDelayConstants.CURSOR);
        } while (cursor != null);
        assertThat(listed).containsExactly("m0", "m4", "m5", "m6", "m7", "m8", "m3", "m2");
        assertThat(ask("&operation=stats", null, Map.of()).getMessage().getBody(Map.class))
                .containsEntry("delayed", 8L);
        assertThat(ask("&operation=outlook&outlookStep=90m&outlookSteps=1", null, Map.of())
                        .getMessage()
                        .getBody(Map.class))
                .containsEntry("counts", List.of(6L))
                .containsEntry("after", 2L);
        assertThat(ask("&operation=pause", null, Map.of()).getException()).isNull();
        assertThat(stats().paused()).isTrue();
        assertThat(ask("&operation=resume", null, Map.of()).getException()).isNull();
        assertThat(ask("&operation=promote&all=true", null, Map.of())
                        .getMessage()
                        .getHeader(RedisDelayConstants.COUNT))
                .isEqualTo(8L);
        assertThat(stats().overdue()).isEqualTo(8);
    }

    @Test
    void should_bury_and_redrive() throws Exception {
        AtomicInteger failures = new AtomicInteger(6);
        start(consume(THREE + "&maximumRedeliveries=0", exchange -> {
            if (failures.getAndDecrement() > 0) {
                throw new IllegalStateException("down");
            }
            take(exchange);
        }));
        for (int i = 0; i < 6; i++) {
            ask("", "m" + i, Map.of());
        }
        await().until(() -> stats().dead() == 6);
        assertThat(ask("&operation=redrive&all=true", null, Map.of())
                        .getMessage()
                        .getHeader(RedisDelayConstants.COUNT))
                .isEqualTo(6L);
        Set<Object> ids = new HashSet<>();
        for (int i = 0; i < 6; i++) {
            ids.add(next().getHeader(RedisDelayConstants.MESSAGE_ID));
        }
        assertThat(ids).hasSize(6);
        assertEmpty();
    }

    @Test
    void should_consume_the_dead_letters_of_all_partitions() throws Exception {
        for (int i = 0; i < 6; i++) {
            bury("m" + i, "x");
        }
        start(consume(THREE + "&state=dead", this::take));
        for (int i = 0; i < 6; i++) {
            assertThat(next().getHeader(RedisDelayConstants.FAILURE_MESSAGE)).isEqualTo("partner is down");
        }
        await().until(() -> stats().dead() == 0);
    }

    @Test
    void should_let_a_route_schedule_its_own_message_again() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        start(consume(THREE, exchange -> {
            take(exchange);
            if (looks.incrementAndGet() < 4) {
                Exchange again = exchange.copy();
                again.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, "m");
                again = context.createProducerTemplate().send(uri + THREE + "&delay=10ms", again);
                assertThat(again.getException()).isNull();
            }
        }));
        ask("", "m", Map.of());
        for (int i = 0; i < 4; i++) {
            assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(1);
        }
        assertEmpty();
    }

    @Test
    void should_poll() throws Exception {
        context.start();
        for (int i = 0; i < 3; i++) {
            ask("", "m" + i, Map.of());
        }
        Set<String> bodies = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            bodies.add(context.createConsumerTemplate().receiveBody(uri + THREE, 10_000, String.class));
        }
        assertThat(bodies).containsExactlyInAnyOrder("body of m0", "body of m1", "body of m2");
    }

    @Test
    void should_wait_for_the_work_under_way_when_it_stops() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(consume(THREE + "&concurrentConsumers=3", exchange -> {
            take(exchange);
            go.await();
        }));
        for (int i = 0; i < 9; i++) {
            ask("", "m" + i, Map.of());
        }
        for (int i = 0; i < 3; i++) {
            next();
        }
        Thread stopping = new Thread(() -> {
            try {
                context.getRouteController().stopRoute("consumer");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        stopping.start();
        await().until(() -> consumer().isSuspendingOrSuspended() || consumer().isStoppingOrStopped());
        go.countDown();
        stopping.join(20_000);
        await().untilAsserted(() -> {
            assertThat(stats().leased()).isZero();
            assertThat(stats().overdue()).isEqualTo(6);
            assertThat(stats().consumers()).isZero();
        });
    }

    @Test
    void should_not_start_a_consumer_with_another_number() throws Exception {
        context.start();
        schedule("a", "x");
        for (String options : new String[] {"", "?partitions=6", "?partitions=2&state=dead", "?state=dead"}) {
            assertThatThrownBy(() -> context.addRoutes(new RouteBuilder() {
                        @Override
                        public void configure() {
                            from(uri + options).routeId("wrong").log("x");
                        }
                    }))
                    .as(options)
                    .hasStackTraceContaining("queue '" + queue + "' has 3 partitions, and option 'partitions' is ")
                    .hasStackTraceContaining("set the option to 3, or take another queue name");
            context.removeRoute("wrong");
        }
    }

    @Test
    void should_fail_an_exchange_of_a_producer_with_another_number() throws Exception {
        context.start();
        schedule("a", "x");
        QueueStats before = stats();
        for (String options : new String[] {"?delay=1h", "?partitions=2", "?operation=stats"}) {
            assertThat(send(uri + options, "x", Map.of()).getException())
                    .as(options)
                    .isInstanceOf(PartitionMismatchException.class)
                    .hasMessageContaining("has 3 partitions");
        }
        assertThat(stats().delayed()).isEqualTo(before.delayed());
    }

    @Test
    void should_say_so_when_another_number_takes_over_below_a_running_consumer() throws Exception {
        try (LogLines log = new LogLines(ConsumerDeliveries.class)) {
            start(consume("", this::take));
            await().until(() -> outside.queue(queue).admin().stats().join().consumers() == 1);
            // Redis has lost the record.
            redis.client()
                    .getKeys()
                    .delete("redis-delay:{" + queue + "}:config", "redis-delay:{" + queue + "}:dead:config");
            stored().schedule(ScheduleRequest.of(null, Envelope.of("x").encode(), DueTime.after(Duration.ofHours(1))))
                    .result()
                    .join();
            consumer().claims().suspend();
            consumer().claims().resume();
            await().untilAsserted(() -> assertThat(String.join("\n", log.of(Level.WARN)))
                    .contains("queue '" + queue + "': no message can be received")
                    .contains("queue '" + queue + "' has 3 partitions"));
            assertThat(consumer().claims().lastError()).isInstanceOf(PartitionMismatchException.class);
        }
    }

    @Test
    void should_keep_the_number_of_an_empty_queue_when_a_consumer_starts() throws Exception {
        schedule("a", "x");
        stored().cancel("a").result().join();
        assertThatThrownBy(() -> start(consume("", this::take)))
                .hasStackTraceContaining("queue '" + queue + "' has 3 partitions, and option 'partitions' is 1")
                .hasStackTraceContaining("if the queue is empty and unused, remove its record");
        schedule("b", "x");
        assertThat(stats().delayed()).isEqualTo(1);
    }

    @Test
    void should_record_that_a_queue_has_no_partitions_when_its_consumer_starts() throws Exception {
        start(consume("", this::take));
        assertThat(send(uri + THREE + "&delay=1h", "x", Map.of()).getException())
                .isInstanceOf(PartitionMismatchException.class)
                .hasMessageContaining("queue '" + queue + "' has 1 partition, and option 'partitions' is 3");
    }

    @Test
    void should_refuse_numbers_that_cannot_be() {
        for (String number : new String[] {"0", "-1", "65"}) {
            assertThatThrownBy(() -> context.getEndpoint(uri + "?partitions=" + number))
                    .hasStackTraceContaining("option 'partitions' is " + number + ": it must be from 1 to 64");
        }
    }

    @Test
    void should_show_the_figures_of_all_partitions() throws Exception {
        context.start();
        for (int i = 0; i < 6; i++) {
            schedule("m" + i, "x");
        }
        RedisDelayEndpoint endpoint = context.getEndpoint(uri + THREE, RedisDelayEndpoint.class);
        assertThat(endpoint.getPartitions()).isEqualTo(3);
        QueueStats stats =
                endpoint.calls().ask("no figures", whole -> whole.admin().stats());
        assertThat(stats.delayed()).isEqualTo(6);
        assertThat(stats.overdue()).isEqualTo(6);
    }
}
