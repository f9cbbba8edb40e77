// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.JavaCommand;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("faults")
class ChildMainIT {

    @Test
    void should_end_with_its_error_when_its_main_fails(@TempDir Path directory) throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            String history = directory.resolve("p.history").toString();
            String partitions = "none"; // is read when threads have begun
            Process child = new ProcessBuilder(JavaCommand.of(
                            FaultProcess.class, "producer", server.address(), history, "p", "1", "-", partitions))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                assertThat(child.waitFor(60, TimeUnit.SECONDS)).as("has ended").isTrue();
                assertThat(child.exitValue()).isOne();
                assertThat(child.errorReader(StandardCharsets.UTF_8).lines())
                        .contains("java.lang.NumberFormatException: For input string: \"none\"");
            } finally {
                child.destroyForcibly();
            }
        }
    }
}
