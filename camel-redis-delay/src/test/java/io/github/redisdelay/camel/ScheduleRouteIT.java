// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.testkit.LogLines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RMap;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/** Routes and producers make recurring schedules: each time is one exchange, wherever the queue is consumed. */
class ScheduleRouteIT extends CamelRedisIT {

    private static final Map<String, Object> REPORT = Map.of(RedisDelayConstants.SCHEDULE_ID, "report");

    private final BlockingQueue<Message> received = new LinkedBlockingQueue<>();

    private void take(Exchange exchange) {
        received.add(exchange.getMessage().copy());
    }

    private Message next() throws InterruptedException {
        Message message = received.poll(20, TimeUnit.SECONDS);
        assertThat(message).as("a message within 20 s").isNotNull();
        return message;
    }

    private static long time(Message message, String header) {
        return message.getHeader(header, Long.class);
    }

    private void assertOne() {
        QueueStats stats = stats();
        assertThat(stats.delayed() + stats.leased()).isEqualTo(1);
    }

    /** Runs the schedule now. */
    private void promote() {
        await().until(() -> stats().delayed() == 1);
        send(uri + "?operation=promote", null, Map.of(RedisDelayConstants.SCHEDULE_ID, queue));
    }

    private MessageInfo info(String id) {
        return stored().get(id).join().orElseThrow().info();
    }

