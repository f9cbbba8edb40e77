// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueInfo;
import io.github.redisdelay.queue.QueueNames;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The queues that the console knows: those of the registries in Redis, and those that its sources name. Thread-safe.
 */
final class Directory {

    /** The most queues that are shown. */
    static final int MOST = 1000;

    /** The most queues of which facts are kept; more than are shown, for links to others. */
    private static final int KEPT = 2 * MOST;

    /** The most queues of which there is a history. */
    private static final int MOST_HISTORIES = 200;

    private static final long NAMES_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long SERVER_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration PATIENCE = Duration.ofMillis(2500);
    /** The single calls under way at one Redis: half of the connections that the component makes. */
    private static final int MAX_CALLS = 16;
    /** A queue that is asked for the server's time where there is none. Nothing is written. */
    private static final String ANY = "any";

    private final Supplier<List<QueueSource>> sources;
    private final LongSupplier nanoTime;

    private final Map<DelayQueueClient, Place> places = new HashMap<>(); // guarded by this

    private final Map<Key, ObservedQueue> queues = new LinkedHashMap<>(16, 0.75f, true) { // guarded by this
                @Override
                protected boolean removeEldestEntry(Map.Entry<Key, ObservedQueue> eldest) {
                    return size() > KEPT;
                }
            };

    private record Key(DelayQueueClient client, String name) {}

    /** The cached answers that the queues of one Redis share. */
    private record Place(
            CallLimiter limiter, Cached<List<QueueInfo>> names, Cached<ServerInfo> server, Cached<QueueStats> clock) {}

    /** Some queues, and whether there are more. */
    record Listed(List<ObservedQueue> queues, boolean more) {}

    /**
     * A Redis server.
     *
     * @param time what its clock says; null if it does not answer
     * @param info null if it does not answer
     */
    record Server(String address, Long time, ServerInfo info) {}

    Directory(Supplier<List<QueueSource>> sources, LongSupplier nanoTime) {
        this.sources = sources;
        this.nanoTime = nanoTime;
    }

    private List<QueueSource> sources() {
        List<QueueSource> now = sources.get();
        if (now.isEmpty()) {
            throw new ApiException(
                    Kind.UNREACHABLE, "There is no Redis to show: none can be reached, or no route leads to one.");
        }
        Set<DelayQueueClient> clients = new LinkedHashSet<>();
        now.forEach(source -> clients.add(source.client()));
        synchronized (this) {
            places.keySet().retainAll(clients);
            queues.keySet().removeIf(key -> !clients.contains(key.client()));
            clients.forEach(client -> places.computeIfAbsent(client, this::place));
        }
        return now;
    }

    private Place place(DelayQueueClient client) {
        CallLimiter limiter = new CallLimiter(MAX_CALLS, PATIENCE, nanoTime);
        DelayQueue any = client.queue(ANY);
        return new Place(
                limiter,
                new Cached<>(() -> limiter.run(1, () -> client.queues(MOST + 1)), nanoTime),
                new Cached<>(() -> limiter.run(1, any.admin()::serverInfo), nanoTime),
                new Cached<>(() -> limiter.run(1, any.admin()::stats), nanoTime));
    }

    private synchronized Place placeOf(QueueSource source) {
        return places.computeIfAbsent(source.client(), this::place);
    }

    private synchronized ObservedQueue observed(QueueSource source, String name) {
        return queues.computeIfAbsent(
                new Key(source.client(), name),
                key -> new ObservedQueue(
                        name, source.client(), placeOf(source).limiter(), nanoTime, id -> source.declared()
                                .test(name, id)));
    }

    /** The queues that may be seen: the last used ones. Of several with the same name the first source's. */
    Listed list(Predicate<String> visible) {
        List<QueueSource> all = sources();
        Map<QueueSource, CompletableFuture<List<QueueInfo>>> registries = new LinkedHashMap<>();
        all.forEach(source -> registries.put(source, placeOf(source).names().get(NAMES_NANOS)));
        Answers.await(registries.values(), PATIENCE);
        Map<String, QueueSource> names = new LinkedHashMap<>();
        for (QueueSource source : all) {
            source.partitions().keySet().forEach(name -> names.putIfAbsent(name, source));
            placeOf(source).names().known().orElse(List.of()).forEach(info -> names.putIfAbsent(info.name(), source));
        }
        if (names.isEmpty()) {
            Answers.of(registries.get(all.get(0))); // there are none, or nobody can tell
        }
        List<ObservedQueue> found = new ArrayList<>();
        boolean more = false;
        for (Map.Entry<String, QueueSource> entry : names.entrySet()) {
            if (visible.test(entry.getKey()) && isName(entry.getKey())) {
                if (found.size() == MOST) {
                    more = true;
                    break;
                }
                found.add(observed(entry.getValue(), entry.getKey()));
            }
        }
        return new Listed(found, more);
    }

    /** False for what others have written into the registry. */
    private static boolean isName(String name) {
        try {
            QueueNames.check("queue", name);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** A queue by its name, known or not. */
    ObservedQueue queue(String name) {
        if (!isName(name)) {
            throw new ApiException(Kind.NOT_FOUND, "There is no queue of this name, and cannot be one.");
        }
        List<QueueSource> all = sources();
        return all.stream()
                .filter(source -> source.partitions().containsKey(name)
                        || placeOf(source).names().known().orElse(List.of()).stream()
                                .anyMatch(info -> info.name().equals(name)))
                .findFirst()
                .map(source -> observed(source, name))
                .orElseGet(() -> observed(all.get(0), name));
    }

    /** Returns whether a source or a registry knows a queue; true also if a registry cannot be asked. */
    boolean isKnown(String name) {
        List<QueueSource> all = sources();
        if (all.stream().anyMatch(source -> source.partitions().containsKey(name))) {
            return true;
        }
        Map<QueueSource, CompletableFuture<List<QueueInfo>>> registries = new LinkedHashMap<>();
        all.forEach(source -> registries.put(source, placeOf(source).names().get(NAMES_NANOS)));
        Answers.await(registries.values(), PATIENCE);
        return registries.values().stream()
                .map(Answers::now)
                .anyMatch(names -> names == null
                        || names.size() > MOST
                        || names.stream().anyMatch(info -> info.name().equals(name)));
    }

    /** The first server. */
    Server server() {
        QueueSource first = sources().get(0);
        Place place = placeOf(first);
        CompletableFuture<QueueStats> clock = place.clock().get(ObservedQueue.FIGURES_NANOS);
        CompletableFuture<ServerInfo> info = place.server().get(SERVER_NANOS);
        Answers.await(List.of(clock, info), PATIENCE);
        QueueStats stats = Answers.now(clock);
        return new Server(first.label(), stats == null ? null : stats.timeMicros(), Answers.now(info));
    }

    /** The queues that have a history: those that were looked at last. */
    Collection<ObservedQueue> watched() {
        List<ObservedQueue> wanted;
        synchronized (this) {
            wanted = new ArrayList<>(queues.values());
        }
        wanted.removeIf(queue -> !queue.history().isWanted());
        wanted.sort(Comparator.comparingLong(
                (ObservedQueue queue) -> queue.history().idleNanos()));
        if (wanted.size() > MOST_HISTORIES) {
            wanted.subList(MOST_HISTORIES, wanted.size())
                    .forEach(queue -> queue.history().forget());
            return wanted.subList(0, MOST_HISTORIES);
        }
        return wanted;
    }
}
