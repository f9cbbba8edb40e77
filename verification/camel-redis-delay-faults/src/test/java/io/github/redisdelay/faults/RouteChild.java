// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.ManyProcesses;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link RouteProcess} as the test that started it sees it. Used by one thread. */
final class RouteChild implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 120;
    private static final String END = "end";

    private final Process process;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    /** The lines that it has said of messages. */
    private final List<String> messages = new ArrayList<>();

    private RouteChild(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "route-child");
        reader.setDaemon(true);
        reader.start();
    }

    static RouteChild start(RouteProcess.Role role, String address) throws IOException {
        return new RouteChild(new ProcessBuilder(ManyProcesses.command(RouteProcess.class, role.name(), address))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = lines.readLine()) != null) {
                if (line.startsWith(RouteProcess.MARK)) {
                    said.add(line.substring(RouteProcess.MARK.length()));
                }
            }
        } catch (IOException e) {
            // It was killed.
        }
        said.add(END);
    }

    /** Waits until its routes are started; answers how many milliseconds that took. */
    long awaitReady() throws InterruptedException {
        return await("ready");
    }

    long ask(RouteProcess.Question question) throws InterruptedException {
        try {
            process.getOutputStream().write((question + "\n").getBytes(StandardCharsets.US_ASCII));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return await(question.name());
    }

    /** Lets it end in an orderly way; answers how many milliseconds its routes took for that. */
    long end() throws InterruptedException, IOException {
        process.getOutputStream().close();
        return await("stopped");
    }

    /** How many messages it has received in all, after its end. */
    long received() throws InterruptedException {
        return await(RouteProcess.Question.RECEIVED.name());
    }

    /** Waits for a while; whether it has died. */
    boolean hasDied(long millis) throws InterruptedException {
        if (!process.waitFor(millis, TimeUnit.MILLISECONDS)) {
            return false;
        }
        assertThat(process.exitValue()).isEqualTo(FaultChild.KILLED);
        return true;
    }

    /** The messages that it has begun or finished, as it has said so until now. Asked once where it has ended. */
    List<String> messages(String what) throws InterruptedException {
        String line;
        // Of one that has died, everything: its last words may still be on their way.
        while ((line = said.poll(process.isAlive() ? 0 : PATIENCE_SECONDS, TimeUnit.SECONDS)) != null
                && !line.equals(END)) {
            messages.add(line);
        }
        return messages.stream()
                .filter(each -> each.startsWith(what + " "))
                .map(each -> each.substring(what.length() + 1))
                .toList();
    }

    private long await(String what) throws InterruptedException {
        while (true) {
            String line = said.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertThat(line)
                    .as("what the process says of '" + what + "'")
                    .isNotNull()
                    .isNotEqualTo(END);
            if (line.startsWith(what + " ")) {
                return Long.parseLong(line.substring(what.length() + 1));
            }
            messages.add(line);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