    @Test
    void should_route_each_time_once_while_two_of_three_contexts_go() throws Exception {
        List<DefaultCamelContext> others = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) {
                DefaultCamelContext other = newContext();
                other.getRegistry().bind("redisson", redis.client());
                other.addRoutes(consume("?cron=* * * * * *", this::take));
                other.start();
                others.add(other);
            }
            start(consume("?cron=* * * * * *", this::take));
            List<Message> runs = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                runs.add(next());
                if (i == 2 || i == 5) {
                    others.remove(0).close();
                }
            }
            for (int i = 0; i < runs.size(); i++) {
                Message run = runs.get(i);
                assertThat(run.getBody()).isNull();
                assertThat(run.getHeader(RedisDelayConstants.RULE)).isEqualTo("cron * * * * * * UTC");
                assertThat(run.getHeader(RedisDelayConstants.MESSAGE_ID)).isEqualTo(queue);
                assertThat(time(run, RedisDelayConstants.RUN_TIME) % 1_000).isZero();
                assertThat(time(run, RedisDelayConstants.NEXT_RUN_TIME))
                        .isGreaterThan(time(run, RedisDelayConstants.RUN_TIME));
                if (i > 0) {
                    assertThat(time(run, RedisDelayConstants.RUN_TIME))
                            .as("each time once, in order")
                            .isGreaterThan(time(runs.get(i - 1), RedisDelayConstants.RUN_TIME));
                }
            }
        } finally {
            for (DefaultCamelContext other : others) {
                other.close();
            }
        }
        assertOne();
    }

    @Test
    void should_leave_a_run_whose_rule_cannot_be_evaluated_here_to_others() throws Exception {
        context.start();
        send(uri + "?cron=0 2 * * *&timeZone=Europe/Berlin", "first", REPORT);
        RMap<byte[], byte[]> state =
                redis.client().getMap("redis-delay:{" + queue + "}:state", ByteArrayCodec.INSTANCE);
        byte[] id = "report".getBytes(StandardCharsets.US_ASCII);
        String record = new String(state.get(id), StandardCharsets.ISO_8859_1);
        state.put(id, record.replace("Europe/Berlin", "Mars/Base").getBytes(StandardCharsets.ISO_8859_1));
        send(uri + "?operation=promote", null, REPORT);
        context.addRoutes(consume("", this::take));
        await().until(() -> stats().dead() == 1);
        assertThat(received).isEmpty();
        MessageInfo info = info("report");
        assertThat(info.rule()).isEqualTo("cron 0 2 * * * Mars/Base");
        assertThat(info.state()).as("it comes again").isEqualTo(MessageState.DELAYED);
    }

    @Test
    void should_make_a_schedule_of_a_message_and_change_no_time_when_it_comes_again() throws Exception {
        context.start();
        String nightly = uri + "?cron=0 2 * * *&timeZone=Europe/Berlin";
        send(nightly, "first", REPORT);
        long due = info("report").dueMicros();
        Exchange again = send(nightly, "second", REPORT);
        assertThat(again.getException()).isNull();
        assertThat(again.getMessage().getHeader(RedisDelayConstants.DUE_TIME)).isEqualTo(due / 1_000);
        assertThat(info("report").dueMicros()).isEqualTo(due);
        Exchange got = send(uri + "?operation=get", null, REPORT);
        assertThat(got.getMessage().getBody()).isEqualTo("second");
        assertThat(got.getMessage().getHeader(RedisDelayConstants.RULE)).isEqualTo("cron 0 2 * * * Europe/Berlin");
        assertThat(stats().delayed()).isEqualTo(1);
    }

    @Test
    void should_show_the_times_of_a_schedule_in_get_and_list() throws Exception {
        context.start();
        send(uri + "?every=1h", "x", REPORT);
        send(uri + "?delay=1m", "plain", Map.of());
        long due = info("report").dueMicros() / 1_000;
        Message got = send(uri + "?operation=get", null, REPORT).getMessage();
        assertThat(time(got, RedisDelayConstants.RUN_TIME)).isEqualTo(due);
        assertThat(time(got, RedisDelayConstants.NEXT_RUN_TIME)).isEqualTo(due + 3_600_000);
        List<?> all = send(uri + "?operation=list", null, Map.of()).getMessage().getBody(List.class);
        assertThat(all)
                .last(InstanceOfAssertFactories.MAP)
                .containsEntry("rule", "every 1h")
                .containsEntry("runTime", due)
                .containsEntry("nextRunTime", due + 3_600_000);
        assertThat(all).first(InstanceOfAssertFactories.MAP).doesNotContainKeys("rule", "runTime", "nextRunTime");
    }

    @Test
    void should_show_the_time_of_the_last_run_once_one_has_ended() throws Exception {
        start(consume("?every=1h", this::take));
        await().until(() -> stats().delayed() == 1);
        Map<String, Object> id = Map.of(RedisDelayConstants.SCHEDULE_ID, queue);
        assertThat(send(uri + "?operation=get", null, id).getMessage().getHeader(RedisDelayConstants.LAST_RUN_TIME))
                .isNull();
        promote();
        Message run = next();
        await().until(() -> stats().delayed() == 1);
        Message got = send(uri + "?operation=get", null, id).getMessage();
        assertThat(time(got, RedisDelayConstants.LAST_RUN_TIME)).isEqualTo(time(run, RedisDelayConstants.RUN_TIME));
        assertThat(time(got, RedisDelayConstants.RUN_TIME)).isEqualTo(time(run, RedisDelayConstants.NEXT_RUN_TIME));
    }

    @Test
    void should_run_schedules_with_all_messages_only_if_asked() throws Exception {
        context.start();
        send(uri + "?every=1h", "x", REPORT);
        send(uri + "?delay=2h", "plain", Map.of());
        assertThat(count("?operation=promote&all=true")).isEqualTo(1);
        assertThat(count("?operation=promote&all=true")).isZero();
        assertThat(count("?operation=promote&limit=5&schedules=true")).isEqualTo(1);
        assertThat(stats().overdue()).isEqualTo(2);
    }

    private long count(String query) {
        Exchange sent = send(uri + query, null, Map.of());
        assertThat(sent.getException()).isNull();
        return sent.getMessage().getHeader(RedisDelayConstants.COUNT, Long.class);
    }

    @Test
    void should_take_the_rule_from_headers_and_end_by_cancel() throws Exception {
        start(consume("", this::take));
        send(
                uri + "?every=1h",
                "ping",
                Map.of(RedisDelayConstants.SCHEDULE_ID, "ping", RedisDelayConstants.EVERY, "1s"));
        Message first = next();
        Message second = next();
        assertThat(first.getBody()).isEqualTo("ping");
        assertThat(first.getHeader(RedisDelayConstants.RULE)).isEqualTo("every 1s");
        assertThat((time(second, RedisDelayConstants.RUN_TIME) - time(first, RedisDelayConstants.RUN_TIME)) % 1_000)
                .as("on the grid")
                .isZero();
        send(uri + "?operation=cancel", null, Map.of(RedisDelayConstants.SCHEDULE_ID, "ping"));
        await().untilAsserted(
                        () -> assertThat(stats().delayed() + stats().leased()).isZero());
    }

    @Test
    void should_refuse_a_schedule_without_an_id_and_a_rule_that_cannot_be_read() throws Exception {
        context.start();
        assertThat(send(uri + "?every=1m", "x", Map.of()).getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a recurring schedule (every 1m) needs an id")
                .hasMessageContaining(RedisDelayConstants.SCHEDULE_ID);
        assertThat(send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "x", RedisDelayConstants.CRON, "0 0 30 2 *"))
                        .getException())
                .hasMessageContaining("header '" + RedisDelayConstants.CRON + "'")
                .hasMessageContaining("never matches");
        for (String option : List.of("?cron=0 2 * * *", "?every=1h")) {
            Map<String, Object> zone =
                    Map.of(RedisDelayConstants.SCHEDULE_ID, "x", RedisDelayConstants.TIME_ZONE, "Berlin");
            assertThat(send(uri + option, "x", zone).getException())
                    .hasMessageStartingWith("header '" + RedisDelayConstants.TIME_ZONE + "' is 'Berlin'")
                    .hasMessageContaining("such as Europe/Berlin");
            assertThatThrownBy(() -> context.getEndpoint(uri + option + "&timeZone=Berlin")
                            .createProducer())
                    .hasStackTraceContaining("option 'timeZone' is 'Berlin'");
        }
        assertThat(stats().delayed()).isZero();
    }

    @Test
    void should_tell_for_which_time_a_run_was_that_is_dead_or_redriven() throws Exception {
        start(consume("?every=1h&maximumRedeliveries=0", exchange -> {
            take(exchange);
            if (exchange.getMessage().getHeader(RedisDelayConstants.RULE) != null) {
                throw new IllegalStateException("disk is full");
            }
        }));
        promote();
        long time = time(next(), RedisDelayConstants.RUN_TIME);
        await().until(() -> stats().dead() == 1);
        Message list = send(uri + "?operation=list&state=dead", null, Map.of()).getMessage();
        Map<?, ?> letter = (Map<?, ?>) list.getBody(List.class).get(0);
        assertThat(letter.get("runTime")).isEqualTo(time);
        Map<String, Object> id = Map.of(RedisDelayConstants.DEAD_LETTER_ID, letter.get("deadLetterId"));
        Message got = send(uri + "?operation=get&state=dead", null, id).getMessage();
        assertThat(time(got, RedisDelayConstants.RUN_TIME)).isEqualTo(time);
        send(uri + "?operation=redrive", null, id);
        Message once = next();
        assertThat(once.getHeader(RedisDelayConstants.RULE)).isNull();
        assertThat(time(once, RedisDelayConstants.RUN_TIME)).isEqualTo(time);
    }

    @Test
    void should_take_the_time_zone_of_an_expression_from_a_header() throws Exception {
        context.start();
        Map<String, Object> headers =
                Map.of(RedisDelayConstants.SCHEDULE_ID, "report", RedisDelayConstants.TIME_ZONE, "Asia/Tokyo");
        send(uri + "?cron=0 2 * * *", "x", headers);
        assertThat(info("report").rule()).isEqualTo("cron 0 2 * * * Asia/Tokyo");
    }

    @ParameterizedTest
    @ValueSource(strings = {"+05:30", "UTC+2", "-03:00", " Europe/Berlin "})
    void should_take_a_time_zone_as_it_is_written_in_a_uri(String zone) throws Exception {
        context.start();
        send(uri + "?cron=0 2 * * *&timeZone=" + zone, "x", REPORT);
        assertThat(info("report").rule())
                .isEqualTo("cron 0 2 * * * " + ZoneId.of(zone.strip()).getId());
    }

    @Test
    void should_say_at_its_start_what_it_is_too_old_for() {
        redis.client()
                .getMap("redis-delay:{" + queue + "}:config", StringCodec.INSTANCE)
                .put("needs", "rrule=9.9");
        assertThatThrownBy(() -> start(consume("?every=1h", this::take)))
                .hasMessageContaining("queue '" + queue
                        + "' needs 'rrule' (since version 9.9), which this version of camel-redis-delay");
    }

    @Test
    void should_refuse_to_be_polled_with_a_rule() {
        context.start();
        try (ConsumerTemplate polling = context.createConsumerTemplate()) {
            assertThatThrownBy(() -> polling.receive(uri + "?cron=0 2 * * *", 100))
                    .hasStackTraceContaining("option 'cron' is set on an endpoint that is polled");
            assertThatThrownBy(() -> polling.receive(uri + "?every=1h", 100))
                    .hasStackTraceContaining("option 'every' is set on an endpoint that is polled");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(stats().delayed()).isZero();
    }

    @Test
    void should_refuse_an_id_that_is_too_long() {
        assertThatThrownBy(() -> start(consume("?every=1h&scheduleId=" + "x".repeat(240), this::take)))
                .hasStackTraceContaining("option 'scheduleId': message id 'x")
                .hasStackTraceContaining("has 240 bytes: it must have 1 to 239 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"scheduleId=nightly", "timeZone=Europe/Berlin"})
    void should_refuse_what_only_a_schedule_has_where_none_is_declared(String option) {
        assertThatThrownBy(() -> start(consume("?" + option, this::take)))
                .hasStackTraceContaining(
                        "option '" + option.replaceAll("=.*", "") + "' belongs to a recurring schedule")
                .hasStackTraceContaining("set 'every' or 'cron'");
    }

    @Test
    void should_refuse_two_routes_with_one_id_and_a_cancel_of_what_a_route_declares() throws Exception {
        start(consume("?every=1h", this::take));
        promote();
        next();
        assertThat(send(uri + "?operation=cancel", null, Map.of(RedisDelayConstants.SCHEDULE_ID, queue))
                        .getException())
                .hasMessageContaining("is declared by a route")
                .hasMessageContaining("pause the queue");
        send(uri + "?delay=1h", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "other"));
        assertThat(send(
                                uri + "?operation=cancel",
                                null,
                                Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("other", queue)))
                        .getException())
                .hasMessageContaining("is declared by a route");
        await().untilAsserted(() -> assertThat(stats().delayed()).isEqualTo(2));
        send(uri + "?operation=cancel", null, Map.of(RedisDelayConstants.SCHEDULE_ID, "other"));
        await().untilAsserted(() -> assertThat(stats().delayed()).isEqualTo(1));
        RouteBuilder second = new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?cron=0 2 * * *").routeId("second").process(ScheduleRouteIT.this::take);
            }
        };
        assertThatThrownBy(() -> context.addRoutes(second))
                .hasStackTraceContaining("route 'second' and route 'consumer' declare the schedule '" + queue + "'");
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?cron=0 2 * * *&scheduleId=nightly")
                        .routeId("third")
                        .process(ScheduleRouteIT.this::take);
            }
        });
        await().untilAsserted(() -> assertThat(stats().delayed()).isEqualTo(2));
    }

    @Test
    void should_replace_the_rule_of_an_older_version_and_name_both() throws Exception {
        DefaultCamelContext older = newContext();
        try (LogLines log = new LogLines(ScheduleDeclaration.class)) {
            older.getRegistry().bind("redisson", redis.client());
            older.addRoutes(consume("?cron=0 2 * * *", this::take));
            older.start();
            await().untilAsserted(() -> assertThat(stats().delayed()).isEqualTo(1));
            start(consume("?cron=0 3 * * *&timeZone=Europe/Berlin", this::take));
            await().untilAsserted(() -> assertThat(log.of(Level.WARN))
                    .containsExactly("queue '" + queue + "': schedule '" + queue
                            + "' was cron 0 2 * * * UTC, and is cron 0 3 * * * Europe/Berlin from now on"));
            assertThat(log.of(Level.INFO))
                    .first()
                    .asString()
                    .matches("queue '.+': schedule '.+' is cron 0 2 \\* \\* \\* UTC:"
                            + "( 20\\d\\d-\\d\\d-\\d\\dT02:00:00Z,?){3} \\(time zones of \\w+\\)");
        } finally {
            older.close();
        }
        assertThat(info(queue).rule()).isEqualTo("cron 0 3 * * * Europe/Berlin");
    }

    @Test
    void should_give_a_run_up_that_would_come_again_after_the_next_one_and_go_on() throws Exception {
        start(consume("?every=1s&redeliveryDelay=1h", exchange -> {
            take(exchange);
            throw new IllegalStateException("partner is away");
        }));
        for (int i = 0; i < 3; i++) {
            assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(1);
        }
        await().untilAsserted(() -> assertThat(stats().dead()).as("the newest").isEqualTo(1));
        assertOne();
    }

    @Test
    void should_try_a_run_again_before_the_next_one() throws Exception {
        start(consume("?every=1h&redeliveryDelay=20ms", exchange -> {
            take(exchange);
            if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) < 3) {
                throw new IllegalStateException("not yet");
            }
        }));
        promote();
        Message first = next();
        next();
        Message third = next();
        assertThat(third.getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(3);
        assertThat(time(third, RedisDelayConstants.RUN_TIME)).isEqualTo(time(first, RedisDelayConstants.RUN_TIME));
        await().untilAsserted(() -> {
            assertThat(stats().delayed()).isEqualTo(1);
            assertThat(info(queue).attempts()).isZero();
        });
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_skip_a_run_that_is_too_late_and_go_on() throws Exception {
        context.start();
        send(uri + "?every=1s&timeToLive=300ms", "x", REPORT);
        await().untilAsserted(() -> assertThat(stats().oldestOverdueMicros()).isGreaterThan(500_000));
        start(consume("", this::take));
        Message run = next();
        assertThat(run.getHeader(RedisDelayConstants.LATENESS, Long.class)).isLessThan(1_000);
        assertThat(stats().dead()).as("a skipped run leaves none").isZero();
    }
}
