// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.contender.Contender;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What {@link Rates} measures in each round.
 *
 * @param experiment the {@linkplain Experiment#name() experiment}
 * @param steps one after the other
 */
public record RateSteps(String experiment, List<Step> steps) {

    public static final String RATES = "rates";
    public static final String LINK = "link";
    public static final String SERVER = "server";
    static final String GROUPS = "groups";
    static final String BOUNDS = "bounds";
    public static final String BEFORE = "before";

    /** The number of messages in a batch. */
    public static final int BATCH = 100;

    private static final List<String> SCHEDULING =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE, Subject.FLOOR);
    private static final List<String> DELIVERY =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.RDELAYEDQUEUE, Subject.FLOOR, Subject.FENCED_FLOOR);

    private static final List<String> WAITING_BOUNDS = List.of(
            Subject.CAMEL,
            Subject.QUEUE,
            Subject.RDELAYEDQUEUE,
            Subject.BARE_CLIENT,
            Subject.BARE_CLIENT_THROUGH_CAMEL,
            Subject.SAFE_CLIENT_THROUGH_CAMEL);
    private static final List<String> DELIVERY_BOUNDS =
            List.of(Subject.CAMEL, Subject.QUEUE, Subject.FLOOR, Subject.FENCED_FLOOR, Subject.SAFE);

    /** How often a backlog is delivered in a round: it takes half a second, in which a machine is seldom quiet. */
    private static final int BACKLOGS = 3;

    /** A way to schedule or to deliver. */
    public enum Kind {
        /** Callers that wait for each answer. */
        CALLERS,
        /** One caller with many messages under way. */
        ASYNCHRONOUS,
        /** Two callers that wait for batches. */
        BATCHES,
        /** Delivery of what is due before the consumer starts. */
        FIFO,
        /** The same, each message in one of so many groups. */
        GROUPED,
        /** Delivery of what becomes due while the consumer waits. */
        RANDOM
    }

    /**
     * A measurement for several subjects.
     *
     * @param callers how many, of {@link Kind#CALLERS}; of {@link Kind#GROUPED} how many groups
     * @param subjects some of the constants of {@link Subject}
     */
    public record Step(Kind kind, int callers, List<String> subjects) {

        /** Its name in {@code raw.csv}. */
        public String parameter() {
            return switch (kind) {
                case CALLERS -> "schedule callers=" + callers;
                case ASYNCHRONOUS -> "schedule async=" + Contender.UNDER_WAY;
                case BATCHES -> "schedule batch=" + BATCH;
                case FIFO -> "deliver fifo";
                case GROUPED -> "deliver fifo groups=" + callers;
                case RANDOM -> "deliver random";
            };
        }
    }

    /** @param others further subjects of {@link #RATES} */
    public static RateSteps of(String experiment, Collection<String> others) {
        List<Step> steps = new ArrayList<>();
        switch (experiment) {
            case RATES -> {
                List<String> scheduling = with(SCHEDULING, others);
                addCallers(steps, List.of(1, 16, 64, 256), scheduling);
                steps.add(new Step(Kind.ASYNCHRONOUS, 0, scheduling));
                steps.add(new Step(Kind.BATCHES, 0, scheduling));
                addBacklogs(steps, with(DELIVERY, others));
                List<String> random = with(DELIVERY, others);
                random.remove(Subject.BEANSTALKD); // its delays are whole seconds
                steps.add(new Step(Kind.RANDOM, 0, random));
            }
            case LINK -> {
                addCallers(steps, List.of(1, 16), SCHEDULING);
                steps.add(new Step(Kind.ASYNCHRONOUS, 0, SCHEDULING));
                steps.add(new Step(Kind.FIFO, 0, DELIVERY));
            }
            case GROUPS -> {
                List<String> ours = List.of(Subject.CAMEL, Subject.QUEUE);
                steps.add(new Step(Kind.FIFO, 0, ours));
                steps.add(new Step(Kind.GROUPED, 10_000, ours));
            }
            case BOUNDS -> {
                addCallers(steps, List.of(1, 4, 16, 64), WAITING_BOUNDS);
                addBacklogs(steps, DELIVERY_BOUNDS);
            }
            case BEFORE -> {
                List<String> ours = List.of(
                        Subject.CAMEL,
                        Subject.CAMEL + Subject.OF_OTHER,
                        Subject.QUEUE,
                        Subject.QUEUE + Subject.OF_OTHER);
                addCallers(steps, List.of(1, 16, 64, 256), ours);
                steps.add(new Step(Kind.ASYNCHRONOUS, 0, ours));
                steps.add(new Step(Kind.BATCHES, 0, ours));
                steps.add(new Step(Kind.FIFO, 0, ours));
                steps.add(new Step(Kind.RANDOM, 0, ours));
            }
            case SERVER -> steps.add(new Step(Kind.FIFO, 0, List.of(Subject.CAMEL)));
            default -> throw new IllegalArgumentException("No such experiment: " + experiment);
        }
        return new RateSteps(experiment, steps);
    }

    private static List<String> with(List<String> subjects, Collection<String> others) {
        List<String> all = new ArrayList<>(subjects);
        all.addAll(others);
        return all;
    }

    private static void addCallers(List<Step> steps, List<Integer> callers, List<String> subjects) {
        for (int number : callers) {
            steps.add(new Step(Kind.CALLERS, number, subjects));
        }
    }

    /** Those that are slow deliver only one. */
    private static void addBacklogs(List<Step> steps, List<String> subjects) {
        List<String> fast =
                subjects.stream().filter(subject -> !isSlow(subject)).toList();
        for (int i = 0; i < BACKLOGS; i++) {
            steps.add(new Step(Kind.FIFO, 0, i == 0 ? subjects : fast));
        }
    }

    /** True if a subject's scripts take messages one by one, which takes long. */
    static boolean isSlow(String subject) {
        return subject.equals(Subject.RDELAYEDQUEUE) || subject.equals(Subject.BULLMQ);
    }

    /** All that some step measures. */
    public Set<String> subjects() {
        Set<String> subjects = new LinkedHashSet<>();
        for (Step step : steps) {
            subjects.addAll(step.subjects());
        }
        return subjects;
    }
}
