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
import java.util.stream.IntStream;

/**
 * Many messages that become due within one second of the clock.
 *
 * @param at where the second begins
 * @param to where it ends
 * @param count how many messages are due from the one to the other
 */
public record Burst(Instant at, Instant to, long count) {

    /** The fewest messages of a burst. */
    static final long LEAST = 100;

    /** How many times as many messages as in an average second of the span make a burst. */
    private static final long TIMES_AVERAGE = 10;

    private static final long SECOND = 1_000_000;
    private static final int PARTS = 60;
    /** How many steps of a span are looked into: those with the most messages. */
    private static final int LOOKED_INTO = 3;

    /** Returns whether there still are so many messages. */
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
     * Looks for the densest second of a span: in the fullest steps, in the fullest part of each, and so on. Its seconds
     * are those of the clock, so that all spans tell the same of one.
     *
     * @param outlook counts between bounds
     */
    static CompletableFuture<Optional<Burst>> in(
            Outlook span, Function<List<Long>, CompletableFuture<Outlook>> outlook) {
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
        return densest.thenApply(found -> found.stream()
                .max(Comparator.comparingLong(Step::count))
                .filter(second -> second.count() >= LEAST
                        && second.count() / TIMES_AVERAGE >= total / seconds) // neither product overflows
                .map(second -> new Burst(Times.of(second.from()), Times.of(second.to()), second.count())));
    }

    /** The fullest steps with enough messages for a burst. */
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

    /**
     * The densest second of a step, as far as going into the fullest part finds it; its count is 0 if there is none.
     */
    private static CompletableFuture<Step> densest(
            Step step, Function<List<Long>, CompletableFuture<Outlook>> outlook) {
        long from = Math.floorDiv(step.from(), SECOND);
        long to = Math.floorDiv(step.to() + SECOND - 1, SECOND);
        if (to - from <= 1 && step.from() == from * SECOND && step.to() == to * SECOND) {
            return CompletableFuture.completedFuture(step);
        }
        long part = (to - from + PARTS - 1) / PARTS;
        List<Long> bounds = new ArrayList<>();
        for (long bound = from; bound < to; bound += part) {
            bounds.add(bound * SECOND);
        }
        bounds.add(to * SECOND);
        return outlook.apply(bounds).thenCompose(parts -> {
            List<Step> fullest = fullest(parts, 1);
            return fullest.isEmpty()
                    ? CompletableFuture.completedFuture(new Step(step.from(), step.to(), 0))
                    : densest(fullest.get(0), outlook);
        });
    }
}
