// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

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
import io.github.redisdelay.benchmark.contender.Source;
import io.github.redisdelay.queue.DueTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Messages with random delays of 1 to 60 s are scheduled at a steady rate, and those that become due are delivered.
 *
 * <p>After a minute of that as many become due in a second as are scheduled. This state is not waited for but made:
 * what would be pending by then is scheduled first, with what would be left of its delays. Then the rate begins, and
 * with it the measurement. The next higher rate follows as long as one is kept up.
 */
public final class Mixed implements Experiment {

    private static final int SHORTEST_MILLIS = 1_000;
    private static final int LONGEST_MILLIS = 60_000;

    /** The part of the offered messages, and of those that became due, that has to be done for a rate to be kept up. */
    private static final double KEPT_UP = 0.95;

    private static final List<String> SUBJECTS = List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE);

    @Override
    public String name() {
        return "mixed";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        List<Integer> rates = environment.quick()
                ? List.of(1000)
                : List.of(500, 1000, 2000, 5000, 10_000, 15_000, 20_000, 30_000, 40_000);
        int seconds = environment.quick() ? 2 : 8;
        int rounds = Math.min(2, environment.rounds());
        try (Contenders contenders = new Contenders(environment)) {
            for (String subject : SUBJECTS) {
                // For the compiler of the JVM.
                measure(environment, contenders, null, subject, 200, 0, environment.quick() ? 1 : 3);
            }
            for (int round = 1; round <= rounds; round++) {
                List<String> order = new ArrayList<>(SUBJECTS);
                Collections.rotate(order, round);
                for (String subject : order) {
                    int sustained = 0;
                    for (int rate : rates) {
                        if (!measure(environment, contenders, figures, subject, rate, round, seconds)) {
                            break;
                        }
                        sustained = rate;
                    }
                    figures.add(name(), subject, "", round, "sustained", sustained, "messages/s");
                }
            }
        }
    }

    /** @return whether the rate was kept up */
    private boolean measure(
            Environment environment,
            Contenders contenders,
            Figures figures,
            String subject,
            int rate,
            int round,
            int seconds)
            throws Exception {
        Random random = new Random(rate);
        int[] left = pending(rate, random);
        return HoldOff.attempt(
                left.length,
                subject,
                millis ->
                        measure(environment, contenders, figures, subject, rate, round, seconds, random, left, millis));
    }

    private boolean measure(
            Environment environment,
            Contenders contenders,
            Figures figures,
            String subject,
            int rate,
            int round,
            int seconds,
            Random random,
            int[] left,
            long holdOffMillis)
            throws Exception {
        environment.clear();
        int offered = rate * seconds;
        // Due times by number, in milliseconds after the beginning of the measurement.
        int[] dues = Arrays.copyOf(left, left.length + offered);
        try (Contender contender = contenders.open(subject)) {
            long begin = System.currentTimeMillis() + holdOffMillis;
            int[] next = {0};
            contender.scheduleAll(() -> {
                int number = next[0]++;
                return number < left.length
                        ? Message.of(number, new DueTime(false, (begin + left[number]) * 1000))
                        : null;
            });
            HoldOff.check(begin, subject, left.length);
            Arrivals arrivals = new Arrivals(dues.length);
            AtomicLong scheduled = new AtomicLong();
            int delivered;
            int scheduledInTime;
            Cost.Taken taken;
            Throwable failure;
            try (Consumption consumption = contender.consume(arrivals)) {
                HoldOff.check(begin, subject, left.length);
                TimeUnit.MILLISECONDS.sleep(Math.max(0, begin - System.currentTimeMillis()));
                Cost cost = Cost.begin(environment);
                Producer producer =
                        new Producer(contender, rate, seconds, left.length, dues, scheduled, random, System.nanoTime());
                producer.start();
                TimeUnit.MILLISECONDS.sleep(Math.max(0, begin + seconds * 1000L - System.currentTimeMillis()));
                taken = cost.end();
                delivered = arrivals.count();
                scheduledInTime = scheduled.intValue();
                failure = producer.await();
            }
            boolean gaveUp = failure != null;
            if (gaveUp && !subject.equals(Subject.RDELAYEDQUEUE)) {
                throw new IllegalStateException(subject + " failed at " + rate + " messages/s", failure);
            }
            if (!gaveUp) {
                long stored = left.length + scheduled.get();
                // The last acknowledgements may be on their way.
                Waiting.until(
                        Duration.ofSeconds(30),
                        "each of " + stored + " stored messages of " + subject
                                + " is delivered or in Redis, and not both",
                        () -> arrivals.count() + contender.remaining() == stored);
            }
            arrivals.check();
            long becameDue = Arrays.stream(dues, 0, left.length + scheduledInTime)
                    .filter(due -> due < seconds * 1000)
                    .count();
            if (figures != null) {
                String parameter = "offered=" + rate;
                figures.add(
                        name(),
                        subject,
                        parameter,
                        round,
                        "scheduled",
                        scheduledInTime / taken.seconds(),
                        "messages/s");
                figures.add(name(), subject, parameter, round, "delivered", delivered / taken.seconds(), "messages/s");
                figures.add(
                        name(),
                        subject,
                        parameter,
                        round,
                        "overdue at end",
                        Math.max(0, becameDue - delivered),
                        "messages");
                double count = Math.max(1, delivered);
                figures.add(
                        name(),
                        subject,
                        parameter,
                        round,
                        "redis cpu",
                        taken.redisSeconds() * 1e6 / count,
                        "us/message");
                figures.add(
                        name(), subject, parameter, round, "jvm cpu", taken.jvmSeconds() * 1e6 / count, "us/message");
            }
            if (gaveUp) {
                System.out.println(subject + " failed: " + failure.getMessage());
            }
            return !gaveUp && scheduledInTime >= KEPT_UP * rate * taken.seconds() && delivered >= KEPT_UP * becameDue;
        }
    }

    private static int delayMillis(Random random) {
        return SHORTEST_MILLIS + random.nextInt(LONGEST_MILLIS - SHORTEST_MILLIS + 1);
    }

    /** The remaining delays of messages that were scheduled at this rate for as long as the longest delay. */
    private static int[] pending(int rate, Random random) {
        int count = (int) ((long) rate * LONGEST_MILLIS / 1000);
        int[] left = new int[count];
        int size = 0;
        for (int i = 0; i < count; i++) {
            int ago = (int) ((count - i) * 1000L / rate);
            int delay = delayMillis(random);
            if (delay > ago) {
                left[size++] = delay - ago;
            }
        }
        return Arrays.copyOf(left, size);
    }

    /** Schedules messages at a steady rate, or as fast as it can if that is less. */
    private static final class Producer extends Thread {

        private final Contender contender;
        private final Source source;
        private volatile Throwable failure;

        Producer(
                Contender contender,
                int rate,
                int seconds,
                int first,
                int[] dues,
                AtomicLong scheduled,
                Random random,
                long begin) {
            super("producer");
            this.contender = contender;
            this.source = () -> {
                int i = scheduled.intValue();
                if (i >= rate * seconds || System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(seconds)) {
                    return null;
                }
                long at = begin + (long) i * 1_000_000_000L / rate;
                for (long wait = at - System.nanoTime(); wait > 0; wait = at - System.nanoTime()) {
                    LockSupport.parkNanos(wait);
                }
                int delay = delayMillis(random);
                dues[first + i] = (int) TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin) + delay;
                scheduled.set(i + 1);
                return Message.of(first + i, new DueTime(true, delay * 1000L));
            };
        }

        @Override
        public void run() {
            try {
                contender.scheduleAll(source);
            } catch (Throwable e) {
                failure = e;
            }
        }

        /** Waits until all is answered, and gives the error if there was one. */
        Throwable await() throws InterruptedException {
            join();
            return failure;
        }
    }
}
