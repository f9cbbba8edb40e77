// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.QueueStats;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The views of all queues, of one queue, and of what is ahead of it. Thread-safe. */
final class QueueViews {

    /** The wait for figures; and then the wait for what explains them, which the next view will have. */
    private static final Duration FIGURES_PATIENCE = Duration.ofMillis(2500);

    private static final Duration DETAILS_PATIENCE = Duration.ofMillis(300);

    /** The figures of all queues are not asked for again before so many times the time that it took. */
    private static final int REST = 4;

    private static final long MOST_AGE_NANOS = ObservedQueue.FIGURES_NANOS * 5;

    private final LongSupplier nanoTime;
    /** For how long the figures of all queues were waited for the last time. */
    private final AtomicLong roundNanos = new AtomicLong();

    /** The state of a queue; the worst first. */
    private enum State {
        unreachable,
        late,
        paused,
        onTime,
        empty
    }

    /**
     * A queue among all queues. Figures are null if it is unreachable.
     *
     * @param nextHour how many messages become due in each twelfth of the next hour; null if it is not known yet
     * @param deadLastHour how many were given up in the last hour; null if it is not known yet
     */
    public record Row(
            String name,
            String state,
            Long delayed,
            Long overdue,
            Long oldestOverdueMicros,
            Long parked,
            Long oldestParkedMicros,
            Long leased,
            Long dead,
            Integer consumers,
            Instant nextDue,
            List<Long> nextHour,
            Long deadLastHour,
            int partitions,
            List<String> actions,
            List<Diagnosis.Finding> diagnosis) {

        private Row with(List<Diagnosis.Finding> findings) {
            return new Row(
                    name,
                    state,
                    delayed,
                    overdue,
                    oldestOverdueMicros,
                    parked,
                    oldestParkedMicros,
                    leased,
                    dead,
                    consumers,
                    nextDue,
                    nextHour,
                    deadLastHour,
                    partitions,
                    actions,
                    findings);
        }
    }

    /** All queues that somebody may see. */
    public record Queues(Instant time, List<Row> queues, boolean more) {}

    /** A consumer, and how many messages it has leased. */
    public record Consumer(String name, String version, Instant lastSeen, int leased) {}

    /** The details of a single queue, beside its row. */
    public record Details(
            Instant time,
            Instant lastDue,
            List<MessageViews.GroupRow> groups,
            List<Consumer> consumerList,
            History.Samples history) {}

    /** How many messages become due between two times. */
    public record Bar(Instant from, Instant to, long count) {}

    /** The messages that are ahead of a queue, in bars of time. */
    public record Ahead(Instant time, long overdue, List<Bar> bars, long after, Burst burst) {}

