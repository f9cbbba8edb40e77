// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.migration.DryRun;
import io.github.redisdelay.camel.migration.ImportConverter;
import io.github.redisdelay.camel.migration.ImportFigures;
import io.github.redisdelay.camel.migration.ImportSettings;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.ImportReport;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.apache.camel.Message;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operation that moves the messages of a delayed queue of Redisson's here. Holds nothing of an exchange. */
public final class ImportOperation {

    private static final Logger LOG = LoggerFactory.getLogger(ImportOperation.class);

    private static final long PROGRESS_NANOS = Duration.ofSeconds(5).toNanos();

    private final ProducerSettings settings;
    private final DelayQueue queue;
    private final Executor executor;
    private final BooleanSupplier wanted;

    /**
     * An import that has ended.
     *
     * @param dryRun null if messages were moved
     * @param stopped whether it ended because it was not wanted any more
     */
    private record Ended(ImportReport report, DryRun dryRun, boolean stopped) {}

    /** The import under way. Its methods are called by one thread at a time. */
    private final class Progress {
        private final String what;
        private long toldNanos = System.nanoTime();
        private boolean stopped;

        Progress(String what) {
            this.what = what;
        }

        boolean goOn(ImportReport report) {
            long now = System.nanoTime();
            if (now - toldNanos >= PROGRESS_NANOS) {
                toldNanos = now;
                LOG.info("queue '{}': {} goes on: {}", queue.name(), what, ImportFigures.text(report));
            }
            stopped = !wanted.getAsBoolean();
            return !stopped;
        }
    }

    /**
     * @param executor runs the converter, which may block
     * @param wanted asked after each slice whether the import shall go on
     */
    public ImportOperation(ProducerSettings settings, DelayQueue queue, Executor executor, BooleanSupplier wanted) {
        this.settings = settings;
        this.queue = queue;
        this.executor = executor;
        this.wanted = wanted;
    }

    /**
     * Begins to import.
     *
     * @throws IllegalArgumentException if the endpoint does not say what
     */
    public PendingRequest send() {
        settings.checkState(RedisDelayOperation.IMPORT);
        if (settings.imports() == null) {
            throw new IllegalArgumentException("operation 'import' is asked for by header '"
                    + RedisDelayConstants.OPERATION
                    + "', and the endpoint has no option 'importFrom': set operation=import, importFrom and importCodec on the"
                    + " endpoint");
        }
        return new RepeatableCall<>(() -> run(settings.imports()), this::put);
    }

    private CompletableFuture<Ended> run(ImportSettings imports) {
        DryRun dryRun = imports.dryRun() ? new DryRun(imports.converter()) : null;
        ImportConverter converter = dryRun == null ? imports.converter() : dryRun;
        String what = (dryRun == null ? "the import" : "the dry run of the import") + " from Redisson's queue '"
                + imports.source().name() + "'";
        Progress progress = new Progress(what);
        return queue.importFrom(
                        imports.source(),
                        imports.payloads(converter),
                        imports.options()
                                .withMaximumQueueLength(settings.maximumQueueLength())
                                .withExecutor(executor)
                                .withGoOn(progress::goOn))
                .thenApply(report -> {
                    LOG.info(
                            "queue '{}': {} {}: {}",
                            queue.name(),
                            what,
                            progress.stopped ? "was stopped" : "has ended",
                            ImportFigures.text(report));
                    return new Ended(report, dryRun, progress.stopped);
                });
    }

    private void put(Ended ended, Message message) {
        Map<String, Object> figures = ImportFigures.of(ended.report());
        figures.put("stopped", ended.stopped());
        if (ended.dryRun() != null) {
            figures.put("guess", ended.dryRun().guesses());
            figures.put("bodies", ended.dryRun().bodies());
        }
        message.removeHeader(RedisDelayConstants.PREVIOUS_STATE);
        message.removeHeader(RedisDelayConstants.RESULT);
        message.setHeader(RedisDelayConstants.QUEUE, queue.name());
        message.setHeader(RedisDelayConstants.COUNT, ended.report().moved());
        message.setBody(figures);
    }
}
