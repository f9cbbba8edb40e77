// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.RedriveOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.camel.Message;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A dead letter is found by its own id, and by that of the message that died. */
class DeadLetterIdsIT extends DeadLetterSideIT {

    @ParameterizedTest
    @ValueSource(strings = {"redrive", "purge"})
    void should_take_the_dead_letter_that_is_named_as_one(String operation) {
        context.start();
        die("a", "b", "c");
        Message changed =
                change("?operation=" + operation, Map.of(RedisDelayConstants.DEAD_LETTER_ID, deadLetterOf("b")));
        assertThat(changed.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "b");
        assertThat(deadMessages()).containsExactly("a", "c");
        Message many = change(
                "?operation=" + operation, Map.of(RedisDelayConstants.DEAD_LETTER_ID, List.copyOf(deadLetters())));
        assertThat(many.getHeader(RedisDelayConstants.RESULT)).isEqualTo(List.of("done", "done"));
    }

    @Test
    void should_look_at_the_dead_letter_that_is_named_as_one() {
        context.start();
        die("a", "b");
        assertThat(change("?operation=get", Map.of(RedisDelayConstants.DEAD_LETTER_ID, deadLetterOf("b")))
                        .getBody())
                .isEqualTo("body of b");
        assertThat(change(
                                "?operation=get",
                                Map.of(
                                        RedisDelayConstants.DEAD_LETTER_ID, deadLetterOf("b"),
                                        RedisDelayConstants.SCHEDULE_ID, deadLetterOf("a")))
                        .getBody())
                .as("what asks for an id wins")
                .isEqualTo("body of a");
    }

    /** The id of an order finds what is left of it, also when it was given up. */
    @ParameterizedTest
    @ValueSource(strings = {"cancel", "reschedule&delay=1h", "promote"})
    void should_say_that_a_message_has_died_and_leave_it_there(String operation) {
        context.start();
        die("a");
        die("a", "b");
        String newest = deadLetters().stream()
                .filter(id -> id.startsWith("a@"))
                .reduce((x, y) -> y)
                .orElseThrow();
        assertThat(change("?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"))
                        .getHeaders())
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead")
                .containsEntry(RedisDelayConstants.RESULT, "dead")
                .containsEntry(RedisDelayConstants.COUNT, 0L)
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, newest);
        scheduleNew("waits");
        Message some = change(
                "?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("waits", "a", "nobody")));
        assertThat(some.getHeaders())
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, List.of("delayed", "dead", "none"))
                .containsEntry(RedisDelayConstants.RESULT, List.of("done", "dead", "none"))
                .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, List.of("", newest, ""))
                .containsEntry(RedisDelayConstants.COUNT, 1L);
        assertThat(change("?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, "nobody"))
                        .getHeaders())
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "none")
                .doesNotContainKey(RedisDelayConstants.DEAD_LETTER_ID);
        assertThat(deadMessages()).containsExactly("a", "a", "b");
    }

    @Test
    void should_get_the_newest_dead_letter_of_a_message() {
        context.start();
        die("a");
        die("a");
        String newest = deadLetters().get(1);
        for (String options : List.of("?operation=get", "?operation=get&state=dead")) {
            Message found = change(options, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
            assertThat(found.getBody()).isEqualTo("body of a");
            assertThat(found.getHeaders())
                    .containsEntry(RedisDelayConstants.MESSAGE_STATE, "dead")
                    .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                    .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, newest);
        }
    }

    /** It is in one place or the other all the time. */
    @Test
    void should_find_a_message_that_is_moved_back_while_it_is_looked_for() {
        context.start();
        for (int i = 0; i < 50; i++) {
            bury("a", "x");
            String letter = stored().admin().deadLettersOf("a").join().get(0).toString();
            var found = template.asyncSend(uri + "?operation=get", exchange -> exchange.getMessage()
                    .setHeader(RedisDelayConstants.SCHEDULE_ID, "a"));
            LockSupport.parkNanos(20_000L * i);
            assertThat(stored().redrive(letter, null).result().join()).isEqualTo(RedriveOutcome.REDRIVEN);
            assertThat(found.join().getMessage().getHeader(RedisDelayConstants.MESSAGE_STATE))
                    .isIn("dead", "delayed");
            stored().cancel("a").result().join();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"redrive", "purge", "cancel&state=dead", "promote&state=dead", "reschedule&delay=1h&state=dead"})
    void should_take_the_newest_dead_letter_of_a_message(String operation) {
        context.start();
        die("a");
        die("b");
        die("a");
        List<String> letters = deadLetters();
        stored().deadLetters()
                .reschedule(letters.get(2), DueTime.after(Duration.ofMinutes(10)))
                .result()
                .join();
        Message one = change("?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
        assertThat(one.getHeaders())
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, letters.get(2));
        Message some = change(
                "?operation=" + operation,
                Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("nobody", "b", letters.get(1))));
        assertThat(some.getHeader(RedisDelayConstants.RESULT, List.class).subList(0, 2))
                .isEqualTo(List.of("none", "done"));
        assertThat(some.getHeader(RedisDelayConstants.MESSAGE_ID)).isEqualTo(List.of("nobody", "b", "b"));
        assertThat(some.getHeader(RedisDelayConstants.DEAD_LETTER_ID))
                .isEqualTo(List.of("", letters.get(1), letters.get(1)));
        assertThat(deadLetters()).contains(letters.get(0));
    }
}
