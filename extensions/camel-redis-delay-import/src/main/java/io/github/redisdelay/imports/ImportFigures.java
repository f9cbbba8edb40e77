// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportReport.Reason;
import java.util.LinkedHashMap;
import java.util.Map;

/** The report of an import as plain values, and in a sentence. */
public final class ImportFigures {

    private ImportFigures() {}

    /** The report as a map that a route can write as JSON. */
    public static Map<String, Object> of(ImportReport report) {
        ImportReport.Found found = report.found();
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("pending", found.pending());
        seen.put("ready", found.ready());
        seen.put("overdue", found.overdue());
        seen.put("oldFormat", found.oldFormat());
        seen.put("newFormat", found.newFormat());
        Map<String, Object> left = new LinkedHashMap<>();
        for (Reason reason : Reason.values()) {
            ImportReport.Left some = report.left().get(reason);
            if (some != null) {
                Map<String, Object> those = new LinkedHashMap<>();
                those.put("count", some.count());
                those.put("samples", some.samples());
                left.put(name(reason), those);
            }
        }
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("found", seen);
        figures.put("moved", report.moved());
        figures.put("gone", report.gone());
        figures.put("renamed", report.renamed());
        figures.put("left", left);
        figures.put("remaining", report.remaining());
        return figures;
    }

    /** A reason as it is named in replies and meters. */
    public static String name(Reason reason) {
        return switch (reason) {
            case UNREADABLE -> "unreadable";
            case OUT_OF_RANGE -> "outOfRange";
            case NOT_CONVERTIBLE -> "notConvertible";
            case QUEUE_FULL -> "queueFull";
        };
    }

    /** The counts for a log. */
    public static String text(ImportReport report) {
        return report.found().all() + " found, " + report.moved() + " moved, " + report.gone() + " gone, "
                + report.leftInAll() + " left, " + report.remaining() + " remaining";
    }
}
