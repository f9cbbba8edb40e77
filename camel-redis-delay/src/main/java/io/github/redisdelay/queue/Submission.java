// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.CompletableFuture;

/**
 * A request to a delay queue and its answer.
 *
 * <p>As a future it is bounded by the client's request timeout: then it fails with a {@link RequestTimeoutException}. If
 * the request had been sent by then, nobody knows whether it took effect: the client keeps sending the same bytes until
 * Redis answers, and {@link #outcome()} completes with that answer. Redis executes it once, however often it was sent.
 * A request that was still waiting to be sent is withdrawn: it never takes effect.
 *
 * <p>The futures complete on threads that must not be blocked.
 */
public final class Submission<T> extends CompletableFuture<T> {

    private final CompletableFuture<T> outcome = new CompletableFuture<>();

    Submission() {}

    /** A submission that failed before anything was sent. */
    static <T> Submission<T> failed(Throwable error) {
        Submission<T> submission = new Submission<>();
        submission.fail(error);
        return submission;
    }

    /**
     * The answer, whenever it comes: completes when the outcome of the request is known, without a time limit. Fails if
     * the request was withdrawn or refused, or if the client was closed before Redis answered.
     */
    public CompletableFuture<T> outcome() {
        return outcome;
    }

    void succeed(T value) {
        outcome.complete(value);
        complete(value);
    }

    void fail(Throwable error) {
        outcome.completeExceptionally(error);
        completeExceptionally(error);
    }
}
