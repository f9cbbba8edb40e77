// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** One change that was sent, such as a schedule, cancel or reschedule of one message. One thread uses it at a time. */
final class PendingChange<T> {

    private final String id;
    private final Supplier<Submission<T>> call; // null if there is nothing to send

    // Used by one thread at a time.
    private Submission<T> submission;
    private CompletableFuture<T> answer;
    private Exception unknown; // why the answer is waited for once more

    private PendingChange(String id, Supplier<Submission<T>> call) {
        this.id = id;
        this.call = call;
    }

    /**
     * Sends a change.
     *
     * @param id the message; null for a change of the queue
     * @param call sends the change; is called again only if the first call certainly had no effect
     */
    static <T> PendingChange<T> send(String id, Supplier<Submission<T>> call) {
        PendingChange<T> change = new PendingChange<>(id, call);
        change.send();
        return change;
    }

    /** A message that was not sent, because it could not be made. */
    static <T> PendingChange<T> refused(String id, Exception refusal) {
        PendingChange<T> change = new PendingChange<>(id, null);
        change.answer = CompletableFuture.failedFuture(refusal);
        return change;
    }

    /**
     * Has the answer to a change told, once it is known, also if the change only misses its replicas.
     *
     * @return the change
     */
    @SuppressWarnings("unchecked") // the error has the answer to this change
    static <T> Submission<T> telling(Submission<T> change, Consumer<T> told) {
        change.outcome().whenComplete((result, error) -> {
            if (error == null) {
                told.accept(result);
            } else if (error instanceof ReplicationTimeoutException done && done.getResult() != null) {
                told.accept((T) done.getResult());
            }
        });
        return change;
    }

    private void send() {
        submission = call.get();
        answer = submission.result();
    }

    String id() {
        return id;
    }

    CompletableFuture<T> answered() {
        return answer;
    }

    void resume(Duration timeout) {
        Exception error = error();
        if (call == null || error == null) {
            return;
        }
        if (submission.isUnconfirmed()) {
            // The change is stored and only waits for replicas.
            answer = submission.confirm();
        } else if (isUnknown(error) && !submission.outcome().isCompletedExceptionally()) {
            unknown = error;
            answer = submission.outcome().copy().orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } else {
            // The change had no effect, or nobody will ever know. It goes again under the same id.
            send();
        }
    }

    /** The error, or null. */
    Exception error() {
        try {
            PendingRequest.value(answer);
            return null;
        } catch (Exception e) {
            return e instanceof TimeoutException && unknown != null ? unknown : e;
        }
    }

    T result() {
        return answer.join();
    }

    /** True if nobody knows if the change took effect. */
    private static boolean isUnknown(Exception error) {
        return error instanceof RequestTimeoutException timeout && timeout.isPossiblyStored();
    }

    /** True if nobody knows if the change took effect, or if a failover can undo it. */
    boolean mustResume() {
        return isUnknown(error()) || (submission != null && submission.isUnconfirmed());
    }
}
