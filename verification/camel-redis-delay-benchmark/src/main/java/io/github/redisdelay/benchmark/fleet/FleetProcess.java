// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.fleet;

import io.github.redisdelay.benchmark.lateness.LatenessRecorder;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** A part of a fleet in a JVM of its own, to be killed. What it does is in {@link FleetProcessMain}. */
final class FleetProcess implements AutoCloseable {

    private final Process process;
    private final Thread reader;
    private volatile Report last = new Report(0, 0, 0, new byte[0]);
    private volatile boolean ready;

    /** The counts of its last report, at most a tenth of a second before it was killed. */
    private record Report(long claims, long published, long delivered, byte[] lateness) {}

    private FleetProcess(Process process) {
        this.process = process;
        this.reader = new Thread(this::read, "fleet-process-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    static FleetProcess start(String address, String queue, int consumers, String options) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        java,
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FleetProcessMain.class.getName(),
                        address,
                        queue,
                        Integer.toString(consumers),
                        options)
                .redirectError(ProcessBuilder.Redirect.appendTo(nowhere()))
                .start();
        return new FleetProcess(process);
    }

    private static File nowhere() {
        return new File(System.getProperty("os.name").startsWith("Windows") ? "NUL" : "/dev/null");
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] fields = line.split(" ");
                if (fields.length == 5 && fields[0].equals(FleetProcessMain.MARK)) {
                    last = new Report(
                            Long.parseLong(fields[1]),
                            Long.parseLong(fields[2]),
                            Long.parseLong(fields[3]),
                            Base64.getDecoder().decode(fields[4]));
                    ready = true;
                }
            }
        } catch (IOException e) {
            // Killed in the middle of a line.
        }
    }

    /** Waits until its consumers run. */
    void awaitReady() throws IOException, InterruptedException {
        for (int i = 0; i < 600 && !ready; i++) {
            if (!process.isAlive()) {
                throw new IOException("a process of the fleet ended with status " + process.exitValue());
            }
            Thread.sleep(100);
        }
        if (!ready) {
            throw new IOException("a process of the fleet did not start within a minute");
        }
    }

    /** Ends it as a crash does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
        reader.join();
    }

    /** The number of times that its consumers had asked for messages. */
    long claims() {
        return last.claims();
    }

    /** The number of publications that no message had caused. */
    long published() {
        return last.published();
    }

    /** The number of messages that had been delivered for the first time. */
    long delivered() {
        return last.delivered();
    }

    /** Adds the lateness of those to what was recorded here. */
    void addTo(LatenessRecorder recorder) {
        byte[] bytes = last.lateness();
        if (bytes.length > 0) {
            try {
                recorder.add(Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0));
            } catch (DataFormatException e) {
                throw new UncheckedIOException(new IOException(e));
            }
        }
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}
