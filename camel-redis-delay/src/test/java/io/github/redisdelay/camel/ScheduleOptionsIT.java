// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.QueueFullException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.ResolveEndpointFailedException;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings that a message can bring along: priority, time to live, deduplication period, redelivery policy; and the queue's limit. */
class ScheduleOptionsIT extends CamelRedisIT {

    @BeforeEach
    void startContext() {
        context.start();
    }

    private Exchange schedule(String options, String id, Map<String, Object> headers) {
        Map<String, Object> all = new HashMap<>(headers);
        all.put(RedisDelayConstants.SCHEDULE_ID, id);
        return send(uri + options, "body of " + id, all);
    }

    private static Message stored(Exchange exchange) {
        assertThat(exchange.getException()).isNull();
        return exchange.getMessage();
    }

    private Envelope.Settings settings(String id) {
        return Envelope.decode(stored().get(id).join().orElseThrow().body()).settings();
    }

    private int priority(String id) {
        return stored().get(id).join().orElseThrow().info().priority();
    }

    @Test
    void should_deliver_the_highest_priority_first() throws Exception {
        stored(schedule("", "none", Map.of()));
        stored(schedule("?priority=5", "option", Map.of()));
        stored(schedule("?priority=5", "header", Map.of(RedisDelayConstants.PRIORITY, 9)));
        stored(schedule("", "text", Map.of(RedisDelayConstants.PRIORITY, "7")));
        BlockingQueue<String> delivered = new LinkedBlockingQueue<>();
        start(consume("?maxMessagesPerPoll=1", exchange -> {
            delivered.add(exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class));
        }));
        for (String expected : List.of("header", "text", "option", "none")) {
            assertThat(delivered.poll(10, TimeUnit.SECONDS)).isEqualTo(expected);
        }
    }

    @Test
    void should_store_what_headers_and_options_say_headers_first() {
        schedule("?delay=1h&timeToLive=5m&deduplicationPeriod=1d", "options", Map.of());
        assertThat(settings("options"))
                .isEqualTo(new Envelope.Settings(Duration.ofDays(1), Duration.ofMinutes(5), null));

        schedule(
                "?delay=1h&timeToLive=5m&deduplicationPeriod=1d",
                "headers",
                Map.of(
                        RedisDelayConstants.TIME_TO_LIVE,
                        Duration.ofSeconds(30),
                        RedisDelayConstants.DEDUPLICATION_PERIOD,
                        1500,
                        RedisDelayConstants.REDELIVERY_DELAYS,
                        "15s,3m"));
        assertThat(settings("headers"))
                .isEqualTo(new Envelope.Settings(
                        Duration.ofMillis(1500), Duration.ofSeconds(30), "redeliveryDelays=15000,180000"));

        schedule("?delay=1h", "none", Map.of());
        assertThat(settings("none")).isEqualTo(Envelope.Settings.NONE);
    }

    /** All that can go together. */
    private static final Map<String, Object> ALL_HEADERS = Map.of(
            RedisDelayConstants.DELAY, "1h",
            RedisDelayConstants.PRIORITY, 1,
            RedisDelayConstants.TIME_TO_LIVE, "1h",
            RedisDelayConstants.DEDUPLICATION_PERIOD, "1h",
            RedisDelayConstants.MAXIMUM_REDELIVERIES, 1,
            RedisDelayConstants.REDELIVERY_DELAY, "1s",
            RedisDelayConstants.BACK_OFF_MULTIPLIER, 2,
            RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY, "1h");

    @Test
    void should_remove_the_headers_that_were_for_this_message_only() {
        Message result = stored(schedule("", "a", ALL_HEADERS));
        assertThat(result.getHeaders())
                .doesNotContainKeys(ALL_HEADERS.keySet().toArray(String[]::new))
                .containsEntry(RedisDelayConstants.SCHEDULE_ID, "a");
    }

    @Test
    void should_keep_them_when_the_message_was_not_stored() {
        stored(schedule("", "a", ALL_HEADERS));
        Exchange again = schedule("", "a", ALL_HEADERS);
        assertThat(again.getException()).isInstanceOf(DuplicateMessageException.class);
        assertThat(again.getMessage().getHeaders()).containsAllEntriesOf(ALL_HEADERS);
    }

    static Stream<Arguments> unreadable() {
        return Stream.of(
                Arguments.of(RedisDelayConstants.PRIORITY, 10, "it must be from 0 to 9"),
                Arguments.of(RedisDelayConstants.PRIORITY, -1, "it must be from 0 to 9"),
                Arguments.of(RedisDelayConstants.PRIORITY, "high", "it must be from 0 to 9"),
                Arguments.of(RedisDelayConstants.PRIORITY, 1.5, "it must be from 0 to 9"),
                Arguments.of(RedisDelayConstants.PRIORITY, true, "it must be from 0 to 9"),
                Arguments.of(RedisDelayConstants.TIME_TO_LIVE, 0, "it must be 1 millisecond or more"),
                Arguments.of(
                        RedisDelayConstants.TIME_TO_LIVE, Duration.ofNanos(500), "it must be 1 millisecond or more"),
                Arguments.of(RedisDelayConstants.TIME_TO_LIVE, "-5s", "is no duration"),
                Arguments.of(RedisDelayConstants.TIME_TO_LIVE, "1w", "is no duration"),
                Arguments.of(RedisDelayConstants.DEDUPLICATION_PERIOD, "0", "it must be 1 millisecond or more"),
                Arguments.of(RedisDelayConstants.DEDUPLICATION_PERIOD, -1, "is no duration"),
                Arguments.of(RedisDelayConstants.MAXIMUM_REDELIVERIES, -2, "0 or more, or -1"),
                Arguments.of(RedisDelayConstants.REDELIVERY_DELAY, "soon", "is no duration"),
                Arguments.of(RedisDelayConstants.BACK_OFF_MULTIPLIER, 0.5, "1 or more"),
                Arguments.of(RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY, "5S", "is no duration"),
                Arguments.of(RedisDelayConstants.REDELIVERY_DELAYS, "1s,,2s", "'' is no duration"));
    }

    @ParameterizedTest
    @MethodSource("unreadable")
    void should_store_nothing_when_a_header_cannot_be_read(String header, Object value, String hint) {
        Exchange failed = schedule("?delay=1h", "a", Map.of(header, value));
        assertThat(failed.getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("header '" + header + "'")
                .hasMessageContaining(hint);
        if (!hint.equals("'' is no duration")) {
            assertThat(failed.getException()).hasMessageContaining(value.toString());
        }
        assertThat(stats().delayed()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "priority=10",
                "priority=-1",
                "timeToLive=0",
                "timeToLive=soon",
                "deduplicationPeriod=0ms",
                "deduplicationPeriod=-1s",
                "maximumQueueLength=-1",
                "limit=0",
                "limit=257",
                "state=gone",
                "operation=remove"
            })
    void should_name_an_option_that_makes_no_sense_and_its_value(String option) {
        String name = option.substring(0, option.indexOf('='));
        String value = option.substring(option.indexOf('=') + 1);
        assertThatThrownBy(() -> context.getEndpoint(uri + "?" + option))
                .isInstanceOf(ResolveEndpointFailedException.class)
                .rootCause()
                .hasMessageContaining("option '" + name + "'")
                .hasMessageContaining(value);
    }

    @Test
    void should_refuse_a_state_where_it_means_nothing() {
        Exchange failed = schedule("?state=dead", "a", Map.of());
        assertThat(failed.getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("option 'state' is 'dead', which means nothing to operation 'schedule'");
    }

    @Test
    void should_refuse_a_message_that_the_queue_has_no_room_for() {
        stored(schedule("?delay=1h&maximumQueueLength=2", "a", Map.of()));
        stored(schedule("?delay=1h&maximumQueueLength=2", "b", Map.of()));

        Exchange full = schedule("?delay=1h&maximumQueueLength=2", "c", Map.of());
        assertThat(full.getException())
                .isInstanceOfSatisfying(QueueFullException.class, e -> {
                    assertThat(e.getMessageId()).isEqualTo("c");
                    assertThat(e.getLength()).isEqualTo(2);
                })
                .hasMessageContaining("maximumQueueLength allows 2");
        assertThat(stats().delayed()).isEqualTo(2);

        stored(schedule("?delay=1h&maximumQueueLength=2&onDuplicate=replace", "a", Map.of()));
        stored(schedule("?delay=1h&maximumQueueLength=3", "c", Map.of()));
    }

    @Test
    void should_never_exceed_the_limit_however_many_producers_there_are() {
        List<Exchange> all = IntStream.range(0, 40)
                .parallel()
                .mapToObj(i -> schedule("?delay=1h&maximumQueueLength=10", "m" + i, Map.of()))
                .toList();
        assertThat(stats().delayed()).isEqualTo(10);
        assertThat(all.stream().filter(exchange -> exchange.getException() == null))
                .hasSize(10);
        assertThat(all.stream().filter(exchange -> exchange.getException() != null))
                .allSatisfy(exchange -> assertThat(exchange.getException()).isInstanceOf(QueueFullException.class));
    }

    @Test
    void should_remember_an_id_for_its_deduplication_period() throws Exception {
        AtomicInteger delivered = new AtomicInteger();
        start(consume("", exchange -> delivered.incrementAndGet()));
        stored(schedule("?deduplicationPeriod=1h", "a", Map.of()));
        await().until(() -> delivered.get() == 1 && stats().leased() == 0);

        assertThat(schedule("", "a", Map.of()).getException())
                .isInstanceOfSatisfying(DuplicateMessageException.class, e -> assertThat(e.getState())
                        .isEqualTo(MessageState.FINISHED));
        Message ignored = stored(
                schedule("?onDuplicate=ignore", "a", Map.of(RedisDelayConstants.DUE_TIME, "from the step before")));
        assertThat(ignored.getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .doesNotContainKey(RedisDelayConstants.DUE_TIME);
        assertThat(stats().delayed()).isZero();

        stored(schedule("?onDuplicate=replace&deduplicationPeriod=1h", "a", Map.of()));
        await().until(() -> delivered.get() == 2 && stats().leased() == 0);

        Exchange cancelled = schedule("?operation=cancel", "a", Map.of());
        assertThat(cancelled.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("none");
        stored(schedule("", "a", Map.of()));
        await().until(() -> delivered.get() == 3);
    }

    @Test
    void should_forget_an_id_when_its_deduplication_period_is_over() throws Exception {
        AtomicInteger delivered = new AtomicInteger();
        start(consume("", exchange -> delivered.incrementAndGet()));
        stored(schedule("?deduplicationPeriod=100ms", "a", Map.of()));
        await().until(() -> delivered.get() == 1 && stats().leased() == 0);
        await().until(() -> schedule("", "a", Map.of()).getException() == null);
        await().until(() -> delivered.get() == 2);
    }

    @Test
    void should_let_a_message_have_a_redelivery_policy_of_its_own() throws Exception {
        AtomicInteger delivered = new AtomicInteger();
        start(consume("?maximumRedeliveries=0", exchange -> {
            delivered.incrementAndGet();
            throw new IllegalStateException("again");
        }));
        stored(schedule("", "a", Map.of(RedisDelayConstants.REDELIVERY_DELAYS, "1,1")));
        await().until(() -> stats().dead() == 1);
        assertThat(delivered).hasValue(3);
    }

    @Test
    void should_let_the_headers_of_an_element_win_over_those_of_its_batch() {
        Message own = new DefaultMessage(context);
        own.setBody("x");
        own.setHeader(RedisDelayConstants.SCHEDULE_ID, "own");
        own.setHeader(RedisDelayConstants.PRIORITY, 9);
        own.setHeader(RedisDelayConstants.TIME_TO_LIVE, "1s");
        own.setHeader(RedisDelayConstants.DEDUPLICATION_PERIOD, "2s");
        own.setHeader(RedisDelayConstants.MAXIMUM_REDELIVERIES, 3);
        Message plain = new DefaultMessage(context);
        plain.setBody("x");
        plain.setHeader(RedisDelayConstants.SCHEDULE_ID, "plain");

        Exchange batch = send(
                uri + "?batching=true&delay=1h&priority=1&timeToLive=1d",
                List.of(own, plain),
                Map.of(
                        RedisDelayConstants.PRIORITY, 4,
                        RedisDelayConstants.DEDUPLICATION_PERIOD, "4s",
                        RedisDelayConstants.REDELIVERY_DELAYS, "4s"));
        stored(batch);

        assertThat(priority("own")).isEqualTo(9);
        assertThat(settings("own"))
                .isEqualTo(
                        new Envelope.Settings(Duration.ofSeconds(2), Duration.ofSeconds(1), "maximumRedeliveries=3"));
        assertThat(priority("plain")).isEqualTo(4);
        assertThat(settings("plain"))
                .isEqualTo(new Envelope.Settings(Duration.ofSeconds(4), Duration.ofDays(1), "redeliveryDelays=4000"));
        assertThat(batch.getMessage().getHeaders())
                .doesNotContainKeys(
                        RedisDelayConstants.PRIORITY,
                        RedisDelayConstants.DEDUPLICATION_PERIOD,
                        RedisDelayConstants.REDELIVERY_DELAYS);
    }

    @Test
    void should_refuse_only_the_element_that_makes_no_sense() {
        Message bad = new DefaultMessage(context);
        bad.setBody("x");
        bad.setHeader(RedisDelayConstants.SCHEDULE_ID, "bad");
        bad.setHeader(RedisDelayConstants.PRIORITY, 10);
        Exchange batch = send(uri + "?batching=true&delay=1h", List.of("good", bad), Map.of());
        assertThat(batch.getException()).isInstanceOfSatisfying(BatchScheduleException.class, e -> {
            assertThat(e.getFailures()).containsOnlyKeys("bad");
            assertThat(e.getScheduledIds()).hasSize(1);
        });
        assertThat(stats().delayed()).isOne();
    }
}
