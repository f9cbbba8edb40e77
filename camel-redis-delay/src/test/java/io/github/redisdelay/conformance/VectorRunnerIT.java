// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static io.github.redisdelay.conformance.VectorFiles.KIT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runner of the conformance kit plays its vectors. */
class VectorRunnerIT extends RecordedQueueIT {

    private String python(Path vectors) throws Exception {
        Path python = Stream.of(System.getenv("PATH").split(System.getProperty("path.separator")))
                .map(folder -> Path.of(folder, "python3"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        assumeTrue(python != null, "no python3 was found: put one on the path, to play the vectors of " + KIT);
        Process process = new ProcessBuilder(
                        python.toString(),
                        "-B",
                        KIT.resolve("play.py").toString(),
                        server.address(),
                        vectors.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(said).isTrue();
        return process.exitValue() + " " + said;
    }

    @Test
    void should_be_played_by_the_runner() throws Exception {
        assertThat(python(KIT.resolve("vectors"))).startsWith("0 ").contains(" vectors of ");
    }

    @Test
    void should_be_refused_by_the_runner_where_a_reply_or_a_key_differs(@TempDir Path folder) throws Exception {
        Map<String, String> changes = Map.of(
                "\"delayed\": {\"order-1\": 18", "\"delayed\": {\"order-1\": 17",
                "\"reply\": \"hex:00", "\"reply\": \"hex:01",
                "\"envelope\": \"hex:f9", "\"envelope\": \"hex:f8",
                "\"partition\": 0", "\"partition\": 1",
                "\"sha1\": \"", "\"sha1\": \"0");
        for (String change : changes.keySet()) {
            Path copies = Files.createDirectory(folder.resolve("copy" + Integer.toHexString(change.hashCode())));
            String changed = "";
            try (var files = Files.newDirectoryStream(KIT.resolve("vectors"), "*.json")) {
                for (Path file : files) {
                    String text = Files.readString(file);
                    changed += text.contains(change) ? file.getFileName() + " " : "";
                    Files.writeString(copies.resolve(file.getFileName()), text.replace(change, changes.get(change)));
                }
            }
            assertThat(changed).as("files with " + change).isNotEmpty();
            assertThat(python(copies)).as(change).startsWith("1 ");
        }
    }
}