    QueueViews(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * The rows of queues, the worst first. Waits for a few seconds at the most: a queue that has not answered by then
     * is unreachable.
     *
     * @param more whether there are others
     */
    Queues queues(List<ObservedQueue> queues, ConsoleUser user, boolean more) {
        long age = Math.max(ObservedQueue.FIGURES_NANOS, Math.min(MOST_AGE_NANOS, REST * roundNanos.get()));
        long began = nanoTime.getAsLong();
        Map<ObservedQueue, CompletableFuture<QueueStats>> figures = new HashMap<>();
        List<CompletableFuture<?>> bars = new ArrayList<>();
        for (ObservedQueue queue : queues) {
            figures.put(queue, queue.figures(age));
        }
        Answers.await(figures.values(), FIGURES_PATIENCE);
        List<CompletableFuture<?>> details = new ArrayList<>();
        figures.forEach((queue, answer) -> {
            QueueStats stats = Answers.now(answer);
            if (stats != null) {
                bars.add(queue.nextHour());
                details.addAll(details(queue, stats));
            }
        });
        Answers.await(bars, FIGURES_PATIENCE.minusNanos(nanoTime.getAsLong() - began));
        roundNanos.set(nanoTime.getAsLong() - began);
        Answers.await(details, DETAILS_PATIENCE);
        long time = 0;
        List<Row> rows = new ArrayList<>();
        for (ObservedQueue queue : queues) {
            QueueStats stats = Answers.now(figures.get(queue));
            time = stats == null ? time : Math.max(time, stats.timeMicros());
            rows.add(stats == null ? unreachable(queue, user, figures.get(queue)) : row(queue, stats, user, false));
        }
        rows.sort(Comparator.<Row, State>comparing(row -> State.valueOf(row.state()))
                .thenComparing(row -> row.oldestOverdueMicros() == null ? 0 : -row.oldestOverdueMicros())
                .thenComparing(row -> row.dead() == null ? 0 : -row.dead())
                .thenComparing(Row::name));
        return new Queues(time == 0 ? null : Times.of(time), toldOnce(rows), more);
    }

    /** The same problem of all unreachable queues is told at the first of them. */
    private static List<Row> toldOnce(List<Row> rows) {
        Map<List<Diagnosis.Finding>, Long> counts = rows.stream()
                .filter(row -> row.state().equals(State.unreachable.name()))
                .collect(Collectors.groupingBy(Row::diagnosis, Collectors.counting()));
        Set<List<Diagnosis.Finding>> told = new HashSet<>();
        return rows.stream()
                .map(row -> counts.getOrDefault(row.diagnosis(), 1L) == 1
                        ? row
                        : row.with(
                                told.add(row.diagnosis())
                                        ? List.of(also(row.diagnosis().get(0), counts.get(row.diagnosis()) - 1))
                                        : List.of()))
                .toList();
    }

    private static Diagnosis.Finding also(Diagnosis.Finding finding, long others) {
        return new Diagnosis.Finding(
                finding.level(),
                finding.text() + " (" + others + (others == 1 ? " other queue" : " other queues") + ", too)");
    }

    /** Asks for what explains figures. */
    private static List<CompletableFuture<?>> details(ObservedQueue queue, QueueStats stats) {
        List<CompletableFuture<?>> asked = new ArrayList<>();
        if (Diagnosis.isDeserted(stats)) {
            asked.add(queue.consumers());
        } else if (Diagnosis.isLate(stats)) {
            asked.add(queue.leased());
        }
        if (stats.parked() > 0) {
            asked.add(queue.groups());
        }
        if (stats.dead() > 0) {
            asked.add(queue.deadLastHour());
            asked.add(queue.newestDeadLetters());
        }
        return asked;
    }

    /**
     * A queue in full.
     *
     * @param isKnown whether anything but its figures tells of a queue; asked if these do not
     * @throws ApiException if there is none
     */
    FlattenedJson queue(ObservedQueue queue, ConsoleUser user, BooleanSupplier isKnown) {
        QueueStats stats = Answers.of(queue.figures());
        if (isBlank(stats) && !isKnown.getAsBoolean()) {
            throw new ApiException(
                    Kind.NOT_FOUND,
                    "There is no queue '" + queue.name()
                            + "': it was never used, and no route of this application leads to it.");
        }
        queue.history().look();
        List<CompletableFuture<?>> asked = details(queue, stats);
        asked.add(queue.nextHour());
        asked.add(queue.server());
        asked.add(queue.burst(Span.DAY));
        CompletableFuture<List<ConsumerInfo>> consumers = queue.consumers();
        asked.add(consumers);
        CompletableFuture<Leased> leased = queue.leased();
        asked.add(leased);
        Answers.await(asked, FIGURES_PATIENCE);
        return new FlattenedJson(
                row(queue, stats, user, true),
                new Details(
                        Times.of(stats.timeMicros()),
                        stats.lastDueMicros() == 0 ? null : Times.of(stats.lastDueMicros()),
                        groups(stats.parked() == 0 ? null : Answers.now(queue.groups())),
                        consumers(
                                Optional.ofNullable(Answers.now(consumers)).orElse(List.of()),
                                Optional.ofNullable(Answers.now(leased)).orElse(Leased.NOTHING)),
                        queue.history().samples()));
    }

    private static List<MessageViews.GroupRow> groups(List<GroupInfo> groups) {
        return groups == null
                ? List.of()
                : groups.stream().map(MessageViews.GroupRow::of).toList();
    }

    private static boolean isBlank(QueueStats stats) {
        return stats.delayed() + stats.leased() + stats.dead() + stats.stored() + stats.consumers() == 0
                && !stats.paused();
    }

    /** The consumers by name, the last seen first: those of the same name hold their messages together. */
    private static List<Consumer> consumers(List<ConsumerInfo> seen, Leased leased) {
        Map<String, Integer> left = new HashMap<>(leased.counts());
        return seen.stream()
                .sorted(Comparator.comparingLong(ConsumerInfo::lastSeenMicros).reversed())
                .map(consumer -> new Consumer(
                        consumer.name(),
                        consumer.version(),
                        Times.of(consumer.lastSeenMicros()),
                        Optional.ofNullable(left.remove(consumer.name())).orElse(0)))
                .toList();
    }

    private static Row unreachable(ObservedQueue queue, ConsoleUser user, CompletableFuture<?> answer) {
        return new Row(
                queue.name(),
                State.unreachable.name(),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                queue.partitions(),
                codes(user, queue),
                List.of(new Diagnosis.Finding("error", Answers.problem(answer))));
    }

    private static Row row(ObservedQueue queue, QueueStats stats, ConsoleUser user, boolean full) {
        Outlook hour = Answers.now(queue.nextHour());
        return new Row(
                queue.name(),
                state(stats).name(),
                stats.delayed(),
                stats.overdue(),
                stats.oldestOverdueMicros(),
                stats.parked(),
                stats.oldestParkedMicros(),
                stats.leased(),
                stats.dead(),
                stats.consumers(),
                stats.nextDueMicros() < 0 ? null : Times.of(stats.timeMicros() + stats.nextDueMicros()),
                hour == null ? null : hour.counts(),
                stats.dead() == 0 ? Long.valueOf(0) : Answers.now(queue.deadLastHour()),
                queue.partitions(),
                codes(user, queue),
                Diagnosis.of(new Diagnosis.Facts(
                        stats,
                        hour == null
                                ? null
                                : hour.counts().stream()
                                        .mapToLong(Long::longValue)
                                        .sum(),
                        Diagnosis.isDeserted(stats) ? Answers.now(queue.consumers()) : null,
                        Diagnosis.isLate(stats) && !Diagnosis.isDeserted(stats) ? Answers.now(queue.leased()) : null,
                        stats.dead() == 0 ? null : Answers.now(queue.newestDeadLetters()),
                        queue.knownBurst(Span.DAY, stats),
                        stats.parked() == 0 ? null : Answers.now(queue.groups()),
                        full ? Answers.now(queue.server()) : null)));
    }

    private static State state(QueueStats stats) {
        if (stats.paused()) {
            return State.paused;
        }
        return Diagnosis.isLate(stats) ? State.late : stats.delayed() + stats.leased() > 0 ? State.onTime : State.empty;
    }

    private static List<String> codes(ConsoleUser user, ObservedQueue queue) {
        return user.actions(queue.name()).stream()
                .sorted()
                .map(ConsoleAction::code)
                .toList();
    }

    /** Counts the messages that are ahead of a queue in a span of time. */
    Ahead ahead(ObservedQueue queue, Span span) {
        Outlook outlook = Answers.of(queue.outlook(span));
        Burst burst = outlook.counts().stream().allMatch(count -> count < Burst.LEAST)
                ? null
                : Answers.of(queue.burst(span))
                        .filter(found -> found.isAhead(outlook.timeMicros()) && found.isIn(outlook))
                        .orElse(null);
        List<Long> bounds = outlook.boundsMicros();
        return new Ahead(
                Times.of(outlook.timeMicros()),
                outlook.before(),
                IntStream.range(0, outlook.counts().size())
                        .mapToObj(i -> new Bar(
                                Times.of(bounds.get(i)),
                                Times.of(bounds.get(i + 1)),
                                outlook.counts().get(i)))
                        .toList(),
                outlook.after(),
                burst);
    }
}
