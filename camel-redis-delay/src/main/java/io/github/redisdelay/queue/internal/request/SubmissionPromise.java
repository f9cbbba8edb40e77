// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The submission of a request, to be completed with the request's answer. Thread-safe; the first outcome counts. */
public final class SubmissionPromise<T> implements Submission<T> {

    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    /** Written before the outcome fails with a {@link ReplicationTimeoutException}, else null. */
    private volatile Supplier<? extends CompletableFuture<T>> confirmation;

    /** A submission that failed before anything was sent. */
    public static <T> Submission<T> failed(Throwable error) {
        SubmissionPromise<T> submission = new SubmissionPromise<>();
        submission.fail(error);
        return submission;
    }

    /** The submission of a request that is sent when a future has completed, and fails if that does. */
    public static <T> Submission<T> after(CompletableFuture<Void> turn, Supplier<Submission<T>> request) {
        SubmissionPromise<T> submission = new SubmissionPromise<>();
        turn.thenRun(() -> submission.follow(request.get())).whenComplete((done, error) -> {
            if (error != null) {
                submission.fail(ErrorText.unwrap(error));
            }
        });
        return submission;
    }

    @Override
    public CompletableFuture<T> result() {
        return result;
    }

    @Override
    public CompletableFuture<T> outcome() {
        return outcome;
    }

    @Override
    public boolean isUnconfirmed() {
        return confirmation != null;
    }

    @Override
    public CompletableFuture<T> confirm() {
        Supplier<? extends CompletableFuture<T>> again = confirmation;
        if (again == null) {
            throw new IllegalStateException("the request does not wait for replicas");
        }
        return again.get();
    }

    public void succeed(T value) {
        outcome.complete(value);
        result.complete(value);
    }

    public void fail(Throwable error) {
        outcome.completeExceptionally(error);
        result.completeExceptionally(error);
    }

    /** @param again waits once more */
    public void unconfirmed(ReplicationTimeoutException error, Supplier<? extends CompletableFuture<T>> again) {
        confirmation = again;
        fail(error);
    }

    /** Ends as another submission does. */
    public void follow(Submission<T> other) {
        other.outcome().whenComplete((value, error) -> {
            if (error == null) {
                succeed(value);
            } else {
                if (other.isUnconfirmed()) {
                    confirmation = other::confirm;
                }
                fail(error);
            }
        });
        other.result().whenComplete((value, error) -> {
            if (error != null) {
                result.completeExceptionally(error);
            }
        });
    }
}
