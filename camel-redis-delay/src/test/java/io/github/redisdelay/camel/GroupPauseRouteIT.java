// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pauses of groups by routes, by the header that a 429 sets, and by the operations pause and resume. */
class GroupPauseRouteIT extends CamelRedisIT {

    private record Begun(String body, int attempt, long nanos) {}

    private final Queue<Begun> begun = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void startContext() {
        context.start();
    }

    private void schedule(String options, String group, String body) {
        send(uri + options, body, group == null ? Map.of() : Map.of(RedisDelayConstants.GROUP, group));
    }

    private Message operate(String operation, String group, Map<String, Object> more) {
        Map<String, Object> headers = new HashMap<>(more);
        if (group != null) {
            headers.put(RedisDelayConstants.GROUP, group);
        }
        Exchange done = send(uri + "?operation=" + operation, null, headers);
        assertThat(done.getException()).isNull();
        return done.getMessage();
    }

    private Map<String, Object> figures(String group) {
        return operate("stats", group, Map.of()).getBody(Map.class);
    }

    private void note(Exchange exchange) {
        begun.add(new Begun(
                exchange.getMessage().getBody(String.class),
                exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class),
                System.nanoTime()));
    }

    private List<String> bodies() {
        return begun.stream().map(Begun::body).toList();
    }

    /** A route whose first delivery of one message fails with a 429. */
    private RouteBuilder limited(String options, Processor refuse) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                onException(IllegalStateException.class).setHeader(RedisDelayConstants.PAUSE_GROUP, constant("1500ms"));
                from(uri + "?concurrentConsumers=5&redeliveryDelay=1h&maximumRedeliveryDelay=1h" + options)
                        .process(GroupPauseRouteIT.this::note)
                        .process(refuse);
            }
        };
    }

    private static void refuseFirst(Exchange exchange) {
        if (exchange.getMessage().getBody(String.class).equals("a1")
                && exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1) {
            throw new IllegalStateException("429");
        }
    }

    @ParameterizedTest
    @CsvSource({"1, ", "3, ", "1, &groupRate=100/1s", "1, &groupRetry=relaxed"})
    void should_deliver_nothing_of_the_group_until_the_pause_ends_and_others_at_once(int partitions, String options)
            throws Exception {
        String queue = "?partitions=" + partitions;
        for (String each : List.of("a1", "a2", "b1", "b2")) {
            schedule(queue, each.substring(0, 1), each);
        }
        try (LogLines log = new LogLines("io.github.redisdelay.camel")) {
            start(limited(
                    "&partitions=" + partitions + (options == null ? "" : options), GroupPauseRouteIT::refuseFirst));
            await().until(() -> begun.size() == 5);
            assertThat(log.of(Level.WARN)).anySatisfy(line -> assertThat(line)
                    .contains("failed on route")
                    .contains("again in 1500 ms as CamelRedisDelayPauseGroup says")
                    .contains("429"));
        }
        List<Begun> all = List.copyOf(begun);
        long failed = all.stream()
                .filter(each -> each.body().equals("a1"))
                .findFirst()
                .orElseThrow()
                .nanos();
        for (Begun each : all) {
            boolean first = each.body().equals("a1") && each.attempt() == 1;
            if (each.body().startsWith("a") && !first) {
                assertThat(each.nanos() - failed).isGreaterThan(1_400_000_000L);
            }
        }
        assertThat(bodies().subList(3, 5))
                .containsExactlyElementsOf(
                        options != null && options.contains("relaxed") ? List.of("a2", "a1") : List.of("a1", "a2"));
    }

    @Test
    void should_pause_the_group_also_if_the_exchange_did_not_fail_and_retry_later_if_the_route_says_so()
            throws Exception {
        schedule("", "a", "a1");
        schedule("", "b", "b1");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?concurrentConsumers=5")
                        .process(GroupPauseRouteIT.this::note)
                        .setProperty(RedisDelayConstants.PAUSE_GROUP, constant(Duration.ofHours(1)))
                        .filter(body().isEqualTo("b1"))
                        .setHeader(RedisDelayConstants.RETRY_AFTER, constant("2h"));
            }
        });
        await().until(() -> figures("a").containsKey("pausedUntil")
                && figures("b").containsKey("pausedUntil")
                && stats().leased() == 0
                && stats().overdue() == 0);
        schedule("", "a", "a2");
        long now = System.currentTimeMillis();
        assertThat((Long) figures("a").get("pausedUntil")).isBetween(now + 3_500_000, now + 3_600_500);
        assertThat(dueTime("a")).isEqualTo(figures("a").get("pausedUntil"));
        assertThat(dueTime("b")).isGreaterThan(now + 7_100_000);
        assertThat(figures("a")).containsEntry("parked", 1L);
        assertThat(bodies()).containsExactlyInAnyOrder("a1", "b1");
    }

    /** When the first message of a group is due. */
    private Long dueTime(String group) {
        List<?> messages = operate("list", group, Map.of()).getBody(List.class);
        return (Long) ((Map<?, ?>) messages.get(0)).get("dueTime");
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "-5s"})
    void should_warn_of_a_wrong_value_and_retry_as_the_policy_says(String value) throws Exception {
        schedule("", "a", "a1");
        try (LogLines log = new LogLines("io.github.redisdelay.camel")) {
            start(consume("", exchange -> {
                note(exchange);
                exchange.getMessage().setHeader(RedisDelayConstants.PAUSE_GROUP, value);
            }));
            await().until(() -> log.of(Level.WARN).stream()
                    .anyMatch(
                            line -> line.contains("as the redelivery policy says: header 'CamelRedisDelayPauseGroup' '"
                                    + value + "' is no duration")));
        }
        await().until(() -> stats().leased() == 0);
        assertThat(figures("a")).containsEntry("messages", 1L).doesNotContainKey("pausedUntil");
    }

    /** Each of the two headers counts, whatever is wrong with the other one, which the WARN names. */
    @ParameterizedTest
    @CsvSource({
        "CamelRedisDelayPauseGroup, CamelRedisDelayRetryAfter",
        "CamelRedisDelayRetryAfter, CamelRedisDelayPauseGroup"
    })
    void should_do_what_one_header_says_if_the_other_one_is_wrong(String right, String wrong) throws Exception {
        schedule("", "a", "a1");
        try (LogLines log = new LogLines("io.github.redisdelay.camel")) {
            start(consume("", exchange -> {
                note(exchange);
                exchange.getMessage().setHeader(wrong, "soon");
                exchange.getMessage().setHeader(right, "2h");
            }));
            await().until(() -> log.of(Level.WARN).stream()
                    .anyMatch(line -> line.contains(
                            "again in 2 h as " + right + " says: header '" + wrong + "' 'soon' is no duration")));
        }
        await().until(() -> stats().leased() == 0);
        assertThat(dueTime("a")).isGreaterThan(System.currentTimeMillis() + 7_100_000);
        assertThat(figures("a").containsKey("pausedUntil")).isEqualTo(right.equals(RedisDelayConstants.PAUSE_GROUP));
    }

    @Test
    void should_warn_of_a_pause_without_a_group_and_retry_after_it() throws Exception {
        schedule("", null, "a1");
        try (LogLines log = new LogLines("io.github.redisdelay.camel")) {
            start(limited("", GroupPauseRouteIT::refuseFirst));
            await().until(() -> log.of(Level.WARN).stream()
                    .anyMatch(line -> line.contains("has no group that CamelRedisDelayPauseGroup could pause")));
            await().until(() -> stats().leased() == 0);
        }
        await().until(() -> bodies().equals(List.of("a1", "a1")));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_pause_and_resume_a_group_by_operations(int partitions) throws Exception {
        String with = "&partitions=" + partitions;
        schedule("?partitions=" + partitions, "a", "a1");
        schedule("?partitions=" + partitions, "b", "b1");
        Message paused = operate("pause" + with, "a", Map.of());
        assertThat(paused.getHeader(RedisDelayConstants.QUEUE)).isNotNull();
        assertThat(paused.getHeaders()).doesNotContainKey(RedisDelayConstants.GROUP);
        start(consume("?partitions=" + partitions, this::note));
        await().until(() -> bodies().equals(List.of("b1")));
        Map<String, Object> stats = operate("stats" + with, "a", Map.of()).getBody(Map.class);
        assertThat(stats).containsEntry("parked", 1L).containsEntry("pausedUntil", 9_007_199_254_740L);
        operate("resume" + with, "a", Map.of());
        await().until(() -> bodies().equals(List.of("b1", "a1")));

        Instant until = Instant.now().plusSeconds(3600);
        operate("pause" + with, "a", Map.of(RedisDelayConstants.DELIVER_AT, until));
        assertThat(operate("stats" + with, "a", Map.of()).getBody(Map.class))
                .containsEntry("pausedUntil", until.toEpochMilli());
        operate("pause" + with + "&delay=2h", "a", Map.of());
        assertThat((Long) operate("stats" + with, "a", Map.of())
                        .getBody(Map.class)
                        .get("pausedUntil"))
                .isGreaterThan(until.toEpochMilli() + 3_000_000);
        operate("pause" + with, "a", Map.of(RedisDelayConstants.DELAY, 1000));
        send(
                uri + "?partitions=" + partitions,
                "a2",
                Map.of(RedisDelayConstants.GROUP, "a", RedisDelayConstants.SCHEDULE_ID, "id"));
        Message found = operate("get" + with, "a", Map.of(RedisDelayConstants.SCHEDULE_ID, "id"));
        assertThat(found.getHeader(RedisDelayConstants.MESSAGE_STATE)).isEqualTo("parked");
        assertThat(found.getHeader(RedisDelayConstants.PAUSED_UNTIL, Long.class))
                .isGreaterThan(until.toEpochMilli() + 3_000_000);
        operate("resume" + with, "a", Map.of());
        await().until(() -> bodies().equals(List.of("b1", "a1", "a2")));
    }

    /** It is that of messages, which an endpoint cannot unset. */
    @Test
    void should_not_take_the_components_delay_for_the_end_of_a_pause() {
        context.getComponent("redis-delay", RedisDelayComponent.class)
                .getConfiguration()
                .setDelay("30m");
        operate("pause", null, Map.of());
        operate("resume", null, Map.of());
        operate("pause", "a", Map.of());
        assertThat(figures("a")).containsEntry("pausedUntil", 9_007_199_254_740L);
        operate("resume", "a", Map.of());
        assertThat(figures("a")).doesNotContainKey("pausedUntil");
        Map<String, Object> asHeader = Map.of(RedisDelayConstants.OPERATION, "pause", RedisDelayConstants.GROUP, "a");
        assertThat(send(uri, null, asHeader).getException()).isNull();
        assertThat(figures("a")).containsEntry("pausedUntil", 9_007_199_254_740L);
        operate("resume", "a", Map.of());
        long now = System.currentTimeMillis();
        operate("pause&delay=1h", "a", Map.of());
        assertThat((Long) figures("a").get("pausedUntil")).isBetween(now + 3_500_000, now + 3_700_000);
        send(uri + "?delay=5h", "a1", Map.of(RedisDelayConstants.GROUP, "a", RedisDelayConstants.SCHEDULE_ID, "id"));
        assertThat(dueTime("a")).isGreaterThan(now + 17_900_000);
        operate("reschedule", "a", Map.of(RedisDelayConstants.SCHEDULE_ID, "id"));
        assertThat(dueTime("a")).isBetween(now + 1_700_000, now + 1_900_000);
    }

    @Test
    void should_refuse_a_pause_that_is_none() {
        String pause =
                "operation 'pause' of a whole queue has no end: remove 'delay' or 'deliverAt', as option or header,"
                        + " or name a group in header 'CamelRedisDelayGroup'";
        assertThat(error("pause", Map.of(RedisDelayConstants.DELAY, "5m"))).contains(pause);
        assertThat(error("pause&delay=1h", Map.of())).contains(pause);
        String resume = "operation 'resume' ends a pause at once: remove 'delay' or 'deliverAt', as option or header";
        assertThat(error("resume", Map.of(RedisDelayConstants.DELAY, "5m"))).contains(resume);
        assertThat(error("resume&delay=1h", Map.of(RedisDelayConstants.GROUP, "a")))
                .contains(resume);
        assertThat(error(
                        "resume",
                        Map.of(RedisDelayConstants.GROUP, "a", RedisDelayConstants.DELIVER_AT, Instant.now())))
                .contains(resume);
        assertThat(send(uri + "?delay=1h", null, Map.of(RedisDelayConstants.OPERATION, "pause"))
                        .getException())
                .as("a delay of its messages")
                .isNull();
        assertThat(error("pause", Map.of(RedisDelayConstants.GROUP, "a", RedisDelayConstants.DELAY, "soon")))
                .contains("header 'CamelRedisDelayDelay' 'soon' is no duration");
        assertThat(error("pause&state=dead", Map.of(RedisDelayConstants.GROUP, "a")))
                .contains("operation 'pause' of a group has no option 'state'");
        assertThat(error("pause", Map.of(RedisDelayConstants.GROUP, "a\n"))).contains("control character");
        assertThat(error("pause", Map.of("CamelRedisDelayPausedGroup", "5m"))).contains("is unknown");
    }

    private String error(String operation, Map<String, Object> headers) {
        return send(uri + "?operation=" + operation, null, headers)
                .getException()
                .getMessage();
    }
}
