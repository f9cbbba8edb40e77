// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.exception.StaleDeliveryException;
import io.github.redisdelay.testkit.LogLines;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.PluginHelper;
import org.apache.camel.support.ResourceHelper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages with a group: at most so many of one at a time, in order, whatever contexts consume them. */
class GroupRouteIT extends CamelRedisIT {

    private static final long LONG = 60 * 60 * 1000L;

    private final BlockingQueue<Message> received = new LinkedBlockingQueue<>();

    @BeforeEach
    void startContext() {
        context.start();
    }

    private void take(Exchange exchange) {
        received.add(exchange.getMessage().copy());
    }

    private Message next() throws InterruptedException {
        Message message = received.poll(20, TimeUnit.SECONDS);
        assertThat(message).as("a message within 20 s").isNotNull();
        return message;
    }

    private Message schedule(String options, String body, Map<String, Object> headers) {
        return send(uri + options, body, headers).getMessage();
    }

    private void schedule(String group, String id, long delay) {
        schedule(
                "",
                id,
                Map.of(
                        RedisDelayConstants.GROUP, group,
                        RedisDelayConstants.SCHEDULE_ID, id,
                        RedisDelayConstants.DELAY, delay));
    }

    private Message operate(String operation, Object group) {
        Map<String, Object> headers = group == null ? Map.of() : Map.of(RedisDelayConstants.GROUP, group);
        return send(uri + "?operation=" + operation, null, headers).getMessage();
    }

    private static List<Object> values(Message list, String name) {
        List<Object> values = new ArrayList<>();
        list.getBody(List.class).forEach(each -> values.add(((Map<?, ?>) each).get(name)));
        return values;
    }

    private static long count(Message message) {
        return message.getHeader(RedisDelayConstants.COUNT, Long.class);
    }

