// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.apache.camel.Message;

/** A call that can be made again after it has failed: one that looks, or that changes only what is left to be changed. */
final class SentCall<T> implements SentRequest {

    /** Puts a result into a message. */
    interface Results<T> {
        void put(T result, Message message) throws Exception;
    }

    private final Supplier<CompletableFuture<T>> call;
    private final Results<T> results;

    // Used by one thread at a time: Camel's error handler redelivers a step after it has failed.
    private CompletableFuture<T> answer;

    SentCall(Supplier<CompletableFuture<T>> call, Results<T> results) {
        this.call = call;
        this.results = results;
        answer = call.get();
    }

    @Override
    public CompletableFuture<?> answered() {
        return answer;
    }

    @Override
    public CompletableFuture<?> again(Duration timeout) {
        answer = call.get();
        return answered();
    }

    @Override
    public void complete(Message message) throws Exception {
        T result;
        try {
            result = answer.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
        results.put(result, message);
    }

    @Override
    public boolean isToBeContinued() {
        return false;
    }
}
