// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.CamelRedisIT;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;

/** The operations get, list, stats, outlook and queues: they tell what is there and change nothing. */
class QueryOperationsIT extends CamelRedisIT {

    private Message look(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "the body of who asks", headers);
        assertThat(exchange.getException()).isNull();
        return exchange.getMessage();
    }

    private Message get(String id) {
        return look("?operation=get", Map.of(RedisDelayConstants.SCHEDULE_ID, id));
    }

    private void schedule(String options, String id, Object body) {
        Exchange exchange = send(
                uri + options,
                body,
                Map.of(RedisDelayConstants.SCHEDULE_ID, id, "customer", 42, Exchange.CONTENT_TYPE, "text/plain"));
        assertThat(exchange.getException()).isNull();
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> messages(Message page) {
        return page.getBody(List.class);
    }

    private static List<Object> ids(Message page) {
        return messages(page).stream().map(entry -> entry.get("messageId")).toList();
    }

    /** Makes a dead letter of each of these ids, by a route that is removed again. */
    private void die(String... ids) throws Exception {
        start(consume("?maximumRedeliveries=0", exchange -> {
            throw new IllegalStateException("no such order");
        }));
        for (String id : ids) {
            schedule("", id, "body of " + id);
        }
        await().until(() -> stats().dead() == ids.length);
        context.getRouteController().stopRoute("consumer");
        context.removeRoute("consumer");
    }

    @Test
    void should_get_a_message_that_waits() {
        context.start();
        schedule("?delay=1h&priority=3", "a", "stored");

        Message found = get("a");

        assertThat(found.getBody()).isEqualTo("stored");
        assertThat(found.getHeaders())
                .containsEntry("customer", 42)
                .containsEntry(Exchange.CONTENT_TYPE, "text/plain")
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "delayed")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.QUEUE, queue)
                .containsEntry(RedisDelayConstants.ATTEMPT, 0)
                .doesNotContainKeys(
                        RedisDelayConstants.OPERATION,
                        RedisDelayConstants.PRIORITY,
                        RedisDelayConstants.REDELIVERY_REASON,
                        RedisDelayConstants.FAILURE_EXCEPTION,
                        RedisDelayConstants.DEAD_LETTER_ID);
        assertThat(found.getHeader(RedisDelayConstants.DUE_TIME, long.class)
                        - found.getHeader(RedisDelayConstants.SCHEDULED_TIME, long.class))
                .isEqualTo(3_600_000);
        assertThat(stats().delayed()).as("it is still there").isOne();
    }

    @Test
    void should_tell_who_holds_a_message_and_until_when() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try {
            start(consume("", exchange -> go.await(20, TimeUnit.SECONDS)));
            schedule("", "a", "stored");
            await().until(() -> stats().leased() == 1);

            Message found = get("a");
            assertThat(found.getHeaders())
                    .containsEntry(RedisDelayConstants.MESSAGE_STATE, "leased")
                    .containsEntry(RedisDelayConstants.ATTEMPT, 1);
            // 30 s from the claim, and the clocks are this machine's.
            assertThat(found.getHeader(RedisDelayConstants.LEASE_END, long.class) - System.currentTimeMillis())
                    .isBetween(10_000L, 30_000L);
            String holder = found.getHeader(RedisDelayConstants.LEASE_OWNER, String.class);
            assertThat(holder).contains("/consumer/"); // the route

            Message page = look("?operation=list&state=leased", Map.of());
            Map<String, Object> entry = messages(page).get(0);
            assertThat(entry)
                    .containsEntry("messageId", "a")
                    .containsEntry("state", "leased")
                    .containsEntry("attempt", 1);
            assertThat((Long) entry.get("leaseEnd")).isGreaterThan(System.currentTimeMillis());
            assertThat(entry).containsEntry("leaseOwner", holder);
            assertThat(ids(look("?operation=list", Map.of()))).isEmpty();
        } finally {
            go.countDown();
        }
    }

    @Test
    void should_tell_that_there_is_no_such_message() {
        context.start();
        Message found = get("nobody");
        assertThat(found.getBody()).isNull();
        assertThat(found.getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "none")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "nobody");
    }

    @Test
    void should_get_a_dead_letter_by_its_own_id() throws Exception {
        die("a");
        Message page = look("?operation=list&state=dead", Map.of());
        Map<String, Object> entry = messages(page).get(0);
        assertThat(entry)
                .containsEntry("messageId", "a")
                .containsEntry("state", "dead")
                .containsEntry("failureException", IllegalStateException.class.getName())
                .containsEntry("failureMessage", "no such order")
                .containsEntry("failureRouteId", "consumer")
                .containsEntry("failureAttempts", 1);

        String deadLetterId = (String) entry.get("deadLetterId");
        for (String options : List.of("?operation=get", "?operation=get&state=dead")) {
            Message found = look(options, Map.of(RedisDelayConstants.SCHEDULE_ID, deadLetterId));
            assertThat(found.getBody()).isEqualTo("body of a");
            assertThat(found.getHeaders())
                    .containsEntry(RedisDelayConstants.MESSAGE_STATE, "dead")
                    .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                    .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, deadLetterId)
                    .containsEntry(RedisDelayConstants.FAILURE_EXCEPTION, IllegalStateException.class.getName())
                    .containsEntry(RedisDelayConstants.FAILURE_MESSAGE, "no such order")
                    .containsEntry(RedisDelayConstants.FAILURE_ROUTE_ID, "consumer")
                    .containsEntry("customer", 42);
        }
        assertThat(stats().dead()).isOne();
    }

    /** One word for one thing: what a list says is what the headers say. */
    @Test
    void should_call_everything_in_a_list_as_its_header_is_called() throws Exception {
        Set<String> headers = new TreeSet<>();
        for (Field field : RedisDelayConstants.class.getFields()) {
            headers.add((String) field.get(null));
        }
        die("dead");
        CountDownLatch go = new CountDownLatch(1);
        AtomicBoolean failed = new AtomicBoolean();
        CountDownLatch again = new CountDownLatch(1);
        try {
            start(consume("?redeliveryDelay=1ms", exchange -> {
                if (failed.compareAndSet(false, true)) {
                    throw new IllegalStateException("once");
                }
                again.countDown();
                go.await(20, TimeUnit.SECONDS);
            }));
            schedule("", "leased", "x");
            assertThat(again.await(20, TimeUnit.SECONDS)).isTrue();
            schedule("?delay=1h", "delayed", "x");
            Set<String> names = new TreeSet<>();
            for (String state : List.of("delayed", "leased", "dead")) {
                names.addAll(messages(look("?operation=list&state=" + state, Map.of()))
                        .get(0)
                        .keySet());
            }
            assertThat(names).hasSize(17).allSatisfy(name -> assertThat(headers)
                    .contains("CamelRedisDelay" + Character.toUpperCase(name.charAt(0)) + name.substring(1)));
        } finally {
            go.countDown();
        }
    }

    @Test
    void should_tell_of_a_dead_letter_how_often_its_message_was_delivered_and_when_it_died() throws Exception {
        long before = System.currentTimeMillis() - 1000;
        die("a");
        Map<String, Object> entry =
                messages(look("?operation=list&state=dead", Map.of())).get(0);
        assertThat(entry).containsEntry("attempt", 1).containsEntry("deadLetterReason", "failed");
        assertThat((Long) entry.get("deadLetterTime")).isBetween(before, System.currentTimeMillis() + 1000);
        Message found = get((String) entry.get("deadLetterId"));
        assertThat(found.getHeaders())
                .containsEntry(RedisDelayConstants.ATTEMPT, 1)
                .containsEntry(RedisDelayConstants.DEAD_LETTER_TIME, entry.get("deadLetterTime"));
    }

    @Test
    void should_not_mix_what_it_tells_of_two_messages() throws Exception {
        die("a");
        schedule("?delay=1h", "b", "stored");
        String deadLetterId = (String)
                messages(look("?operation=list&state=dead", Map.of())).get(0).get("deadLetterId");
        Message first = look("?operation=get", Map.of(RedisDelayConstants.SCHEDULE_ID, deadLetterId));

        Map<String, Object> headers = new HashMap<>(first.getHeaders());
        headers.put(RedisDelayConstants.SCHEDULE_ID, "b");
        assertThat(look("?operation=get", headers).getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "delayed")
                .doesNotContainKeys(
                        RedisDelayConstants.DEAD_LETTER_ID,
                        RedisDelayConstants.DEAD_LETTER_REASON,
                        RedisDelayConstants.FAILURE_EXCEPTION,
                        RedisDelayConstants.FAILURE_MESSAGE,
                        RedisDelayConstants.FAILURE_TIME);

        headers.put(RedisDelayConstants.SCHEDULE_ID, "nobody");
        assertThat(look("?operation=get", headers).getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "none")
                .doesNotContainKeys(
                        RedisDelayConstants.DEAD_LETTER_ID,
                        RedisDelayConstants.DUE_TIME,
                        RedisDelayConstants.ATTEMPT,
                        RedisDelayConstants.FAILURE_EXCEPTION);
    }

    @Test
    void should_leave_the_headers_that_tell_of_no_message() {
        context.start();
        schedule("?delay=1h", "a", "stored");
        Map<String, Object> headers = Map.of(
                RedisDelayConstants.SCHEDULE_ID, "a",
                RedisDelayConstants.PREVIOUS_STATE, "dead",
                RedisDelayConstants.RESULT, "done",
                RedisDelayConstants.COUNT, 7L,
                RedisDelayConstants.LATENESS, 12L);

        assertThat(look("?operation=get", headers).getHeaders())
                .containsAllEntriesOf(headers)
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "delayed");
    }

    @Test
    void should_not_give_up_the_message_of_a_route_that_looks_at_a_dead_letter() throws Exception {
        die("a");
        String deadLetterId = (String)
                messages(look("?operation=list&state=dead", Map.of())).get(0).get("deadLetterId");
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri)
                        .routeId("looks")
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, constant(deadLetterId))
                        .to(uri + "?operation=get");
            }
        });
        schedule("", "b", "x");
        await().until(() -> stats().delayed() + stats().leased() == 0);
        assertThat(stats().dead()).as("dead letters").isOne();
    }

    @Test
    void should_get_a_dead_letter_of_the_longest_id() throws Exception {
        String longest = "i".repeat(256);
        die(longest);
        String deadLetterId = (String)
                messages(look("?operation=list&state=dead", Map.of())).get(0).get("deadLetterId");
        assertThat(get(deadLetterId).getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "dead")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, longest);
    }

    @SuppressWarnings("unchecked")
    private static List<Long> counts(Message outlook) {
        return (List<Long>) outlook.getBody(Map.class).get("counts");
    }

    @Test
    void should_tell_how_many_become_due_in_each_step() {
        context.start();
        schedule("?delay=90s&priority=3", "a", "x");
        schedule("?delay=95s", "b", "x");
        schedule("?delay=1h", "c", "x");
        schedule("", "d", "x");

        Message outlook = look("?operation=outlook&outlookSteps=3", Map.of());

        assertThat(counts(outlook)).containsExactly(0L, 2L, 0L);
        Map<?, ?> figures = outlook.getBody(Map.class);
        assertThat(figures.keySet())
                .map(Object::toString)
                .containsExactly("fromTime", "stepMillis", "before", "counts", "after");
        assertThat(figures.get("before")).isEqualTo(1L);
        assertThat(figures.get("after")).isEqualTo(1L);
        assertThat(figures.get("stepMillis")).isEqualTo(60_000L);
        assertThat((Long) figures.get("fromTime"))
                .isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis() + 1_000);
        assertThat(outlook.getHeader(RedisDelayConstants.QUEUE)).isEqualTo(queue);
        assertThat(counts(look("", Map.of(RedisDelayConstants.OPERATION, "outlook"))))
                .hasSize(60);
    }

    @Test
    void should_tell_how_many_were_given_up_in_each_step_up_to_now() throws Exception {
        die("a", "b");
        Message outlook = look("?operation=outlook&state=dead&outlookStep=1h&outlookSteps=2", Map.of());
        assertThat(counts(outlook)).containsExactly(0L, 2L);
        assertThat(outlook.getBody(Map.class)).containsEntry("before", 0L).containsEntry("after", 0L);
        assertThat(send(uri + "?operation=outlook&state=leased", null, Map.of()).getException())
                .hasMessageContaining("option 'state' is 'leased', which means nothing to operation 'outlook'");
    }

    @Test
    void should_list_in_due_order_page_by_page_until_there_is_no_cursor() {
        context.start();
        List<String> inOrder = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            inOrder.add("m" + i);
        }
        for (int i = 6; i >= 0; i--) {
            schedule("?delay=" + (i + 1) + "h&priority=" + (i % 3), "m" + i, "x");
        }
        List<Object> seen = new ArrayList<>();
        Map<String, Object> headers = new HashMap<>();
        do {
            Message page = look("?operation=list&limit=3", headers);
            assertThat(messages(page)).hasSizeLessThanOrEqualTo(3);
            assertThat(page.getHeader(RedisDelayConstants.COUNT))
                    .isEqualTo((long) messages(page).size());
            seen.addAll(ids(page));
            headers = new HashMap<>(page.getHeaders());
        } while (headers.containsKey(RedisDelayConstants.CURSOR));
        assertThat(seen).isEqualTo(inOrder);
        assertThat(stats().delayed()).isEqualTo(7);
    }

    @Test
    void should_list_values_that_any_format_can_write() throws Exception {
        die("a");
        schedule("?delay=1h", "b", "x");
        for (String state : List.of("delayed", "dead")) {
            Message page = look("?operation=list&state=" + state, Map.of());
            assertThat(messages(page)).hasSize(1);
            messages(page).get(0).forEach((name, value) -> assertThat(value)
                    .as(name)
                    .isInstanceOfAny(String.class, Integer.class, Long.class, Boolean.class));
        }
    }

    @Test
    void should_tell_the_figures() throws Exception {
        die("a");
        await().until(() -> stats().consumers() == 0); // it tells that it has gone beside its stop
        schedule("?delay=1h", "later", "x");
        send(uri, "x", Map.of(RedisDelayConstants.DELIVER_AT, System.currentTimeMillis() - 60_000));

        Message message = look("?operation=stats", Map.of());

        Map<?, ?> figures = message.getBody(Map.class);
        assertThat(figures.get("delayed")).isEqualTo(2L);
        assertThat(figures.get("overdue")).isEqualTo(1L);
        assertThat(figures.get("leased")).isEqualTo(0L);
        assertThat(figures.get("dead")).isEqualTo(1L);
        assertThat(figures.get("consumers")).isEqualTo(0);
        assertThat(figures.get("paused")).isEqualTo(false);
        assertThat((Long) figures.get("oldestOverdueMillis")).isBetween(60_000L, 120_000L);
        assertThat((Long) figures.get("nextDueMillis")).isBetween(3_500_000L, 3_600_000L);
        assertThat(message.getHeader(RedisDelayConstants.QUEUE)).isEqualTo(queue);
    }

    @Test
    void should_tell_the_figures_of_an_empty_queue() {
        context.start();
        Map<?, ?> figures = look("?operation=stats", Map.of()).getBody(Map.class);
        assertThat(figures.get("delayed")).isEqualTo(0L);
        assertThat(figures.get("oldestOverdueMillis")).isEqualTo(0L);
        assertThat(figures.get("nextDueMillis")).isEqualTo(-1L);
    }

    @Test
    void should_count_the_consumers_that_listen() throws Exception {
        start(consume("", exchange -> {}));
        await().untilAsserted(() -> assertThat(
                        look("?operation=stats", Map.of()).getBody(Map.class).get("consumers"))
                .isEqualTo(1));
    }

    @Test
    void should_refuse_what_makes_no_sense_and_name_it() {
        context.start();
        assertThat(send(uri + "?operation=get", "x", Map.of()).getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "operation 'get' needs the id of a message: set header 'CamelRedisDelayScheduleId'");
        assertThat(send(uri + "?operation=get", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("a")))
                        .getException())
                .hasMessageContaining("is a list: give one id");
        for (String options : List.of("get&state=leased", "get&state=delayed", "stats&state=leased")) {
            assertThat(send(uri + "?operation=" + options, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "a"))
                            .getException())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("option 'state' is '")
                    .hasMessageContaining("remove it, or set it to dead");
        }
        assertThat(send(uri + "?operation=list", "x", Map.of(RedisDelayConstants.CURSOR, "page 2"))
                        .getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cursor 'page 2'");
    }

    @Test
    void should_leave_the_message_as_it_is_when_it_fails() {
        context.start();
        Exchange failed = send(uri + "?operation=list", "x", Map.of(RedisDelayConstants.CURSOR, "page 2"));
        assertThat(failed.getMessage().getBody()).isEqualTo("x");
        assertThat(failed.getMessage().getHeader(RedisDelayConstants.CURSOR)).isEqualTo("page 2");
    }

    private static List<Object> queues(Message answer) {
        return messages(answer).stream().map(entry -> entry.get("queue")).toList();
    }

    @Test
    void should_list_the_queues_that_were_used() {
        context.start();
        context.getComponent("redis-delay", RedisDelayComponent.class)
                .getConfiguration()
                .setKeyPrefix(redis.keyPrefix());
        String any = "redis-delay:any?operation=queues";
        assertThat(messages(look(any))).isEmpty();
        long before = System.currentTimeMillis();
        template.sendBody("redis-delay:orders?delay=1h", "a");
        await().untilAsserted(() -> assertThat(queues(look(any))).containsExactly("orders"));
        template.sendBody("redis-delay:mails?delay=1h&partitions=3", "a");
        await().untilAsserted(() -> assertThat(queues(look(any))).containsExactly("mails", "orders"));
        Message all = look(any);
        assertThat(all.getHeaders()).containsEntry(RedisDelayConstants.COUNT, 2L);
        assertThat(messages(all)).allSatisfy(entry -> assertThat((Long) entry.get("lastUsedTime"))
                .isBetween(before - 1000, System.currentTimeMillis() + 1000));
        assertThat(queues(look(any + "&limit=1"))).containsExactly("mails");
        Exchange limited = template.request("redis-delay:any", exchange -> exchange.getMessage()
                .setHeaders(
                        new HashMap<>(Map.of(RedisDelayConstants.OPERATION, "queues", RedisDelayConstants.LIMIT, 1))));
        assertThat(queues(limited.getMessage())).containsExactly("mails");
        assertThat(limited.getMessage().getHeaders())
                .doesNotContainKeys(RedisDelayConstants.OPERATION, RedisDelayConstants.LIMIT);
    }

    private Message look(String queues) {
        Exchange exchange = template.request(queues, e -> {});
        assertThat(exchange.getException()).isNull();
        return exchange.getMessage();
    }

    @Test
    void should_refuse_what_means_nothing_to_a_list_of_queues() {
        context.start();
        for (String options : List.of("&state=dead", "&state=delayed")) {
            assertThat(send(uri + "?operation=queues" + options, "body", Map.of())
                            .getException())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("option 'state' is '")
                    .hasMessageEndingWith("', which means nothing to operation 'queues': remove it");
        }
        assertThat(send(uri + "?operation=queues", "body", Map.of(RedisDelayConstants.LIMIT, 257))
                        .getException())
                .hasMessageContaining("header 'CamelRedisDelayLimit'");
    }
}