    @Test
    void should_keep_the_order_of_each_group_over_two_contexts() throws Exception {
        Map<String, AtomicInteger> under = new ConcurrentHashMap<>();
        Map<String, List<String>> orders = new ConcurrentHashMap<>();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        CountDownLatch go = new CountDownLatch(1);
        Processor work = exchange -> {
            String group = exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_GROUP, String.class);
            AtomicInteger here = under.computeIfAbsent(group, any -> new AtomicInteger());
            if (here.incrementAndGet() > 1) {
                overlaps.incrementAndGet();
            }
            go.await();
            orders.computeIfAbsent(group, any -> new ArrayList<>())
                    .add(exchange.getMessage().getBody(String.class));
            here.decrementAndGet();
            done.incrementAndGet();
        };
        for (int i = 0; i < 20; i++) {
            for (String group : List.of("a", "b", "c")) {
                schedule("?group=" + group, group + i, Map.of());
            }
        }
        try (DefaultCamelContext other = newContext()) {
            other.getRegistry().bind("redisson", redis.client());
            other.addRoutes(consume("?concurrentConsumers=5", work));
            other.start();
            start(consume("?concurrentConsumers=5", work));
            await().until(() ->
                    under.values().stream().mapToInt(AtomicInteger::get).sum() == 3);
            assertThat(stats().leased()).as("one of each group").isEqualTo(3);
            assertThat(stats().parked()).isEqualTo(57);
            go.countDown();
            await().until(() -> done.get() == 60);
        }
        assertThat(overlaps).hasValue(0);
        orders.forEach((group, order) -> {
            for (int i = 0; i < 20; i++) {
                assertThat(order.get(i)).as("in order: %s", order).isEqualTo(group + i);
            }
        });
    }

    @Test
    void should_have_as_many_of_a_group_under_way_as_the_option_says_and_warn_of_another_number() throws Exception {
        for (int i = 0; i < 5; i++) {
            schedule("a", "m" + i, 0);
        }
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger under = new AtomicInteger();
        try (LogLines lines = new LogLines("io.github.redisdelay.camel")) {
            start(consume("?concurrentConsumers=5&groupConcurrency=2&groupRetry=relaxed", exchange -> {
                under.incrementAndGet();
                go.await();
                take(exchange);
            }));
            await().until(() -> under.get() == 2 && stats().leased() == 2);
            assertThat(stats().parked()).isEqualTo(3);
            assertThat(lines.of(Level.WARN)).anySatisfy(line -> assertThat(line)
                    .contains("were groupConcurrency=1 and groupRetry=strict")
                    .contains("are groupConcurrency=2 and groupRetry=relaxed"));
        }
        Message figures = operate("stats", null);
        assertThat(figures.getBody(Map.class))
                .containsEntry("parked", 3L)
                .containsEntry("groups", List.of(Map.of("group", "a", "parked", 3L, "messages", 5L)));
        go.countDown();
        for (int i = 0; i < 5; i++) {
            next();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"strict", "relaxed"})
    void should_let_others_pass_a_retry_only_if_told_so(String retry) throws Exception {
        schedule("a", "first", 0);
        schedule("a", "second", 0);
        ConcurrentLinkedQueue<String> bodies = new ConcurrentLinkedQueue<>();
        start(consume("?redeliveryDelay=300ms&redeliveryJitter=0&groupRetry=" + retry, exchange -> {
            String body = exchange.getMessage().getBody(String.class);
            bodies.add(body);
            if (body.equals("first") && exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1) {
                throw new IllegalStateException("the first attempt");
            }
        }));
        await().until(() -> bodies.size() == 3);
        assertThat(bodies)
                .containsExactlyElementsOf(
                        retry.equals("strict")
                                ? List.of("first", "first", "second")
                                : List.of("first", "second", "first"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_list_count_and_change_the_messages_of_one_group(int partitions) throws Exception {
        String options = "?partitions=" + partitions;
        for (String group : List.of("a", "b", "c", "d")) {
            for (int i = 0; i < 3; i++) {
                send(
                        uri + options,
                        group + i,
                        Map.of(
                                RedisDelayConstants.GROUP, group,
                                RedisDelayConstants.SCHEDULE_ID, group + i,
                                RedisDelayConstants.DELAY, LONG + i));
            }
        }
        String with = uri + options + "&operation=";
        Message list = send(with + "list", null, Map.of(RedisDelayConstants.GROUP, "a"))
                .getMessage();
        assertThat(count(list)).isEqualTo(3);
        assertThat(values(list, "messageId")).containsExactly("a0", "a1", "a2");
        assertThat(values(list, "messageGroup")).containsOnly("a");
        Message stats = send(with + "stats&group=b", null, Map.of()).getMessage();
        assertThat(count(stats)).isEqualTo(3);
        assertThat(stats.getBody()).isEqualTo(Map.of("group", "b", "parked", 2L, "messages", 3L));
        assertThat(count(send(with + "cancel", null, Map.of(RedisDelayConstants.GROUP, "a"))
                        .getMessage()))
                .isEqualTo(3);
        assertThat(count(send(with + "reschedule&delay=2h", null, Map.of(RedisDelayConstants.GROUP, "b"))
                        .getMessage()))
                .isEqualTo(3);
        assertThat(count(send(with + "promote", null, Map.of(RedisDelayConstants.GROUP, "c"))
                        .getMessage()))
                .isEqualTo(3);

        for (String id : List.of("d0", "d1", "d2")) { // the partitions of these ids are others than that of the group
            Map<String, Object> one = Map.of(RedisDelayConstants.GROUP, "d", RedisDelayConstants.SCHEDULE_ID, id);
            Message got = send(with + "get", null, one).getMessage();
            assertThat(got.getBody()).isEqualTo(id);
            assertThat(got.getHeader(RedisDelayConstants.MESSAGE_GROUP)).isEqualTo("d");
            assertThat(got.getHeaders()).doesNotContainKey(RedisDelayConstants.GROUP);
            Message moved = send(with + "reschedule&delay=3h", null, one).getMessage();
            assertThat(moved.getHeader(RedisDelayConstants.PREVIOUS_STATE)).isEqualTo("delayed");
        }
        Map<String, Object> one = Map.of(RedisDelayConstants.GROUP, "d", RedisDelayConstants.SCHEDULE_ID, "d1");
        Message cancelled = send(with + "cancel", null, one).getMessage();
        assertThat(cancelled.getHeader(RedisDelayConstants.PREVIOUS_STATE)).isEqualTo("delayed");
        assertThat(count(send(with + "stats", null, Map.of(RedisDelayConstants.GROUP, "d"))
                        .getMessage()))
                .isEqualTo(2);

        start(consume(options, this::take));
        for (int i = 0; i < 3; i++) {
            assertThat(next().getBody(String.class)).isEqualTo("c" + i);
        }
    }

    @Test
    void should_redrive_and_purge_the_dead_letters_of_one_group() throws Exception {
        AtomicInteger failed = new AtomicInteger();
        for (String group : List.of("a", "b", "c")) {
            schedule(group, group + 0, 0);
            schedule(group, group + 1, 0);
        }
        start(consume("?maximumRedeliveries=0", exchange -> {
            if (failed.incrementAndGet() <= 6) {
                throw new IllegalStateException("dead");
            }
            take(exchange);
        }));
        await().until(() -> stats().dead() == 6);
        assertThat(count(operate("purge", "a"))).isEqualTo(2);
        assertThat(stats().dead()).isEqualTo(4);
        assertThat(count(operate("redrive", "b"))).isEqualTo(2);
        assertThat(stats().dead()).as("those of c").isEqualTo(2);
        assertThat(next().getHeader(RedisDelayConstants.MESSAGE_GROUP)).isEqualTo("b");
        next();
    }

    @Test
    void should_end_the_own_delivery_of_a_route_that_cancels_its_group() throws Exception {
        schedule("a", "first", 0);
        schedule("a", "second", LONG);
        try (LogLines lines = new LogLines("io.github.redisdelay")) {
            start(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri)
                            .process(GroupRouteIT.this::take)
                            .setHeader(RedisDelayConstants.GROUP, header(RedisDelayConstants.MESSAGE_GROUP))
                            .to(uri + "?operation=cancel")
                            .process(GroupRouteIT.this::take)
                            .setHeader(RedisDelayConstants.SCHEDULE_ID, constant("first"))
                            .to(uri + "?delay=1h");
                }
            });
            next();
            assertThat(count(next())).isEqualTo(2);
            // Of a delivery that goes on, its own id would be refused: it has lost its lease.
            await().until(() -> stats().delayed() == 1 && stats().leased() == 0);
            context.stop();
            assertThat(lines.of(Level.WARN)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_keep_its_group_when_a_delivery_schedules_its_message_anew(int partitions) throws Exception {
        String queue = uri + "?partitions=" + partitions;
        for (String group : List.of("a", "b", "c", "d")) {
            send(queue, "x", Map.of(RedisDelayConstants.GROUP, group, RedisDelayConstants.SCHEDULE_ID, "id" + group));
        }
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(queue)
                        .process(GroupRouteIT.this::take)
                        .filter(header(RedisDelayConstants.ATTEMPT).isEqualTo(1))
                        .filter(body().isEqualTo("x"))
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, header(RedisDelayConstants.MESSAGE_ID))
                        .setBody(constant("again"))
                        .to(queue);
            }
        });
        Map<String, List<String>> groups = new TreeMap<>();
        for (int i = 0; i < 8; i++) {
            Message message = next();
            groups.computeIfAbsent(
                            message.getHeader(RedisDelayConstants.MESSAGE_GROUP, String.class),
                            any -> new ArrayList<>())
                    .add(message.getBody(String.class));
        }
        assertThat(groups.keySet()).containsExactly("a", "b", "c", "d");
        assertThat(groups.values()).containsOnly(List.of("x", "again"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_find_the_own_message_of_a_delivery_without_its_group(int partitions) throws Exception {
        String queue = uri + "?partitions=" + partitions;
        List<String> groups = List.of("a", "b", "c", "d");
        for (String group : groups) {
            send(queue, "x", Map.of(RedisDelayConstants.GROUP, group, RedisDelayConstants.SCHEDULE_ID, "id" + group));
        }
        ConcurrentLinkedQueue<Object> found = new ConcurrentLinkedQueue<>();
        AtomicInteger failed = new AtomicInteger();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(queue + "&maximumRedeliveries=0")
                        .process(exchange -> {
                            if (failed.incrementAndGet() <= groups.size()) {
                                throw new IllegalStateException("dead");
                            }
                        })
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, header(RedisDelayConstants.MESSAGE_ID))
                        .to(queue + "&operation=cancel")
                        .process(exchange ->
                                found.add(exchange.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE)));
                from(queue + "&state=dead")
                        .to(queue + "&operation=redrive")
                        .process(exchange -> found.add(exchange.getMessage().getHeader(RedisDelayConstants.RESULT)));
            }
        });
        await().until(() -> found.size() == 2 * groups.size());
        assertThat(found).hasSize(8).containsOnly("done", "leased");
        assertThat(found.stream().filter("done"::equals)).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_give_the_schedule_of_a_route_its_group(int partitions) throws Exception {
        String options = "?every=1s&group=nightly&scheduleId=s&partitions=" + partitions;
        start(consume(options, this::take));
        for (int i = 0; i < 2; i++) {
            assertThat(next().getHeader(RedisDelayConstants.MESSAGE_GROUP)).isEqualTo("nightly");
        }
        Message found = send(
                        uri + "?operation=get&partitions=" + partitions,
                        null,
                        Map.of(RedisDelayConstants.GROUP, "nightly", RedisDelayConstants.SCHEDULE_ID, "s"))
                .getMessage();
        assertThat(found.getHeader(RedisDelayConstants.RULE)).isEqualTo("every 1s");
        assertThatThrownBy(() -> start(consume("?group=a", this::take)))
                .hasStackTraceContaining("option 'group' belongs to a recurring schedule");
        assertThatThrownBy(() -> context.getEndpoint(uri + "?group=${header.customer}"))
                .hasStackTraceContaining("use toD()");
    }

    @Test
    void should_end_no_delivery_of_another_group_when_a_batch_cancels_one() throws Exception {
        schedule("a", "first", 0);
        schedule("b", "second", 0);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?batching=true&batchSize=2&batchTimeout=1m")
                        .setHeader(RedisDelayConstants.GROUP, constant("a"))
                        .to(uri + "?operation=cancel")
                        .process(GroupRouteIT.this::take);
            }
        });
        assertThat(count(next())).isOne();
        await().until(() -> stats().stored() == 0);
    }

    @Test
    void should_spare_recurring_schedules_unless_told_otherwise() {
        schedule("a", "message", LONG);
        send(
                uri + "?every=1h",
                "x",
                Map.of(RedisDelayConstants.GROUP, "a", RedisDelayConstants.SCHEDULE_ID, "schedule"));
        assertThat(count(operate("promote", "a"))).isOne();
        assertThat(count(operate("cancel", "a"))).isOne();
        assertThat(count(operate("stats", "a"))).isOne();
        assertThat(count(operate("promote&schedules=true", "a"))).isOne();
        assertThat(count(operate("cancel&schedules=true", "a"))).isOne();
    }

    @Test
    void should_prefer_the_group_of_the_header() {
        schedule("?group=option", "one", Map.of());
        schedule("?group=option", "other", Map.of(RedisDelayConstants.GROUP, "header"));
        assertThat(count(operate("stats", "option"))).isOne();
        assertThat(count(operate("stats&group=option", "header"))).isOne();
        assertThat(count(operate("cancel&group=option", "header"))).isOne();
        assertThat(count(operate("stats", "option"))).isOne();
    }

    /** Its time to live goes on while it is parked. */
    @Test
    void should_go_on_behind_a_parked_message_that_has_expired() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(consume("", exchange -> {
            go.await();
            take(exchange);
        }));
        schedule("a", "first", 0);
        await().until(() -> stats().leased() == 1);
        Message expires = schedule(
                "?timeToLive=1ms", "second", Map.of(RedisDelayConstants.GROUP, "a", RedisDelayConstants.DELAY, 0));
        schedule("a", "third", 0);
        assertThat(stats().parked()).isEqualTo(2);
        long end = expires.getHeader(RedisDelayConstants.DUE_TIME, Long.class) + 2;
        await().until(() -> stats().timeMicros() > end * 1_000);
        go.countDown();
        assertThat(next().getBody()).isEqualTo("first");
        assertThat(next().getBody()).isEqualTo("third");
        await().until(() -> stats().stored() == 0);
        assertThat(received).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_move_its_own_message_into_another_group_in_the_same_partition_only(int partitions) throws Exception {
        String queue = uri + "?partitions=" + partitions;
        // Of three partitions, those of b and d are others.
        send(queue, "x", Map.of(RedisDelayConstants.GROUP, "b", RedisDelayConstants.SCHEDULE_ID, "id"));
        AtomicReference<Exception> error = new AtomicReference<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(queue)
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, header(RedisDelayConstants.MESSAGE_ID))
                        .setHeader(RedisDelayConstants.GROUP, constant("d"))
                        .doTry()
                        .to(queue + "&delay=1h")
                        .doCatch(StaleDeliveryException.class)
                        .process(
                                exchange -> error.set(exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Exception.class)))
                        .end()
                        .process(GroupRouteIT.this::take);
            }
        });
        next();
        await().until(() -> stats("b", partitions) == 0);
        assertThat(stats("d", partitions)).isEqualTo(partitions == 1 ? 1 : 0);
        if (partitions == 1) {
            assertThat(error).hasNullValue();
        } else {
            assertThat(error.get())
                    .hasMessageContaining("message 'id'")
                    .hasMessageContaining("in a queue with partitions, given another group");
        }
    }

    private long stats(String group, int partitions) {
        return outside.queue(queue, partitions).group(group).info().join().messages();
    }

    private static final Map<String, String> ROUTES = Map.of("xml", """
            <routes xmlns="http://camel.apache.org/schema/spring">
                <route>
                    <from uri="direct:in"/>
                    <to uri="QUEUE?group=acme"/>
                </route>
                <route>
                    <from uri="QUEUE?concurrentConsumers=5&amp;groupConcurrency=2&amp;groupRetry=relaxed"/>
                    <process ref="work"/>
                </route>
            </routes>
            """, "yaml", """
            - route:
                from:
                  uri: direct:in
                  steps:
                    - to:
                        uri: QUEUE
                        parameters:
                          group: acme
            - route:
                from:
                  uri: QUEUE
                  parameters:
                    concurrentConsumers: 5
                    groupConcurrency: 2
                    groupRetry: relaxed
                  steps:
                    - process:
                        ref: work
            """);

    @ParameterizedTest
    @ValueSource(strings = {"xml", "yaml"})
    void should_have_groups_in_routes_of(String language) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        context.getRegistry().bind("work", (Processor) exchange -> {
            go.await();
            take(exchange);
        });
        PluginHelper.getRoutesLoader(context)
                .loadRoutes(ResourceHelper.fromString(
                        "routes." + language, ROUTES.get(language).replace("QUEUE", uri)));
        for (int i = 0; i < 3; i++) {
            send("direct:in", "m" + i, Map.of());
        }
        await().until(() -> stats().leased() == 2);
        assertThat(stats().parked()).isOne();
        go.countDown();
        for (int i = 0; i < 3; i++) {
            assertThat(next().getHeader(RedisDelayConstants.MESSAGE_GROUP)).isEqualTo("acme");
        }
        assertThat(stored().admin().limit(QueueLimits.DEFAULT).join()).isEqualTo(new QueueLimits(2, false));
    }

    @Test
    void should_list_parked_messages() {
        schedule("a", "first", 0);
        schedule("a", "second", 0);
        Message list = operate("list&state=parked", null);
        assertThat(values(list, "messageId")).containsExactly("second");
        Message got = send(uri + "?operation=get", null, Map.of(RedisDelayConstants.SCHEDULE_ID, "second"))
                .getMessage();
        assertThat(got.getHeader(RedisDelayConstants.MESSAGE_STATE)).isEqualTo("parked");
    }

    @Test
    void should_refuse_what_cannot_be_a_group() {
        Map<String, String> bad = Map.of(
                "",
                "has 0 bytes: it must have 1 to 200 bytes",
                "a".repeat(201),
                "has 201 bytes: it must have 1 to 200 bytes",
                "ä".repeat(101),
                "has 202 bytes: it must have 1 to 200 bytes",
                "a\0b",
                "has a control character at position 1");
        bad.forEach((group, error) -> assertThat(
                        send(uri, "x", Map.of(RedisDelayConstants.GROUP, group)).getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("header 'CamelRedisDelayGroup': group")
                .hasMessageContaining(error));
        assertThat(send(uri, "x", Map.of(RedisDelayConstants.GROUP, List.of("a")))
                        .getException())
                .hasMessageContaining("header 'CamelRedisDelayGroup' is a list: give a String, a number or a UUID");
        assertThat(send(uri, "x", Map.of(RedisDelayConstants.GROUP, "a", RedisDelayConstants.PRIORITY, 5))
                        .getException())
                .hasMessageContaining("priority is 5 and group is 'a'");
        assertThatThrownBy(() -> context.getEndpoint(uri + "?group=a&priority=5"))
                .hasStackTraceContaining(
                        "option 'group' (a) and option 'priority' (5, which breaks its order) are both set");
        assertThatThrownBy(() -> context.getEndpoint(uri + "?group=" + "a".repeat(201)))
                .hasStackTraceContaining("option 'group': group 'aaa");
        assertThat(operateError("check", "a"))
                .contains("header 'CamelRedisDelayGroup' is 'a', and operation 'check' is about all messages");
        assertThat(operateError("outlook&group=b", null)).contains("option 'group' is 'b'");
        assertThat(operateError("list&state=dead", "a")).contains("remove one of them");
        assertThatThrownBy(() -> start(consume("?groupConcurrency=1001", this::take)))
                .hasStackTraceContaining("option 'groupConcurrency' is 1001: it must be from 1 to 1000");
        assertThatThrownBy(() -> start(consume("?groupRetry=maybe", this::take)))
                .hasStackTraceContaining("option 'groupRetry' 'maybe' is unknown: use strict, relaxed");
        assertThatThrownBy(() -> start(consume("?state=dead&groupConcurrency=2", this::take)))
                .hasStackTraceContaining("option 'groupConcurrency' is set on a consumer of dead letters");
    }

    private String operateError(String operation, String group) {
        Map<String, Object> headers = group == null ? Map.of() : Map.of(RedisDelayConstants.GROUP, group);
        return send(uri + "?operation=" + operation, null, headers)
                .getException()
                .getMessage();
    }
}
