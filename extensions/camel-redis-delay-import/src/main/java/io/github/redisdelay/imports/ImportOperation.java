// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.producer.PendingRequest;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.RedissonImport;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Route;
import org.apache.camel.StatefulService;

/** The operation that moves the messages of a delayed queue of Redisson's here. Holds nothing of an exchange. */
final class ImportOperation implements ImportModule.Operation {

    private final ImportSettings settings;
    private final ImportModule.Site site;
    private final RedissonImport imports;
    private final ImportRuns runs;
    private final ImportListener listener;

    /**
     * An import that has ended.
     *
     * @param dryRun null if messages were moved
     * @param stopped whether it ended because it was not wanted any more
     */
    private record Ended(ImportReport report, DryRun dryRun, boolean stopped) {}

    /** @param runs notes each import */
    ImportOperation(ImportSettings settings, ImportModule.Site site, ImportRuns runs) {
        this.settings = settings;
        this.site = site;
        this.imports = RedissonImport.into(site.queue());
        this.runs = runs;
        this.listener = settings.dryRun() ? ImportListener.NONE : new ImportMeters(site, settings);
    }

    @Override
    public PendingRequest send(Exchange exchange, BooleanSupplier running) {
        return PendingRequest.of(run(() -> running.getAsBoolean() && isToGoOn(exchange)), this::put);
    }

    /** False as soon as the context, or the consumer that the exchange came from, is being stopped. */
    private static boolean isToGoOn(Exchange exchange) {
        CamelContext context = exchange.getContext();
        String routeId = exchange.getFromRouteId();
        Route route = routeId == null ? null : context.getRoute(routeId);
        boolean stopping = route != null
                && route.getConsumer() instanceof StatefulService consumer
                && !(consumer.isStarting() || consumer.isStarted());
        return !stopping && !context.isStopping();
    }

    @Override
    public void close() {
        listener.closed();
    }

    private CompletableFuture<Ended> run(BooleanSupplier wanted) {
        DryRun dryRun = settings.dryRun() ? new DryRun(settings.converter()) : null;
        ImportConverter converter = dryRun == null ? settings.converter() : dryRun;
        ImportRun run = runs.begin(site.queue().name(), settings, listener);
        return imports.run(
                        settings.source(),
                        settings.payloads(converter),
                        settings.options()
                                .withMaximumQueueLength(site.maximumQueueLength())
                                .withExecutor(site.executor())
                                .withGoOn(report -> goOn(run, wanted, report)))
                .whenComplete(run::ended)
                .thenApply(report -> new Ended(report, dryRun, run.state() == ImportRun.State.STOPPED));
    }

    private static boolean goOn(ImportRun run, BooleanSupplier wanted, ImportReport report) {
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
        message.setHeader(RedisDelayConstants.QUEUE, site.queue().name());
        message.setHeader(RedisDelayConstants.COUNT, ended.report().moved());
        message.setBody(figures);
    }
}
