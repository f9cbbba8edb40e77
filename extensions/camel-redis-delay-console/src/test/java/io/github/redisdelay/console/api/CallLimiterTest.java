// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class CallLimiterTest {

    private final AtomicLong nanos = new AtomicLong();
    private final CallLimiter limiter = new CallLimiter(4, Duration.ofSeconds(3), nanos::get);
    private final List<CompletableFuture<String>> begun = new ArrayList<>();

    private final Supplier<CompletableFuture<String>> call = () -> {
        CompletableFuture<String> answer = new CompletableFuture<>();
        begun.add(answer);
        return answer;
    };

    @Test
    void should_let_no_more_calls_begin_than_there_is_room_for() {
        List<CompletableFuture<String>> results = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            results.add(limiter.run(1, call));
        }
        assertThat(begun).hasSize(4);
        begun.get(0).complete("a");
        assertThat(results.get(0)).isCompletedWithValue("a");
        assertThat(begun).hasSize(5);
        begun.get(1).completeExceptionally(new IllegalStateException());
        assertThat(results.get(1)).isCompletedExceptionally();
        assertThat(begun).hasSize(6);
    }

    @Test
    void should_count_a_call_of_many_partitions_as_many() {
        limiter.run(2, call);
        limiter.run(64, call);
        limiter.run(1, call);
        assertThat(begun).hasSize(1);
        begun.get(0).complete("a");
        assertThat(begun).hasSize(2);
        begun.get(1).complete("b");
        assertThat(begun).hasSize(3);
    }

    @Test
    void should_not_send_what_nobody_waits_for_any_more() {
        for (int i = 0; i < 4; i++) {
            limiter.run(1, call);
        }
        CompletableFuture<String> late = limiter.run(1, call);
        nanos.addAndGet(Duration.ofSeconds(3).toNanos() + 1);
        begun.get(0).complete("a");
        assertThat(begun).hasSize(4);
        assertThat(late).isCompletedExceptionally();
        assertThat(late.handle((answer, error) -> error).join()).isInstanceOf(TimeoutException.class);
        limiter.run(1, call);
        assertThat(begun).hasSize(5);
    }

    @Test
    void should_go_on_after_a_call_that_could_not_be_made() {
        for (int i = 0; i < 10; i++) {
            CompletableFuture<String> refused = limiter.run(4, () -> {
                throw new IllegalArgumentException("no");
            });
            assertThat(refused).isCompletedExceptionally();
        }
        limiter.run(4, call);
        assertThat(begun).hasSize(1);
    }

    @Test
    void should_make_thousands_of_calls_that_are_answered_at_once() {
        limiter.run(4, call);
        List<CompletableFuture<String>> results = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            results.add(limiter.run(1, () -> CompletableFuture.completedFuture("x")));
        }
        begun.get(0).complete("a");
        assertThat(results).allMatch(CompletableFuture::isDone);
    }
}
