// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.recovery;

import io.github.redisdelay.benchmark.Cost;
import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.Waiting;
import io.github.redisdelay.benchmark.contender.Arrivals;
import io.github.redisdelay.benchmark.contender.Contender;
import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import io.github.redisdelay.benchmark.contender.Contenders;
import io.github.redisdelay.benchmark.contender.Message;
import io.github.redisdelay.queue.DueTime;
import java.io.BufferedReader;
import java.io.File;
import java.time.Duration;
import java.util.List;
import org.redisson.client.codec.ByteArrayCodec;

/** The time until messages that a killed consumer held are delivered again. */
public final class Recovery implements Experiment {

    @Override
    public String name() {
        return "recovery";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        int leased = environment.quick() ? 10_000 : 100_000;
        Duration visibility = Duration.ofSeconds(environment.quick() ? 2 : 10);
        try (Contenders contenders = new Contenders(environment)) {
            for (int round = 1; round <= environment.rounds(); round++) {
                for (String subject : List.of(Subject.QUEUE, Subject.CAMEL)) {
                    environment.clear();
                    measure(environment, figures, contenders, subject, leased, visibility, round);
                }
            }
        }
    }

    private void measure(
            Environment environment,
            Figures figures,
            Contenders contenders,
            String subject,
            int leased,
            Duration visibility,
            int round)
            throws Exception {
        String queue = "recovery";
        try (Contender contender = contenders.open(subject, queue)) {
            int[] next = {0};
            contender.scheduleAll(() -> next[0] < leased ? Message.of(next[0]++, DueTime.now()) : null);
            Process victim = startVictim(environment, queue, leased, visibility);
            Arrivals arrivals = new Arrivals(leased);
            try (Consumption consumption = contender.consume(arrivals)) {
                if (arrivals.count() > 0) {
                    throw new IllegalStateException("The other consumer did not hold everything");
                }
                victim.destroyForcibly().waitFor();
                long killed = System.nanoTime();
                long killedMillis = System.currentTimeMillis();
                // Nobody extends them any more.
                double lastEndMillis = environment
                                .control()
                                .getScoredSortedSet("redis-delay:{" + queue + "}:leased", ByteArrayCodec.INSTANCE)
                                .lastScore()
                        / 1000;
                Cost cost = Cost.begin(environment);
                if (!arrivals.await(visibility.plusMinutes(2))) {
                    throw new IllegalStateException(
                            subject + ": " + arrivals.count() + " of " + leased + " messages were delivered again");
                }
                double sinceKilled = (System.nanoTime() - killed) / 1e9;
                Waiting.until(Duration.ofSeconds(20), "all are acknowledged", () -> contender.remaining() == 0);
                Cost.Taken taken = cost.end();
                String parameter = "leased=" + leased;
                figures.add(name(), subject, parameter, round, "after kill", sinceKilled, "s");
                figures.add(
                        name(),
                        subject,
                        parameter,
                        round,
                        "after last lease end",
                        sinceKilled - (lastEndMillis - killedMillis) / 1000,
                        "s");
                figures.add(
                        name(),
                        subject,
                        parameter,
                        round,
                        "redis cpu",
                        taken.redisSeconds() * 1e6 / leased,
                        "us/message");
            } finally {
                victim.destroyForcibly();
            }
            arrivals.check();
        }
    }

    /** A JVM that has leased all messages when this returns. */
    private static Process startVictim(Environment environment, String queue, int messages, Duration visibility)
            throws Exception {
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-Xmx1g",
                        "-classpath",
                        System.getProperty("java.class.path"),
                        RecoveryVictim.class.getName(),
                        environment.address(),
                        queue,
                        Integer.toString(messages),
                        Long.toString(visibility.toMillis()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = process.inputReader()) {
            String line = output.readLine();
            if (!RecoveryVictim.READY.equals(line)) {
                process.destroyForcibly();
                throw new IllegalStateException("The consumer that is to be killed said " + line);
            }
        }
        return process;
    }
}
