// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.fake.StatsBuilder;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class StatsTextTest {

    @Test
    void should_say_in_one_line_what_is_there() {
        ServerInfo server = new ServerInfo("Redis", "7.0.15", "noeviction", true);
        QueueStats stats = new StatsBuilder()
                .delayed(1204)
                .overdue(37)
                .dead(2)
                .oldestOverdueMicros(41L * 60_000_000)
                .nextDueMicros(3_000_000)
                .consumers(1)
                .build();
        assertThat(StatsText.of("orders", false, "redis://h:6379", server, stats))
                .isEqualTo("orders on redis://h:6379 (Redis 7.0.15, noeviction, AOF on): 1204 delayed,"
                        + " 37 overdue (oldest 41 min), 2 dead, next due in 3 s");
    }

    @Test
    void should_leave_out_what_there_is_not() {
        ServerInfo server = new ServerInfo("Valkey", "8.0.1", "unknown", false);
        QueueStats stats = new StatsBuilder().leased(5).build();
        assertThat(StatsText.of("orders", false, "redis://h:6379", server, stats))
                .isEqualTo(
                        "orders on redis://h:6379 (Valkey 8.0.1, eviction policy unknown, AOF off): 0 delayed, 0 overdue,"
                                + " 5 leased, 0 dead");
    }

    @Test
    void should_say_that_the_queue_is_paused_and_that_nobody_listens() {
        ServerInfo server = new ServerInfo("Redis", "7.0.15", "noeviction", true);
        QueueStats stats = new StatsBuilder()
                .delayed(1204)
                .overdue(37)
                .dead(2)
                .oldestOverdueMicros(41L * 60_000_000)
                .pausedMicros(1)
                .build();
        assertThat(StatsText.of("orders", false, "redis://h:6379", server, stats))
                .endsWith(": PAUSED, 1204 delayed, 37 overdue (oldest 41 min), and no consumer until now, 2 dead");
        assertThat(StatsText.overdue(stats, "no consumer")).isEqualTo("37 overdue (oldest 41 min), and no consumer");
    }

    @Test
    void should_say_whose_dead_letters_they_are() {
        ServerInfo server = new ServerInfo("Redis", "7.0.15", "noeviction", true);
        QueueStats stats = new StatsBuilder()
                .delayed(4)
                .overdue(3)
                .leased(1)
                .oldestOverdueMicros(5_000_000)
                .consumers(2)
                .build();
        assertThat(StatsText.of("orders", true, "redis://h:6379", server, stats))
                .isEqualTo("dead letters of orders on redis://h:6379 (Redis 7.0.15, noeviction, AOF on): 4 delayed,"
                        + " 3 overdue (oldest 5 s), 1 leased");
    }

    @Test
    void should_use_the_largest_unit_that_is_not_coarse() {
        assertThat(Durations.text(Duration.ofMillis(1999))).isEqualTo("1999 ms");
        assertThat(Durations.text(Duration.ofSeconds(119))).isEqualTo("119 s");
        assertThat(Durations.text(Duration.ofMinutes(119))).isEqualTo("119 min");
        assertThat(Durations.text(Duration.ofHours(47))).isEqualTo("47 h");
        assertThat(Durations.text(Duration.ofDays(12))).isEqualTo("12 d");
    }
}
