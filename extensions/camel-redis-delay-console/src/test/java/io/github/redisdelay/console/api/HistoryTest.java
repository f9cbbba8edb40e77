// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.fake.StatsBuilder;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HistoryTest {

    private final AtomicLong nanos = new AtomicLong();
    private final History history = new History(nanos::get);

    private static QueueStats stats(long second, long waiting) {
        return new StatsBuilder()
                .timeMicros(second * 1_000_000)
                .delayed(waiting)
                .leased(1)
                .dead(2)
                .oldestOverdueMicros(3)
                .consumers(1)
                .build();
    }

    @Test
    void should_keep_the_samples_of_an_hour() {
        assertThat(history.samples()).isNull();
        for (int i = 0; i < 1000; i++) {
            history.add(stats(5L * i, i));
        }
        History.Samples samples = history.samples();
        assertThat(samples.delayed()).hasSize(720).startsWith(280L).endsWith(999L);
        assertThat(samples.since()).isEqualTo(Times.of(280 * 5_000_000L));
        assertThat(samples.stepMicros()).isEqualTo(5_000_000);
        assertThat(samples.dead()).hasSize(720).containsOnly(2L);
    }

    @Test
    void should_leave_a_gap_where_redis_did_not_answer() {
        history.add(null);
        assertThat(history.samples()).isNull();
        history.add(stats(5, 7));
        history.add(null);
        history.add(null);
        assertThat(history.samples().delayed()).containsExactly(7L, null, null);
        assertThat(history.samples().since()).isEqualTo(Times.of(5_000_000));
        history.add(stats(20, 8));
        assertThat(history.samples().delayed()).containsExactly(7L, null, null, 8L);
    }

    @Test
    void should_be_wanted_for_an_hour_after_somebody_has_looked() {
        assertThat(history.isWanted()).isFalse();
        history.look();
        history.add(stats(5, 7));
        nanos.addAndGet(Duration.ofMinutes(60).toNanos());
        assertThat(history.isWanted()).isTrue();
        nanos.incrementAndGet();
        assertThat(history.isWanted()).isFalse();
        assertThat(history.samples()).isNull();
        history.look();
        assertThat(history.isWanted()).isTrue();
    }
}
