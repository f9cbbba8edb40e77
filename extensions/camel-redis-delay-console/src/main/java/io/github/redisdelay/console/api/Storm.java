// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.Outlook;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

/**
 * Many messages that become due within one second.
 *
 * @param at when most of them begin to be due: the time of a message
 * @param to a second later
 * @param count how many messages are due from the one to the other
 */
public record Storm(Instant at, Instant to, long count) {

    /** The fewest messages of a storm. */
    static final long LEAST = 100;

    /** How many times as many messages as in an average second of the span make a storm. */
    private static final long TIMES_AVERAGE = 10;

    private static final long SECOND = 1_000_000;
    private static final int PARTS = 60;
    /** How many steps of a span are looked into: those with the most messages. */
    private static final int LOOKED_INTO = 3;

    /** Whether there still are so many messages. */
    boolean isIn(Outlook outlook) {
        List<Long> bounds = outlook.boundsMicros();
        return IntStream.range(0, outlook.counts().size())
                        .filter(i -> bounds.get(i) < Times.micros(to) && bounds.get(i + 1) > Times.micros(at))
                        .mapToLong(outlook.counts()::get)
                        .sum()
                >= count;
    }

    boolean isAhead(long nowMicros) {
        return to.isAfter(Times.of(nowMicros));
    }

    private record Step(long from, long to, long count) {}

    /**
     * Looks for the densest second of a span: in the fullest steps, in the fullest part of each, and so on.
     *
     * @param outlook counts between bounds
     * @param firstDue when the first message is due that is due at a time or later
     */
    static CompletableFuture<Optional<Storm>> in(
            Outlook span,
            Function<List<Long>, CompletableFuture<Outlook>> outlook,
            LongFunction<CompletableFuture<Optional<Long>>> firstDue) {
        List<Long> bounds = span.boundsMicros();
        long seconds = Math.max(1, (bounds.get(bounds.size() - 1) - bounds.get(0)) / SECOND);
        long total = span.counts().stream().mapToLong(Long::longValue).sum();
        CompletableFuture<List<Step>> densest = CompletableFuture.completedFuture(new ArrayList<>());
        for (Step step : fullest(span, LOOKED_INTO)) {
            densest = densest.thenCompose(found -> densest(step, outlook).thenApply(second -> {
                found.add(second);
                return found;
            }));
        }
        return densest.thenCompose(found -> found.stream()
                .max(Comparator.comparingLong(Step::count))
                .filter(second -> second.count() >= LEAST
                        && second.count() / TIMES_AVERAGE >= total / seconds) // neither product overflows
                .map(second -> core(second, outlook)
                        .thenCompose(core -> firstDue.apply(core.from())
                                .thenApply(first ->
                                        first.filter(due -> due < core.to()).orElse(core.from())))
                        .thenCompose(at -> outlook.apply(List.of(at, at + SECOND)))
                        .thenApply(Storm::of))
                .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())));
    }

    private static Optional<Storm> of(Outlook second) {
        return Optional.of(new Storm(
                        Times.of(second.boundsMicros().get(0)),
                        Times.of(second.boundsMicros().get(1)),
                        second.counts().get(0)))
                .filter(storm -> storm.count() >= LEAST);
    }

    /** The smallest part of a step, as far as parts of parts go, that has most of its messages: others may be due shortly before. */
    private static CompletableFuture<Step> core(Step step, Function<List<Long>, CompletableFuture<Outlook>> outlook) {
        long part = (step.to() - step.from() + PARTS - 1) / PARTS;
        if (part == step.to() - step.from()) {
            return CompletableFuture.completedFuture(step);
        }
        return outlook.apply(bounds(step, part)).thenCompose(parts -> fullest(parts, 1).stream()
                .filter(fullest -> fullest.count() > step.count() / 2)
                .findFirst()
                .map(fullest -> core(fullest, outlook))
                .orElseGet(() -> CompletableFuture.completedFuture(step)));
    }

    private static List<Long> bounds(Step step, long part) {
        List<Long> bounds = new ArrayList<>();
        for (long bound = step.from(); bound < step.to(); bound += part) {
            bounds.add(bound);
        }
        bounds.add(step.to());
        return bounds;
    }

    /** The fullest steps with enough messages for a storm. */
    private static List<Step> fullest(Outlook outlook, int most) {
        return IntStream.range(0, outlook.counts().size())
                .mapToObj(i -> new Step(
                        outlook.boundsMicros().get(i),
                        outlook.boundsMicros().get(i + 1),
                        outlook.counts().get(i)))
                .filter(step -> step.count() >= LEAST)
                .sorted(Comparator.comparingLong(Step::count).reversed())
                .limit(most)
                .toList();
    }

    /** The densest second of a step, as far as halving into the fullest part finds it; its count is 0 if there is none. */
    private static CompletableFuture<Step> densest(
            Step step, Function<List<Long>, CompletableFuture<Outlook>> outlook) {
        long width = step.to() - step.from();
        if (width <= SECOND) {
            return CompletableFuture.completedFuture(step);
        }
        long seconds = (width + SECOND - 1) / SECOND;
        long part = (seconds + PARTS - 1) / PARTS * SECOND;
        return outlook.apply(bounds(step, part)).thenCompose(parts -> {
            List<Step> fullest = fullest(parts, 1);
            return fullest.isEmpty()
                    ? CompletableFuture.completedFuture(new Step(step.from(), step.to(), 0))
                    : densest(fullest.get(0), outlook);
        });
    }
}
