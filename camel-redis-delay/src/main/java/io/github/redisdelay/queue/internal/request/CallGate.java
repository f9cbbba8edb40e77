// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Submission;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A gate before the calls to a queue: it lets them pass, at once or when they may. */
@FunctionalInterface
public interface CallGate {

    /** The gate of a queue about which nothing has to be known before. */
    CallGate OPEN = () -> null;

    /** The turn of a call that has to wait, or null if it may pass. Calls that wait keep their order. */
    CompletableFuture<Void> turn();

    /**
     * Makes a call when it may pass.
     *
     * @return fails as the call does, or if it may not pass
     */
    default <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> call) {
        CompletableFuture<Void> turn = turn();
        return turn == null ? call.get() : turn.thenCompose(passed -> call.get());
    }

    /** The same as {@link #ask}, for a request of a batcher. */
    default <T> Submission<T> submit(Supplier<Submission<T>> call) {
        CompletableFuture<Void> turn = turn();
        return turn == null ? call.get() : SubmissionPromise.after(turn, call);
    }
}
