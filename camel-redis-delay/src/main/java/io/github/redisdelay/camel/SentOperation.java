// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.RequestTimeoutException;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.camel.Message;

/** One operation that was sent: a schedule, cancel or reschedule of one message. */
final class SentOperation<T> implements SentRequest {

    private final String server;
    private final Supplier<String> what;
    private final Supplier<Submission<T>> call;
    private final BiConsumer<T, Message> results;

    // Used by one thread at a time: Camel's error handler redelivers a step after it has failed.
    private Submission<T> submission;
    private CompletableFuture<T> answer;

    /**
     * @param queue any of the same Redis
     * @param what the operation, for errors, such as {@code message 'a' of queue 'q'}
     * @param call sends it; again only if the first one certainly had no effect
     * @param results puts the answer into the message
     */
    SentOperation(
            DelayQueue queue, Supplier<String> what, Supplier<Submission<T>> call, BiConsumer<T, Message> results) {
        this.server = queue.server();
        this.what = what;
        this.call = call;
        this.results = results;
        send();
    }

    private void send() {
        submission = call.get();
        answer = submission;
    }

    @Override
    public CompletableFuture<?> answered() {
        return answer;
    }

    @Override
    public CompletableFuture<?> again(Duration timeout) {
        if (submission.isUnconfirmed()) {
            // It is stored: all that is left is to wait for replicas.
            submission = submission.confirm();
            answer = submission;
        } else if (isUnknown() && !submission.outcome().isCompletedExceptionally()) {
            answer = submission.outcome().copy().orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } else if (error() != null) {
            // It had no effect, or nobody will ever know: then it goes under the same id again.
            send();
        }
        return answered();
    }

    @Override
    public void complete(Message message) throws Exception {
        Throwable error = error();
        if (error == null) {
            results.accept(answer.join(), message);
        } else if (error instanceof Exception exception) {
            throw exception;
        } else {
            throw new IllegalStateException(error);
        }
    }

    /** What went wrong, or null. */
    Throwable error() {
        try {
            answer.join();
            return null;
        } catch (CompletionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof TimeoutException) {
                return new RequestTimeoutException(
                        server + " did not answer in time again; " + what.get()
                                + " may be stored: the same id can safely be sent again",
                        true,
                        cause);
            }
            return cause;
        }
    }

    T result() {
        return answer.join();
    }

    /** Whether nobody knows if the request took effect. */
    boolean isUnknown() {
        return error() instanceof RequestTimeoutException timeout && timeout.isPossiblyStored();
    }

    /** Whether nobody knows if the request took effect, or if a failover can undo it. */
    @Override
    public boolean isToBeContinued() {
        return isUnknown() || submission.isUnconfirmed();
    }
}
