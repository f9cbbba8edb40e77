// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The imports by the operation of a component: those under way, and those that have ended within the last hour.
 * Thread-safe.
 */
public final class ImportRuns {

    static final Duration KEPT = Duration.ofHours(1);
    /** The most that are kept, besides those under way. */
    static final int MOST_ENDED = 100;

    private final LongSupplier nanoTime;

    private final Deque<ImportRun> runs = new ArrayDeque<>(); // the latest first; guarded by this
    private long begun; // guarded by this

    /** @param nanoTime a monotonic clock */
    public ImportRuns(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Notes an import that begins now.
     *
     * @param queue the name of the queue into which it imports
     * @param listener hears of it, unless it is a dry run
     */
    public synchronized ImportRun begin(String queue, ImportSettings settings, ImportListener listener) {
        forget();
        begun++;
        ImportRun run = new ImportRun(Long.toString(begun), queue, settings, listener, nanoTime);
        runs.addFirst(run);
        return run;
    }

    /** The imports, those that began last first. */
    public synchronized List<ImportRun> list() {
        forget();
        return List.copyOf(runs);
    }

    private void forget() {
        runs.removeIf(run -> run.hasEndedFor(KEPT));
        long[] ended = {0};
        runs.removeIf(run -> run.state() != ImportRun.State.RUNNING && ++ended[0] > MOST_ENDED);
    }
}
