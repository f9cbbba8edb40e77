// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.CompletingThread;
import io.github.redisdelay.queue.internal.request.RequestBatcher;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The agreement of a client with Redis on the number of a queue's partitions. The number is recorded once (see {@code
 * partitions.lua}). No call passes before Redis has agreed. While calls pass, the client asks again about once a minute:
 * Redis may have lost the record, or somebody may have removed it.
 */
public final class PartitionCount implements CallGate {

    /** The number of calls that may wait for the first answer. */
    private static final int MAX_WAITING = RequestBatcher.MAX_WAITING_REQUESTS;

    private static final long ASK_AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final QueueAddress root;
    private final int partitions;
    private final UnbatchedCalls calls;
    private final Timers timers;

    private final Object lock = new Object();
    /** Written under the lock: true only while no call waits. Read without it by calls that may pass. */
    private volatile boolean agreed;
    /** Written under the lock, before {@link #agreed}. */
    private volatile long askedNanos;
    /** Guarded by the lock. */
    private boolean asking;
    /** The calls that wait for the answer, in their order. Guarded by the lock. */
    private final ArrayDeque<CompletableFuture<Void>> waiting = new ArrayDeque<>();

    /** @param root the keys whose tag is the queue's name alone */
    public PartitionCount(QueueAddress root, int partitions, UnbatchedCalls calls, Timers timers) {
        this.root = root;
        this.partitions = partitions;
        this.calls = calls;
        this.timers = timers;
    }

    /**
     * Asks Redis, which records the number if none is recorded.
     *
     * @return fails with a {@link PartitionMismatchException} if another number is recorded, or with a {@link
     *     DelayQueueException}
     */
    public CompletableFuture<Void> check() {
        return calls.untilAnswered(root, LuaScript.PARTITIONS, new Object[] {Digits.of(partitions)})
                .thenAccept(reply -> {
                    int recorded = Integer.parseInt(new String((byte[]) reply, StandardCharsets.US_ASCII));
                    if (recorded != partitions) {
                        throw new PartitionMismatchException(
                                root.name(), root.keys().wholeQueue(), recorded, partitions, null);
                    }
                });
    }

    @Override
    public CompletableFuture<Void> turn() {
        if (agreed && timers.nanoTime() - askedNanos < ASK_AGAIN_NANOS) {
            return null;
        }
        CompletableFuture<Void> turn = null;
        boolean first;
        synchronized (lock) {
            if (!agreed) {
                if (waiting.size() >= MAX_WAITING) {
                    return CompletableFuture.failedFuture(new RequestTimeoutException(
                            "queue '" + root.name() + "': " + MAX_WAITING
                                    + " requests wait to learn how many partitions it has; nothing was sent",
                            false,
                            null));
                }
                turn = new CompletableFuture<>();
                waiting.add(turn);
            }
            first = !asking;
            if (first) {
                asking = true;
                askedNanos = timers.nanoTime();
            }
        }
        if (first) {
            check().whenComplete((done, error) ->
                    CompletingThread.run(() -> answered(error == null ? null : ErrorText.unwrap(error))));
        }
        return turn;
    }

    /** Lets the waiting calls pass, or fails them. Another number ends an agreement; Redis that does not answer does not. */
    private void answered(Throwable error) {
        List<CompletableFuture<Void>> refused = new ArrayList<>();
        while (true) {
            CompletableFuture<Void> turn;
            synchronized (lock) {
                if (error != null) {
                    // Whoever comes after the refusal asks anew, also a caller that is told of it just now.
                    refused.addAll(waiting);
                    waiting.clear();
                }
                turn = waiting.poll();
                if (turn == null) {
                    asking = false;
                    agreed = error == null || agreed && !(error instanceof PartitionMismatchException);
                    break;
                }
            }
            turn.complete(null);
        }
        // The calls that wait here were not sent, whatever became of the question.
        Throwable told = error instanceof RequestTimeoutException
                ? new RequestTimeoutException(error.getMessage() + "; nothing was sent", false, error)
                : error;
        refused.forEach(turn -> turn.completeExceptionally(told));
    }
}
