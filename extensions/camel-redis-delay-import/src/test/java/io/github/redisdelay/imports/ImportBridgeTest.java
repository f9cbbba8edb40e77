// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportReport.Reason;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ImportBridgeTest {

    private static final ImportSettings SETTINGS =
            new ImportSettings(new ImportSource("old"), ImportCodec.RAW, false, false, Duration.ZERO, false);

    private final FakeTimers timers = new FakeTimers();
    private final Deque<CompletableFuture<ImportReport>> calls = new ArrayDeque<>();
    private final LogLines lines = new LogLines(ImportBridge.class);
    private final List<String> told = new ArrayList<>();
    private ImportOptions asked;
    private int looks;
    private final ImportBridge bridge = new ImportBridge(
            "orders",
            SETTINGS,
            options -> {
                assertThat(calls).as("imports under way").isEmpty();
                asked = options;
                looks++;
                calls.add(new CompletableFuture<>());
                return calls.peek();
            },
            timers,
            new ImportListener() {
                @Override
                public void slice(long moved, long renamed, long gone) {
                    told.add("moved " + moved);
                }

                @Override
                public void ended(ImportReport report) {
                    told.add("left " + report.leftInAll());
                }

                @Override
                public void failed() {
                    told.add("failed");
                }
            });

    @AfterEach
    void close() {
        lines.close();
    }

    private static ImportReport report(long moved, long left, long nextDueMicros) {
        return new ImportReport(
                new ImportReport.Found(moved + left, 0, 0, 0, moved + left),
                moved,
                0,
                0,
                left == 0
                        ? Map.of()
                        : Map.of(Reason.NOT_CONVERTIBLE, new ImportReport.Left(left, List.of("ready: it is a Dog"))),
                left,
                nextDueMicros);
    }

    private void answer(ImportReport report) {
        calls.poll().complete(report);
    }

    /** Asserts that the next look comes exactly after this time. */
    private void assertLookAfter(Duration time) {
        int before = looks;
        timers.advance(time.minusNanos(1));
        assertThat(looks).isEqualTo(before);
        timers.advance(Duration.ofNanos(1));
        assertThat(looks).isEqualTo(before + 1);
    }

    private void start() {
        bridge.start();
        timers.advance(Duration.ZERO);
        assertThat(looks).isOne();
    }

    @Test
    void should_look_when_something_is_due_or_after_its_period() {
        start();
        assertThat(asked.ahead()).isEqualTo(Duration.ZERO);
        answer(report(2, 0, 5_000));
        assertLookAfter(Duration.ofMillis(5));
        answer(report(1, 0, -1));
        assertLookAfter(ImportBridge.PERIOD);
        answer(report(0, 0, Long.MAX_VALUE / 1000));
        assertLookAfter(ImportBridge.PERIOD);
        answer(report(0, 0, 0));
        assertLookAfter(ImportBridge.PERIOD);
        assertThat(bridge.imported()).isEqualTo(3);
        assertThat(bridge.problem()).isNull();
        assertThat(lines.of(Level.WARN)).isEmpty();
    }

    @Test
    void should_take_a_tenth_of_the_time_for_messages_that_it_always_leaves() {
        start();
        timers.advance(Duration.ofMillis(100));
        answer(report(0, 7, -1));
        assertLookAfter(Duration.ofMillis(900));
        timers.advance(Duration.ofHours(1));
        answer(report(0, 7, -1));
        assertLookAfter(ImportBridge.LONGEST_WAIT);
        answer(report(1, 7, 3_000));
        assertLookAfter(Duration.ofMillis(3));
        assertThat(bridge.left()).isEqualTo(7);
    }

    @Test
    void should_try_again_after_a_failure_and_warn_once_a_minute() {
        start();
        for (int i = 0; i < 60; i++) {
            calls.poll().completeExceptionally(new IllegalStateException("no Redis"));
            assertLookAfter(ImportBridge.AFTER_FAILURE);
        }
        String failed = "queue 'orders': Redisson's queue 'old': it cannot be imported, trying again: ";
        assertThat(lines.of(Level.WARN)).hasSize(1).allMatch(line -> line.startsWith(failed));
        assertThat(bridge.problem()).contains("no Redis");
        answer(report(0, 7, -1));
        assertThat(lines.of(Level.WARN))
                .hasSize(2)
                .last()
                .isEqualTo(
                        "queue 'orders': Redisson's queue 'old': left there: 7 not convertible (ready: it is a Dog)");
        timers.advance(ImportBridge.PERIOD);
        answer(report(0, 0, -1));
        assertThat(bridge.problem()).isNull();
    }

    @Test
    void should_tell_each_message_once_also_of_an_import_that_fails() {
        start();
        asked.goOn().test(report(64, 0, 0));
        asked.goOn().test(report(65, 2, 0));
        answer(report(65, 2, -1));
        assertThat(told).containsExactly("moved 64", "moved 1", "moved 0", "left 2");
        told.clear();
        assertLookAfter(ImportBridge.PERIOD);
        asked.goOn().test(report(64, 0, 0));
        calls.poll().completeExceptionally(new IllegalStateException("no Redis"));
        assertThat(told).containsExactly("moved 64", "failed");
        assertThat(bridge.imported()).isEqualTo(129);
    }

    @Test
    void should_look_no_more_often_where_a_timer_could_not_be_stopped_any_more() {
        timers.ignoreCancellation();
        bridge.start();
        bridge.stop();
        bridge.start();
        timers.advance(Duration.ZERO);
        assertThat(looks).isOne();
        answer(report(1, 0, 0));
        assertLookAfter(ImportBridge.PERIOD);
    }

    @Test
    void should_end_after_the_slice_under_way_and_go_on_when_it_is_started_again() {
        start();
        assertThat(asked.goOn().test(report(0, 0, 0))).isTrue();
        bridge.stop();
        assertThat(asked.goOn().test(report(0, 0, 0))).isFalse();
        bridge.start();
        timers.advance(Duration.ofSeconds(1)); // the import of before is still under way
        assertThat(looks).isOne();
        answer(report(64, 0, 0));
        assertLookAfter(ImportBridge.PERIOD);
        bridge.stop();
        answer(report(1, 0, 0));
        timers.advance(Duration.ofMinutes(1));
        assertThat(looks).isEqualTo(2);
        assertThat(bridge.imported()).isEqualTo(65);
    }
}
