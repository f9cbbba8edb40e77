// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.server.Link;
import io.github.redisdelay.benchmark.server.Ping;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RedissonClient;

/**
 * From the call that schedules a message that is due at once until its processor is entered: one message after the
 * other, each to a consumer that waits for it and has nothing else to do.
 */
public final class Lone implements Experiment {

    private static final List<String> SUBJECTS =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE, Subject.FLOOR);

    private static final String PARAMETER = "due at once";

    private static final long PATIENCE_MILLIS = 10_000;

    /** Longer than anything takes that a consumer does after a message. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final int WARM_UP_RATE = 2_000;
    private static final long WARM_UP_MICROS = TimeUnit.SECONDS.toMicros(2);

    @Override
    public String name() {
        return "lone";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        int messages = environment.quick() ? 100 : 500;
        for (int round = 1; round <= environment.rounds(); round++) {
            List<String> order = new ArrayList<>(SUBJECTS);
            Collections.rotate(order, round);
            try (Link link = Link.to(environment, environment.link())) {
                for (String subject : order) {
                    measure(environment, link, figures, subject, messages, round);
                }
            }
            scripts(environment, figures, messages, round);
            environment.clear();
            figures.add(
                    name(),
                    Subject.QUEUE,
                    PARAMETER,
                    round,
                    "Redis time of claims with nothing due, one after the other",
                    EmptyClaims.measure(environment, environment.quick() ? 1_000 : 10_000),
                    "us");
        }
    }

    private void measure(Environment environment, Link link, Figures figures, String subject, int messages, int round)
            throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson(link);
        LatenessRecorder recorder = new LatenessRecorder();
        double roundTrip;
        try (Messaging messaging = Lateness.messaging(subject, redisson, recorder);
                Ping ping = Ping.open(link.address())) {
            if (!environment.quick() && round == 1) {
                warmUp(subject, messaging, recorder);
            }
            recorder.begin(0, Long.MAX_VALUE);
            for (int number = 0; number < messages; number++) {
                // Both after a pause: to wake up a thread or a processor is part of it.
                LockSupport.parkNanos(PAUSE_NANOS);
                ping.once();
                LockSupport.parkNanos(PAUSE_NANOS);
                sendOne(number, messaging, recorder);
            }
            recorder.check(messages);
            roundTrip = ping.medianMillis();
        } finally {
            redisson.shutdown();
        }
        String parameter = link.parameter(PARAMETER);
        figures.add(name(), subject, parameter, round, "round trip", roundTrip, "ms");
        for (int percentile : List.of(50, 99)) {
            double millis = recorder.lateness().getValueAtPercentile(percentile) / 1e3;
            figures.add(name(), subject, parameter, round, "p" + percentile, millis, "ms");
            figures.add(
                    name(),
                    subject,
                    parameter,
                    round,
                    "p" + percentile + " in round trips",
                    millis / roundTrip,
                    "round trips");
        }
        figures.add(
                name(),
                subject,
                parameter,
                round,
                "p50 beyond two round trips",
                recorder.lateness().getValueAtPercentile(50) / 1e3 - 2 * roundTrip,
                "ms");
    }

    private static void warmUp(String subject, Messaging messaging, LatenessRecorder recorder) throws Exception {
        if (subject.equals(Subject.FLOOR)) {
            recorder.begin(0, Long.MAX_VALUE);
            for (int number = 0; number < WARM_UP_RATE; number++) {
                sendOne(number, messaging, recorder);
            }
            return;
        }
        OpenLoop.Sent sent = new OpenLoop(WARM_UP_RATE, WARM_UP_MICROS, new Random(0)).run(recorder, messaging);
        messaging.awaitStored();
        await(recorder, sent.messages());
    }

    private static void sendOne(int number, Messaging messaging, LatenessRecorder recorder) throws Exception {
        long due = nextMillisecond();
        messaging.send(number, due, Stamp.body(due));
        messaging.awaitStored();
        await(recorder, number + 1L);
    }

    /** Waits for the next whole millisecond, as RDelayedQueue knows no others, and returns it. */
    private static long nextMillisecond() {
        long next = (Stamp.nowMicros() / 1000 + 1) * 1000;
        while (Stamp.nowMicros() < next) {
            Thread.onSpinWait();
        }
        return next;
    }

    private static void await(LatenessRecorder recorder, long messages) {
        if (!recorder.await(messages, PATIENCE_MILLIS)) {
            throw new IllegalStateException("Of " + messages + " messages " + recorder.delivered() + " arrived within "
                    + PATIENCE_MILLIS + " ms");
        }
    }

    /** Measures what each script costs Redis by Redis' own clock; by itself, as Redis takes notes meanwhile. */
    private void scripts(Environment environment, Figures figures, int messages, int round) throws Exception {
        environment.clear();
        RedissonClient redisson = environment.newRedisson();
        LatenessRecorder recorder = new LatenessRecorder();
        try (ScriptTimes times = ScriptTimes.begin(environment)) {
            try (Messaging messaging = Lateness.messaging(Subject.QUEUE, redisson, recorder)) {
                recorder.begin(0, Long.MAX_VALUE);
                for (int number = 0; number < messages; number++) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                    sendOne(number, messaging, recorder);
                }
                recorder.check(messages);
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            times.medians()
                    .forEach((what, micros) -> figures.add(
                            name(), Subject.QUEUE, PARAMETER, round, "Redis time of " + what, micros, "us"));
        } finally {
            redisson.shutdown();
        }
    }
}
