// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.imports.queue.ImportReport;

/**
 * The reports of one import, of which each has the figures since its beginning: a listener is told what is new. Used by
 * one thread at a time.
 */
final class ImportTally {

    private final ImportListener listener;
    private long moved;
    private long renamed;
    private long gone;

    ImportTally(ImportListener listener) {
        this.listener = listener;
    }

    /**
     * Passes what is new in a report to the listener.
     *
     * @return how many messages were moved since the report before
     */
    long tell(ImportReport report) {
        long more = report.moved() - moved;
        listener.slice(more, report.renamed() - renamed, report.gone() - gone);
        moved = report.moved();
        renamed = report.renamed();
        gone = report.gone();
        return more;
    }
}
