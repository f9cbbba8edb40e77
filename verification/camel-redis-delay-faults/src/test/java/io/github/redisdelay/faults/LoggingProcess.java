// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.ManyProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An application as a user has it, in a JVM of its own, whose standard output is its log. */
record LoggingProcess(Process process, Path log) {

    /** Starts one whose argument is the address of Redis. */
    static LoggingProcess start(Class<?> application, String address) throws IOException {
        Path log = Files.createTempFile("application", ".log");
        log.toFile().deleteOnExit();
        return new LoggingProcess(
                new ProcessBuilder(ManyProcesses.command(application, address))
                        .redirectOutput(log.toFile())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start(),
                log);
    }

    /** The words of each whole line that begins with this one. */
    List<String[]> lines(String what) {
        try {
            String text = Files.readString(log);
            return text.substring(0, text.lastIndexOf('\n') + 1)
                    .lines()
                    .filter(line -> line.startsWith(what + " "))
                    .map(line -> line.split(" "))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Kills it with SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }
}
