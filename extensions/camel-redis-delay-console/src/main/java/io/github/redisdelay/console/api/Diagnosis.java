// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.exception.ShownId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The sentences that say what is amiss with a queue, and what to do. */
final class Diagnosis {

    /**
     * A queue whose oldest overdue message is that old is shown as late: it has too little capacity, or it stands
     * still.
     */
    static final long LATE_MICROS = 5_000_000;

    /** A message that its group holds back for longer is worth a warning: its limit is too low, or its first message fails. */
    private static final long HELD_BACK_MICROS = TimeUnit.MINUTES.toMicros(10);

    private static final long STANDSTILL_MICROS = TimeUnit.MICROSECONDS.convert(DeliveryHandler.STANDSTILL);

    /** The fewest messages within a second that are worth a sentence. */
    private static final long LEAST_BURST = 1000;

    private static final int NAMED = 3;

    /**
     * A sentence.
     *
     * @param level {@code error}, {@code warning} or {@code info}
     */
    public record Finding(String level, String text) {}

    /**
     * The facts that are known of a queue. All but the figures are null where nobody has asked, or Redis has not
     * answered.
     *
     * @param nextHour how many messages become due in the next hour
     * @param leased what the consumers work on
     * @param letters the newest dead letters
     * @param burst the densest second ahead
     * @param groups those that hold back the most messages
     */
    public record Facts(
            QueueStats stats,
            Long nextHour,
            List<ConsumerInfo> consumers,
            Leased leased,
            DeadLetters letters,
            Burst burst,
            List<GroupInfo> groups,
            ServerInfo server) {}

    private Diagnosis() {}

    /** Returns whether messages are not delivered in time. */
    static boolean isLate(QueueStats stats) {
        return stats.oldestOverdueMicros() >= LATE_MICROS || stats.overdue() > 0 && stats.consumers() == 0;
    }

    /** Returns whether messages wait, and nobody is there for them. */
    static boolean isDeserted(QueueStats stats) {
        return stats.consumers() == 0 && stats.delayed() > 0;
    }

    static List<Finding> of(Facts facts) {
        List<Finding> found = new ArrayList<>();
        if (facts.stats().paused()) {
            found.add(paused(facts));
        } else if (isLate(facts.stats())) {
            found.add(late(facts));
        } else if (isDeserted(facts.stats())) {
            found.add(new Finding(
                    "info", "no consumer is there" + lastSeen(facts) + ": what becomes due is not delivered"));
        }
        if (facts.stats().parked() > 0) {
            found.add(heldBack(facts));
        }
        if (facts.stats().lostMicros() > 0) {
            found.add(new Finding(
                    "error",
                    "Redis has lost data, as was found at "
                            + Times.text(Times.of(facts.stats().lostMicros()))
                            + ": messages that were delayed then may be gone"));
        }
        if (facts.stats().dead() > 0) {
            found.add(dead(facts));
        }
        long strays =
                facts.stats().stored() - facts.stats().delayed() - facts.stats().leased();
        if (strays != 0) {
            found.add(new Finding(
                    "error",
                    strays > 0
                            ? strays
                                    + " stored messages are neither delayed nor leased, as an evicted or deleted key"
                                    + " leaves them behind: Check makes them delayed again"
                            : -strays
                                    + " messages are lost: their ids are delayed, but a key with what they were was"
                                    + " evicted or deleted; Check reports more"));
        }
        if (facts.burst() != null && facts.burst().count() >= LEAST_BURST) {
            found.add(new Finding(
                    "info",
                    facts.burst().count() + " messages become due within one second, at "
                            + Times.text(facts.burst().at())));
        }
        if (facts.server() != null && facts.server().evicts()) {
            found.add(new Finding(
                    "error",
                    "Redis may throw messages away when its memory is full: set maxmemory-policy to noeviction, it is "
                            + facts.server().evictionPolicy()
                            + ". Use Check to find what an eviction has left behind"));
        }
        if (facts.server() != null && facts.server().forgets()) {
            found.add(new Finding(
                    "warning",
                    "Redis loses what came after its last snapshot when it is restarted: set appendonly to yes"));
        }
        return found;
    }

    private static Finding paused(Facts facts) {
        QueueStats stats = facts.stats();
        String due = stats.overdue() == 0
                ? "nothing is due yet" + (stats.parked() == 0 ? "" : " but parked messages")
                : stats.overdue() + (stats.overdue() == 1 ? " is due and waits" : " are due and wait") + " for Resume"
                        + oldest(stats);
        String soon = facts.nextHour() == null || facts.nextHour() == 0
                ? ""
                : ", " + facts.nextHour()
                        + (stats.overdue() == 0 ? "" : " more")
                        + (facts.nextHour() == 1 ? " becomes" : " become") + " due within the next hour";
        return new Finding(
                stats.overdue() > 0 ? "error" : "warning",
                "paused" + (isDeserted(stats) ? ", and no consumer is there" + lastSeen(facts) : "") + ": " + due
                        + soon);
    }

