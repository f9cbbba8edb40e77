// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which messages redrive, purge and promote mean: one by its id, or many where somebody asks for many. */
class ChosenMessagesIT extends DeadLetterSideIT {

    private long count(String options, Map<String, Object> headers) {
        return change(options, headers).getHeader(RedisDelayConstants.COUNT, long.class);
    }

    private String refused(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "x", headers);
        assertThat(exchange.getException()).as(options).isInstanceOf(IllegalArgumentException.class);
        return exchange.getException().getMessage();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redrive", "purge", "promote", "promote&state=dead"})
    void should_change_nothing_unless_somebody_says_which_or_all(String operation) {
        context.start();
        die("a", "b");
        send(uri + "?delay=1h", "x", Map.of());
        for (Map<String, Object> headers : List.<Map<String, Object>>of(
                Map.of(),
                Map.of(RedisDelayConstants.MESSAGE_ID, "a"),
                Map.of(RedisDelayConstants.ALL, false),
                Map.of(RedisDelayConstants.ALL, "false"))) {
            assertThat(refused("?operation=" + operation, headers))
                    .contains(
                            "operation '" + operation.replaceAll("&.*", "") + "'",
                            "'CamelRedisDelayScheduleId'",
                            "'all'");
        }
        assertThat(deadMessages()).containsExactly("a", "b");
        assertThat(stats().delayed()).isOne();
        assertThat(stats().overdue()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redrive", "purge", "promote"})
    void should_change_all_where_that_is_asked_for(String operation) {
        context.start();
        die("a", "b");
        send(uri + "?delay=1h", "x", Map.of());
        send(uri + "?delay=1h", "x", Map.of());
        Message changed = change("?operation=" + operation, Map.of(RedisDelayConstants.ALL, "true"));
        assertThat(changed.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 2L)
                .doesNotContainKey(RedisDelayConstants.ALL);
        assertThat(count("?all=true&operation=" + operation, Map.of())).isZero();
        assertThat(refused("?operation=" + operation, Map.of(RedisDelayConstants.ALL, "yes")))
                .contains("'CamelRedisDelayAll'", "'yes'");
        assertThat(refused("?all=true&operation=" + operation, Map.of(RedisDelayConstants.ALL, false)))
                .as("a header wins")
                .contains("'all'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CamelRedisDelayAll",
                "CamelRedisDelayLimit",
                "CamelRedisDelayExceptionClass",
                "CamelRedisDelayReason",
                "CamelRedisDelayRouteId"
            })
    void should_refuse_an_id_together_with_what_chooses_among_all(String header) {
        context.start();
        die("a", "b");
        String letter = deadLetterOf("a");
        Object value = header.equals(RedisDelayConstants.ALL)
                ? true
                : header.equals(RedisDelayConstants.LIMIT) ? 5 : "java.io.IOException";
        String option = Character.toLowerCase(header.charAt(15)) + header.substring(16);
        for (String operation : List.of("redrive", "purge", "promote&state=dead", "cancel&state=dead")) {
            assertThat(refused(
                            "?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, letter, header, value)))
                    .contains("header '" + header + "'");
            assertThat(refused(
                            "?operation=" + operation + "&" + option + "=" + value,
                            Map.of(RedisDelayConstants.SCHEDULE_ID, letter)))
                    .contains("option '" + option + "'");
        }
        assertThat(refused("?operation=purge", Map.of(RedisDelayConstants.DEAD_LETTER_ID, letter, header, value)))
                .contains("header '" + header + "'", "header 'CamelRedisDelayDeadLetterId'");
        assertThat(deadMessages()).containsExactly("a", "b");
    }

    @Test
    void should_choose_by_route_and_reason() {
        context.start();
        dieOf("notify", "failed", "a1", "a2");
        dieOf("notify", "expired", "b");
        dieOf("close", "failed", "c");
        assertThat(count("?operation=redrive&routeId=close", Map.of())).isOne();
        Message purged = change("?operation=purge&routeId=notify", Map.of(RedisDelayConstants.REASON, "expired"));
        assertThat(purged.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .doesNotContainKey(RedisDelayConstants.REASON);
        assertThat(deadMessages()).containsExactly("a1", "a2");
        assertThat(count("?operation=purge&reason=failed", Map.of(RedisDelayConstants.ROUTE_ID, "other")))
                .isZero();
        assertThat(count(
                        "?operation=purge&reason=failed",
                        Map.of(RedisDelayConstants.EXCEPTION_CLASS, "java.io.IOException")))
                .isEqualTo(2);
        for (String header : List.of(RedisDelayConstants.REASON, RedisDelayConstants.ROUTE_ID)) {
            for (Object none : new Object[] {null, "", " "}) {
                Map<String, Object> headers = new HashMap<>();
                headers.put(header, none);
                assertThat(refused("?operation=redrive", headers)).contains("header '" + header + "' is");
            }
        }
    }

    @Test
    void should_promote_what_failed_in_a_route_and_know_no_reason_of_what_waits() throws Exception {
        schedule("failed", "x");
        schedule("new", "x", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
        claim(stored())
                .settle(new Settlement.Retry(
                        Duration.ofHours(1),
                        new FailureRecord("java.io.IOException", "wrong", "notify", "host", 1, Instant.now(), null)
                                .encode()))
                .result()
                .join();
        context.start();
        assertThat(count("?operation=promote&routeId=other", Map.of())).isZero();
        assertThat(count("?operation=promote&routeId=notify&exceptionClass=java.io.IOException", Map.of()))
                .isOne();
        assertThat(stats().overdue()).isOne();
        assertThat(refused("?operation=promote&reason=failed", Map.of())).contains("'reason'", "state=dead");
        assertThat(count("?operation=promote&reason=failed&state=dead", Map.of()))
                .isZero();
    }

    @Test
    void should_change_as_many_as_it_was_limited_to_the_first_ones() {
        context.getComponent("redis-delay", RedisDelayComponent.class)
                .getConfiguration()
                .setLimit(5);
        context.start();
        die("a", "b", "c", "d", "e");
        for (String operation : List.of("redrive", "purge", "promote")) {
            assertThat(refused("?operation=" + operation, Map.of()))
                    .as("that of the component is for lists")
                    .contains("'all'");
        }
        assertThat(count("?operation=redrive&limit=2", Map.of())).isEqualTo(2);
        assertThat(waiting()).containsExactly("a", "b");
        Message purged = change("?operation=purge&all=true&limit=100", Map.of(RedisDelayConstants.LIMIT, "1"));
        assertThat(purged.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .doesNotContainKey(RedisDelayConstants.LIMIT);
        assertThat(deadMessages()).containsExactly("d", "e");
        assertThat(send(uri + "?operation=list&state=dead", null, Map.of(RedisDelayConstants.LIMIT, 1))
                        .getMessage()
                        .getBody(List.class))
                .hasSize(1);
        for (Object wrong : new Object[] {0, -1, 257, "x", 1.5}) {
            for (String operation : List.of("list", "purge")) {
                assertThat(refused("?operation=" + operation, Map.of(RedisDelayConstants.LIMIT, wrong)))
                        .contains("header 'CamelRedisDelayLimit' is '" + wrong + "'", "from 1 to 256");
            }
        }
    }

    @Test
    void should_refuse_a_component_that_asks_for_all() {
        RedisDelayConfiguration options =
                context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
        options.setAll(true);
        context.start();
        assertThat(catchThrowable(() -> context.getEndpoint(uri + "?operation=purge")))
                .rootCause()
                .hasMessageContaining("option 'all' is set on the component");
    }
}
