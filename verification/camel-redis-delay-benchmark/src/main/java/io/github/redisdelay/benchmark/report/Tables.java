// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import io.github.redisdelay.benchmark.Subject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes figures as tables of Markdown: a row for each parameter and metric, a column for each subject. */
final class Tables {

    /** The names of the subjects in the report. */
    static final Map<String, String> SUBJECTS = Map.of(
            Subject.CAMEL, "through Camel",
            Subject.QUEUE, "queue layer",
            Subject.RDELAYEDQUEUE, "RDelayedQueue",
            Subject.FLOOR, "floor",
            Subject.FENCED_FLOOR, "fenced floor",
            Subject.SAFE, "safe scripts",
            Subject.BARE_CLIENT, "bare client",
            Subject.BARE_CLIENT_THROUGH_CAMEL, "bare client through Camel",
            Subject.BULLMQ, "BullMQ");

    private Tables() {}

    static String subject(String name) {
        return SUBJECTS.getOrDefault(name, name);
    }

    /** The figures of one experiment: one table, or two where most of them are those of a growing number. */
    static String of(String experiment, Results all) {
        Results results = all.only(experiment);
        if (!experiment.equals("scale-cluster")) {
            return down(experiment, results);
        }
        Results growing = results.where(figure -> figure.parameter().startsWith("pending="));
        Results others = results.where(figure -> !figure.parameter().startsWith("pending="));
        return across(experiment, growing) + (others.parameters().isEmpty() ? "" : "\n" + down(experiment, others));
    }

    private static String down(String experiment, Results results) {
        List<String> subjects = results.subjects();
        List<String> head = new ArrayList<>(List.of("", "", "unit"));
        subjects.forEach(subject -> head.add(subject(subject)));
        StringBuilder table = new StringBuilder();
        table.append(row(head))
                .append("|---|---|---|")
                .append("---:|".repeat(subjects.size()))
                .append('\n');
        for (String parameter : results.parameters()) {
            String shown = parameter.isEmpty() ? "all" : parameter;
            for (String metric : results.metrics()) {
                List<Optional<Spread>> spreads = subjects.stream()
                        .map(subject -> results.find(experiment, subject, parameter, metric))
                        .toList();
                if (spreads.stream().allMatch(Optional::isEmpty)) {
                    continue;
                }
                List<String> cells = new ArrayList<>(List.of(shown, metric, results.unit(metric)));
                spreads.forEach(spread -> cells.add(spread.map(Numbers::text).orElse("")));
                table.append(row(cells));
                shown = "";
            }
        }
        return table.toString();
    }

    /** A row for each parameter, a column for each metric, where there is but one subject and one round. */
    private static String across(String experiment, Results results) {
        String subject = results.subjects().get(0);
        List<String> head = new ArrayList<>(List.of(""));
        results.metrics().forEach(metric -> head.add(metric + ", " + results.unit(metric)));
        StringBuilder table = new StringBuilder(row(head))
                .append("|---|")
                .append("---:|".repeat(results.metrics().size()))
                .append('\n');
        for (String parameter : results.parameters()) {
            List<String> cells = new ArrayList<>(List.of(parameter));
            for (String metric : results.metrics()) {
                cells.add(results.find(experiment, subject, parameter, metric)
                        .map(Numbers::text)
                        .orElse(""));
            }
            table.append(row(cells));
        }
        return table.toString();
    }

    static String row(List<String> cells) {
        return "| " + String.join(" | ", cells.stream().map(Tables::escape).toList()) + " |\n";
    }

    private static String escape(String cell) {
        return cell.replace("|", "\\|");
    }
}
