// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueInfo;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry of the queues in Redis: it notes now and then that a queue is used, and lists those that were. It is a help for
 * people: nothing waits for it, and nothing fails with it. Thread-safe.
 */
public final class QueueRegistry {

    private static final Logger LOG = LoggerFactory.getLogger(QueueRegistry.class);

    /** The most queues that the registry keeps, and that are told at once. */
    public static final int MAX_QUEUES = 10_000;

    /** The least time between two notes of a queue that is only produced to. */
    static final long INTERVAL_NANOS = TimeUnit.HOURS.toNanos(1);

    /** The least time between two notes of a queue with a consumer, or after a failure; less than between two heartbeats. */
    static final long CONSUMED_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(50);

    /** The most queues that one call lists: half a millisecond of Redis's time. */
    private static final int PAGE = 500;

    private static final Comparator<QueueInfo> LAST_USED_FIRST =
            Comparator.comparingLong(QueueInfo::lastUsedMicros).reversed().thenComparing(QueueInfo::name);

    private final QueueAddress address;
    private final UnbatchedCalls calls;
    private final Timers timers;
    private final Map<String, Use> uses = new ConcurrentHashMap<>();
    /** Set by the first refusal: only that is logged at WARN. */
    private final AtomicBoolean refused = new AtomicBoolean();

    public QueueRegistry(String keyPrefix, UnbatchedCalls calls, Timers timers) {
        this.address = QueueAddress.registry(keyPrefix);
        this.calls = calls;
        this.timers = timers;
    }

    /** The use of a queue by this client: the same object for all parts that use it. */
    public Use of(String queue) {
        if (uses.size() >= MAX_QUEUES) {
            uses.clear(); // whoever has such an object goes on with it
        }
        return uses.computeIfAbsent(queue, Use::new);
    }

    /** Reads the next page of the names, as the client's method of this name. */
    public CompletableFuture<List<QueueInfo>> queues(int limit) {
        if (limit < 1 || limit > MAX_QUEUES) {
            throw new IllegalArgumentException("limit is " + limit + ": it must be from 1 to " + MAX_QUEUES);
        }
        Map<String, Long> found = new HashMap<>();
        return collect(0, limit, found).thenApply(done -> found.entrySet().stream()
                .map(queue -> new QueueInfo(queue.getKey(), queue.getValue()))
                .sorted(LAST_USED_FIRST)
                .limit(limit)
                .toList());
    }

    /**
     * Reads page by page, so that Redis serves others in between. Recently used queues move to the front, so some are
     * read again.
     */
    private CompletableFuture<Void> collect(int offset, int limit, Map<String, Long> found) {
        int size = Math.min(PAGE, limit - offset);
        return page(offset, size, found).thenCompose(told -> {
            if (told == size && offset + size < limit) {
                return collect(offset + size, limit, found);
            }
            return offset == 0
                    ? CompletableFuture.completedFuture(null)
                    : page(0, PAGE, found).thenAccept(again -> {});
        });
    }

    /** Adds a page to what was found, and answers how many queues it has. */
    private CompletableFuture<Integer> page(int offset, int size, Map<String, Long> found) {
        return calls.untilAnswered(address, LuaScript.QUEUES, Digits.of(size), Digits.of(offset))
                .thenApply(reply -> {
                    List<?> rows = (List<?>) reply;
                    for (int at = 0; at < rows.size(); at += 2) {
                        String score = text(rows.get(at + 1));
                        double lastUsed = score.endsWith("inf") ? -1 : Double.parseDouble(score);
                        if (lastUsed >= 0 && lastUsed <= DueTime.MAX_MICROS) { // others are no note of ours
                            found.merge(text(rows.get(at)), (long) lastUsed, Math::max);
                        }
                    }
                    return rows.size() / 2;
                });
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }

    /** The use of one queue. Thread-safe. */
    public final class Use {
        private final String queue;
        /** From when on a request notes it. Whoever moves it notes the queue. */
        private final AtomicLong nextNanos;

        private Use(String queue) {
            this.queue = queue;
            this.nextNanos = new AtomicLong(timers.nanoTime());
        }

        /** Redis has answered a request to the queue. Cheap: a look at the clock, but for once in an hour. */
        void requested() {
            noteFrom(0);
        }

        /** Redis knows of a consumer that is there. */
        public void consumed() {
            noteFrom(CONSUMED_INTERVAL_NANOS - INTERVAL_NANOS);
        }

        /** Redis has lost its data: the next use notes the queue. */
        public void forgotten() {
            nextNanos.set(timers.nanoTime());
        }

        private void noteFrom(long nanos) {
            long now = timers.nanoTime();
            long next = nextNanos.get();
            if (now - next >= nanos && nextNanos.compareAndSet(next, now + INTERVAL_NANOS)) {
                calls.once(address, LuaScript.REGISTER, (Object) queue.getBytes(StandardCharsets.UTF_8))
                        .whenComplete((reply, error) -> {
                            if (error != null) {
                                failed(ErrorText.unwrap(error));
                            }
                        });
            }
        }

        private void failed(Throwable error) {
            Throwable cause = error instanceof DelayQueueException ours && ours.getClientError() != null
                    ? ours.getClientError()
                    : error;
            boolean refusal = RedisErrors.isRefusal(cause) && !RedisErrors.isClosed(cause);
            if (!refusal) {
                nextNanos.set(timers.nanoTime() + CONSUMED_INTERVAL_NANOS);
            }
            if (refusal && refused.compareAndSet(false, true)) {
                String key = address.keys().key("queues");
                LOG.warn(
                        "queue '{}' could not be entered in the registry of queues, so a list of all queues may lack it; all else"
                                + " goes on. A Redis user with an ACL needs the key ~{} and the commands of the documentation: {}",
                        queue,
                        key,
                        ErrorText.of(cause));
            } else {
                LOG.debug("queue '{}' could not be entered in the registry of queues: {}", queue, error.toString());
            }
        }
    }
}
