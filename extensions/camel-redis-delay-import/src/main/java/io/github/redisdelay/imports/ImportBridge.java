// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bridge of a consumer from a delayed queue of Redisson's: it imports what is due there, again and again, while the
 * consumer runs. At most one import is under way at a time. It holds no state in Redis, so several bridges may be at
 * work at the same time. Thread-safe.
 */
public final class ImportBridge implements ImportModule.Bridge {

    private static final Logger LOG = LoggerFactory.getLogger(ImportBridge.class);

    /** The longest time between two looks. A message with a shorter delay than that may be late by as much. */
    static final Duration PERIOD = Duration.ofMillis(200);
    /** The wait after an import that has failed. */
    static final Duration AFTER_FAILURE = Duration.ofSeconds(1);
    /** The longest wait after an import that has only met messages which it cannot take. */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    /** The time between two warnings. */
    static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private static final int SHARE = 9;

    private final String queue;
    private final ImportSettings settings;
    private final Function<ImportOptions, CompletableFuture<ImportReport>> run;
    private final Timers timers;
    private final ImportListener listener;
    private final LongAdder imported = new LongAdder();

    private volatile boolean wanted; // written under this
    private volatile State state = new State(0, null); // written by the import under way

    // Guarded by this.
    private boolean underWay;
    private Timers.Timer timer = () -> {};
    private long warnedNanos;
    private boolean warned;

    /**
     * The result of the latest import.
     *
     * @param left how many due messages it has left where they are
     * @param problem why it has failed, or what it has left; null if all is well
     */
    private record State(long left, String problem) {}

    /**
     * @param queue the name of the queue into which it imports, for the log
     * @param run imports with these options once; does not block
     * @param listener hears of each import
     */
    public ImportBridge(
            String queue,
            ImportSettings settings,
            Function<ImportOptions, CompletableFuture<ImportReport>> run,
            Timers timers,
            ImportListener listener) {
        this.queue = queue;
        this.settings = settings;
        this.run = run;
        this.timers = timers;
        this.listener = listener;
    }

    @Override
    public synchronized void start() {
        if (!wanted) {
            wanted = true;
            if (!underWay) {
                timer = timers.schedule(0, this::look);
            }
        }
    }

    @Override
    public synchronized void stop() {
        wanted = false;
        timer.cancel();
    }

    @Override
    public void close() {
        stop();
        listener.closed();
    }

    /** Returns whether an import is under way; after a stop, that is the slice which was under way then. */
    public synchronized boolean isUnderWay() {
        return underWay;
    }

    @Override
    public String source() {
        return settings.source().name();
    }

    @Override
    public long imported() {
        return imported.sum();
    }

    /** How many due messages the latest import has left where they are. */
    public long left() {
        return state.left();
    }

    @Override
    public String problem() {
        return state.problem();
    }

    @Override
    public Map<String, Object> figures() {
        State latest = state;
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("from", source());
        figures.put("imported", imported());
        figures.put("left", latest.left());
        if (latest.problem() != null) {
            figures.put("problem", latest.problem());
        }
        return figures;
    }

    @Override
    public String toString() {
        String problem = problem();
        return imported() + " imported from Redisson's queue " + source() + (problem == null ? "" : ", " + problem);
    }

    private void look() {
        synchronized (this) {
            if (!wanted || underWay) {
                return;
            }
            underWay = true;
        }
        long begun = timers.nanoTime();
        ImportTally tally = new ImportTally(listener);
        CompletableFuture<ImportReport> call;
        try {
            call = run.apply(settings.options().withGoOn(report -> goOn(tally, report)));
        } catch (RuntimeException e) {
            call = CompletableFuture.failedFuture(e);
        }
        call.whenComplete((report, error) -> ended(tally, report, error, begun));
    }

    private boolean goOn(ImportTally tally, ImportReport report) {
        imported.add(tally.tell(report));
        return wanted;
    }

    private void ended(ImportTally tally, ImportReport report, Throwable error, long begun) {
        long now = timers.nanoTime();
        String problem =
                error == null ? problem(report) : "it cannot be imported, trying again: " + ErrorText.of(error);
        if (error == null) {
            imported.add(tally.tell(report));
            listener.ended(report);
        } else {
            listener.failed();
        }
        state = new State(error == null ? report.leftInAll() : state.left(), problem);
        boolean warn;
        synchronized (this) {
            underWay = false;
            warn = wanted && problem != null && (!warned || now - warnedNanos >= BETWEEN_WARNINGS.toNanos());
            if (warn) {
                warned = true;
                warnedNanos = now;
            }
            if (wanted) {
                timer.cancel(); // one that a stop and a start have left
                long wait = error == null ? wait(report, now - begun) : AFTER_FAILURE.toNanos();
                timer = timers.schedule(wait, this::look);
            }
        }
        if (warn) {
            LOG.warn("queue '{}': Redisson's queue '{}': {}", queue, source(), problem);
        }
    }

    /** The time until the next look: until something is due, or the period. */
    private static long wait(ImportReport report, long tookNanos) {
        if (report.moved() == 0 && report.leftInAll() > 0) {
            // It goes through all these each time, and must not keep Redis busy with it.
            return Math.min(LONGEST_WAIT.toNanos(), Math.max(PERIOD.toNanos(), SHARE * tookNanos));
        }
        long due = TimeUnit.MICROSECONDS.toNanos(report.nextDueMicros());
        return due > 0 ? Math.min(due, PERIOD.toNanos()) : PERIOD.toNanos();
    }

    private static String problem(ImportReport report) {
        if (report.left().isEmpty()) {
            return null;
        }
        StringBuilder text = new StringBuilder("left there:");
        report.left().forEach((reason, left) -> text.append(' ')
                .append(left.count())
                .append(' ')
                .append(OptionValues.lower(reason).replace('_', ' '))
                .append(" (")
                .append(left.samples().get(0))
                .append(')'));
        return text.toString();
    }
}
