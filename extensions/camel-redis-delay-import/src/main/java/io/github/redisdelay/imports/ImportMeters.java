// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.camel.imports.ImportModule.Site;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportReport.Reason;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongConsumer;

/** The meters of imports: counters, and what the latest one has left. Thread-safe. */
final class ImportMeters implements ImportListener {

    private final Meters.Added meters;
    private final LongConsumer moved;
    private final LongConsumer renamed;
    private final LongConsumer gone;
    private final LongConsumer failed;
    private final Map<Reason, LongConsumer> left = new EnumMap<>(Reason.class); // not changed any more

    ImportMeters(Site site, ImportSettings settings) {
        Map<String, String> tags = Map.of("importFrom", settings.source().name(), "routeId", site.routeId());
        meters = site.meters().added(site.metered(), tags);
        moved = meters.counting("import.moved", "Messages that were moved here");
        renamed = meters.counting("import.renamed", "Messages that were moved here under another id");
        gone = meters.counting("import.gone", "Messages that others took in the moment between");
        failed = meters.counting("import.failed", "Imports that failed");
        for (Reason reason : Reason.values()) {
            String what = "Messages that the latest import has left where they are";
            left.put(reason, meters.showing("import.left", what, "reason", ImportFigures.name(reason)));
        }
    }

    @Override
    public void slice(long moved, long renamed, long gone) {
        this.moved.accept(moved);
        this.renamed.accept(renamed);
        this.gone.accept(gone);
    }

    @Override
    public void ended(ImportReport report) {
        left.forEach((reason, gauge) -> {
            ImportReport.Left some = report.left().get(reason);
            gauge.accept(some == null ? 0 : some.count());
        });
    }

    @Override
    public void failed() {
        failed.accept(1);
    }

    @Override
    public void closed() {
        meters.release();
    }
}
