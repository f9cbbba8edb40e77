// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An import by the operation, from its beginning on, for whoever wants to see or stop it. Says in the log how it goes
 * on. Thread-safe.
 */
public final class ImportRun implements ImportModule.Run {

    private static final Logger LOG = LoggerFactory.getLogger(ImportRun.class);

    static final Duration BETWEEN_LINES = Duration.ofSeconds(5);

    /** The state of an import. */
    public enum State {
        /** It is under way. */
        RUNNING,
        /** It has seen all that there was, or the queue is full. */
        ENDED,
        /** It was stopped behind a slice. */
        STOPPED,
        /** It has failed; what its slices had moved stays moved. */
        FAILED
    }

    private final String id;
    private final String queue;
    private final String source;
    private final boolean dryRun;
    private final ImportListener listener;
    private final ImportTally tally; // used by the import under way
    private final LongSupplier nanoTime;
    private final long begunNanos;

    private long toldNanos; // used by the import under way
    private volatile boolean stopping; // set once
    // Written by the import under way; the state last.
    private volatile ImportReport report;
    private volatile String problem;
    private volatile long endedNanos;
    private volatile State state = State.RUNNING;

    ImportRun(String id, String queue, ImportSettings settings, ImportListener listener, LongSupplier nanoTime) {
        this.id = id;
        this.queue = queue;
        this.source = settings.source().name();
        this.dryRun = settings.dryRun();
        this.listener = dryRun ? ImportListener.NONE : listener;
        this.tally = new ImportTally(this.listener);
        this.nanoTime = nanoTime;
        this.begunNanos = nanoTime.getAsLong();
        this.toldNanos = begunNanos;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String queue() {
        return queue;
    }

    @Override
    public String source() {
        return source;
    }

    @Override
    public boolean isDryRun() {
        return dryRun;
    }

    public State state() {
        return state;
    }

    /** The figures after the latest slice; null before the first one has ended. */
    public ImportReport report() {
        return report;
    }

    @Override
    public boolean isRunning() {
        return state == State.RUNNING;
    }

    @Override
    public boolean isStopped() {
        return state == State.STOPPED;
    }

    @Override
    public long moved() {
        ImportReport latest = report;
        return latest == null ? 0 : latest.moved();
    }

    @Override
    public long remaining() {
        ImportReport latest = report;
        return latest == null ? -1 : latest.remaining();
    }

    @Override
    public String problem() {
        return problem;
    }

    /** The time from its beginning to its end, or to now. */
    public Duration took() {
        return Duration.ofNanos((state == State.RUNNING ? nanoTime.getAsLong() : endedNanos) - begunNanos);
    }

    @Override
    public Map<String, Object> figures() {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("id", id);
        figures.put("queue", queue);
        figures.put("from", source);
        figures.put("dryRun", dryRun);
        figures.put("state", OptionValues.lower(state));
        figures.put("tookMillis", took().toMillis());
        ImportReport latest = report;
        if (latest != null) {
            figures.put("found", latest.found().all());
            figures.put("moved", latest.moved());
            figures.put("left", latest.leftInAll());
            figures.put("remaining", latest.remaining());
        }
        if (problem != null) {
            figures.put("error", problem);
        }
        return figures;
    }

    @Override
    public String toString() {
        ImportReport latest = report;
        return (dryRun ? "dry run of import " : "import ") + id + " into " + queue + " from Redisson's queue " + source
                + ": " + OptionValues.lower(state) + ", " + Durations.text(took())
                + (latest == null ? "" : ": " + ImportFigures.text(latest))
                + (problem == null ? "" : ": " + problem);
    }

    @Override
    public void stop() {
        stopping = true;
    }

    boolean hasEndedFor(Duration time) {
        return state != State.RUNNING && nanoTime.getAsLong() - endedNanos > time.toNanos();
    }

    /**
     * Notes the figures after a slice. Called by one thread at a time, as {@link #ended}.
     *
     * @return whether to go on
     */
    public boolean goOn(ImportReport latest) {
        report = latest;
        tally.tell(latest);
        long now = nanoTime.getAsLong();
        if (now - toldNanos >= BETWEEN_LINES.toNanos()) {
            toldNanos = now;
            LOG.info("queue '{}': {} goes on: {}", queue, what(), ImportFigures.text(latest));
        }
        return !stopping;
    }

    /** Notes the end. */
    public void ended(ImportReport last, Throwable error) {
        endedNanos = nanoTime.getAsLong();
        if (error == null) {
            report = last;
            tally.tell(last);
            listener.ended(last);
            boolean stopped = stopping && last.nextDueMicros() == 0;
            state = stopped ? State.STOPPED : State.ENDED;
            LOG.info(
                    "queue '{}': {} {}: {}",
                    queue,
                    what(),
                    stopped ? "was stopped" : "has ended",
                    ImportFigures.text(last));
        } else {
            problem = ErrorText.of(error);
            listener.failed();
            state = State.FAILED;
            LOG.warn(
                    "queue '{}': {} has failed{}: {}",
                    queue,
                    what(),
                    report == null ? "" : " after " + ImportFigures.text(report),
                    problem);
        }
    }

    private String what() {
        return (dryRun ? "the dry run of the import" : "the import") + " from Redisson's queue '" + source + "'";
    }
}
