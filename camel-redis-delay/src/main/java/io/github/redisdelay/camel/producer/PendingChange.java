// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** One change that was sent, such as a schedule, cancel or reschedule of one message. One thread uses it at a time. */
final class PendingChange<T> {

    private final String id;
    private final Supplier<String> what;
    private final Supplier<Submission<T>> call; // null if there is nothing to send

    // Used by one thread at a time.
    private Submission<T> submission;
    private CompletableFuture<T> answer;

    /**
     * Sends a change.
     *
     * @param id the message; null for a change of the queue
     * @param queue any of the same Redis
     * @param what begins the change's name in errors, such as {@code the pause of}
     * @param call sends the change; is called again only if the first call certainly had no effect
     */
    static <T> PendingChange<T> send(String id, DelayQueue queue, String what, Supplier<Submission<T>> call) {
        PendingChange<T> change = new PendingChange<>(id, queue, what, call);
        change.send();
        return change;
    }

    private PendingChange(String id, DelayQueue queue, String what, Supplier<Submission<T>> call) {
        this.id = id;
        this.what = () -> queue.server() + " did not answer in time again; " + what
                + (id == null ? "" : "message '" + id + "' of ") + "queue '" + queue.name() + "'";
        this.call = call;
    }

    private PendingChange(String id, Exception refusal) {
        this.id = id;
        what = null;
        call = null;
        answer = CompletableFuture.failedFuture(refusal);
    }

    /** A message that was not sent, because it could not be made. */
    static <T> PendingChange<T> refused(String id, Exception refusal) {
        return new PendingChange<>(id, refusal);
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
        if (call == null) {
            return;
        }
        if (submission.isUnconfirmed()) {
            // The change is stored and only waits for replicas.
            answer = submission.confirm();
        } else if (isUnknown() && !submission.outcome().isCompletedExceptionally()) {
            answer = submission.outcome().copy().orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } else if (error() != null) {
            // The change had no effect, or nobody will ever know. It goes again under the same id.
            send();
        }
    }

    /** The error, or null. */
    Exception error() {
        try {
            answer.join();
            return null;
        } catch (CompletionException e) {
            if (e.getCause() instanceof TimeoutException cause) {
                return new RequestTimeoutException(
                        what.get() + " may be stored: the same id can safely be sent again", true, cause);
            }
            return e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    T result() {
        return answer.join();
    }

    /** True if nobody knows if the change took effect. */
    private boolean isUnknown() {
        return error() instanceof RequestTimeoutException timeout && timeout.isPossiblyStored();
    }

    /** True if nobody knows if the change took effect, or if a failover can undo it. */
    boolean mustResume() {
        return isUnknown() || (submission != null && submission.isUnconfirmed());
    }
}
