// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.QueueRegistry;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * The heartbeats of a client's consumers, from their first one to their farewell, and what follows where Redis does not
 * know one any more. Thread-safe.
 */
final class ClientPresence {

    /** So often one of the consumers is told beside its interval: Redis may have lost its data. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** A farewell that was not answered within this time is waited for no more. */
    private static final long FAREWELL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final UnbatchedCalls calls;
    private final QueueRegistry registry;
    private final Timers timers;
    private final WakeupChannel wakeups;
    private final DataLossReport losses;

    /** The heartbeats of the consumers that run. Thread-safe. */
    private final Set<ConsumerHeartbeat> running = ConcurrentHashMap.newKeySet();
    /** True if the timer of the next check is set. */
    private final AtomicBoolean looking = new AtomicBoolean();
    /** The number of looks. They come one after the other. */
    private volatile int looks;
    /** The farewells that Redis has not answered, with the time when each began. Thread-safe. */
    private final Map<CompletableFuture<?>, Long> farewells = new ConcurrentHashMap<>();

    ClientPresence(
            UnbatchedCalls calls, QueueRegistry registry, Timers timers, WakeupChannel wakeups, DataLossReport losses) {
        this.calls = calls;
        this.registry = registry;
        this.timers = timers;
        this.wakeups = wakeups;
        this.losses = losses;
    }

    /** The heartbeat of a consumer in a partition. It is not begun. */
    ConsumerHeartbeat heartbeat(ConsumedPartition partition, ConsumerId consumer, String name) {
        QueueAddress queue = partition.address();
        QueueRegistry.Use use = registry.of(queue.name());
        return new ConsumerHeartbeat(
                arguments -> partition.gate().ask(() -> calls.once(queue, LuaScript.HEARTBEAT, arguments)),
                timers,
                consumer,
                name,
                new ConsumerHeartbeat.Listener() {
                    @Override
                    public void known() {
                        use.consumed();
                    }

                    @Override
                    public void lost(long seenMicros) {
                        use.forgotten();
                        if (losses.found(queue, seenMicros)) {
                            // The others and the waiters may be gone as well: all come back now.
                            running.forEach(ConsumerHeartbeat::beat);
                            wakeups.checkAll();
                        }
                    }
                });
    }

    /** A consumer begins. */
    void begin(List<ConsumerHeartbeat> heartbeats) {
        heartbeats.forEach(ConsumerHeartbeat::start);
        running.addAll(heartbeats);
        lookLater();
    }

    private void lookLater() {
        if (!running.isEmpty() && looking.compareAndSet(false, true)) {
            timers.schedule(LOOK_NANOS, this::look);
        }
    }

    private void look() {
        looking.set(false);
        List<ConsumerHeartbeat> all = List.copyOf(running);
        if (!all.isEmpty()) {
            all.get(Math.floorMod(looks++, all.size())).beat(); // in turn: not all data need be gone, or on one server
        }
        lookLater();
    }

    /**
     * A consumer has stopped.
     *
     * @param left completes when it has left the waiters
     * @return completes when Redis has heard it. At once while Redis is silent towards one that stopped before, so that
     *     many take no longer than one
     */
    CompletableFuture<Void> end(List<ConsumerHeartbeat> heartbeats, CompletableFuture<Void> left) {
        heartbeats.forEach(running::remove);
        CompletableFuture<Void> farewell = CompletableFuture.allOf(
                Stream.concat(Stream.of(left), heartbeats.stream().map(ConsumerHeartbeat::stop))
                        .toArray(CompletableFuture<?>[]::new));
        boolean silent = farewells.values().stream().anyMatch(this::isOver);
        farewells.put(farewell, timers.nanoTime());
        farewell.whenComplete((none, error) -> farewells.remove(farewell));
        return silent ? CompletableFuture.completedFuture(null) : farewell;
    }

    private boolean isOver(long farewellBegan) {
        return timers.nanoTime() - farewellBegan >= FAREWELL_NANOS;
    }

    /** Returns whether Redis has heard of all consumers that have stopped, or is silent. */
    boolean isIdle() {
        return farewells.values().stream().allMatch(this::isOver);
    }
}
