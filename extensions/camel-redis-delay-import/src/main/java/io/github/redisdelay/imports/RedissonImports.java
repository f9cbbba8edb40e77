// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.imports.queue.RedissonImport;
import java.util.List;
import java.util.function.Function;

/** The imports of a component from Redisson's delayed queues. Made by Camel, by the service file. */
public final class RedissonImports implements ImportModule {

    private final ImportRuns runs = new ImportRuns(System::nanoTime);

    @Override
    public Function<Site, Operation> operation(Options options) {
        ImportSettings settings = new ImportOptionReader(options).producer();
        return site -> new ImportOperation(settings, site, runs);
    }

    @Override
    public Function<Site, Bridge> bridge(Options options) {
        ImportSettings settings = new ImportOptionReader(options).consumer();
        return site -> bridge(settings, site);
    }

    private static Bridge bridge(ImportSettings settings, Site site) {
        RedissonImport imports = RedissonImport.into(site.queue());
        imports.check(settings.source());
        return new ImportBridge(
                site.queue().name(),
                settings,
                options -> imports.run(
                        settings.source(),
                        settings.payloads(settings.converter()),
                        options.withMaximumQueueLength(site.maximumQueueLength())
                                .withExecutor(site.executor())),
                site.timers(),
                new ImportMeters(site, settings));
    }

    @Override
    public List<Run> runs() {
        return List.copyOf(runs.list());
    }
}
