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
        for (Map<String, Object> headers :
                List.<Map<String, Object>>of(Map.of(), Map.of(RedisDelayConstants.MESSAGE_ID, "a"))) {
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
        assertThat(count("?all=true&operation=" + operation, Map.of())).isEqualTo(2);
        assertThat(count("?all=true&operation=" + operation, Map.of())).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"all", "limit", "failureException", "deadLetterReason", "failureRouteId"})
    void should_refuse_an_id_together_with_what_chooses_among_all(String option) {
        context.start();
        die("a", "b");
        String letter = deadLetterOf("a");
        Object value = option.equals("all") ? true : option.equals("limit") ? 5 : "java.io.IOException";
        for (String operation : List.of("redrive", "purge", "promote&state=dead", "cancel&state=dead")) {
            assertThat(refused(
                            "?operation=" + operation + "&" + option + "=" + value,
                            Map.of(RedisDelayConstants.SCHEDULE_ID, letter)))
                    .contains("option '" + option + "'");
        }
        assertThat(refused(
                        "?operation=purge&" + option + "=" + value, Map.of(RedisDelayConstants.DEAD_LETTER_ID, letter)))
                .contains("option '" + option + "'", "header 'CamelRedisDelayDeadLetterId'");
        assertThat(refused(
                        "?operation=purge",
                        Map.of(RedisDelayConstants.DEAD_LETTER_ID, letter, RedisDelayConstants.LIMIT, 5)))
                .contains("header 'CamelRedisDelayLimit' (5)", "header 'CamelRedisDelayDeadLetterId'");
        assertThat(deadMessages()).containsExactly("a", "b");
    }

    @Test
    void should_choose_by_route_and_reason() {
        context.start();
        dieOf("notify", "failed", "a1", "a2");
        dieOf("notify", "expired", "b");
        dieOf("close", "failed", "c");
        assertThat(count("?operation=redrive&failureRouteId=close", Map.of())).isOne();
        assertThat(count("?operation=purge&failureRouteId=notify&deadLetterReason=expired", Map.of()))
                .isOne();
        assertThat(deadMessages()).containsExactly("a1", "a2");
        assertThat(count("?operation=purge&deadLetterReason=failed&failureRouteId=other", Map.of()))
                .isZero();
        assertThat(count("?operation=purge&deadLetterReason=failed&failureException=java.io.IOException", Map.of()))
                .isEqualTo(2);
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
        assertThat(count("?operation=promote&failureRouteId=other", Map.of())).isZero();
        assertThat(count("?operation=promote&failureRouteId=notify&failureException=java.io.IOException", Map.of()))
                .isOne();
        assertThat(stats().overdue()).isOne();
        assertThat(refused("?operation=promote&deadLetterReason=fail%0Aed", Map.of()))
                .contains("'deadLetterReason' (fail?ed)", "state=dead");
        assertThat(count("?operation=promote&deadLetterReason=failed&state=dead", Map.of()))
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
