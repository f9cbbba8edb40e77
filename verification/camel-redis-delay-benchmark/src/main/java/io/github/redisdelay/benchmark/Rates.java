// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import io.github.redisdelay.benchmark.Contender.Consumption;
import io.github.redisdelay.queue.DueTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The numbers of messages that can be scheduled, and delivered, in a second: all ways, some of them over a slower link, or some of
 * them beside bare clients.
 */
final class Rates implements Experiment {

    private static final DueTime FAR = DueTime.after(Duration.ofHours(1));
    private static final int BATCH = 100;
    private static final List<Integer> CALLERS = List.of(1, 16, 64, 256);

    /** Over which time random due times are spread: shorter than anyone needs to deliver them. */
    private static final int SPREAD_MILLIS = 200;

    private static final List<String> SCHEDULING =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE, Subject.FLOOR);
    private static final List<String> DELIVERY =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE, Subject.FLOOR, Subject.FENCED_FLOOR);

    /** Taken one by one over a slower link, they take long. */
    private static final int BACKLOG_ONE_BY_ONE = 2_000;

    private static final int PINGS = 200;

    /** The JVM's compiler is busy with the consumers for so many rounds of delivery. */
    private static final int WARM_UP_ROUNDS = 3;

    /** Short ones: what the machine does beside them, and which thread sleeps where, changes from one second to the next. */
    private static final int ROUNDS = 7;

    /** {@code RDelayedQueue} delivers messages one by one, which takes long. */
    private static final int ROUNDS_ONE_BY_ONE = 3;

    /** Bare clients beside ours: what of a target missed is the price of safety, and what is not. */
    private static final List<String> WAITING_BOUNDS = List.of(
            Subject.CAMEL,
            Subject.QUEUE,
            Subject.RDELAYEDQUEUE,
            Subject.BARE_CLIENT,
            Subject.BARE_CLIENT_THROUGH_CAMEL,
            Subject.SAFE_CLIENT_THROUGH_CAMEL);

    private static final List<String> DELIVERY_BOUNDS =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.FLOOR, Subject.FENCED_FLOOR, Subject.SAFE);

    private final String name;
    private final Measures measures;

    /** What is measured in a round. */
    private interface Measures {
        void of(Run run) throws Exception;
    }

    private Rates(String name, Measures measures) {
        this.name = name;
        this.measures = measures;
    }

    /** All ways to schedule and to deliver. */
    static Rates all() {
        return new Rates("rates", Run::all);
    }

    /** A few of them over the link that was asked for, or a usual one. */
    static Rates overLink() {
        return new Rates("link", Run::some);
    }

    /** Waiting callers and delivery beside bare clients. */
    static Rates bounds() {
        return new Rates("bounds", Run::bounds);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        boolean overLink = name.equals("link");
        Duration delay = overLink && environment.link().isZero() ? Link.USUAL : environment.link();
        try (Link link = Link.to(environment, delay);
                Contenders contenders = new Contenders(environment, link)) {
            if (!link.direct()) {
                ping(link, figures);
            }
            int backlog = environment.quick() ? 10_000 : 100_000;
            Duration time = Duration.ofMillis(environment.quick() ? 300 : overLink ? 700 : 1000);
            int warmUp = environment.quick() ? 1 : WARM_UP_ROUNDS;
            for (int round = 1 - warmUp; round <= (environment.quick() ? 1 : ROUNDS); round++) {
                Figures counted = round > 0 ? figures : null;
                measures.of(new Run(name, environment, link, contenders, counted, round, time, backlog));
            }
        }
    }

    private void ping(Link link, Figures figures) throws Exception {
        try (Ping ping = Ping.open(link.address())) {
            for (int i = 0; i < PINGS; i++) {
                ping.once();
            }
            figures.add(name, Subject.FLOOR, link.parameter("PING"), 0, "round trip", ping.medianMillis(), "ms");
        }
    }

    /** @param figures null for a warm-up */
    private record Run(
            String name,
            Environment environment,
            Link link,
            Contenders contenders,
            Figures figures,
            int round,
            Duration time,
            int backlog) {

        private interface Measurement {
            void of(Contender contender, String parameter) throws Exception;
        }

        /** The experiments that the time on the way changes most. */
        void some() throws Exception {
            callers(1);
            callers(16);
            each(SCHEDULING, "schedule async=" + Contender.UNDER_WAY, this::asynchronous);
            each(DELIVERY, "deliver fifo", this::fifo);
        }

        private void callers(int callers) throws Exception {
            each(SCHEDULING, "schedule callers=" + callers, (contender, parameter) -> {
                // The requests of several callers go to Redis in two calls; one of the floor's carries half of them.
                boolean two = callers > 1 && contender.subject().equals(Subject.FLOOR);
                int calls = FloorContender.CALLS;
                waiting(contender, parameter, two ? calls : callers, two ? callers / calls : 1);
            });
        }

        void bounds() throws Exception {
            for (int callers : List.of(1, 4, 16, 64)) {
                each(
                        WAITING_BOUNDS,
                        "schedule callers=" + callers,
                        (contender, parameter) -> waiting(contender, parameter, callers, 1));
            }
            each(DELIVERY_BOUNDS, "deliver fifo", this::fifo);
        }

        void all() throws Exception {
            for (int callers : CALLERS) {
                callers(callers);
            }
            each(SCHEDULING, "schedule async=" + Contender.UNDER_WAY, this::asynchronous);
            each(
                    SCHEDULING,
                    "schedule batch=" + BATCH,
                    (contender, parameter) -> waiting(contender, parameter, 2, BATCH));
            each(DELIVERY, "deliver fifo", this::fifo);
            for (String subject : order(DELIVERY)) {
                if (round != 1 && subject.equals(Subject.RDELAYEDQUEUE)) {
                    continue; // minutes each time
                }
                HoldOff.attempt(backlog, subject, millis -> {
                    environment.clear();
                    try (Contender contender = contenders.open(subject)) {
                        random(contender, "deliver random", millis);
                    }
                    return null;
                });
            }
        }

        private void each(List<String> subjects, String parameter, Measurement measurement) throws Exception {
            for (String subject : order(subjects)) {
                environment.clear();
                try (Contender contender = contenders.open(subject)) {
                    measurement.of(contender, parameter);
                }
            }
        }

        /** Another one comes first in each round. */
        private List<String> order(List<String> subjects) {
            List<String> order = new ArrayList<>(subjects);
            Collections.rotate(order, round);
            return order;
        }

        /** Callers that wait for each answer. */
        private void waiting(Contender contender, String parameter, int callers, int batch) throws Exception {
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
                throw new IllegalStateException(contender.subject() + ", " + parameter + " failed", failure.get());
            }
            checkStored(contender, scheduled.get());
            add(contender, parameter, scheduled.get(), taken);
        }

        private void asynchronous(Contender contender, String parameter) throws Exception {
            long[] scheduled = {0};
            Cost cost = Cost.begin(environment);
            long end = System.nanoTime() + time.toNanos();
            contender.scheduleAll(() -> System.nanoTime() < end ? Message.of(scheduled[0]++, FAR) : null);
            Cost.Taken taken = cost.end();
            checkStored(contender, scheduled[0]);
            add(contender, parameter, scheduled[0], taken);
        }

        /** All due in the order in which they were scheduled, and before the consumer starts. */
        private void fifo(Contender contender, String parameter) throws Exception {
            boolean oneByOne = contender instanceof RDelayedQueueContender;
            if (oneByOne && (round < 0 || round > ROUNDS_ONE_BY_ONE)) {
                return;
            }
            int messages = oneByOne && !link.direct() ? Math.min(backlog, BACKLOG_ONE_BY_ONE) : backlog;
            int[] next = {0};
            contender.scheduleAll(() -> next[0] < messages ? Message.of(next[0]++, DueTime.now()) : null);
            if (contender instanceof RDelayedQueueContender redissons) {
                // To its advantage: what it does when a message becomes due is over.
                Waiting.until(
                        Duration.ofMinutes(2),
                        "all messages are transferred",
                        () -> redissons.transferred() == messages);
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
                add(contender, parameter, messages, cost.end());
            }
            arrivals.check();
        }

        /** From the moment at which the first of many messages with random due times is due. */
        private void random(Contender contender, String parameter, long holdOffMillis) throws Exception {
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
                // A list that is not empty by the limit would go on faster, as each message costs what the rest of it
                // is
                // long: by this rate all are transferred at the time at which that comes out. Delivery follows: it
                // waits for the transfer, which lets a consumer take one message after each hundred.
                int moved = all ? backlog : delivered + ((RDelayedQueueContender) contender).transferred();
                double messages = moved * (2 - (double) moved / backlog);
                add(contender, parameter, messages, moved, taken);
                if (figures != null) {
                    String full = link.parameter(parameter);
                    figures.add(name, contender.subject(), full, round, "delivered", delivered, "messages");
                }
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
                        contender.subject() + " confirmed " + scheduled + " messages, and Redis holds " + stored);
            }
        }

        private void add(Contender contender, String parameter, double messages, Cost.Taken taken) {
            add(contender, parameter, messages, messages, taken);
        }

        private void add(Contender contender, String parameter, double messages, double delivered, Cost.Taken taken) {
            if (figures == null) {
                return;
            }
            String subject = contender.subject();
            String full = link.parameter(parameter);
            figures.add(name, subject, full, round, "rate", messages / taken.seconds(), "messages/s");
            double redis = taken.redisSeconds() * 1e6 / delivered;
            figures.add(name, subject, full, round, "redis cpu", redis, "us/message");
            if (link.direct()) { // a proxy is in this JVM
                double jvm = taken.jvmSeconds() * 1e6 / delivered;
                figures.add(name, subject, full, round, "jvm cpu", jvm, "us/message");
            }
        }
    }
}
