// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.redisson.api.RedissonClient;

/** From the time at which a message is due until its processor is entered, at several rates. */
public final class Lateness implements Experiment {

    private static final List<String> SUBJECTS = List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE);

    /** The time to wait for messages after the last one is due. */
    private static final long PATIENCE_MILLIS = 8_000;

    @Override
    public String name() {
        return "lateness";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        List<Integer> rates = environment.quick() ? List.of(50, 1_000) : List.of(50, 1_000, 10_000);
        long window = TimeUnit.SECONDS.toMicros(environment.quick() ? 1 : 6);
        for (String subject : environment.quick() ? List.<String>of() : SUBJECTS) {
            // For the compiler of the JVM.
            measure(environment, null, subject, 5_000, 0, TimeUnit.SECONDS.toMicros(2));
        }
        for (int round = 1; round <= environment.rounds(); round++) {
            List<String> order = new ArrayList<>(SUBJECTS);
            Collections.rotate(order, round);
            for (int rate : rates) {
                for (String subject : order) {
                    measure(environment, figures, subject, rate, round, window);
                }
            }
        }
    }

    /** @param figures null for a warm-up */
    private void measure(
            Environment environment, Figures figures, String subject, int rate, int round, long windowMicros)
            throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson();
        LatenessRecorder recorder = new LatenessRecorder();
        try (Messaging messaging = messaging(subject, redisson, recorder);
                TimerFloor floor = new TimerFloor()) {
            OpenLoop.Sent sent = new OpenLoop(rate, windowMicros, new Random(round)).run(recorder, messaging);
            messaging.awaitStored();
            boolean complete = recorder.await(sent.messages(), TimeUnit.SECONDS.toMillis(3) + PATIENCE_MILLIS);
            Histogram timer = floor.end();
            long measured = recorder.measured();
            recorder.missing(sent.measured() - measured);
            check(subject, complete, recorder, sent);
            if (figures != null) {
                if (subject.equals(Subject.CAMEL)) {
                    report(figures, Subject.FLOOR, "rate=" + rate, round, timer);
                }
                report(figures, subject, "rate=" + rate, round, recorder.lateness());
                figures.add(
                        name(),
                        subject,
                        "rate=" + rate,
                        round,
                        "delivered",
                        100.0 * measured / sent.measured(),
                        "% of those due");
                figures.add(name(), subject, "rate=" + rate, round, "early", recorder.early(), "messages");
            }
        } finally {
            redisson.shutdown();
        }
    }

    static Messaging messaging(String subject, RedissonClient redisson, LatenessRecorder recorder) throws Exception {
        return switch (subject) {
            case Subject.CAMEL -> new CamelMessaging(redisson, recorder);
            case Subject.QUEUE -> new QueueMessaging(redisson, recorder);
            case Subject.RDELAYEDQUEUE -> new RDelayedQueueMessaging(redisson, recorder);
            case Subject.FLOOR -> new FloorMessaging(redisson, recorder);
            default -> throw new IllegalArgumentException(subject);
        };
    }

    /** RDelayedQueue may fall behind for good: that is a result. Ours may not. */
    private static void check(String subject, boolean complete, LatenessRecorder recorder, OpenLoop.Sent sent) {
        boolean ours = !subject.equals(Subject.RDELAYEDQUEUE);
        if (ours && (!complete || recorder.delivered() != sent.messages() || recorder.early() > 0)) {
            throw new IllegalStateException(subject + ": of " + sent.messages() + " messages " + recorder.delivered()
                    + " arrived, " + recorder.early() + " of them early");
        }
    }

    private void report(Figures figures, String subject, String parameter, int round, Histogram micros) {
        figures.add(name(), subject, parameter, round, "p50", micros.getValueAtPercentile(50) / 1e3, "ms");
        figures.add(name(), subject, parameter, round, "p99", micros.getValueAtPercentile(99) / 1e3, "ms");
        figures.add(name(), subject, parameter, round, "p99.9", micros.getValueAtPercentile(99.9) / 1e3, "ms");
        figures.add(name(), subject, parameter, round, "max", micros.getMaxValue() / 1e3, "ms");
    }
}
