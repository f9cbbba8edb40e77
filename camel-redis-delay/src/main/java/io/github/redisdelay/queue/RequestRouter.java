// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * The way of requests to the lanes of their queues. Each queue has two lanes: one for what producers ask, one for deliveries. A
 * lane is made for the first request and dropped when it has nothing to do and many others are in use. Thread-safe.
 */
final class RequestRouter {

    /** The number of calls of a lane that may be under way. */
    static final int CALLS = 2;

    /** Above this many, lanes that have nothing to do are dropped. */
    private static final int MAX_IDLE_LANES = 256;

    private final RedisCaller redis;
    private final ClientOptions options;
    private final ClientSessions sessions;
    private final Timers timers;
    private final RandomGenerator random;
    private final ReplicationWaits replicationWaits;

    private final Map<LaneKey, Lane> lanes = new ConcurrentHashMap<>();
    /** The reason why nothing is sent any more; null until the router is closed. Written before the lanes are closed. */
    private volatile DelayQueueException closed;

    /** One lane of a queue: for what producers ask, or for deliveries. */
    private record LaneKey(String base, boolean deliveries) {}

    /** Requests for one lane that are to go together. Used by one thread. */
    private static final class Together {
        final QueueAddress queue;
        final List<Request<?>> requests = new ArrayList<>();
        long bytes;

        Together(QueueAddress queue) {
            this.queue = queue;
        }
    }

    /** What {@link #together} collects on this thread; null outside of it. */
    private final ThreadLocal<Map<LaneKey, Together>> together = new ThreadLocal<>();

    RequestRouter(
            RedisCaller redis,
            ClientOptions options,
            ClientSessions sessions,
            Timers timers,
            RandomGenerator random) {
        this.redis = redis;
        this.options = options;
        this.sessions = sessions;
        this.timers = timers;
        this.random = random;
        this.replicationWaits = new ReplicationWaits(redis, options, timers, random);
    }

    /** The address of the server, for people. */
    String server() {
        return redis.server();
    }

    /** Whether another router uses the same connection. */
    boolean isConnectedAs(RequestRouter other) {
        return redis.connection() == other.redis.connection();
    }

    /** Puts in its lane what is never sent again after a failover. */
    <T> Submission<T> submit(
            QueueAddress queue, LuaScript script, String id, Object[] arguments, int bytes, Request.Reply<T> reply) {
        return submit(queue, script, id, arguments, bytes, reply, null);
    }

    /**
     * Puts a request in its lane. What finishes a delivery has no deadline; all else ends with the request timeout.
     *
     * @param resend asks for the same once more, where a failover may have undone it; null if that must not be
     */
    <T> Submission<T> submit(
            QueueAddress queue,
            LuaScript script,
            String id,
            Object[] arguments,
            int bytes,
            Request.Reply<T> reply,
            Request.Resend<T> resend) {
        Submission<T> submission = new Submission<>();
        boolean delivery = script == LuaScript.SETTLE || script == LuaScript.ACKNOWLEDGE || script == LuaScript.EXTEND;
        long deadline = delivery
                ? Long.MAX_VALUE
                : timers.nanoTime() + options.requestTimeout().toNanos();
        Request.Confirmation<T> confirmation = (done, result, shortfall) ->
                replicationWaits.await(queue, done, result, shortfall.history(), resend);
        Request<T> request = new Request<>(script, id, arguments, bytes, deadline, reply, submission, confirmation);
        LaneKey key = new LaneKey(queue.keys().base(), delivery);
        Map<LaneKey, Together> collected = together.get();
        if (collected == null || delivery) {
            submit(queue, key, List.of(request));
            return submission;
        }
        Together part = collected.computeIfAbsent(key, k -> new Together(queue));
        part.requests.add(request);
        part.bytes += request.bytes();
        // What fills a call does not wait for the others: their deadlines run, and the heap has bounds.
        if (part.requests.size() >= Lane.MAX_REQUESTS_PER_CALL || part.bytes >= Lane.MAX_BYTES_PER_CALL) {
            collected.remove(key);
            submit(queue, key, part.requests);
        }
        return submission;
    }

    /** See {@link DelayQueue#together}. */
    <T> T together(Supplier<T> requests) {
        if (together.get() != null) {
            return requests.get(); // goes with the outer ones
        }
        Map<LaneKey, Together> collected = new LinkedHashMap<>();
        together.set(collected);
        try {
            return requests.get();
        } finally {
            together.remove();
            collected.forEach((key, part) -> submit(part.queue, key, part.requests));
        }
    }

    private void submit(QueueAddress queue, LaneKey key, List<Request<?>> requests) {
        int next = 0;
        while (next < requests.size()) {
            DelayQueueException reason = closed;
            if (reason != null) {
                requests.get(next++).submission().fail(reason);
                continue;
            }
            Lane lane = lanes.get(key);
            if (lane == null) {
                dropIdleLanes();
                lane = lanes.computeIfAbsent(key, k -> newLane(queue, k));
            }
            int taken = lane.submit(requests, next);
            if (taken == next) {
                lanes.remove(key, lane);
                continue;
            }
            next = taken;
            reason = closed;
            if (reason != null) {
                lane.close(reason); // it may have been made while the others were closed
            }
        }
    }

    private Lane newLane(QueueAddress queue, LaneKey key) {
        byte[] base = queue.keys().base().getBytes(StandardCharsets.UTF_8);
        byte[] dead = queue.keys().dead().base().getBytes(StandardCharsets.UTF_8);
        return new Lane(
                queue.name(),
                IntStream.range(0, CALLS)
                        .mapToObj(number -> sessions.name((key.deliveries() ? "d" : "s") + number))
                        .toArray(byte[][]::new),
                queue.keys(),
                script -> switch (script) {
                    case SETTLE -> new Object[] {base, dead};
                    case ACKNOWLEDGE, EXTEND -> new Object[] {};
                    default -> new Object[] {base};
                },
                redis,
                sessions::nextNumber,
                timers,
                random,
                key.deliveries(),
                // A lost acknowledgement means another delivery, and no loss: so what is about deliveries does not
                // wait.
                key.deliveries() ? Durability.NONE : options.durability());
    }

    /** Waits until all that was changed so far is as safe as the options say; then completes with this result. */
    <T> CompletableFuture<T> awaitDurable(QueueAddress queue, String done, T result) {
        return options.durability().waits()
                ? replicationWaits.await(queue, done, result)
                : CompletableFuture.completedFuture(result);
    }

    private void dropIdleLanes() {
        if (lanes.size() >= MAX_IDLE_LANES) {
            lanes.values().removeIf(Lane::retireIfIdle);
        }
    }

    /** Whether no request is under way. */
    boolean isIdle() {
        return lanes.values().stream().allMatch(Lane::isIdle);
    }

    /** Fails the requests that have no answer, and those to come. */
    void close(DelayQueueException reason) {
        closed = reason;
        lanes.values().forEach(lane -> lane.close(reason));
        lanes.clear();
        replicationWaits.close(reason);
    }
}
