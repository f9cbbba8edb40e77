// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import io.github.redisdelay.benchmark.Figure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads {@code raw.csv}. */
final class RawFile {

    private RawFile() {}

    /** @throws IOException if it cannot be read, or a line has not seven fields */
    static List<Figure> read(Path file) throws IOException {
        List<Figure> figures = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (String line : lines.subList(Math.min(1, lines.size()), lines.size())) {
            List<String> fields = fields(line);
            if (fields.size() != 7) {
                throw new IOException(file + ": '" + line + "' has " + fields.size() + " fields: it must have 7");
            }
            figures.add(new Figure(
                    fields.get(0),
                    fields.get(1),
                    fields.get(2),
                    Integer.parseInt(fields.get(3)),
                    fields.get(4),
                    Double.parseDouble(fields.get(5)),
                    fields.get(6)));
        }
        return figures;
    }

    private static List<String> fields(String line) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"') {
                if (quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                    field.append(c);
                    i++;
                } else {
                    quoted = !quoted;
                }
            } else if (c == ',' && !quoted) {
                fields.add(field.toString());
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        fields.add(field.toString());
        return fields;
    }
}
