// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.DeadLetterTrimmer.Limits;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeadLetterTrimmerTest {

    private static final Limits BOTH = new Limits(Duration.ofHours(1), 1000);

    private final FakeTimers timers = new FakeTimers();
    private final Deque<CompletableFuture<Long>> calls = new ArrayDeque<>();
    private final LogLines lines = new LogLines(DeadLetterTrimmer.class);
    private int sent;

    private DeadLetterTrimmer trimmer(Limits limits) {
        return new DeadLetterTrimmer(
                "orders",
                limits,
                () -> {
                    assertThat(calls).as("calls under way").isEmpty();
                    sent++;
                    calls.add(new CompletableFuture<>());
                    return calls.peek();
                },
                timers);
    }

    private void answer(long dropped) {
        calls.poll().complete(dropped);
    }

    @AfterEach
    void close() {
        lines.close();
    }

    @Test
    void should_look_at_the_start_and_at_intervals() {
        DeadLetterTrimmer trimmer = trimmer(BOTH);
        trimmer.start();
        timers.advance(Duration.ZERO);
        assertThat(sent).isOne();
        answer(0);
        timers.advance(Duration.ofMinutes(6).minusNanos(1));
        assertThat(sent).isOne();
        timers.advance(Duration.ofNanos(1));
        assertThat(sent).isEqualTo(2);
    }

    @Test
    void should_look_at_a_tenth_of_the_retention_within_limits() {
        assertThat(new Limits(Duration.ofMinutes(1), 0).interval()).isEqualTo(Duration.ofSeconds(6));
        assertThat(new Limits(Duration.ofSeconds(1), 0).interval()).isEqualTo(Duration.ofSeconds(1));
        assertThat(new Limits(Duration.ofDays(300), 0).interval()).isEqualTo(Duration.ofMinutes(10));
        assertThat(new Limits(Duration.ZERO, 5).interval()).isEqualTo(Duration.ofMinutes(10));
    }

    @Test
    void should_look_once_for_many_burials_and_never_twice_at_a_time() {
        DeadLetterTrimmer trimmer = trimmer(BOTH);
        trimmer.start();
        timers.advance(Duration.ZERO);
        answer(0);
        for (int i = 0; i < 100; i++) {
            trimmer.deadLettered();
        }
        timers.advance(DeadLetterTrimmer.AFTER_BURIAL);
        assertThat(sent).isEqualTo(2);
        trimmer.deadLettered();
        timers.advance(DeadLetterTrimmer.AFTER_BURIAL);
        assertThat(sent).as("while a call is under way").isEqualTo(2);
        answer(0);
        timers.advance(DeadLetterTrimmer.AFTER_BURIAL);
        assertThat(sent).as("what was buried meanwhile").isEqualTo(3);
    }

    @Test
    void should_count_and_log_what_it_drops_with_the_options() {
        DeadLetterTrimmer trimmer = trimmer(BOTH);
        trimmer.start();
        timers.advance(Duration.ZERO);
        answer(7);
        assertThat(trimmer.dropped()).isEqualTo(7);
        assertThat(lines.of(Level.WARN))
                .containsExactly("queue 'orders': 7 dead letters were dropped, as deadLetterRetention=PT1H and"
                        + " maximumDeadLetters=1000 says");
    }

    @Test
    void should_do_nothing_without_limits_and_after_it_was_stopped() {
        DeadLetterTrimmer none = trimmer(new Limits(Duration.ZERO, 0));
        none.start();
        none.deadLettered();
        timers.advance(Duration.ofDays(1));
        assertThat(sent).isZero();

        DeadLetterTrimmer stopped = trimmer(BOTH);
        stopped.start();
        timers.advance(Duration.ZERO);
        stopped.stop();
        answer(0);
        stopped.deadLettered();
        timers.advance(Duration.ofDays(1));
        assertThat(sent).isOne();
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_try_again_after_an_error_and_tell_of_it_once() {
        DeadLetterTrimmer trimmer = trimmer(BOTH);
        trimmer.start();
        timers.advance(Duration.ZERO);
        for (int i = 0; i < 3; i++) {
            calls.poll().completeExceptionally(new IllegalStateException("Redis is gone"));
            timers.advance(BOTH.interval());
        }
        answer(0);
        assertThat(sent).isEqualTo(4);
        assertThat(lines.of(Level.WARN)).singleElement().asString().contains("Redis is gone", "orders");
    }
}
