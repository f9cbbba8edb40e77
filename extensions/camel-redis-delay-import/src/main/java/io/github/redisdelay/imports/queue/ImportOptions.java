// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Predicate;

/**
 * Settings of an import. Take {@link #EVERYTHING} or {@link #DUE}, and change what has to be different.
 *
 * @param ahead messages are moved that are due now or within this time, 0 or more; null for all that are there when it
 *     begins
 * @param fallback converts what the converter of the import refuses; null, the default, to leave it where it is
 * @param maximumQueueLength how many messages the queue may hold, delayed or leased, for another one to be
 *     moved; 0, the default, for any number. With partitions each has its share, rounded up
 * @param dryRun true to count and convert, and move nothing; default false
 * @param executor runs the converters and {@code goOn}, which may block; default is the common pool
 * @param goOn is given the report so far after each slice of at most 64 messages, and says whether to go on; default is
 *     always
 */
public record ImportOptions(
        Duration ahead,
        PayloadConverter fallback,
        long maximumQueueLength,
        boolean dryRun,
        Executor executor,
        Predicate<ImportReport> goOn) {

    /** Moves all that is there. */
    public static final ImportOptions EVERYTHING =
            new ImportOptions(null, null, 0, false, ForkJoinPool.commonPool(), report -> true);

    /** Moves what is due. */
    public static final ImportOptions DUE = EVERYTHING.withAhead(Duration.ZERO);

    public ImportOptions {
        if (ahead != null) {
            DueTime.toMicros(ahead);
        }
        ScheduleRequest.checkMaximumQueueLength(maximumQueueLength);
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(goOn, "goOn");
    }

    /** The same options for what is due within this time, 0 or more; null for everything. */
    public ImportOptions withAhead(Duration time) {
        return new ImportOptions(time, fallback, maximumQueueLength, dryRun, executor, goOn);
    }

    /** The same options with a converter for what the first one refuses; null for none. */
    public ImportOptions withFallback(PayloadConverter second) {
        return new ImportOptions(ahead, second, maximumQueueLength, dryRun, executor, goOn);
    }

    /** The same options with a limit of the queue, 1 or more; 0 for none. */
    public ImportOptions withMaximumQueueLength(long messages) {
        return new ImportOptions(ahead, fallback, messages, dryRun, executor, goOn);
    }

    /** The same options for a run that moves nothing, or for a real one. */
    public ImportOptions withDryRun(boolean nothingMoves) {
        return new ImportOptions(ahead, fallback, maximumQueueLength, nothingMoves, executor, goOn);
    }

    /** The same options with other threads for converters and {@link #goOn}. */
    public ImportOptions withExecutor(Executor threads) {
        return new ImportOptions(ahead, fallback, maximumQueueLength, dryRun, threads, goOn);
    }

    /** The same options with somebody who is told after each slice, and says whether to go on. */
    public ImportOptions withGoOn(Predicate<ImportReport> afterSlice) {
        return new ImportOptions(ahead, fallback, maximumQueueLength, dryRun, executor, afterSlice);
    }
}
