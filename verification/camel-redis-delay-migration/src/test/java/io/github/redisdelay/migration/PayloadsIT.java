// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The payloads that the component's tests read are those which each release of Redisson writes.
 * {@code -Dpayloads.write=true} writes them anew.
 */
class PayloadsIT {

    private static final Path COMMITTED =
            Path.of("../../extensions/camel-redis-delay-import/src/test/resources/io/github/redisdelay/imports");

    @TempDir
    Path folder;

    static List<String> releases() {
        return OldRedissons.RELEASES;
    }

    @ParameterizedTest
    @MethodSource("releases")
    void should_write_the_payloads_that_are_committed(String release) throws Exception {
        Path committed = COMMITTED.resolve("redisson-" + release + ".txt");
        Path file = Boolean.getBoolean("payloads.write") ? committed : folder.resolve("payloads");
        Files.createDirectories(file.getParent());
        Path log = folder.resolve("log");
        Process process = OldRedissons.start(release, log, PayloadWriter.class, file.toString());
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
        assertThat(file).hasSameTextualContentAs(committed);
    }
}
