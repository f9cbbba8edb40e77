// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import static io.github.redisdelay.benchmark.Subject.CAMEL;
import static io.github.redisdelay.benchmark.Subject.FENCED_FLOOR;
import static io.github.redisdelay.benchmark.Subject.FLOOR;
import static io.github.redisdelay.benchmark.Subject.QUEUE;
import static io.github.redisdelay.benchmark.Subject.RDELAYEDQUEUE;

import io.github.redisdelay.benchmark.lateness.NoisyGroup.Arrival;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** The project's targets, each with what this run measured. Ratios are ratios of medians. */
final class Targets {

    private static final String OFFER = "schedule callers=16";
    private static final String ONE = "schedule callers=1";
    private static final String ASYNC = "schedule async=2000";
    private static final String BATCH = "schedule batch=100";
    private static final String FIFO = "deliver fifo";
    private static final String RANDOM = "deliver random";

    private final Results results;
    private final List<Target> targets = new ArrayList<>();

    private Targets(Results results) {
        this.results = results;
    }

    static List<Target> of(Results results) {
        Targets targets = new Targets(results);
        targets.rates();
        targets.mixes();
        targets.groups();
        targets.scale();
        targets.lateness();
        targets.lone();
        targets.fleet();
        targets.memory();
        return targets.targets;
    }

    private void rates() {
        // Of several callers, and of one: RDelayedQueue does not share calls, so its own rate depends on their number.
        for (String offer : List.of(OFFER, ONE)) {
            String by = " ÷ `RDelayedQueue.offer` by " + (offer.equals(ONE) ? "one" : "16");
            double waiting = offer.equals(ONE) ? 4 : 1.8;
            against(waiting, "scheduling, 16 waiting callers: through Camel" + by, CAMEL, OFFER, RDELAYEDQUEUE, offer);
            against(12, "scheduling, asynchronous: through Camel" + by, CAMEL, ASYNC, RDELAYEDQUEUE, offer);
            against(12, "scheduling, batches of 100: through Camel" + by, CAMEL, BATCH, RDELAYEDQUEUE, offer);
        }
        against(0.9, "scheduling, one waiting caller: through Camel ÷ `offer`", CAMEL, ONE, RDELAYEDQUEUE, ONE);
        targets.add(Target.atMost(
                1.2,
                "×",
                "Redis CPU of scheduling, one waiting caller: through Camel ÷ `offer`",
                ratio(median("rates", CAMEL, ONE, "redis cpu"), median("rates", RDELAYEDQUEUE, ONE, "redis cpu"), 1)));
        against(5, "delivery of a FIFO backlog: through Camel ÷ RDelayedQueue", CAMEL, FIFO, RDELAYEDQUEUE, FIFO);
        against(
                20,
                "delivery at random due times: through Camel ÷ RDelayedQueue",
                CAMEL,
                RANDOM,
                RDELAYEDQUEUE,
                RANDOM);
        share(80, "scheduling in batches: queue layer, of the floor", QUEUE, BATCH, FLOOR);
        share(50, "scheduling in batches: through Camel, of the floor", CAMEL, BATCH, FLOOR);
        share(46, "delivery: queue layer, of the floor", QUEUE, FIFO, FLOOR);
        share(90, "delivery: queue layer, of the fenced floor", QUEUE, FIFO, FENCED_FLOOR);
        share(36, "delivery: through Camel, of the floor", CAMEL, FIFO, FLOOR);
    }

    private void against(
            double limit, String text, String subject, String parameter, String other, String otherParameter) {
        targets.add(Target.atLeast(
                limit,
                "×",
                text,
                ratio(median("rates", subject, parameter, "rate"), median("rates", other, otherParameter, "rate"), 1)));
    }

    private void share(double percent, String text, String subject, String parameter, String floor) {
        targets.add(Target.atLeast(
                percent,
                "%",
                text,
                ratio(median("rates", subject, parameter, "rate"), median("rates", floor, parameter, "rate"), 100)));
    }

    private void mixes() {
        mix(60, "async=2000 ", "schedule", "cancel", 1);
        mix(80, "callers=16 ", "schedule", "cancel", 1);
        mix(80, "deliver ", "acknowledge", "return", 1);
        mix(92, "deliver ", "acknowledge", "return", 9);
        for (String mix : List.of("async=2000 schedule and cancel 1:1", "async=2000 shop")) {
            targets.add(Target.atLeast(
                    8,
                    "",
                    mix + ": requests for each script call",
                    ratio(OptionalDouble.of(1), median("mixes", QUEUE, mix, "script calls"), 1)));
        }
    }

    /** Or nine tenths of the ratio that bare scripts reach: a kind that Redis works on for longer slows down any mix. */
    private void mix(double percent, String how, String kind, String other, int share) {
        String mix = how + kind + " and " + other + " " + share + ":1";
        double bare = 0.9 * mixRatio(FLOOR, mix, how + kind).orElse(Double.POSITIVE_INFINITY);
        String text = mix + ", of `" + how + kind + "`" + (bare < percent ? ", 90 % of what bare scripts reach" : "");
        targets.add(Target.atLeast(Math.min(percent, bare), "%", text, mixRatio(QUEUE, mix, how + kind)));
    }

