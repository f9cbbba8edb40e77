// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.ManyProcesses;
import io.github.redisdelay.history.History;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A {@link SoakProcess} as the test that started it sees it. */
final class SoakChild implements AutoCloseable {

    private final SoakNode.Settings settings;
    private final Process process;

    /** Starts one. */
    SoakChild(SoakNode.Settings settings) throws IOException {
        this.settings = settings;
        process = new ProcessBuilder(ManyProcesses.command(SoakProcess.class, settings.arguments()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    String name() {
        return settings.name();
    }

    /** Waits until it has done something. */
    void awaitWork() {
        await().atMost(Duration.ofSeconds(90))
                .pollInterval(Duration.ofMillis(100))
                .until(() -> {
                    assertThat(process.isAlive())
                            .as(settings.name() + " is alive")
                            .isTrue();
                    return WindowedHistory.hasBegun(settings.directory(), settings.name());
                });
    }

    /** Kills it with SIGKILL. */
    void kill(History history) throws InterruptedException {
        history.killed(settings.name(), "SIGKILL");
        process.destroyForcibly();
        assertThat(ended()).isEqualTo(FaultChild.KILLED);
        history.dead(settings.name());
    }

    /** Lets it end in an orderly way. */
    void end() throws InterruptedException, IOException {
        process.getOutputStream().close();
        assertThat(ended()).as("exit value of " + settings.name()).isZero();
    }

    private int ended() throws InterruptedException {
        assertThat(process.waitFor(120, TimeUnit.SECONDS))
                .as(settings.name() + " has ended")
                .isTrue();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
