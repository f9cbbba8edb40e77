// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.DurabilityUnavailableException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
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
 * The way of requests to the batchers of their queues. Each queue has two batchers, one for each {@link RequestKind}, and one
 * for each {@link QueueKeys#foreign} keys that requests of another module name. A batcher is made for the first request and
 * dropped when it has nothing to do and many others are in use. Thread-safe.
 */
public final class RequestRouter implements Request.Sender {

    /** The number of calls of a batcher that may be under way. */
    public static final int CALLS = 2;

    /** Above this many, batchers that have nothing to do are dropped. */
    private static final int MAX_IDLE_BATCHERS = 256;

    private final ScriptExecutor redis;
    private final ClientOptions options;
    private final ClientSessions sessions;
    private final Backoff backoff;
    private final QueueRegistry registry;

    private final Map<BatcherKey, RequestBatcher> batchers = new ConcurrentHashMap<>();
    /** The reason why nothing is sent any more; null until the router is closed. Written before the batchers are closed. */
    private volatile DelayQueueException closed;

    /** The batcher of a queue, alone or together with foreign keys, for one kind of requests. */
    private record BatcherKey(QueueKeys keys, RequestKind kind) {}

    /** Requests for one batcher that are to go together. Used by one thread. */
    private static final class Together {
        final QueueAddress queue;
        final List<Request<?>> requests = new ArrayList<>();
        long bytes;

        Together(QueueAddress queue) {
            this.queue = queue;
        }
    }

    /** The requests that {@link #together} collects on this thread; null outside of it. */
    private final ThreadLocal<Map<BatcherKey, Together>> together = new ThreadLocal<>();

    public RequestRouter(
            ScriptExecutor redis,
            ClientOptions options,
            ClientSessions sessions,
            Timers timers,
            RandomGenerator random,
            QueueRegistry registry) {
        this.redis = redis;
        this.options = options;
        this.sessions = sessions;
        this.backoff = new Backoff(timers, random);
        this.registry = registry;
    }

    /** The address of the server, for people. */
    public String server() {
        return redis.server();
    }

    /** True if another router uses the same connection. */
    public boolean isConnectedAs(RequestRouter other) {
        return redis.connection() == other.redis.connection();
    }

    /**
     * Puts a request in its batcher. A request that finishes or keeps a delivery has no deadline; all others end with
     * the request timeout.
     */
    @Override
    public <T> Submission<T> submit(Request<T> request) {
        QueueAddress queue = request.queue();
        RequestKind kind = RequestKind.of(request.script());
        if (kind != RequestKind.DELIVERY) {
            request.waitUntil(
                    backoff.timers().nanoTime() + options.requestTimeout().toNanos());
        }
        BatcherKey key = new BatcherKey(queue.keys(), kind);
        Map<BatcherKey, Together> collected = together.get();
        if (collected == null || kind == RequestKind.DELIVERY) {
            submit(queue, key, List.of(request));
            return request.submission();
        }
        Together part = collected.computeIfAbsent(key, k -> new Together(queue));
        part.requests.add(request);
        part.bytes += request.bytes();
        // A full call does not wait for the others: their deadlines run, and the heap has bounds.
        if (part.requests.size() >= RequestBatcher.MAX_REQUESTS_PER_CALL
                || part.bytes >= RequestBatcher.MAX_BYTES_PER_CALL) {
            collected.remove(key);
            submit(queue, key, part.requests);
        }
        return request.submission();
    }

    /** See {@link DelayQueue#together}. */
    public <T> T together(Supplier<T> requests) {
        if (together.get() != null) {
            return requests.get(); // goes with the outer ones
        }
        Map<BatcherKey, Together> collected = new LinkedHashMap<>();
        together.set(collected);
        try {
            return requests.get();
        } finally {
            together.remove();
            collected.forEach((key, part) -> submit(part.queue, key, part.requests));
        }
    }

    private void submit(QueueAddress queue, BatcherKey key, List<Request<?>> requests) {
        int next = 0;
        while (next < requests.size()) {
            DelayQueueException reason = closed;
            if (reason != null) {
                requests.get(next++).submission().fail(reason);
                continue;
            }
            RequestBatcher batcher = batchers.get(key);
            if (batcher == null) {
                dropIdleBatchers();
                batcher = batchers.computeIfAbsent(key, k -> newBatcher(queue, k.kind()));
            }
            int taken = batcher.submit(requests, next);
            if (taken == next) {
                batchers.remove(key, batcher);
                continue;
            }
            next = taken;
            reason = closed;
            if (reason != null) {
                batcher.close(reason); // it may have been made while the others were closed
            }
        }
    }

    private RequestBatcher newBatcher(QueueAddress queue, RequestKind kind) {
        boolean deliveries = kind == RequestKind.DELIVERY;
        return new RequestBatcher(
                queue,
                kind,
                // A lost acknowledgement means another delivery and no loss, so requests about deliveries do not wait.
                deliveries ? Durability.NONE : options.durability(),
                redis,
                this,
                backoff,
                sessions(deliveries, queue.keys().foreign()),
                registry.of(queue.name())::requested);
    }

    /** The sessions of a batcher; one with foreign keys has one call under way. */
    private List<Session> sessions(boolean deliveries, List<Object> foreign) {
        return !foreign.isEmpty()
                ? List.of(sessions.session("i" + foreign.get(0)))
                : IntStream.range(0, CALLS)
                        .mapToObj(number -> sessions.session((deliveries ? "d" : "s") + number))
                        .toList();
    }

    /** Waits until all that was changed so far is as safe as the options say; then completes with this result. */
    public <T> CompletableFuture<T> awaitDurable(QueueAddress queue, String done, T result) {
        return options.durability().waits()
                ? submit(new Confirmation<>(queue, done, result, options.durability()))
                        .result()
                : CompletableFuture.completedFuture(result);
    }

    /**
     * Asks whether this server can make changes as safe as the options say.
     *
     * @return fails with a {@link DelayQueueException} if it cannot; completes also where it does not answer
     */
    public CompletableFuture<Void> checkDurable(QueueAddress queue) {
        CompletableFuture<Void> answer = options.durability().waits()
                ? redis.checkDurable(queue.keys(), options.durability())
                : CompletableFuture.completedFuture(null);
        return answer.exceptionallyCompose(e -> ErrorText.unwrap(e) instanceof DurabilityUnavailableException refusal
                ? CompletableFuture.failedFuture(RedisErrors.refused(queue, refusal))
                : CompletableFuture.completedFuture(null));
    }

    private void dropIdleBatchers() {
        if (batchers.size() >= MAX_IDLE_BATCHERS) {
            batchers.values().removeIf(RequestBatcher::retireIfIdle);
        }
    }

    /** True if no request is under way. */
    public boolean isIdle() {
        return batchers.values().stream().allMatch(RequestBatcher::isIdle);
    }

    /** Fails the requests that have no answer, and those to come. */
    public void close(DelayQueueException reason) {
        closed = reason;
        batchers.values().forEach(batcher -> batcher.close(reason));
        batchers.clear();
    }
}
