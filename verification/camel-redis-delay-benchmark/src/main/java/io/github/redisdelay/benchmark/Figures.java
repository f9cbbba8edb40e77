// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The figures measured so far: kept for the report, and written to {@code raw.csv} at once, so that a run that is
 * broken off leaves what it had. Thread-safe.
 */
public final class Figures implements AutoCloseable {

    static final String HEAD = "experiment,subject,parameter,round,metric,value,unit";

    private final List<Figure> figures = new ArrayList<>(); // guarded by this
    private final BufferedWriter csv; // guarded by this

    private Figures(BufferedWriter csv) {
        this.csv = csv;
    }

    /** @param file replaced if it is there */
    static Figures writingTo(Path file) throws IOException {
        Figures figures = new Figures(Files.newBufferedWriter(file));
        figures.line(HEAD);
        return figures;
    }

    /** Adds a figure, and prints it. */
    public synchronized void add(Figure figure) {
        figures.add(figure);
        line(String.join(
                ",",
                figure.experiment(),
                figure.subject(),
                field(figure.parameter()),
                Integer.toString(figure.round()),
                field(figure.metric()),
                number(figure.value()),
                field(figure.unit())));
        System.out.printf(
                "%-9s %-13s %-28s round %d  %-34s %12s %s%n",
                figure.experiment(),
                figure.subject(),
                figure.parameter(),
                figure.round(),
                figure.metric(),
                number(figure.value()),
                figure.unit());
    }

    /** Adds a figure, and prints it. */
    public void add(
            String experiment, String subject, String parameter, int round, String metric, double value, String unit) {
        add(new Figure(experiment, subject, parameter, round, metric, value, unit));
    }

    /** All figures so far, in the order in which they were measured. */
    public synchronized List<Figure> all() {
        return List.copyOf(figures);
    }

    /** As exact as any of it can be, and without an exponent where that can be. */
    private static String number(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            throw new IllegalArgumentException("A measured value is " + value + ": it must be a finite number");
        }
        double size = Math.abs(value);
        return String.format(java.util.Locale.ROOT, size >= 1000 ? "%.0f" : size >= 10 ? "%.2f" : "%.4f", value);
    }

    private static String field(String text) {
        boolean plain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n');
        return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
    }

    private void line(String text) {
        try {
            csv.write(text);
            csv.newLine();
            csv.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        csv.close();
    }
}
