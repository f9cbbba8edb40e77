// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * A queue as the console knows it: each fact is asked of Redis when somebody wants to see it and it is too old, and all
 * who look share the answer. Thread-safe.
 */
final class ObservedQueue {

    static final long FIGURES_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The age of facts that change slowly or cost more than figures. */
    private static final long DETAILS_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long SERVER_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration BAR = Duration.ofMinutes(5);
    static final int BARS = 12;
    static final long HOUR_MICROS = BAR.multipliedBy(BARS).toNanos() / 1000;
    /** The most pages of leased messages that are read to show which consumer has how many. */
    private static final int LEASED_PAGES = 4;

    private final String name;
    private final DelayQueueClient client;
    private final CallLimiter limiter;
    private final Predicate<String> declared;
    /** The number that Redis has recorded, as it was told last. */
    private volatile int partitions = 1;

    private final Cached<QueueStats> figures;
    private final Cached<Outlook> nextHour;
    private final Cached<Long> deadLastHour;
    private final Cached<List<ConsumerInfo>> consumers;
    private final Cached<List<GroupInfo>> groups;
    private final Cached<Leased> leased;
    /** The last answer; one call at a time reads. */
    private volatile Leased leasedBefore = Leased.NOTHING;

    private final Cached<ServerInfo> server;
    private final Cached<DeadLetters> deadLetters;
    private final Cached<DeadLetters> newestDeadLetters;
    private final Map<Span, Cached<Outlook>> outlooks = new EnumMap<>(Span.class);
    private final Map<Span, Cached<Optional<Burst>>> bursts = new EnumMap<>(Span.class);
    private final History history;

    /** @param declared whether a route of this process declares the recurring schedule of an id */
    ObservedQueue(
            String name,
            DelayQueueClient client,
            CallLimiter limiter,
            LongSupplier nanoTime,
            Predicate<String> declared) {
        this.declared = declared;
        this.name = name;
        this.client = client;
        this.limiter = limiter;
        this.history = new History(nanoTime);
        figures = new Cached<>(() -> ask(queue -> queue.admin().stats()), nanoTime);
        nextHour = new Cached<>(() -> atNow(now -> outlook(Outlook.bounds(now.timeMicros(), BAR, BARS))), nanoTime);
        deadLastHour = new Cached<>(
                () -> atNow(now -> ask(queue -> queue.deadLetters()
                        .admin()
                        .outlook(List.of(Math.max(0, now.timeMicros() - HOUR_MICROS), now.timeMicros() + 1))
                        .thenApply(given -> given.counts().get(0)))),
                nanoTime);
        consumers = new Cached<>(() -> ask(queue -> queue.admin().consumers()), nanoTime);
        groups = new Cached<>(() -> ask(queue -> queue.admin().groups()), nanoTime);
        leased = new Cached<>(() -> leased(new ArrayList<>(), null, LEASED_PAGES), nanoTime);
        server = new Cached<>(() -> ask(queue -> queue.admin().serverInfo()), nanoTime);
        deadLetters = new Cached<>(() -> DeadLetters.read(this, null, DeadLetters.MOST), nanoTime);
        newestDeadLetters = new Cached<>(() -> DeadLetters.read(this, null, QueueAdmin.MAX_PAGE), nanoTime);
        for (Span span : Span.values()) {
            Cached<Outlook> outlook = new Cached<>(
                    () -> atNow(now -> outlook(span.bounds(now.timeMicros(), now.lastDueMicros()))), nanoTime);
            outlooks.put(span, outlook);
            bursts.put(
                    span,
                    new Cached<>(
                            () -> outlook.get(DETAILS_NANOS).thenCompose(counts -> Burst.in(counts, this::outlook)),
                            nanoTime));
        }
    }

    String name() {
        return name;
    }

    /** Returns whether it is a recurring schedule that a route of this process declares. */
    boolean isDeclaredHere(MessageInfo message) {
        return message.rule() != null && declared.test(message.id());
    }

    int partitions() {
        return partitions;
    }

    History history() {
        return history;
    }

    /**
     * Makes a call to the queue when it is its turn. The number of partitions is the one that Redis has recorded: a
     * call with another one changes nothing, and is repeated.
     */
    <T> CompletableFuture<T> ask(Function<DelayQueue, CompletableFuture<T>> call) {
        int assumed = partitions;
        return ask(assumed, call).exceptionallyCompose(error -> {
            if (ErrorText.unwrap(error) instanceof PartitionMismatchException mismatch
                    && mismatch.getPartitions() != assumed) {
                partitions = mismatch.getPartitions();
                return ask(partitions, call);
            }
            return CompletableFuture.failedFuture(error);
        });
    }