    private OptionalDouble mixRatio(String subject, String mix, String alone) {
        return ratio(median("mixes", subject, mix, "rate"), median("mixes", subject, alone, "rate"), 100);
    }

    private void groups() {
        for (String subject : List.of(CAMEL, QUEUE)) {
            targets.add(Target.atLeast(
                    60,
                    "%",
                    "delivery with 10 000 groups, of that without: " + Tables.subject(subject),
                    ratio(
                            median("groups", subject, FIFO + " groups=10000", "rate"),
                            median("groups", subject, FIFO, "rate"),
                            100)));
        }
        String noisy = "lateness of other groups beside one with 100 000 messages, ";
        targets.add(Target.atMost(
                50, "ms", noisy + "due steadily: p99", median("groups", CAMEL, Arrival.STEADY.parameter(), "p99")));
        targets.add(Target.atMost(
                500,
                "ms",
                noisy + "due at one instant: the largest",
                median("groups", CAMEL, Arrival.INSTANT.parameter(), "max")));
        for (String kind : List.of("delayed", "parked")) {
            targets.add(Target.atMost(
                    kind.equals("delayed") ? 100 : 120,
                    "bytes",
                    "Redis memory of a message with a group beyond one without: " + kind,
                    median("groups", QUEUE, kind, "beyond")));
        }
    }

    private void scale() {
        for (String subject : List.of(CAMEL, QUEUE)) {
            for (String what : List.of("schedule", "delivery")) {
                targets.add(Target.atLeast(
                        80,
                        "%",
                        (what.equals("schedule") ? "scheduling" : "delivery")
                                + " with 5 000 000 pending, of the rate with 10 000: " + Tables.subject(subject),
                        ratio(
                                median("scale", subject, "pending=5000000", what + " rate"),
                                median("scale", subject, "pending=10000", what + " rate"),
                                100)));
            }
        }
    }

    private void lateness() {
        for (int rate : List.of(50, 1_000)) {
            String at = "lateness at " + Numbers.grouped(rate) + "/s through Camel: ";
            targets.add(Target.atMost(1, "ms", at + "p50", median("lateness", CAMEL, "rate=" + rate, "p50")));
            targets.add(Target.atMost(5, "ms", at + "p99", median("lateness", CAMEL, "rate=" + rate, "p99")));
        }
    }

    private void lone() {
        for (String subject : List.of(CAMEL, QUEUE)) {
            targets.add(Target.atMost(
                    0.3,
                    "ms",
                    "a lone message, due at once: p50 − 2 round trips, " + Tables.subject(subject),
                    median("lone", subject, "due at once", "p50 beyond two round trips")));
        }
        targets.add(Target.atMost(
                25,
                "µs",
                "Redis time of a claim with nothing due",
                median("lone", QUEUE, "due at once", "Redis time of claims with nothing due, one after the other")));
    }

    private void fleet() {
        for (int consumers : List.of(1, 50)) {
            targets.add(Target.atMost(
                    1,
                    "",
                    "idle, consumers of one queue: " + consumers + "; Redis commands of each in 10 s",
                    median("fleet", CAMEL, "consumers=" + consumers + " idle", "idle commands of each consumer")));
        }
        for (int rate : List.of(1, 100, 2_000)) {
            String at = " at " + Numbers.grouped(rate) + "/s";
            String fifty = "consumers=50 rate=" + rate;
            targets.add(Target.atMost(
                    3,
                    "×",
                    "claims for each message" + at + ": 50 consumers ÷ 1 consumer",
                    ratio(
                            median("fleet", CAMEL, fifty, "claims"),
                            median("fleet", CAMEL, "consumers=1 rate=" + rate, "claims"),
                            1)));
            targets.add(Target.atMost(
                    5, "ms", "p99 lateness" + at + ", 50 consumers", median("fleet", CAMEL, fifty, "p99")));
            targets.add(Target.atMost(
                    5,
                    "ms",
                    "p99 lateness" + at + ", 25 of 50 consumers killed",
                    median("fleet", CAMEL, fifty + " killed=25", "p99")));
        }
    }

    private void memory() {
        targets.add(Target.atMost(
                400,
                "bytes",
                "Redis memory of a pending 200-byte text",
                median("memory", CAMEL, "body=200", "Redis memory")));
    }

    private OptionalDouble median(String experiment, String subject, String parameter, String metric) {
        return results.find(experiment, subject, parameter, metric)
                .map(spread -> OptionalDouble.of(spread.median()))
                .orElse(OptionalDouble.empty());
    }

    private static OptionalDouble ratio(OptionalDouble value, OptionalDouble of, double factor) {
        return value.isEmpty() || of.isEmpty() || of.getAsDouble() == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(factor * value.getAsDouble() / of.getAsDouble());
    }
}
