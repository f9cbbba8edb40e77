// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import io.github.redisdelay.benchmark.rates.Mixes;
import io.github.redisdelay.benchmark.rates.Rates;
import io.github.redisdelay.benchmark.server.Link;
import io.github.redisdelay.benchmark.server.OtherQueues;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A subject of {@link Rates} or {@link Mixes} in a process of its own. What it does is in {@link SubjectProcessMain}, and for BullMQ in
 * {@code subject.mjs}. One thread at a time.
 */
public final class SubjectProcess implements AutoCloseable {

    private static final String HEAP = "1g";
    private static final int END_SECONDS = 20;

    private final String subject;
    private final Process process;
    private final BufferedReader output;
    private final BufferedWriter input;

    /** A figure of a measurement. */
    public record Measured(String metric, double value, String unit) {}

    private SubjectProcess(String subject, Process process) {
        this.subject = subject;
        this.process = process;
        this.output = process.inputReader();
        this.input = process.outputWriter();
    }

    public static SubjectProcess start(Environment environment, Link link, String experiment, String subject)
            throws IOException {
        return start(environment, link, experiment, subject, System.getProperty("java.class.path"));
    }

    /** @param classPath that of another commit, whose process must take the same arguments and lines as this one's */
    public static SubjectProcess start(
            Environment environment, Link link, String experiment, String subject, String classPath)
            throws IOException {
        List<String> command = subject.equals(Subject.BULLMQ)
                ? OtherQueues.bullMq(environment)
                : List.of(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-Xms" + HEAP,
                        "-Xmx" + HEAP,
                        "-classpath",
                        classPath,
                        SubjectProcessMain.class.getName(),
                        environment.address(),
                        Boolean.toString(environment.quick()),
                        link.address(),
                        Long.toString(link.delay().toNanos()),
                        experiment,
                        subject);
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new SubjectProcess(subject, process);
    }

    /**
     * Has a step measured. Other lines that the process prints meanwhile are printed here.
     *
     * @param step its kind, callers and round, with spaces between, and what else the kind needs
     */
    public List<Measured> measure(String step) throws IOException {
        input.write(step);
        input.newLine();
        input.flush();
        List<Measured> measured = new ArrayList<>();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.equals(SubjectProcessMain.DONE)) {
                return measured;
            }
            String[] fields = line.split("\t");
            if (fields.length == 4 && fields[0].equals(SubjectProcessMain.MEASURED)) {
                measured.add(new Measured(fields[1], Double.parseDouble(fields[2]), fields[3]));
            } else {
                System.out.println(line);
            }
        }
        throw new IOException(
                "The process of " + subject + " has ended in step " + step + "; what it said stands above");
    }

    @Override
    public void close() {
        try {
            input.close(); // which tells it to end
            if (process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (IOException e) {
            // It has ended already.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