    /** The same about one message: of a queue with partitions, that of its group has it. */
    <T> CompletableFuture<T> ask(String group, Function<DelayQueue, CompletableFuture<T>> call) {
        return ask(
                queue -> call.apply(group == null ? queue : queue.group(group).queue()));
    }

    private <T> CompletableFuture<T> ask(int parts, Function<DelayQueue, CompletableFuture<T>> call) {
        return limiter.run(parts, () -> call.apply(client.queue(name, parts)));
    }

    /** Makes a call that goes on for long, as the change of many messages does: it takes no turn from others. */
    <T> CompletableFuture<T> begin(Function<DelayQueue, CompletableFuture<T>> call) {
        return ask(queue -> queue.admin().stats()).thenCompose(any -> call.apply(client.queue(name, partitions)));
    }

    private CompletableFuture<Outlook> outlook(List<Long> bounds) {
        return ask(queue -> queue.admin().outlook(bounds));
    }

    /** Asks for something that depends on the Redis server's time. */
    private <T> CompletableFuture<T> atNow(Function<QueueStats, CompletableFuture<T>> call) {
        return figures().thenCompose(call);
    }

    CompletableFuture<QueueStats> figures() {
        return figures(FIGURES_NANOS);
    }

    CompletableFuture<QueueStats> figures(long maximumAgeNanos) {
        return figures.get(maximumAgeNanos);
    }

    /** How many messages are due in each twelfth of the next hour. */
    CompletableFuture<Outlook> nextHour() {
        return nextHour.get(DETAILS_NANOS);
    }

    /** How many messages were given up in the last hour. */
    CompletableFuture<Long> deadLastHour() {
        return deadLastHour.get(DETAILS_NANOS);
    }

    CompletableFuture<List<ConsumerInfo>> consumers() {
        return consumers.get(DETAILS_NANOS);
    }

    /** The groups that hold back the most messages. */
    CompletableFuture<List<GroupInfo>> groups() {
        return groups.get(DETAILS_NANOS);
    }

    CompletableFuture<Leased> leased() {
        return leased.get(DETAILS_NANOS);
    }

    CompletableFuture<ServerInfo> server() {
        return server.get(SERVER_NANOS);
    }

    /** The dead letters by cause. */
    CompletableFuture<DeadLetters> deadLetters() {
        return deadLetters.get(DETAILS_NANOS);
    }

    /** The same of the newest ones only. */
    CompletableFuture<DeadLetters> newestDeadLetters() {
        return newestDeadLetters.get(DETAILS_NANOS);
    }

    CompletableFuture<Outlook> outlook(Span span) {
        return outlooks.get(span).get(span == Span.MINUTE ? FIGURES_NANOS : DETAILS_NANOS);
    }

    CompletableFuture<Optional<Burst>> burst(Span span) {
        return bursts.get(span).get(BURST_NANOS);
    }

    /**
     * The last burst that was found in a span and is still ahead; null if none was, nobody has looked, or fewer
     * messages than it had are ahead by now.
     */
    Burst knownBurst(Span span, QueueStats now) {
        return bursts.get(span)
                .known()
                .flatMap(found -> found)
                .filter(found -> found.isAhead(now.timeMicros()) && found.count() <= now.delayed() - now.overdue())
                .orElse(null);
    }

    private CompletableFuture<Leased> leased(List<MessageInfo> read, String cursor, int pages) {
        return ask(queue -> queue.admin().list(MessageState.LEASED, PageStart.next(cursor), QueueAdmin.MAX_PAGE))
                .thenCompose(page -> {
                    read.addAll(page.messages());
                    return page.next() == null || pages == 1
                            ? atNow(now -> CompletableFuture.completedFuture(
                                    leasedBefore = Leased.of(read, leasedBefore, now.timeMicros())))
                            : leased(read, page.next(), pages - 1);
                });
    }

    /** Takes a sample for the history. */
    void sample() {
        figures().handle((stats, error) -> {
            history.add(stats);
            return null;
        });
    }

    /** Forgets what was known: somebody has changed the queue, and wants to see it. */
    void changed() {
        figures.forget();
        nextHour.forget();
        deadLastHour.forget();
        groups.forget();
        leased.forget();
        deadLetters.forget();
        newestDeadLetters.forget();
        outlooks.values().forEach(Cached::forget);
        bursts.values().forEach(Cached::forget);
    }
}
