// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.internal.command.RepairScan;
import io.github.redisdelay.testkit.LogLines;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.junit.jupiter.api.Test;

/** The operation check: what it answers, and what it says. */
class CheckOperationIT extends CamelRedisIT {

    private void schedule(String options, String id) {
        assertThat(send(uri + options, "body of " + id, Map.of(RedisDelayConstants.SCHEDULE_ID, id))
                        .getException())
                .isNull();
    }

    private void delete(String part) {
        assertThat(redis.client().getKeys().delete("redis-delay:{" + queue + "}:" + part))
                .isEqualTo(1);
    }

    private Exchange check(String options) {
        Exchange exchange = send(
                uri + "?operation=check" + options,
                "before",
                Map.of(RedisDelayConstants.RESULT, "stale", RedisDelayConstants.PREVIOUS_STATE, "stale"));
        assertThat(exchange.getException()).isNull();
        assertThat(exchange.getMessage().getHeaders())
                .containsEntry(RedisDelayConstants.QUEUE, queue)
                .doesNotContainKeys(RedisDelayConstants.RESULT, RedisDelayConstants.PREVIOUS_STATE);
        return exchange;
    }

    @Test
    void should_let_lost_messages_and_dead_letters_wait_again() throws Exception {
        BlockingQueue<String> delivered = new LinkedBlockingQueue<>();
        start(consume("?maximumRedeliveries=0", exchange -> {
            String body = exchange.getMessage().getBody(String.class);
            if (body.endsWith("dead")) {
                throw new IllegalStateException("on purpose");
            }
            delivered.add(body);
        }));
        schedule("", "dead");
        await().untilAsserted(() -> assertThat(stats().dead()).isEqualTo(1));
        schedule("?delay=1h", "a");
        schedule("?delay=1h", "b");
        assertThat(check("").getMessage().getBody())
                .isEqualTo(Map.of(
                        "messages",
                        2L,
                        "restored",
                        0L,
                        "bodiesMissing",
                        0L,
                        "recordsDropped",
                        0L,
                        "deadLetters",
                        1L,
                        "deadLettersRestored",
                        0L,
                        "deadBodiesMissing",
                        0L,
                        "deadRecordsDropped",
                        0L));
        delete("delayed");
        delete("dead:delayed");

        Exchange found;
        List<String> warnings;
        try (LogLines log = new LogLines(RepairScan.class)) {
            found = check("");
            warnings = log.of(Level.WARN);
        }

        assertThat(found.getMessage().getBody(Map.class))
                .containsEntry("restored", 2L)
                .containsEntry("deadLettersRestored", 1L);
        assertThat(found.getMessage().getHeader(RedisDelayConstants.COUNT)).isEqualTo(3L);
        assertThat(warnings).hasSize(2);
        assertThat(warnings.get(0)).startsWith("queue '" + queue + "': 2 messages were neither delayed nor");
        assertThat(warnings.get(0)).containsAnyOf("the first ones: a, b", "the first ones: b, a");
        assertThat(warnings.get(1))
                .startsWith("dead letters of queue '" + queue + "': 1 messages")
                .contains("the first ones: dead@");
        // They wait until they are due.
        assertThat(stats().delayed()).isEqualTo(2);
        assertThat(stats().overdue()).isZero();
        send(uri + "?operation=promote", null, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("a", "b")));
        assertThat(List.of(delivered.poll(10, TimeUnit.SECONDS), delivered.poll(10, TimeUnit.SECONDS)))
                .containsExactlyInAnyOrder("body of a", "body of b");
        await().untilAsserted(() -> assertThat(stats().leased()).isZero());
        assertThat(stats().dead()).isEqualTo(1);
        assertThat(delivered).isEmpty();
    }

    @Test
    void should_check_only_the_dead_letters_where_they_are_meant() throws Exception {
        start(consume("?maximumRedeliveries=0", exchange -> {
            throw new IllegalStateException("on purpose");
        }));
        schedule("", "dead");
        await().untilAsserted(() -> assertThat(stats().dead()).isEqualTo(1));
        schedule("?delay=1h", "a");
        delete("delayed");
        delete("dead:delayed");

        Exchange found = check("&state=dead");

        assertThat(found.getMessage().getBody())
                .isEqualTo(Map.of("messages", 1L, "restored", 1L, "bodiesMissing", 0L, "recordsDropped", 0L));
        assertThat(found.getMessage().getHeader(RedisDelayConstants.COUNT)).isEqualTo(1L);
        assertThat(stats().delayed()).isZero();
        assertThat(check("").getMessage().getHeader(RedisDelayConstants.COUNT)).isEqualTo(1L);
    }

    @Test
    void should_tell_how_many_messages_are_lost() throws Exception {
        context.start();
        schedule("?delay=1h", "a");
        delete("messages");
        try (LogLines log = new LogLines(RepairScan.class)) {
            assertThat(check("").getMessage().getBody(Map.class))
                    .containsEntry("messages", 0L)
                    .containsEntry("bodiesMissing", 1L);
            assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .startsWith("queue '" + queue + "': 1 ids have no message");
        }
    }

    @Test
    void should_refuse_a_state_that_means_nothing_to_it() throws Exception {
        context.start();
        assertThat(send(uri + "?operation=check&state=leased", "x", Map.of()).getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("option 'state' is 'leased'")
                .hasMessageContaining("operation 'check'");
    }
}
