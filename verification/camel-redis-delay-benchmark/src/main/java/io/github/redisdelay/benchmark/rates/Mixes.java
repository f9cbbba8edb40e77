// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.SubjectProcess;
import io.github.redisdelay.benchmark.Waiting;
import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import io.github.redisdelay.benchmark.contender.Contenders;
import io.github.redisdelay.benchmark.contender.Deliveries;
import io.github.redisdelay.benchmark.contender.Requests;
import io.github.redisdelay.benchmark.rates.Work.Request;
import io.github.redisdelay.benchmark.server.Link;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/**
 * Requests of different kinds beside one kind alone: schedules and cancels of other messages, acknowledgements and
 * returns, look-ups, and all that a shop asks for.
 */
public final class Mixes implements Experiment {

    public static final String MIXES = "mixes";

    /** In one round the ratio of two kinds differs by 40 % from that in another. */
    private static final int ROUNDS = 7;

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static final List<String> OURS = List.of(Subject.CAMEL, Subject.QUEUE);
    private static final List<String> SHOPS = List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE);
    private static final List<String> PRODUCERS =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE, Subject.FLOOR);
    private static final List<String> CONSUMERS = List.of(Subject.CAMEL, Subject.QUEUE, Subject.FLOOR);

    /** {@code RDelayedQueue} cannot return a delivery, and looks for what is looked up as for what is cancelled. */
    private static final List<Step> STEPS = List.of(
            new Step("async=2000 schedule", Way.PRODUCER, 0, 0, PRODUCERS),
            new Step("async=2000 cancel", Way.PRODUCER, 0, 100, PRODUCERS),
            new Step("async=2000 schedule and cancel 1:1", Way.PRODUCER, 0, 50, PRODUCERS),
            new Step("async=2000 schedule and cancel 10:1", Way.PRODUCER, 0, 9, CONSUMERS),
            new Step("callers=16 schedule", Way.PRODUCER, 16, 0, PRODUCERS),
            new Step("callers=16 cancel", Way.PRODUCER, 16, 100, PRODUCERS),
            new Step("callers=16 schedule and cancel 1:1", Way.PRODUCER, 16, 50, PRODUCERS),
            new Step("callers=16 get", Way.READER, 16, 0, OURS),
            new Step("callers=64 get", Way.READER, 64, 0, OURS),
            new Step("deliver acknowledge", Way.CONSUMER, 0, 0, CONSUMERS),
            new Step("deliver return", Way.CONSUMER, 0, 1, CONSUMERS),
            new Step("deliver acknowledge and return 1:1", Way.CONSUMER, 0, 2, CONSUMERS),
            new Step("deliver acknowledge and return 9:1", Way.CONSUMER, 0, 10, CONSUMERS),
            new Step("async=2000 shop", Way.SHOP, 0, 0, SHOPS),
            new Step("callers=16 shop", Way.SHOP, 16, 0, SHOPS));

    private final boolean bullMq;

    private enum Way {
        PRODUCER,
        READER,
        CONSUMER,
        SHOP
    }

    /**
     * A mix.
     *
     * @param callers how many wait for each answer; 0 if 2 000 requests are under way
     * @param share percent of cancels; of a consumer, it returns each so manieth delivery, 0 for none
     */
    private record Step(String parameter, Way way, int callers, int share, List<String> subjects) {

        Work work(String subject, boolean quick, int round) {
            int requests = requests(subject, quick);
            return switch (way) {
                case PRODUCER -> Work.producer(requests, share);
                case READER -> Work.reader(requests);
                case CONSUMER -> Work.consumer(requests, share);
                case SHOP -> Work.shop(requests / 2, round);
            };
        }

        private int requests(String subject, boolean quick) {
            if (quick || subject.equals(Subject.RDELAYEDQUEUE)) {
                return 2_000; // it searches its list for what is cancelled
            }
            return subject.equals(Subject.BULLMQ) ? 10_000 : callers > 0 ? 30_000 : 60_000;
        }
    }

    /** @param others the names of other queues to be measured; only BullMQ can be */
    public Mixes(Collection<String> others) {
        bullMq = others.contains(Subject.BULLMQ);
    }

    @Override
    public String name() {
        return MIXES;
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        try (Contenders contenders = new Contenders(environment);
                Link link = Link.to(environment, Duration.ZERO);
                SubjectProcess node = bullMq ? SubjectProcess.start(environment, link, MIXES, Subject.BULLMQ) : null) {
            int last = environment.quick() ? 1 : ROUNDS;
            for (int round = environment.quick() ? 1 : 0; round <= last; round++) { // 0 warms up
                List<Step> steps = new ArrayList<>(STEPS);
                Collections.rotate(steps, round - 1); // in their order at first, as in the report
                for (Step step : steps) {
                    for (String subject : step.subjects()) {
                        measure(step, subject, environment, contenders, figures, round);
                    }
                    if (node != null && step.way() != Way.READER) {
                        measureBullMq(step, node, environment, figures, round);
                    }
                }
            }
        }
    }

    private static void measure(
            Step step, String subject, Environment environment, Contenders contenders, Figures figures, int round)
            throws Exception {
        Work work = step.work(subject, environment.quick(), round);
        environment.clear();
        try (Requests requests = contenders.requests(subject)) {
            Calls.underWay(work.before().size(), i -> {
                Request request = work.before().get(i);
                return requests.send(request.kind(), request.number());
            });
            Deliveries deliveries = new Deliveries(work.messages(), work.deliveries(), work.failsOnce());
            Calls calls = Calls.begin(environment);
            try (Consumption consumption =
                    work.deliveries() > 0 ? requests.consume(work.redeliveryDelay(), deliveries) : () -> {}) {
                make(work.measured(), step.callers(), requests);
                if (work.deliveries() > 0) {
                    deliveries.await(LIMIT);
                }
                Waiting.until(
                        LIMIT, subject + " holds " + work.left() + " messages", () -> requests.holds(work.left()));
                calls.end(figures, MIXES, subject, step.parameter(), round, work.size());
            }
        }
    }

    private static void make(List<Request> measured, int callers, Requests requests) throws Exception {
        if (callers > 0) {
            Calls.waiting(callers, measured.size(), i -> {
                requests.call(measured.get(i).kind(), measured.get(i).number());
            });
        } else {
            Calls.underWay(
                    measured.size(),
                    i -> requests.send(measured.get(i).kind(), measured.get(i).number()));
        }
    }

    private static void measureBullMq(
            Step step, SubjectProcess node, Environment environment, Figures figures, int round) throws Exception {
        Path file = step.work(Subject.BULLMQ, environment.quick(), round).write();
        for (SubjectProcess.Measured measured : node.measure("MIX " + step.callers() + " " + round + " " + file)) {
            if (round > 0) {
                figures.add(
                        MIXES,
                        Subject.BULLMQ,
                        step.parameter(),
                        round,
                        measured.metric(),
                        measured.value(),
                        measured.unit());
            }
        }
    }
}
