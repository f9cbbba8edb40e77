// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.ErrorText;
import java.util.concurrent.CompletableFuture;

/**
 * A call that is sent again, the same each time, until it is answered or has met an error that is final. Between two
 * sendings it waits for a {@link Backoff}. Thread-safe; one sending is under way at a time.
 *
 * @param <T> the answer
 */
public abstract class RepeatedCall<T> {

    private final Backoff backoff;

    /** The number of sendings so far. Written with this object's monitor held. */
    private volatile int attempts;
    /** The error of the last sending that is repeated. Written by the thread that ends the sending. */
    private volatile Throwable lastError;
    /** The timer of the next sending; null while none is planned. Guarded by this. */
    private Timers.Timer next;
    /** Guarded by this. */
    private boolean stopped;

    protected RepeatedCall(Backoff backoff) {
        this.backoff = backoff;
    }

    /**
     * Sends the call once.
     *
     * @param attempt the number of this sending, from 1
     */
    protected abstract CompletableFuture<T> send(int attempt);

    /** Returns whether the call is not worth another sending after this error. */
    protected abstract boolean isFinal(Throwable error);

    /**
     * A sending has failed; another one follows.
     *
     * @param attempt the number of that sending
     */
    protected void failed(int attempt, Throwable error) {}

    /**
     * The call is over.
     *
     * @param error the final one; null if the call was answered
     */
    protected abstract void ended(T answer, Throwable error);

    /** Sends the call, for the first time or again. */
    public final void start() {
        int attempt;
        synchronized (this) {
            if (stopped) {
                return;
            }
            next = null;
            attempt = attempts + 1;
            attempts = attempt;
        }
        CompletableFuture<T> sent;
        try {
            sent = send(attempt);
        } catch (Throwable e) {
            sent = CompletableFuture.failedFuture(e);
        }
        sent.whenComplete((answer, failure) -> {
            Throwable error = failure == null ? null : ErrorText.unwrap(failure);
            if (error == null || isFinal(error)) {
                ended(answer, error);
            } else {
                lastError = error;
                failed(attempt, error);
                startLater(attempt);
            }
        });
    }

    private synchronized void startLater(int failures) {
        if (!stopped) {
            next = backoff.schedule(failures, this::start);
        }
    }

    /** Sends nothing any more. An answer to what was sent still ends the call. */
    public final synchronized void stop() {
        stopped = true;
        if (next != null) {
            next.cancel();
        }
    }

    /** Returns whether it was sent more than once. */
    public final boolean isRepeated() {
        return attempts > 1;
    }

    /** The error for which it was or will be sent again; null if there was none. */
    public final Throwable lastError() {
        return lastError;
    }
}
