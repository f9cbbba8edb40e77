// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportReport.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Imports of a part: of none by a dry run, of what is due, of what there is space for, until somebody stops it. */
class PartialImportIT extends OldQueueIT {

    @Test
    void should_change_nothing_in_a_dry_run() {
        IntStream.range(0, 100).forEach(i -> old.offer("p" + i, 1000));
        IntStream.range(0, 100).forEach(i -> old.offer("f" + i, FAR + i));
        IntStream.range(0, 100).forEach(i -> old.ready("r" + i % 10));
        old.pending().add(3, bytes("x"));
        List<byte[]> before = List.copyOf(old.order().readAll());
        List<Long> seen = Collections.synchronizedList(new ArrayList<>());
        ImportReport report = get(start(
                payload -> {
                    if (text(payload).equals("r5")) {
                        throw new IllegalStateException("no");
                    }
                    return BY_TEXT.convert(payload);
                },
                ImportOptions.EVERYTHING
                        .withDryRun(true)
                        .withGoOn(soFar -> seen.add(soFar.found().all()))));
        assertThat(report.found()).isEqualTo(new ImportReport.Found(201, 100, 101, 0, 200));
        assertThat(report.moved() + report.gone()).isZero();
        assertThat(report.left().get(Reason.NOT_CONVERTIBLE).count()).isEqualTo(10);
        assertThat(report.left().get(Reason.UNREADABLE).count()).isOne();
        assertThat(report.remaining()).isEqualTo(301);
        assertThat(seen).hasSizeGreaterThanOrEqualTo(5).isSorted().endsWith(301L);
        assertThat(old.size()).isEqualTo(301);
        assertThat(old.order().readAll()).usingRecursiveComparison().isEqualTo(before);
        assertThat(dues()).isEmpty();
    }

    @Test
    void should_move_what_is_due_and_tell_when_the_next_one_is() {
        old.offer("due", 1000);
        old.offer("soon", System.currentTimeMillis() + 3_600_000);
        old.offer("far", FAR);
        ImportReport report = get(start(BY_TEXT, ImportOptions.DUE));
        assertThat(report.moved()).isOne();
        assertThat(report.remaining()).isEqualTo(2);
        assertThat(report.nextDueMicros()).isBetween(3_000_000_000L, 3_600_000_000L);
        assertThat(dues()).containsOnlyKeys("due");
        report = get(start(BY_TEXT, ImportOptions.EVERYTHING.withAhead(Duration.ofHours(2))));
        assertThat(report.moved()).isOne();
        assertThat(report.nextDueMicros()).isGreaterThan(3_600_000_000L);
        assertThat(dues()).containsOnlyKeys("due", "soon");
        assertThat(get(start(BY_TEXT, ImportOptions.DUE)).found().all()).isZero();
    }

    @Test
    void should_stop_between_slices_and_go_on_another_time() {
        IntStream.range(0, 200).forEach(i -> old.offer("m" + i, FAR + i));
        ImportReport report = get(start(BY_TEXT, ImportOptions.EVERYTHING.withGoOn(soFar -> false)));
        assertThat(report.moved()).isEqualTo(64);
        assertThat(report.remaining()).isEqualTo(136);
        assertThat(report.nextDueMicros()).isZero();
        CompletableFuture<CompletableFuture<ImportReport>> cancelled = new CompletableFuture<>();
        CountDownLatch slice = new CountDownLatch(1);
        CompletableFuture<ImportReport> running = start(BY_TEXT, ImportOptions.EVERYTHING.withGoOn(soFar -> {
            cancelled.join().cancel(false);
            slice.countDown();
            return true;
        }));
        cancelled.complete(running);
        assertThat(running).failsWithin(Duration.ofSeconds(20));
        assertThat(get(CompletableFuture.supplyAsync(() -> awaited(slice), executor)))
                .isTrue();
        assertThat(old.size()).isEqualTo(72);
        assertThat(importAll(BY_TEXT).moved()).isEqualTo(72);
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void should_leave_what_the_queue_has_no_space_for() {
        schedule("a", IN_AN_HOUR);
        IntStream.range(0, 100).forEach(i -> old.offer("m" + i, FAR + i));
        ImportReport report = get(start(BY_TEXT, ImportOptions.EVERYTHING.withMaximumQueueLength(11)));
        assertThat(report.moved()).isEqualTo(10);
        assertThat(report.left().get(Reason.QUEUE_FULL).count()).isEqualTo(54);
        assertThat(report.remaining()).isEqualTo(90);
        assertThat(dues()).hasSize(11);
    }
}
