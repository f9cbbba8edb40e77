// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.imports.ImportRun.State;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ImportRunsTest {

    private final LogLines lines = new LogLines(ImportRun.class);
    private final List<String> told = new ArrayList<>();
    private final ImportListener listener = new ImportListener() {
        @Override
        public void slice(long moved, long renamed, long gone) {
            told.add("slice " + moved + " " + renamed + " " + gone);
        }

        @Override
        public void ended(ImportReport report) {
            told.add("ended " + report.moved());
        }

        @Override
        public void failed() {
            told.add("failed");
        }
    };

    private long now = Long.MAX_VALUE - 5; // a monotonic clock may overflow
    private final ImportRuns runs = new ImportRuns(() -> now);

    @AfterEach
    void close() {
        lines.close();
    }

    private ImportRun begin(boolean dryRun) {
        return runs.begin(
                "orders",
                new ImportSettings(new ImportSource("old"), ImportCodec.RAW, false, false, null, dryRun),
                listener);
    }

    private static ImportReport report(long moved, long remaining) {
        return new ImportReport(
                new ImportReport.Found(moved, 0, 0, 0, moved), moved, moved / 32, moved / 4, Map.of(), remaining, 0);
    }

    private void advance(Duration time) {
        now += time.toNanos();
    }

    @Test
    void should_say_every_five_seconds_how_an_import_goes_on() {
        ImportRun run = begin(false);
        assertThat(run.report()).isNull();
        advance(ImportRun.BETWEEN_LINES.minusNanos(1));
        assertThat(run.goOn(report(64, 300))).isTrue();
        assertThat(lines.of(Level.INFO)).isEmpty();
        advance(Duration.ofNanos(1));
        run.goOn(report(128, 200));
        run.goOn(report(192, 100));
        String line = "queue 'orders': the import from Redisson's queue 'old' goes on: ";
        assertThat(lines.of(Level.INFO)).containsExactly(line + "128 found, 128 moved, 4 gone, 0 left, 200 remaining");
        advance(ImportRun.BETWEEN_LINES);
        run.goOn(report(256, 36));
        assertThat(lines.of(Level.INFO))
                .hasSize(2)
                .last()
                .isEqualTo(line + "256 found, 256 moved, 8 gone, 0 left, 36 remaining");
        assertThat(run.state()).isEqualTo(State.RUNNING);
        assertThat(run.report().moved()).isEqualTo(256);
        assertThat(run.took()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void should_tell_each_message_once() {
        ImportRun run = begin(false);
        run.goOn(report(64, 36));
        run.goOn(report(100, 0));
        run.ended(report(100, 0), null);
        assertThat(told).containsExactly("slice 64 16 2", "slice 36 9 1", "slice 0 0 0", "ended 100");
        assertThat(run.state()).isEqualTo(State.ENDED);
        begin(true).ended(report(0, 9), null);
        assertThat(told).as("a dry run").hasSize(4);
    }

    @Test
    void should_end_behind_a_slice_when_it_is_stopped() {
        ImportRun run = begin(false);
        assertThat(run.goOn(report(64, 300))).isTrue();
        runs.list().get(0).stop();
        assertThat(run.goOn(report(128, 200))).isFalse();
        run.ended(report(128, 200), null);
        assertThat(run.state()).isEqualTo(State.STOPPED);
        advance(Duration.ofMinutes(1));
        assertThat(run.took()).isEqualTo(Duration.ZERO);
        assertThat(lines.of(Level.INFO)).singleElement().asString().contains(" was stopped: 128 found, ");
    }

    @Test
    void should_say_how_far_an_import_has_come_that_fails() {
        ImportRun run = begin(false);
        run.goOn(report(64, 300));
        run.ended(null, new IllegalStateException("no Redis"));
        assertThat(told).containsExactly("slice 64 16 2", "failed");
        assertThat(run.state()).isEqualTo(State.FAILED);
        assertThat(run.problem()).isEqualTo("no Redis");
        assertThat(run.report().moved()).isEqualTo(64);
        begin(true).ended(null, new IllegalStateException("no Redis"));
        assertThat(lines.of(Level.WARN))
                .containsExactly(
                        "queue 'orders': the import from Redisson's queue 'old' has failed after 64 found, 64 moved, 2"
                                + " gone, 0 left, 300 remaining: no Redis",
                        "queue 'orders': the dry run of the import from Redisson's queue 'old' has failed: no"
                                + " Redis");
    }

    @Test
    void should_keep_what_runs_and_for_an_hour_what_has_ended() {
        ImportRun running = begin(false);
        ImportRun ended = begin(false);
        ended.ended(report(1, 0), null);
        assertThat(runs.list()).containsExactly(ended, running);
        assertThat(running.id()).isNotEqualTo(ended.id());
        advance(ImportRuns.KEPT);
        assertThat(runs.list()).containsExactly(ended, running);
        advance(Duration.ofNanos(1));
        assertThat(runs.list()).containsExactly(running);
        for (int i = 0; i < 2 * ImportRuns.MOST_ENDED; i++) {
            begin(false).ended(report(i, 0), null);
        }
        assertThat(runs.list()).hasSize(ImportRuns.MOST_ENDED + 1).endsWith(running);
        assertThat(runs.list().get(0).report().moved()).isEqualTo(2 * ImportRuns.MOST_ENDED - 1);
    }
}
