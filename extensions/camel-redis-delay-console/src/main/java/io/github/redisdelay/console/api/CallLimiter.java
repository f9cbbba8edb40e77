// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A bound on the calls that the console has under way at one Redis, so that it takes few of the connections which it
 * shares with producers and consumers. The calls have their turns in the order in which they come. One that has waited
 * for too long is not sent any more: nobody waits for its answer. Thread-safe.
 */
final class CallLimiter {

    private final int width;
    private final long patienceNanos;
    private final LongSupplier nanoTime;

    private final Object lock = new Object();
    /** Guarded by the lock. */
    private final ArrayDeque<Turn> waiting = new ArrayDeque<>();
    /** Guarded by the lock. */
    private int free;
    /** True while a thread lets calls have their turns. Guarded by the lock. */
    private boolean letting;

    private record Turn(int weight, long deadline, Runnable begin, CompletableFuture<?> result) {}

    /**
     * @param width the most single calls under way
     * @param patience the longest wait for a turn
     */
    CallLimiter(int width, Duration patience, LongSupplier nanoTime) {
        this.width = width;
        this.patienceNanos = patience.toNanos();
        this.nanoTime = nanoTime;
        this.free = width;
    }

    /**
     * Makes a call when it has its turn.
     *
     * @param calls how many single calls it makes at once
     */
    <T> CompletableFuture<T> run(int calls, Supplier<CompletableFuture<T>> call) {
        int weight = Math.min(calls, width);
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable begin = () -> begun(call).whenComplete((answer, error) -> {
            synchronized (lock) {
                free += weight;
            }
            if (error == null) {
                result.complete(answer);
            } else {
                result.completeExceptionally(error);
            }
            letPass();
        });
        synchronized (lock) {
            waiting.add(new Turn(weight, nanoTime.getAsLong() + patienceNanos, begin, result));
        }
        letPass();
        return result;
    }

    private static <T> CompletableFuture<T> begun(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Begins the calls that may begin, on one thread at a time: a call that is answered at once must not nest. */
    private void letPass() {
        synchronized (lock) {
            if (letting) {
                return;
            }
            letting = true;
        }
        while (true) {
            Turn next;
            boolean late;
            synchronized (lock) {
                next = waiting.peek();
                late = next != null && nanoTime.getAsLong() - next.deadline() > 0;
                if (next == null || !late && next.weight() > free) {
                    letting = false;
                    return;
                }
                waiting.remove();
                free -= late ? 0 : next.weight();
            }
            if (late) {
                next.result()
                        .completeExceptionally(new TimeoutException("the calls before it were not answered in time"));
            } else {
                next.begin().run();
            }
        }
    }
}
