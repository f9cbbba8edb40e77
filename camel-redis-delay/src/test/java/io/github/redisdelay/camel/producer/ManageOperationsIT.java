// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.CamelRedisIT;
import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations promote, pause and resume, and what takes a list of ids. */
class ManageOperationsIT extends CamelRedisIT {

    private final BlockingQueue<String> delivered = new LinkedBlockingQueue<>();

    private void consume() throws Exception {
        start(consume(
                "",
                exchange ->
                        delivered.add(exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class))));
    }

    private void schedule(String options, String... ids) {
        for (String id : ids) {
            assertThat(send(uri + options, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, id))
                            .getException())
                    .isNull();
        }
    }

    private Message change(String options, Object ids) {
        return change(options, Map.of(RedisDelayConstants.SCHEDULE_ID, ids));
    }

    private Message change(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "untouched", headers);
        assertThat(exchange.getException()).isNull();
        assertThat(exchange.getMessage().getBody()).isEqualTo("untouched");
        assertThat(exchange.getMessage().getHeader(RedisDelayConstants.QUEUE)).isEqualTo(queue);
        return exchange.getMessage();
    }

    private Exception refused(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "x", headers);
        assertThat(exchange.getException()).isInstanceOf(IllegalArgumentException.class);
        return exchange.getException();
    }

    @Test
    void should_deliver_a_promoted_message_now() throws Exception {
        consume();
        schedule("?delay=30m", "a");

        assertThat(change("?operation=promote", "a").getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "delayed")
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .containsKey(RedisDelayConstants.DUE_TIME);

        assertThat(delivered.poll(10, TimeUnit.SECONDS)).isEqualTo("a");
    }

    @Test
    void should_tell_why_nothing_was_promoted() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try {
            start(consume("", exchange -> go.await(20, TimeUnit.SECONDS)));
            schedule("", "leased");
            await().until(() -> stats().leased() == 1);

            assertThat(change("?operation=promote", "leased").getHeaders())
                    .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "leased")
                    .containsEntry(RedisDelayConstants.RESULT, "leased")
                    .containsEntry(RedisDelayConstants.COUNT, 0L)
                    .doesNotContainKey(RedisDelayConstants.DUE_TIME);
            assertThat(change("?operation=promote", "nobody").getHeaders())
                    .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "none")
                    .containsEntry(RedisDelayConstants.RESULT, "none");
        } finally {
            go.countDown();
        }
    }

    @Test
    void should_promote_all_that_wait_in_their_order() throws Exception {
        context.start();
        String[] ids =
                IntStream.range(0, 300).mapToObj(i -> String.format("m%03d", i)).toArray(String[]::new);
        for (int i = 0; i < ids.length; i++) {
            schedule("?delay=" + (i + 1) + "m", ids[i]);
        }
        assertThat(change("?operation=promote&all=true", Map.of()).getHeader(RedisDelayConstants.COUNT))
                .isEqualTo(300L);
        assertThat(stats().overdue()).isEqualTo(300);
        consume();
        for (String id : ids) {
            assertThat(delivered.poll(10, TimeUnit.SECONDS)).isEqualTo(id);
        }
    }

    @Test
    void should_answer_a_list_of_ids_with_a_result_for_each() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try {
            start(consume("", exchange -> go.await(20, TimeUnit.SECONDS)));
            schedule("", "leased");
            await().until(() -> stats().leased() == 1);
            schedule("?delay=1h", "delayed", "other");

            Message moved = change("?operation=reschedule&delay=2h", List.of("delayed", "nobody", "leased"));
            assertThat(moved.getHeaders())
                    .containsEntry(RedisDelayConstants.MESSAGE_ID, List.of("delayed", "nobody", "leased"))
                    .containsEntry(RedisDelayConstants.PREVIOUS_STATE, List.of("delayed", "none", "leased"))
                    .containsEntry(RedisDelayConstants.RESULT, List.of("done", "none", "leased"))
                    .containsEntry(RedisDelayConstants.COUNT, 1L);
            List<?> due = moved.getHeader(RedisDelayConstants.DUE_TIME, List.class);
            assertThat((Long) due.get(0))
                    .isGreaterThan(
                            System.currentTimeMillis() + Duration.ofMinutes(119).toMillis());
            assertThat(due.subList(1, 3)).isEqualTo(List.of(0L, 0L));

            assertThat(change("?operation=cancel", List.of("delayed", "nobody", "leased", "delayed"))
                            .getHeaders())
                    .containsEntry(RedisDelayConstants.PREVIOUS_STATE, List.of("delayed", "none", "leased", "none"))
                    .containsEntry(RedisDelayConstants.RESULT, List.of("done", "none", "done", "none"))
                    .containsEntry(RedisDelayConstants.COUNT, 2L);
            assertThat(change("?operation=cancel", Set.of("other")).getHeaders())
                    .containsEntry(RedisDelayConstants.RESULT, List.of("done"));
            assertThat(stats().delayed() + stats().leased()).isZero();
        } finally {
            go.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cancel", "reschedule&delay=1h", "promote", "redrive", "purge"})
    void should_refuse_ids_that_name_nothing(String operation) {
        context.start();
        schedule("?delay=1h", "a");
        String options = "?operation=" + operation;
        assertThat(refused(options, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of())))
                .hasMessageContaining("header 'CamelRedisDelayScheduleId' is an empty list");
        assertThat(refused(options, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("a", Map.of()))))
                .hasMessageContaining("an element of header 'CamelRedisDelayScheduleId' is of type java.util");
        assertThat(refused(options, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("a", List.of("b")))))
                .hasMessageContaining("an element of header 'CamelRedisDelayScheduleId' is a list: give a String");
        assertThat(refused(options, Map.of(RedisDelayConstants.SCHEDULE_ID, Arrays.asList("a", null))))
                .hasMessageContaining("an element of header 'CamelRedisDelayScheduleId' is null: give a String");
        assertThat(refused(options, Map.of(RedisDelayConstants.SCHEDULE_ID, new String[] {"a"})))
                .hasMessageContaining("header 'CamelRedisDelayScheduleId' is of type java.lang.String[]: give a String,"
                        + " a number or a UUID or a list of these");
        assertThat(refused(options, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("a", ""))))
                .hasMessageContaining("an element of header 'CamelRedisDelayScheduleId'")
                .hasMessageContaining("has 0 bytes");
        // An expression that found nothing must not mean all messages.
        Map<String, Object> missing = new HashMap<>();
        missing.put(RedisDelayConstants.SCHEDULE_ID, null);
        assertThat(refused(options, missing)).hasMessageContaining("CamelRedisDelayScheduleId");
        assertThat(stats().delayed()).as("nothing was changed").isOne();
    }

    @Test
    void should_refuse_what_makes_no_sense_and_name_it() {
        context.start();
        assertThat(refused("?operation=cancel", Map.of()))
                .hasMessageContaining(
                        "operation 'cancel' needs the id of a message: set header 'CamelRedisDelayScheduleId',"
                                + " or header 'CamelRedisDelayGroup' for all messages of a group");
        assertThat(refused("?operation=cancel&group=g&limit=5", Map.of()))
                .hasMessageContaining(
                        "option 'limit' (5) means nothing to operation 'cancel', which takes ids or a group: remove it");
        assertThat(refused("?operation=reschedule", Map.of(RedisDelayConstants.SCHEDULE_ID, "a")))
                .hasMessageContaining("operation 'reschedule' needs a time");
        assertThat(refused("?operation=promote", Map.of()))
                .hasMessageContaining(
                        "or header 'CamelRedisDelayGroup', or choose some by option 'failureException', 'failureRouteId', or 'limit'");
        assertThat(refused("?operation=promote&state=dead", Map.of()))
                .hasMessageContaining("'failureRouteId', 'deadLetterReason' or 'limit'");
        for (String operation : List.of("cancel", "promote", "redrive", "purge", "pause", "resume")) {
            assertThat(refused("?state=leased&operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, "a")))
                    .hasMessageContaining(
                            "option 'state' is 'leased', which means nothing to operation '" + operation + "'");
        }
        assertThat(refused(
                        "?batching=true",
                        Map.of(RedisDelayConstants.OPERATION, "cancel", RedisDelayConstants.SCHEDULE_ID, List.of())))
                .hasMessageContaining("is an empty list");
    }

    @Test
    void should_deliver_nothing_while_the_queue_is_paused() throws Exception {
        consume();
        change("?operation=pause", Map.of());
        assertThat(stats().paused()).isTrue();
        schedule("", "a");
        await().during(Duration.ofMillis(300)).atMost(Duration.ofSeconds(5)).until(delivered::isEmpty);

        change("?operation=resume", Map.of());
        assertThat(delivered.poll(10, TimeUnit.SECONDS)).isEqualTo("a");
        assertThat(stats().paused()).isFalse();
        change("?operation=resume", Map.of()); // once more changes nothing
    }

    @Test
    void should_end_what_was_begun_before_the_pause() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(consume("", exchange -> go.await(20, TimeUnit.SECONDS)));
        schedule("", "a");
        await().until(() -> stats().leased() == 1);
        change("?operation=pause", Map.of());
        go.countDown();
        await().until(() -> stats().leased() == 0);
        assertThat(stats().delayed()).isZero();
    }

    /** Cancelled in time means never delivered; anything else tells that it may have been. */
    @Test
    void should_never_deliver_what_was_cancelled_in_time() throws Exception {
        Set<String> begun = ConcurrentHashMap.newKeySet();
        start(consume(
                "?concurrentConsumers=4",
                exchange -> begun.add(exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class))));
        List<String> ids = IntStream.range(0, 400).mapToObj(i -> "m" + i).toList();
        schedule("?delay=150ms", ids.toArray(String[]::new));
        Map<String, String> states = new ConcurrentHashMap<>();
        ids.parallelStream()
                .forEach(id -> states.put(
                        id,
                        change("?operation=cancel", id).getHeader(RedisDelayConstants.PREVIOUS_STATE, String.class)));
        await().until(() -> stats().delayed() + stats().leased() == 0);
        // A leased one may not have begun: a consumer gives back what it has prefetched and not begun within a second.
        List<String> known =
                ids.stream().filter(id -> !states.get(id).equals("leased")).toList();
        await().untilAsserted(() -> assertThat(known).allSatisfy(id -> assertThat(begun.contains(id))
                .as("%s was %s when it was cancelled, and was begun", id, states.get(id))
                .isEqualTo(states.get(id).equals("none"))));
        assertThat(stats().dead()).isZero();
    }
}
