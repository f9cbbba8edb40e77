// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.fake.StatsBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PolledStatsTest {

    private final FakeTimers timers = new FakeTimers();
    private final List<CompletableFuture<QueueStats>> asked = new ArrayList<>();
    private final PolledStats<QueueStats> stats = new PolledStats<>(
            () -> {
                asked.add(new CompletableFuture<>());
                return last();
            },
            timers);

    private CompletableFuture<QueueStats> last() {
        return asked.get(asked.size() - 1);
    }

    private static QueueStats waiting(long delayed) {
        return new StatsBuilder().delayed(delayed).build();
    }

    @BeforeEach
    void start() {
        stats.start();
        timers.advance(Duration.ZERO);
    }

    @Test
    void should_ask_at_once_and_then_at_intervals_whoever_reads() {
        assertThat(stats.get()).isNull();
        last().complete(waiting(1));
        assertThat(stats.get().delayed()).isOne();
        timers.advance(PolledStats.INTERVAL.minusNanos(1));
        assertThat(asked).hasSize(1);
        timers.advance(Duration.ofNanos(1));
        assertThat(stats.get().delayed()).isOne();
        last().complete(waiting(2));
        assertThat(stats.get().delayed()).isEqualTo(2);
        assertThat(asked).hasSize(2);
    }

    @Test
    void should_have_one_question_under_way_and_no_figures_after_a_failure() {
        last().complete(waiting(1));
        timers.advance(PolledStats.INTERVAL);
        timers.advance(PolledStats.INTERVAL.multipliedBy(10));
        assertThat(asked).hasSize(2);
        assertThat(stats.get().delayed()).as("while nothing else is known").isOne();
        last().completeExceptionally(new IllegalStateException());
        assertThat(stats.get()).isNull();
        timers.advance(PolledStats.INTERVAL);
        last().complete(waiting(3));
        assertThat(stats.get().delayed()).isEqualTo(3);
    }

    @Test
    void should_leave_Redis_alone_while_nobody_reads() {
        for (int i = 0; i < 100; i++) {
            last().complete(waiting(1));
            timers.advance(PolledStats.INTERVAL);
        }
        int most = (int) PolledStats.IDLE_AFTER.dividedBy(PolledStats.INTERVAL) + 1;
        assertThat(asked).hasSize(most);
        assertThat(timers.waiting()).isZero();
        assertThat(stats.get()).as("what is long past").isNull();
        assertThat(asked).as("asked by a reader's thread").hasSize(most);
        stats.get();
        timers.advance(Duration.ZERO);
        assertThat(asked).hasSize(most + 1);
        last().complete(waiting(2));
        assertThat(stats.get().delayed()).isEqualTo(2);
    }

    @Test
    void should_ask_no_more_after_the_stop() {
        stats.stop();
        last().complete(waiting(1));
        timers.advance(PolledStats.INTERVAL);
        assertThat(asked).hasSize(1);
        assertThat(timers.waiting()).isZero();
    }
}
