// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A committed file of what users rely on, a name a line, so that a change of a name shows in the diff of its commit.
 * {@code -Dgolden.write=true} writes it anew.
 */
public final class GoldenFile {

    private GoldenFile() {}

    /** Compares lines with a file of {@code src/test/resources/golden}. */
    public static void assertSame(String name, List<String> lines) {
        assertSame(Path.of("src/test/resources/golden").resolve(name), lines);
    }

    /** Compares lines with a file. */
    public static void assertSame(Path file, List<String> lines) {
        assertThat(lines).as("lines for %s", file).isNotEmpty();
        String now = String.join("\n", lines) + "\n";
        try {
            if (Boolean.getBoolean("golden.write")) {
                Files.createDirectories(file.getParent());
                Files.writeString(file, now);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(file)
                .as("if you mean this change, run this test with -Dgolden.write=true, and commit the file")
                .content()
                .isEqualTo(now);
    }
}
