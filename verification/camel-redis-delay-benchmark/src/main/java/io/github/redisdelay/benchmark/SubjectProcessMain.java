// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import io.github.redisdelay.benchmark.contender.Arrivals;
import io.github.redisdelay.benchmark.contender.Contender;
import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import io.github.redisdelay.benchmark.contender.Contenders;
import io.github.redisdelay.benchmark.contender.FloorContender;
import io.github.redisdelay.benchmark.contender.Message;
import io.github.redisdelay.benchmark.contender.RDelayedQueueContender;
import io.github.redisdelay.benchmark.rates.HoldOff;
import io.github.redisdelay.benchmark.rates.RateSteps;
import io.github.redisdelay.benchmark.server.Link;
import io.github.redisdelay.queue.DueTime;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A JVM that measures one subject, a step for each line {@code KIND callers round} of its standard input, until that
 * ends.
 */
final class SubjectProcessMain {

    /** The beginning of a line with metric, value and unit, tabs between. */
    static final String MEASURED = "measured";

    /** The line that ends a step. */
    static final String DONE = "done";

    private static final DueTime FAR = DueTime.after(Duration.ofHours(1));

    /** Over which time random due times are spread: shorter than anyone needs to deliver them. */
    private static final int SPREAD_MILLIS = 200;

    /** Taken one by one over a slower link, they take long. */
    private static final int BACKLOG_ONE_BY_ONE = 2_000;

    private final Environment environment;
    private final Link link;
    private final Contenders contenders;
    private final Duration time;
    private final int backlog;

    private SubjectProcessMain(Environment environment, Link link, Contenders contenders, boolean shorter) {
        this.environment = environment;
        this.link = link;
        this.contenders = contenders;
        this.time = Duration.ofMillis(environment.quick() ? 300 : shorter ? 700 : 1000);
        this.backlog = environment.quick() ? 10_000 : 100_000;
    }

    /**
     * @param arguments the server, whether quick, the near end of the link, its delay in ns, the experiment, the
     * subject
     */
    public static void main(String[] arguments) {
        Duration delay = Duration.ofNanos(Long.parseLong(arguments[3]));
        try (Environment environment = Environment.join(Boolean.parseBoolean(arguments[1]), delay, arguments[0]);
                Link link = Link.join(arguments[2], delay);
                Contenders contenders = new Contenders(environment, link);
                BufferedReader input =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            boolean shorter = arguments[4].equals(RateSteps.LINK);
            SubjectProcessMain main = new SubjectProcessMain(environment, link, contenders, shorter);
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                String[] fields = line.split(" ");
                main.measure(
                        RateSteps.Kind.valueOf(fields[0]),
                        Integer.parseInt(fields[1]),
                        arguments[5],
                        Integer.parseInt(fields[2]));
                System.out.println(DONE);
            }
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
        // Also if a library left a thread that is no daemon.
        System.exit(0);
    }

    private void measure(RateSteps.Kind kind, int callers, String subject, int round) throws Exception {
        if (kind == RateSteps.Kind.RANDOM) {
            HoldOff.attempt(backlog, subject, millis -> {
                environment.clear();
                try (Contender contender = contenders.open(subject)) {
                    random(contender, round, millis);
                }
                return null;
            });
            return;
        }
        environment.clear();
        try (Contender contender = contenders.open(subject)) {
            switch (kind) {
                case CALLERS -> {
                    // The requests of several callers go to Redis in two calls; one of the floor's carries half of
                    // them.
                    boolean two = callers > 1 && subject.equals(Subject.FLOOR);
                    int calls = FloorContender.CALLS;
                    waiting(contender, two ? calls : callers, two ? callers / calls : 1);
                }
                case ASYNCHRONOUS -> asynchronous(contender);
                case BATCHES -> waiting(contender, 2, RateSteps.BATCH);
                case FIFO -> fifo(contender, 0);
                case GROUPED -> fifo(contender, callers);
                default -> throw new IllegalStateException("No such kind: " + kind);
            }
        }
    }

