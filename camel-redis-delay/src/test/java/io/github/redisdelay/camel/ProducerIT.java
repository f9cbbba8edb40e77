// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.engine.HashMapHeadersMapFactory;
import org.apache.camel.support.DefaultExchange;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProducerIT extends CamelRedisIT {

    @BeforeEach
    void startContext() {
        context.start();
    }

    private static long due(Exchange exchange) {
        assertThat(exchange.getException()).isNull();
        return exchange.getMessage().getHeader(RedisDelayConstants.DUE_TIME, long.class)
                - exchange.getMessage().getHeader(RedisDelayConstants.SCHEDULED_TIME, long.class);
    }

    private static Map<String, Object> id(String id) {
        return Map.of(RedisDelayConstants.SCHEDULE_ID, id);
    }

    private void assertFails(Exchange exchange, String message) {
        assertThat(exchange.getException()).isNotNull().hasMessageContaining(message);
        assertThat(stats().delayed()).as("messages stored").isZero();
    }

    @Test
    void should_let_headers_win_over_the_options() {
        assertThat(due(send(uri + "?delay=1h", "x", Map.of(RedisDelayConstants.DELAY, "2h"))))
                .isEqualTo(Duration.ofHours(2).toMillis());
        assertThat(due(send(uri + "?delay=1h", "x", Map.of(RedisDelayConstants.DELAY, Duration.ofSeconds(90)))))
                .isEqualTo(90_000);
        assertThat(due(send(uri, "x", Map.of(RedisDelayConstants.DELAY, 1500)))).isEqualTo(1500);
        Instant time = Instant.parse("2100-01-01T00:00:00Z");
        Exchange at = send(uri + "?delay=1h", "x", Map.of(RedisDelayConstants.DELIVER_AT, time));
        assertThat(at.getMessage().getHeader(RedisDelayConstants.DUE_TIME)).isEqualTo(time.toEpochMilli());
        assertThat(due(send(uri, "x", Map.of()))).isZero();
    }

    @Test
    void should_remove_the_headers_that_directed_it_and_keep_the_id() {
        Message result = send(
                        uri,
                        "x",
                        Map.of(
                                RedisDelayConstants.DELAY, "1h",
                                RedisDelayConstants.OPERATION, "schedule",
                                RedisDelayConstants.SCHEDULE_ID, "a"))
                .getMessage();
        assertThat(result.getHeaders())
                .doesNotContainKeys(RedisDelayConstants.DELAY, RedisDelayConstants.OPERATION)
                .containsEntry(RedisDelayConstants.SCHEDULE_ID, "a")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a");
    }

    @Test
    void should_keep_the_headers_that_directed_it_after_a_failure() {
        Exchange failed = send(uri, new Object(), Map.of(RedisDelayConstants.DELAY, "1h"));
        assertThat(failed.getException()).hasMessageContaining("marshal it first");
        assertThat(failed.getMessage().getHeader(RedisDelayConstants.DELAY)).isEqualTo("1h");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-5s", "2M", "5S", "1w", "1h-30m", "1m30", "soon", "99999999999999999999", "104250d"})
    void should_store_nothing_when_the_delay_cannot_be_read(String delay) {
        assertFails(
                send(uri, "x", Map.of(RedisDelayConstants.DELAY, delay)),
                "header 'CamelRedisDelayDelay' '" + delay + "'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                RedisDelayConstants.DELAY,
                RedisDelayConstants.PRIORITY,
                RedisDelayConstants.TIME_TO_LIVE,
                RedisDelayConstants.MAXIMUM_REDELIVERIES
            })
    void should_leave_a_stream_unread_when_a_header_cannot_be_read(String header) {
        InputStream body = new ByteArrayInputStream(new byte[9]);
        assertFails(send(uri, body, Map.of(header, "soon")), "header '" + header + "'");
        assertThat(body).as("what a dead letter channel gets").hasBinaryContent(new byte[9]);
    }

    @Test
    void should_store_nothing_when_headers_make_no_sense() {
        assertFails(
                send(uri, "x", Map.of(RedisDelayConstants.DELAY, -1)),
                "header 'CamelRedisDelayDelay' '-1' is no duration");
        assertFails(send(uri, "x", Map.of(RedisDelayConstants.DELAY, "104249d")), "ends beyond the year 2255");
        assertFails(
                send(uri, "x", Map.of(RedisDelayConstants.DELIVER_AT, "tomorrow")),
                "header 'CamelRedisDelayDeliverAt' 'tomorrow' is no time");
        assertFails(
                send(uri, "x", Map.of(RedisDelayConstants.DELIVER_AT, 1_900_000_000L)),
                "header 'CamelRedisDelayDeliverAt' '1900000000' is no time up to the year 2255");
        assertFails(
                send(uri, "x", Map.of(RedisDelayConstants.DELAY, 1, RedisDelayConstants.DELIVER_AT, 1)),
                "header 'CamelRedisDelayDelay' (1) and header 'CamelRedisDelayDeliverAt' (1) are both set");
        assertFails(
                send(uri, "x", Map.of(RedisDelayConstants.OPERATION, "remove")),
                "header 'CamelRedisDelayOperation' 'remove' is unknown: use schedule, cancel, reschedule");
        assertFails(send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "")), "has 0 bytes");
        assertFails(send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "i".repeat(257))), "has 257 bytes");
        assertFails(
                send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, List.of())),
                "is a list: give one id, as a String");
        assertFails(send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, Map.of())), "is of type java.util");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "IMPORT") // needs a module of its own
    void should_do_nothing_with_a_header_that_is_nearly_one_of_its_own(RedisDelayOperation operation) {
        Exchange sent = send(uri + "?operation=" + operation + "&delay=1h", "x", Map.of("CamelRedisDelayId", "a"));
        assertThat(sent.getException()).isInstanceOf(IllegalArgumentException.class);
        assertFails(sent, "header 'CamelRedisDelayId' is unknown: remove it, or use one of CamelRedisDelayDelay, ");
    }

    @Test
    void should_look_at_the_names_of_headers_in_any_case_and_only_at_its_own() {
        assertFails(
                send(uri, "x", Map.of("camelredisdelayDelayMs", "30m")), "header 'camelredisdelayDelayMs' is unknown");
        assertThat(due(send(uri, "x", Map.of("camelredisdelaydelay", 5, "CamelRedisKey", "a", "CamelRedis", 1))))
                .isEqualTo(5);
    }

    @Test
    void should_refuse_a_name_in_another_case_where_camel_takes_it_for_another_name() {
        context.setCaseInsensitiveHeaders(false);
        context.getCamelContextExtension().setHeadersMapFactory(new HashMapHeadersMapFactory());
        assertFails(
                send(uri, "x", Map.of("camelredisdelaydelay", "30m")),
                "header 'camelredisdelaydelay' is unknown: remove it, or use one of CamelRedisDelayDelay, ");
        assertThat(due(send(uri, "x", Map.of("CamelRedisDelayDelay", 5)))).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void should_take_what_failed_for_its_headers_from_a_dead_letter_channel_only_without_them(boolean without)
            throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(deadLetterChannel(uri).onPrepareFailure(failed -> {
                    if (without) {
                        failed.getMessage().removeHeaders("CamelRedisDelay*");
                    }
                }));
                from("direct:in").to(uri + "-2");
            }
        });
        for (String header : List.of("CamelRedisDelay", RedisDelayConstants.DELAY)) {
            assertThat(send("direct:in", "x", Map.of(header, "soon")).getException())
                    .isNull();
        }
        assertThat(stats().delayed()).isEqualTo(without ? 2 : 0);
    }

    @Test
    void should_refuse_only_those_elements_of_a_batch_that_have_an_unknown_header() {
        Message wrong = new DefaultMessage(context);
        wrong.setHeader("CamelRedisDelayDeliveryTime", "2030-01-31T10:15:00Z");
        Exchange sent = send(uri + "?batching=true&delay=1h", List.of("a", wrong, "b"), Map.of());
        assertThat(sent.getException(BatchScheduleException.class).getFailures().values())
                .singleElement()
                .asString()
                .contains("header 'CamelRedisDelayDeliveryTime' is unknown");
        assertThat(stats().delayed()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                RedisDelayConstants.DELAY,
                RedisDelayConstants.DELIVER_AT,
                RedisDelayConstants.SCHEDULE_ID,
                RedisDelayConstants.OPERATION,
                RedisDelayConstants.PRIORITY,
                RedisDelayConstants.TIME_TO_LIVE,
                RedisDelayConstants.DEDUPLICATION_PERIOD,
                RedisDelayConstants.REDELIVERY_DELAYS
            })
    void should_store_nothing_when_an_expression_found_nothing(String header) {
        Map<String, Object> headers = new java.util.HashMap<>();
        headers.put(header, null);
        assertFails(send(uri + "?delay=1h", "x", headers), "header '" + header + "' is null");
    }

    @Test
    void should_refuse_bodies_that_cannot_become_bytes_and_messages_that_are_too_large() {
        assertFails(send(uri, Map.of("a", 1), Map.of()), "marshal it first, e.g. .marshal().json()");
        assertFails(send(uri, new int[] {1}, Map.of()), "marshal it first");
        assertFails(send(uri, List.of("a"), Map.of()), "marshal it first");
        assertFails(send(uri + "?maximumMessageSize=100", "x".repeat(101), Map.of()), "maximumMessageSize");
    }

    @Test
    void should_decide_by_onDuplicate_what_happens_to_an_id_that_is_pending() {
        send(uri + "?delay=1h", "first", id("a"));

        Exchange rejected = send(uri + "?delay=2h", "second", id("a"));
        assertThat(rejected.getException())
                .isInstanceOf(DuplicateMessageException.class)
                .hasMessageContaining("'a' is already delayed");

        Exchange ignored = send(uri + "?delay=2h&onDuplicate=ignore", "second", id("a"));
        assertThat(due(ignored)).isLessThanOrEqualTo(Duration.ofHours(1).toMillis());

        assertThat(due(send(uri + "?delay=2h&onDuplicate=replace", "second", id("a"))))
                .isEqualTo(Duration.ofHours(2).toMillis());
        assertThat(stats().delayed()).isOne();
    }

    @Test
    void should_cancel_and_leave_the_body_alone() {
        send(uri + "?delay=1h", "stored", id("a"));

        Exchange cancelled = send(uri + "?operation=cancel", "payment", id("a"));
        assertThat(cancelled.getException()).isNull();
        assertThat(cancelled.getMessage().getBody()).isEqualTo("payment");
        assertThat(cancelled.getMessage().getHeaders())
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "delayed")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.SCHEDULE_ID, "a");
        assertThat(stats().delayed()).isZero();

        Exchange again = send(
                uri,
                "payment",
                Map.of(
                        RedisDelayConstants.OPERATION,
                        RedisDelayOperation.CANCEL,
                        RedisDelayConstants.SCHEDULE_ID,
                        "a"));
        assertThat(again.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("none");
    }

    @Test
    void should_reschedule_and_tell_the_new_time() {
        send(uri + "?delay=1h", "stored", id("a"));
        Exchange moved = send(uri + "?operation=reschedule&delay=3h", "body", id("a"));
        assertThat(moved.getException()).isNull();
        assertThat(moved.getMessage().getBody()).isEqualTo("body");
        assertThat(moved.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("delayed");
        assertThat(moved.getMessage().getHeader(RedisDelayConstants.DUE_TIME, long.class))
                .isGreaterThan(System.currentTimeMillis() + Duration.ofHours(2).toMillis());
        assertThat(stats().nextDueMicros()).isGreaterThan(Duration.ofHours(2).toMillis() * 1000);
    }

    @Test
    void should_say_what_is_missing_for_an_operation_by_id() {
        assertFails(send(uri + "?operation=cancel", "x", Map.of()), "operation 'cancel' needs the id");
        assertFails(send(uri + "?operation=reschedule&delay=1m", "x", Map.of()), "operation 'reschedule' needs the id");
        assertFails(send(uri + "?operation=reschedule", "x", id("a")), "operation 'reschedule' needs a time");
    }

    @Test
    void should_schedule_a_batch_in_one_go_with_a_result_for_each() {
        Message own = new DefaultMessage(context);
        own.setBody("second");
        own.setHeader(RedisDelayConstants.SCHEDULE_ID, "mine");
        own.setHeader(RedisDelayConstants.DELAY, "2h");
        Exchange part = new DefaultExchange(context);
        part.getMessage().setBody("third");

        Exchange sent = send(
                uri + "?batching=true&delay=3h", List.of("first", own, part), Map.of(RedisDelayConstants.DELAY, "1h"));

        assertThat(sent.getException()).isNull();
        List<?> ids = sent.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, List.class);
        assertThat(ids).hasSize(3);
        assertThat(ids.get(1)).isEqualTo("mine");
        List<?> scheduled = sent.getMessage().getHeader(RedisDelayConstants.SCHEDULED_TIME, List.class);
        List<?> due = sent.getMessage().getHeader(RedisDelayConstants.DUE_TIME, List.class);
        assertThat((long) due.get(0) - (long) scheduled.get(0)).isBetween(3_600_000L, 3_600_001L);
        assertThat((long) due.get(1) - (long) scheduled.get(1)).isBetween(7_200_000L, 7_200_001L);
        assertThat((long) due.get(2) - (long) scheduled.get(2)).isBetween(3_600_000L, 3_600_001L);
        assertThat(sent.getMessage().getHeaders()).doesNotContainKey(RedisDelayConstants.DELAY);
        assertThat(stats().delayed()).isEqualTo(3);
    }

    @Test
    void should_schedule_the_rest_of_a_batch_when_some_fail() {
        send(uri + "?delay=1h", "x", id("taken"));
        Message duplicate = new DefaultMessage(context);
        duplicate.setBody("x");
        duplicate.setHeader(RedisDelayConstants.SCHEDULE_ID, "taken");
        Message unreadable = new DefaultMessage(context);
        unreadable.setBody(Map.of());
        unreadable.setHeader(RedisDelayConstants.SCHEDULE_ID, "map");

        Exchange sent = send(uri + "?batching=true&delay=1h", List.of("a", duplicate, unreadable, "b"), Map.of());

        BatchScheduleException failure = sent.getException(BatchScheduleException.class);
        assertThat(failure).hasMessageContaining("2 of 4 messages failed: 'taken' (message 'taken' is already");
        assertThat(failure.getFailures()).containsOnlyKeys("taken", "map");
        assertThat(failure.getFailures().get("taken")).isInstanceOf(DuplicateMessageException.class);
        assertThat(failure.getFailures().get("map")).hasMessageContaining("marshal it first");
        assertThat(failure.getScheduledIds()).hasSize(2);
        assertThat(stats().delayed()).isEqualTo(3);
    }

    @Test
    void should_count_each_message_of_a_batch_that_failed_also_those_of_one_id() {
        Message unreadable = new DefaultMessage(context);
        unreadable.setBody(Map.of());
        unreadable.setHeader(RedisDelayConstants.SCHEDULE_ID, "twice");
        send(uri + "?delay=1h", "x", id("twice"));
        Message duplicate = new DefaultMessage(context);
        duplicate.setBody("y");
        duplicate.setHeader(RedisDelayConstants.SCHEDULE_ID, "twice");

        Exchange sent = send(uri + "?batching=true&delay=1h", List.of(unreadable, "a", duplicate), Map.of());

        BatchScheduleException failure = sent.getException(BatchScheduleException.class);
        assertThat(failure).hasMessageContaining("2 of 3 messages failed: 'twice' (body of type");
        assertThat(failure.getFailures().get("twice")).hasMessageContaining("marshal it first");
        assertThat(failure).hasCause(failure.getFailures().get("twice"));
    }

    @Test
    void should_not_schedule_the_good_part_of_a_batch_again_when_the_step_is_redelivered() throws Exception {
        send(uri + "?delay=1h", "x", id("taken"));
        Message duplicate = new DefaultMessage(context);
        duplicate.setBody("late");
        duplicate.setHeader(RedisDelayConstants.SCHEDULE_ID, "taken");
        List<Integer> attempts = new ArrayList<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(defaultErrorHandler()
                        .maximumRedeliveries(3)
                        .redeliveryDelay(0)
                        .onRedelivery(exchange -> {
                            attempts.add(1);
                            if (attempts.size() == 2) {
                                stored().cancel("taken").result().join();
                            }
                        }));
                from("direct:batch").to(uri + "?batching=true&delay=1h");
            }
        });

        Exchange sent = send("direct:batch", List.of("a", duplicate, "b"), Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(attempts).hasSize(2);
        assertThat(sent.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, List.class))
                .hasSize(3);
        assertThat(stats().delayed()).isEqualTo(3);
    }

    @Test
    void should_refuse_one_id_for_a_whole_batch_and_schedule_other_bodies_as_they_are() {
        assertFails(send(uri + "?batching=true", List.of("a", "b"), id("x")), "cannot have one id");
        assertThat(due(send(uri + "?batching=true&delay=1h", "single", Map.of())))
                .isEqualTo(3_600_000);
        assertThat(send(uri + "?batching=true", List.of(), Map.of()).getException())
                .isNull();
    }

    @Test
    void should_go_on_on_a_thread_of_the_component_and_never_on_redissons() throws Exception {
        BlockingQueue<String> threads = new LinkedBlockingQueue<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in")
                        .to(uri + "?delay=1h&synchronous=false")
                        .process(exchange -> threads.add(Thread.currentThread().getName()));
            }
        });
        for (int i = 0; i < 100; i++) {
            template.asyncSendBody("direct:in", "x");
        }
        for (int i = 0; i < 100; i++) {
            assertThat(threads.poll(10, TimeUnit.SECONDS)).endsWith(" - RedisDelay");
        }
    }

    @Test
    void should_stay_on_the_thread_of_a_transaction() throws Exception {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in")
                        .process(exchange -> exchange.getExchangeExtension().setTransacted(true))
                        .to(uri + "?delay=1h&synchronous=false")
                        .process(exchange -> thread.complete(Thread.currentThread()));
            }
        });
        send("direct:in", "x", Map.of());
        assertThat(thread.get(10, TimeUnit.SECONDS)).isEqualTo(Thread.currentThread());
    }

    @Test
    void should_leave_nothing_behind_for_three_thousand_dynamic_uris() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").toD(uri + "?delay=${header.wait}&keyPrefix=redis-delay");
            }
        });
        send("direct:in", "x", Map.of("wait", 3_600_000));
        int threads = Thread.activeCount();
        for (int i = 1; i < 3_000; i++) {
            Exchange sent = send("direct:in", "x", Map.of("wait", 3_600_000 + i));
            assertThat(sent.getException()).isNull();
        }
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        assertThat(component.clients().size()).isOne();
        assertThat(component.clients().connections()).isOne();
        assertThat(Thread.activeCount()).isLessThan(threads + 10);
        assertThat(stats().delayed()).isEqualTo(3_000);
    }

    @Test
    void should_know_by_the_state_whether_a_cancel_was_in_time() throws Exception {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> go = new CompletableFuture<>();
        start(consume("", exchange -> {
            begun.complete(null);
            go.get(10, TimeUnit.SECONDS);
        }));
        send(uri, "x", id("a"));
        begun.get(10, TimeUnit.SECONDS);
        Exchange moved = send(uri + "?operation=reschedule&delay=1h", "x", id("a"));
        assertThat(moved.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("leased");
        Exchange cancelled = send(uri + "?operation=cancel", "x", id("a"));
        assertThat(cancelled.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("leased");
        go.complete(null);
        assertThat(stored().cancel("a").result().join().previousState()).isEqualTo(MessageState.NONE);
    }

    @Test
    void should_fail_clearly_after_the_producer_was_stopped() throws Exception {
        RedisDelayEndpoint endpoint = context.getEndpoint(uri, RedisDelayEndpoint.class);
        var producer = endpoint.createProducer();
        Exchange exchange = new DefaultExchange(context);
        ((org.apache.camel.AsyncProducer) producer).process(exchange, doneSync -> {});
        assertThatThrownBy(() -> {
                    throw exchange.getException();
                })
                .hasMessageContaining("is stopped");
    }
}
