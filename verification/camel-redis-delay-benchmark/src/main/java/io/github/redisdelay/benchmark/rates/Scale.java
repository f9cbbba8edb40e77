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
import io.github.redisdelay.queue.DueTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * The rates on a queue that holds many messages which are due within a day, some hours from now, in random order.
 *
 * <p>For each figure some thousand messages with due times among these are scheduled, and as many that are due at once,
 * which are then delivered.
 */
public final class Scale implements Experiment {

    private static final long FIRST_MICROS = Duration.ofHours(3).toMillis() * 1000;
    private static final long SPREAD_MICROS = Duration.ofHours(24).toMillis() * 1000;

    /** The most memory that 10 000 000 messages of 200 bytes take in Redis, and this JVM beside it. */
    private static final long MEMORY_FOR_TEN_MILLIONS = 10L << 30;

    /** Above this, filling and emptying {@code RDelayedQueue} takes longer than all else together. */
    private static final int MOST_FOR_RDELAYEDQUEUE = 1_000_000;

    /**
     * {@code RDelayedQueue} searches its list for each message that becomes due, up to 100 times in one script, while
     * Redis answers nobody: no more of them become due than need about a second.
     */
    private static final int SEARCHED_BY_RDELAYEDQUEUE = 10_000_000;

    private final Random random = new Random(1);

    @Override
    public String name() {
        return "scale";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        List<Integer> sizes = new ArrayList<>(
                environment.quick() ? List.of(10_000, 100_000) : List.of(10_000, 100_000, 1_000_000, 5_000_000));
        if (!environment.quick() && availableMemory() > MEMORY_FOR_TEN_MILLIONS) {
            sizes.add(10_000_000);
        }
        int measured = environment.quick() ? 5_000 : 50_000;
        try (Contenders contenders = new Contenders(environment)) {
            // For the compiler of the JVM.
            for (String subject : List.of(Subject.CAMEL, Subject.QUEUE, Subject.FLOOR, Subject.RDELAYEDQUEUE)) {
                environment.clear();
                try (Contender contender = contenders.open(subject)) {
                    measure(environment, null, contender, 0, 0, environment.quick() ? measured : 20_000);
                }
            }
            environment.clear();
            // One queue for both: what Camel schedules is what the queue layer holds.
            growing(environment, figures, contenders, sizes, measured, List.of(Subject.QUEUE, Subject.CAMEL));
            environment.clear();
            // A table of millions of random keys is slower for whoever writes to it.
            growing(environment, figures, contenders, sizes, measured, List.of(Subject.FLOOR));
            environment.clear();
            sizes.removeIf(size -> size > (environment.quick() ? 10_000 : MOST_FOR_RDELAYEDQUEUE));
            growing(environment, figures, contenders, sizes, measured, List.of(Subject.RDELAYEDQUEUE));
        }
    }

    private void growing(
            Environment environment,
            Figures figures,
            Contenders contenders,
            List<Integer> sizes,
            int measured,
            List<String> subjects)
            throws Exception {
        String queue = "scale-" + subjects.get(0);
        for (int size : sizes) {
            // The runs before would make the figure of a small size too large.
            boolean fresh = size <= 100_000;
            for (int round = 1; round <= environment.rounds(); round++) {
                List<String> order = new ArrayList<>(subjects);
                Collections.rotate(order, round);
                for (String subject : order) {
                    if (fresh) {
                        environment.clear();
                    }
                    try (Contender filler = contenders.open(subjects.get(0), queue)) {
                        fill(filler, size);
                    }
                    try (Contender contender = contenders.open(subject, queue)) {
                        measure(environment, figures, contender, size, round, measured);
                    }
                }
            }
        }
    }

    /** Up to about this size: what was scheduled in measurements counts. */
    private void fill(Contender contender, int size) throws Exception {
        long[] missing = {size - contender.remaining()};
        contender.scheduleAll(() -> missing[0]-- > 0 ? pending() : null);
    }

    private Message pending() {
        return Message.of(-1, new DueTime(true, FIRST_MICROS + (long) (random.nextDouble() * SPREAD_MICROS)));
    }

    private void measure(
            Environment environment, Figures figures, Contender contender, int size, int round, int measured)
            throws Exception {
        String parameter = "pending=" + size;
        long before = contender.remaining();
        System.gc();
        Cost scheduling = Cost.begin(environment);
        int[] left = {measured};
        contender.scheduleAll(() -> left[0]-- > 0 ? pending() : null);
        Cost.Taken scheduled = scheduling.end();
        add(figures, contender, parameter, round, "schedule", measured, scheduled);

        boolean searching = contender.subject().equals(Subject.RDELAYEDQUEUE);
        int count = searching ? Math.min(measured, SEARCHED_BY_RDELAYEDQUEUE / Math.max(10_000, size)) : measured;
        Arrivals arrivals = new Arrivals(count);
        int[] next = {0};
        // The work at the due time is part of a delivery: with RDelayedQueue that begins by itself.
        long begin = System.currentTimeMillis() + (searching ? 1000 : 0);
        DueTime due = new DueTime(false, begin * 1000);
        contender.scheduleAll(() -> next[0] < count ? Message.of(next[0]++, due) : null);
        if (searching) {
            HoldOff.check(begin, contender.subject(), count);
            TimeUnit.MILLISECONDS.sleep(Math.max(0, begin - System.currentTimeMillis()));
        }
        deliver(environment, figures, contender, parameter, round, arrivals, before + measured);
        long after = contender.remaining();
        if (arrivals.count() != count || after != before + measured) {
            throw new IllegalStateException(contender.subject() + ": " + arrivals.count() + " of " + count
                    + " messages were delivered, and Redis holds " + after + " instead of " + (before + measured));
        }
    }

    private void deliver(
            Environment environment,
            Figures figures,
            Contender contender,
            String parameter,
            int round,
            Arrivals arrivals,
            long left)
            throws Exception {
        Cost delivering = Cost.begin(environment);
        Cost.Taken delivered;
        int count;
        try (Consumption consumption = contender.consume(arrivals)) {
            if (arrivals.await(Duration.ofMinutes(2))) {
                Waiting.until(Duration.ofSeconds(20), "all are acknowledged", () -> contender.remaining() == left);
            }
            count = arrivals.count();
            delivered = delivering.end();
        }
        arrivals.check();
        add(figures, contender, parameter, round, "delivery", count, delivered);
    }

    private void add(
            Figures figures,
            Contender contender,
            String parameter,
            int round,
            String what,
            int messages,
            Cost.Taken taken) {
        if (figures != null) {
            String subject = contender.subject();
            double count = Math.max(1, messages);
            figures.add(name(), subject, parameter, round, what + " rate", messages / taken.seconds(), "messages/s");
            figures.add(
                    name(),
                    subject,
                    parameter,
                    round,
                    what + " redis cpu",
                    taken.redisSeconds() * 1e6 / count,
                    "us/message");
        }
    }

    /** In bytes; 0 where the system does not say. */
    private static long availableMemory() throws IOException {
        Path file = Path.of("/proc/meminfo");
        if (!Files.isReadable(file)) {
            return 0;
        }
        return Files.readAllLines(file).stream()
                .filter(line -> line.startsWith("MemAvailable:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                .findFirst()
                .orElse(0);
    }
}
