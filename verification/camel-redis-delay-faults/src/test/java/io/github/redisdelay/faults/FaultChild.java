// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.ManyProcesses;
import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.HistoryChecker.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A {@link FaultProcess} as the test that started it sees it. */
final class FaultChild implements AutoCloseable {

    /** The exit code of a JVM that was killed, or that has halted itself as if it were. */
    static final int KILLED = 137;

    private final Experiment experiment;
    private final String name;
    private final Path file;
    private final List<Event> seen = new ArrayList<>(); // guarded by this
    private long position; // in the file, behind what was seen; guarded by this
    private final Process process;
    /** Completes when it has ended, and Redis has executed all that it had sent. */
    private final CompletableFuture<Void> dead;

    private FaultChild(Experiment experiment, String name, Path file, Process process) {
        this.experiment = experiment;
        this.name = name;
        this.file = file;
        this.process = process;
        this.dead = process.onExit().thenRunAsync(() -> experiment.dead(name));
    }

    /**
     * Starts one; its history is judged with the others.
     *
     * @param directory where it writes
     * @param name of its own in the experiment
     * @param death null if it does not die by itself
     */
    static FaultChild start(
            Experiment experiment, Path directory, boolean producer, String name, FaultProcess.Death death)
            throws IOException {
        return start(experiment, directory, producer, name, death, experiment.server.address(), 1);
    }

    /**
     * The same for an experiment with a site of its own.
     *
     * @param address where Redis is
     * @param partitions of the queue
     */
    static FaultChild start(
            Experiment experiment,
            Path directory,
            boolean producer,
            String name,
            FaultProcess.Death death,
            String address,
            int partitions)
            throws IOException {
        Path file = directory.resolve(name + ".history");
        Process process = new ProcessBuilder(ManyProcesses.command(
                        FaultProcess.class,
                        producer ? "producer" : "consumer",
                        address,
                        file.toString(),
                        name,
                        Long.toString(experiment.random.nextLong()),
                        death == null ? "-" : death.name(),
                        Integer.toString(partitions),
                        Integer.toString(experiment.groups()),
                        Integer.toString(experiment.perSecond())))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        FaultChild child = new FaultChild(experiment, name, file, process);
        if (producer) {
            experiment.addHistory(child::events);
        } else {
            experiment.addConsumer(name, child::events);
        }
        return child;
    }

    /**
     * A producer and two consumers work, and are killed and started again by turns, at random moments. Then what is left is
     * delivered, and all is judged. Where the queue has places, more messages wait for them from the beginning, and in the end.
     *
     * @param address as of {@link #start}
     */
    static Report killAtRandom(Experiment experiment, Path directory, String address, int partitions, int kills)
            throws Exception {
        List<FaultChild> all = new ArrayList<>();
        FaultChild[] running = new FaultChild[3];
        try {
            for (int i = 0; i < running.length; i++) {
                running[i] = startNext(experiment, directory, address, partitions, i == 0, all);
            }
            for (FaultChild child : running) {
                child.awaitWork();
            }
            experiment.schedulePile("first");
            long inFlight = 0;
            int first = experiment.random.nextInt(running.length);
            for (int kill = 0; kill < kills; kill++) {
                experiment.run(Duration.ofMillis(experiment.random.nextInt(700)));
                inFlight += experiment.inFlightUnderLoad();
                int victim = (first + kill) % running.length;
                running[victim].kill();
                running[victim] = startNext(experiment, directory, address, partitions, victim == 0, all)
                        .awaitWork();
            }
            experiment.runQuietly();
            running[0].kill();
            experiment.schedulePile("last");
            experiment.awaitEmpty();
            experiment.probeEach("probes");
            running[1].end();
            running[2].end();
            return experiment.judge(kills + 1, inFlight);
        } finally {
            all.forEach(FaultChild::close);
        }
    }

    private static FaultChild startNext(
            Experiment experiment,
            Path directory,
            String address,
            int partitions,
            boolean producer,
            List<FaultChild> all)
            throws IOException {
        String name = (producer ? "p" : "c") + all.size();
        FaultChild child = start(experiment, directory, producer, name, null, address, partitions);
        all.add(child);
        return child;
    }

    private synchronized List<Event> events() {
        if (Files.exists(file)) {
            position = History.readOn(file, position, seen);
        }
        return List.copyOf(seen);
    }

    /** Waits until it has done something. */
    FaultChild awaitWork() {
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    assertThat(process.isAlive()).as(name + " is alive").isTrue();
                    return events().size() > 20;
                });
        return this;
    }

    /** Kills it with SIGKILL. */
    void kill() throws Exception {
        experiment.history.killed(name, "SIGKILL");
        process.destroyForcibly();
        assertThat(ended()).isEqualTo(KILLED);
    }

    /** Lets it end in an orderly way. */
    void end() throws Exception {
        process.getOutputStream().close();
        assertThat(ended()).as("exit value of " + name).isZero();
    }

    /** Waits for its end, and answers its exit value. */
    int ended() throws Exception {
        assertThat(process.waitFor(60, TimeUnit.SECONDS))
                .as(name + " has ended")
                .isTrue();
        dead.get();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