    private static Finding heldBack(Facts facts) {
        QueueStats stats = facts.stats();
        String parked = stats.parked() == 1 ? "1 due message is parked" : stats.parked() + " due messages are parked";
        List<GroupInfo> groups = facts.groups() == null ? List.of() : facts.groups();
        String named = groups.stream()
                .filter(group -> group.parked() > 0)
                .limit(NAMED)
                .map(group -> ShownId.of(group.name()) + " with " + group.parked()
                        + (group.pausedUntilMicros() == 0 ? "" : " (" + Times.pause(group.pausedUntilMicros()) + ")"))
                .collect(Collectors.joining(", "));
        return new Finding(
                stats.oldestParkedMicros() < HELD_BACK_MICROS ? "info" : "warning",
                parked + " (the oldest for " + Times.words(stats.oldestParkedMicros())
                        + "): those of their groups before them are not finished, or a limit or a pause delays them"
                        + (named.isEmpty() ? "" : ". Most are of " + named)
                        + (groups.size() > NAMED ? ", …" : ""));
    }

    private static Finding late(Facts facts) {
        QueueStats stats = facts.stats();
        String overdue = stats.overdue() + (stats.overdue() == 1 ? " is" : " are") + " overdue" + oldest(stats);
        if (stats.consumers() == 0) {
            return new Finding("error", overdue + " and no consumer is there" + lastSeen(facts));
        }
        boolean one = stats.consumers() == 1;
        String there = one ? "1 consumer is" : stats.consumers() + " consumers are";
        if (facts.leased() == null) {
            return new Finding("error", overdue + ", although " + there + " there");
        }
        if (facts.leased().counts().isEmpty()) {
            return new Finding(
                    "error",
                    overdue + ", although " + there
                            + (one
                                    ? " there and works on nothing: it is suspended, or cannot receive; its log says"
                                            + " why"
                                    : " there and work on nothing: they are suspended, or cannot receive; their logs"
                                            + " tell why"));
        }
        String who = facts.leased().counts().entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(NAMED)
                .map(entry ->
                        (entry.getKey().isEmpty() ? "one without a name" : entry.getKey()) + " on " + entry.getValue())
                .collect(Collectors.joining(", "));
        return new Finding(
                "error",
                overdue + ", although " + there + (one ? " there: it is busy (" : " there: they are busy (") + who
                        + (facts.leased().counts().size() > NAMED ? ", …" : "")
                        + "), so messages wait for a free one"
                        + longest(facts.leased().longest()));
    }

    /** The delivery that may hang, and what to do. */
    private static String longest(Leased.Longest longest) {
        String named = ". " + (longest.consumer().isEmpty() ? "A consumer without a name" : longest.consumer())
                + " has worked for the longest time on " + ShownId.of(longest.id()) + ", due at "
                + Times.text(Times.of(longest.dueMicros())) + " and leased since "
                + Times.text(Times.of(longest.sinceMicros())) + " or earlier";
        return named
                + (longest.forMicros() < STANDSTILL_MICROS
                        ? ": more or faster consumers help"
                        : ": check what its route waits for");
    }

    private static String oldest(QueueStats stats) {
        return " (the oldest for " + Times.words(stats.oldestOverdueMicros()) + ")";
    }

    private static String lastSeen(Facts facts) {
        return facts.consumers() == null
                ? ""
                : facts.consumers().stream()
                        .max(Comparator.comparingLong(ConsumerInfo::lastSeenMicros))
                        .map(last -> " (the last consumer was " + last.name() + ", seen "
                                + Times.words(Math.max(0, facts.stats().timeMicros() - last.lastSeenMicros()))
                                + " ago)")
                        .orElse("");
    }

    private static Finding dead(Facts facts) {
        long dead = facts.stats().dead();
        String letters = dead + (dead == 1 ? " dead letter" : " dead letters");
        if (facts.letters() == null || facts.letters().causes().isEmpty()) {
            return new Finding("warning", letters);
        }
        DeadLetters.Cause first = facts.letters().causes().get(0);
        String cause = (first.exception() != null
                        ? first.exception()
                        : first.reason() != null ? "reason " + first.reason() : "no cause is recorded")
                + (first.route() == null ? "" : " in route " + first.route());
        if (!facts.letters().complete()) {
            return new Finding(
                    "warning",
                    letters + ", most often of the newest " + facts.letters().lookedAt() + ": " + cause + " ("
                            + first.count() + " of these)");
        }
        // The letters and the figures are of two moments.
        String these = first.count() >= dead ? dead == 1 ? "" : ", all" : ", " + first.count() + " of them";
        return new Finding("warning", letters + these + " since " + Times.text(first.first()) + ": " + cause);
    }
}
