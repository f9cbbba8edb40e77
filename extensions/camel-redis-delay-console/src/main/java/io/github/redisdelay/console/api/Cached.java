// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * An answer of Redis that all who ask share: one call at a time, and none before the answer is too old. A failure
 * counts as an answer, so a Redis that is away is not asked more often. Thread-safe.
 */
final class Cached<T> {

    private final Supplier<CompletableFuture<T>> source;
    private final LongSupplier nanoTime;

    /** The last call; null before the first. Guarded by this. */
    private CompletableFuture<T> last;
    /** The time when the last call was answered. Guarded by this. */
    private long answeredNanos;
    /** The last answer that was none of failure; null before the first. */
    private volatile T known;

    Cached(Supplier<CompletableFuture<T>> source, LongSupplier nanoTime) {
        this.source = source;
        this.nanoTime = nanoTime;
    }

    /** The answer, which is asked for if there is none of this age. */
    synchronized CompletableFuture<T> get(long maximumAgeNanos) {
        if (last == null || last.isDone() && nanoTime.getAsLong() - answeredNanos >= maximumAgeNanos) {
            last = source.get().whenComplete(this::answered);
        }
        return last;
    }

    private synchronized void answered(T answer, Throwable error) {
        answeredNanos = nanoTime.getAsLong();
        if (error == null) {
            known = answer;
        }
    }

    /** The next one who asks gets a new answer: something was changed. */
    synchronized void forget() {
        last = null;
        known = null;
    }

    /** The latest answer that there was, of any age, but for what was forgotten. */
    Optional<T> known() {
        return Optional.ofNullable(known);
    }
}
