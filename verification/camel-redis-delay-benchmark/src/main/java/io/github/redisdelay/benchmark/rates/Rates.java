// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.SubjectProcess;
import io.github.redisdelay.benchmark.rates.RateSteps.Step;
import io.github.redisdelay.benchmark.server.Link;
import io.github.redisdelay.benchmark.server.Ping;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The numbers of messages that can be scheduled, and delivered, in a second: all ways, some of them over a slower link,
 * or some of them beside bare clients.
 *
 * <p>Each subject has a process of its own, mostly a JVM, as a user's has: a compiler that has seen all of them makes
 * slower code for the one with the most classes. They take turns, so that what the machine does beside them is the same
 * for all.
 */
public final class Rates implements Experiment {

    private static final int PINGS = 200;

    /** The compiler of a JVM is busy with the consumers for so many rounds of delivery. */
    private static final int WARM_UP_ROUNDS = 3;

    /**
     * Short ones: what the machine does beside them, and which thread sleeps where, changes from one second to the
     * next.
     */
    private static final int ROUNDS = 7;

    /** For those whose scripts take messages one by one, which takes long. */
    private static final int ROUNDS_ONE_BY_ONE = 3;

    private final RateSteps steps;
    private final String other;

    private Rates(RateSteps steps) {
        this(steps, "");
    }

    /** @param other the checkout of the other commit, empty where there is none */
    private Rates(RateSteps steps, String other) {
        this.steps = steps;
        this.other = other;
    }

    /**
     * All ways to schedule and to deliver.
     *
     * @param others what else is measured beside ours, the floors and {@code RDelayedQueue}
     */
    public static Rates all(Collection<String> others) {
        return new Rates(RateSteps.of(RateSteps.RATES, others));
    }

    /** A few of them over the link that was asked for, or a usual one. */
    public static Rates overLink() {
        return new Rates(RateSteps.of(RateSteps.LINK, List.of()));
    }

    /** Delivery with and without groups. */
    static Rates groups() {
        return new Rates(RateSteps.of(RateSteps.GROUPS, List.of()));
    }

    /** Delivery through Camel alone. */
    public static Rates ofServer() {
        return new Rates(RateSteps.of(RateSteps.SERVER, List.of()));
    }

    /**
     * Our subjects of {@code rates} on this commit and on another one, by turns.
     *
     * @param other the checkout of the other one, built; empty where it is not asked for
     */
    public static Rates before(String other) {
        return new Rates(RateSteps.of(RateSteps.BEFORE, List.of()), other);
    }

    /** Waiting callers and delivery beside bare clients. */
    public static Rates bounds() {
        return new Rates(RateSteps.of(RateSteps.BOUNDS, List.of()));
    }

    @Override
    public String name() {
        return steps.experiment();
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        boolean usualLink = name().equals(RateSteps.LINK) && environment.link().isZero();
        Map<String, SubjectProcess> processes = new LinkedHashMap<>();
        try (Link link = Link.to(environment, usualLink ? Link.USUAL : environment.link())) {
            if (!link.direct()) {
                ping(link, figures);
            }
            for (String subject : steps.subjects()) {
                processes.put(subject, start(environment, link, subject));
            }
            int warmUp = environment.quick() ? 1 : WARM_UP_ROUNDS;
            for (int round = 1 - warmUp; round <= (environment.quick() ? 1 : ROUNDS); round++) {
                round(processes, link, round, round > 0 ? figures : null);
            }
        } finally {
            processes.values().forEach(SubjectProcess::close);
        }
        OtherCommit.compare(name(), figures);
    }

    private SubjectProcess start(Environment environment, Link link, String subject) throws IOException {
        if (!subject.endsWith(Subject.OF_OTHER)) {
            return SubjectProcess.start(environment, link, name(), subject);
        }
        String its = subject.substring(0, subject.length() - Subject.OF_OTHER.length());
        return SubjectProcess.start(environment, link, RateSteps.RATES, its, OtherCommit.classPath(other));
    }

    /** @param figures null for a warm-up */
    private void round(Map<String, SubjectProcess> processes, Link link, int round, Figures figures) throws Exception {
        for (int i = 0; i < steps.steps().size(); i++) {
            Step step = steps.steps().get(i);
            for (String subject : order(step.subjects(), round + i)) {
                if (!isMeasured(step, subject, round)) {
                    continue;
                }
                for (SubjectProcess.Measured measured :
                        processes.get(subject).measure(step.kind() + " " + step.callers() + " " + round)) {
                    if (figures != null) {
                        figures.add(
                                name(),
                                subject,
                                link.parameter(step.parameter()),
                                round,
                                measured.metric(),
                                measured.value(),
                                measured.unit());
                    }
                }
            }
        }
    }

    private void ping(Link link, Figures figures) throws Exception {
        try (Ping ping = Ping.open(link.address())) {
            for (int i = 0; i < PINGS; i++) {
                ping.once();
            }
            figures.add(name(), Subject.FLOOR, link.parameter("PING"), 0, "round trip", ping.medianMillis(), "ms");
        }
    }

    private static boolean isMeasured(Step step, String subject, int round) {
        if (!RateSteps.isSlow(subject)) {
            return true;
        }
        boolean once = step.kind() == RateSteps.Kind.RANDOM && subject.equals(Subject.RDELAYEDQUEUE); // takes minutes
        return switch (step.kind()) {
            case FIFO, RANDOM -> once ? round == 1 : round >= 0 && round <= ROUNDS_ONE_BY_ONE;
            default -> true;
        };
    }

    /** Another one comes first each time. */
    private static List<String> order(List<String> subjects, int time) {
        List<String> order = new ArrayList<>(subjects);
        Collections.rotate(order, time);
        return order;
    }
}
