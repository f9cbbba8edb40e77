// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.migration.DryRun;
import io.github.redisdelay.camel.migration.ImportConverter;
import io.github.redisdelay.camel.migration.ImportFigures;
import io.github.redisdelay.camel.migration.ImportListener;
import io.github.redisdelay.camel.migration.ImportRun;
import io.github.redisdelay.camel.migration.ImportRuns;
import io.github.redisdelay.camel.migration.ImportSettings;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.ImportReport;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.apache.camel.Message;

/** The operation that moves the messages of a delayed queue of Redisson's here. Holds nothing of an exchange. */
public final class ImportOperation {

    private final ProducerSettings settings;
    private final DelayQueue queue;
    private final Executor executor;
    private final BooleanSupplier wanted;
    private final ImportRuns runs;
    private final ImportListener listener;

    /**
     * An import that has ended.
     *
     * @param dryRun null if messages were moved
     * @param stopped whether it ended because it was not wanted any more
     */
    private record Ended(ImportReport report, DryRun dryRun, boolean stopped) {}

    /**
     * @param executor runs the converter, which may block
     * @param wanted asked after each slice whether the import shall go on
     * @param runs notes it
     * @param listener hears of it
     */
    public ImportOperation(
            ProducerSettings settings,
            DelayQueue queue,
            Executor executor,
            BooleanSupplier wanted,
            ImportRuns runs,
            ImportListener listener) {
        this.settings = settings;
        this.queue = queue;
        this.executor = executor;
        this.wanted = wanted;
        this.runs = runs;
        this.listener = listener;
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
        ImportRun run = runs.begin(queue.name(), imports, listener);
        return queue.importFrom(
                        imports.source(),
                        imports.payloads(converter),
                        imports.options()
                                .withMaximumQueueLength(settings.maximumQueueLength())
                                .withExecutor(executor)
                                .withGoOn(report -> goOn(run, report)))
                .whenComplete(run::ended)
                .thenApply(report -> new Ended(report, dryRun, run.state() == ImportRun.State.STOPPED));
    }

    private boolean goOn(ImportRun run, ImportReport report) {
        if (!wanted.getAsBoolean()) {
            run.stop();
        }
        return run.goOn(report);
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