    /** Callers that wait for each answer. */
    private void waiting(Contender contender, int callers, int batch) throws Exception {
        AtomicLong scheduled = new AtomicLong();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        Cost cost = Cost.begin(environment);
        long end = System.nanoTime() + time.toNanos();
        for (int i = 0; i < callers; i++) {
            Thread thread = new Thread(() -> {
                try {
                    while (System.nanoTime() < end) {
                        if (batch == 1) {
                            contender.schedule(Message.of(scheduled.getAndIncrement(), FAR));
                        } else {
                            List<byte[]> bodies = new ArrayList<>(batch);
                            long first = scheduled.getAndAdd(batch);
                            for (int j = 0; j < batch; j++) {
                                bodies.add(Message.of(first + j, FAR).body());
                            }
                            contender.scheduleBatch(bodies, FAR);
                        }
                    }
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Cost.Taken taken = cost.end();
        if (failure.get() != null) {
            throw new IllegalStateException(
                    contender.subject() + " with " + callers + " callers failed", failure.get());
        }
        checkStored(contender, scheduled.get());
        tell(contender, scheduled.get(), scheduled.get(), taken);
    }

    private void asynchronous(Contender contender) throws Exception {
        long[] scheduled = {0};
        Cost cost = Cost.begin(environment);
        long end = System.nanoTime() + time.toNanos();
        contender.scheduleAll(() -> System.nanoTime() < end ? Message.of(scheduled[0]++, FAR) : null);
        Cost.Taken taken = cost.end();
        checkStored(contender, scheduled[0]);
        tell(contender, scheduled[0], scheduled[0], taken);
    }

    /** All due in the order in which they were scheduled, and before the consumer starts. */
    private void fifo(Contender contender, int groups) throws Exception {
        boolean oneByOne = contender instanceof RDelayedQueueContender;
        int messages = oneByOne && !link.direct() ? Math.min(backlog, BACKLOG_ONE_BY_ONE) : backlog;
        int[] next = {0};
        contender.scheduleAll(() -> {
            Message message = next[0] < messages ? Message.of(next[0]++, DueTime.now()) : null;
            return message == null || groups == 0 ? message : message.inOneOf(groups);
        });
        if (contender instanceof RDelayedQueueContender redissons) {
            // To its advantage: what it does when a message becomes due is over.
            Waiting.until(
                    Duration.ofMinutes(2), "all messages are transferred", () -> redissons.transferred() == messages);
        }
        checkStored(contender, messages);
        Arrivals arrivals = new Arrivals(messages);
        Cost cost = Cost.begin(environment);
        try (Consumption consumption = contender.consume(arrivals)) {
            if (!arrivals.await(Duration.ofMinutes(2))) {
                throw new IllegalStateException(contender.subject() + ": " + arrivals.count() + " of " + messages
                        + " messages were delivered within 2 minutes");
            }
            awaitEmpty(contender);
            tell(contender, messages, messages, cost.end());
        }
        arrivals.check();
    }

    /** From the moment at which the first of many messages with random due times is due. */
    private void random(Contender contender, int round, long holdOffMillis) throws Exception {
        boolean slow = contender.subject().equals(Subject.RDELAYEDQUEUE);
        Duration limit = Duration.ofSeconds(environment.quick() ? 30 : 90);
        Random random = new Random(round);
        long first = System.currentTimeMillis() + holdOffMillis;
        int[] next = {0};
        contender.scheduleAll(() -> next[0] < backlog
                ? Message.of(next[0]++, new DueTime(false, (first + random.nextInt(SPREAD_MILLIS)) * 1000))
                : null);
        HoldOff.check(first, contender.subject(), backlog);
        Arrivals arrivals = new Arrivals(backlog);
        try (Consumption consumption = contender.consume(arrivals)) {
            HoldOff.check(first, contender.subject(), backlog);
            TimeUnit.MILLISECONDS.sleep(Math.max(0, first - System.currentTimeMillis()));
            Cost cost = Cost.begin(environment);
            boolean all = arrivals.await(limit);
            if (!all && !slow) {
                throw new IllegalStateException(contender.subject() + ": " + arrivals.count() + " of " + backlog
                        + " messages were delivered within " + limit);
            }
            if (all) {
                awaitEmpty(contender);
            }
            int delivered = arrivals.count();
            Cost.Taken taken = cost.end();
            // A list that is not empty by the limit would go on faster, as each message costs what the rest of it is
            // long: by this rate all are transferred at the time at which that comes out. Delivery follows: it
            // waits for the transfer, which lets a consumer take one message after each hundred.
            int moved = all ? backlog : delivered + ((RDelayedQueueContender) contender).transferred();
            double messages = moved * (2 - (double) moved / backlog);
            tell(contender, messages, moved, taken);
            tell("delivered", delivered, "messages");
        }
        arrivals.check();
    }

    private static void awaitEmpty(Contender contender) throws Exception {
        Waiting.until(Duration.ofSeconds(20), "the queue is empty", () -> contender.remaining() == 0);
    }

    private static void checkStored(Contender contender, long scheduled) {
        long stored = contender.remaining();
        if (stored != scheduled) {
            throw new IllegalStateException(
                    contender.subject() + " confirmed " + scheduled + " messages, and the server holds " + stored);
        }
    }

    /**
     * Tells a rate and its cost.
     *
     * @param messages for the rate
     * @param delivered for the cost of each
     */
    private static void tell(Contender contender, double messages, double delivered, Cost.Taken taken) {
        tell("rate", messages / taken.seconds(), "messages/s");
        if (!contender.subject().equals(Subject.BEANSTALKD)) {
            tell("redis cpu", taken.redisSeconds() * 1e6 / delivered, "us/message");
        }
        tell("jvm cpu", taken.jvmSeconds() * 1e6 / delivered, "us/message");
    }

    private static void tell(String metric, double value, String unit) {
        System.out.println(String.join("\t", MEASURED, metric, Double.toString(value), unit));
    }
}
