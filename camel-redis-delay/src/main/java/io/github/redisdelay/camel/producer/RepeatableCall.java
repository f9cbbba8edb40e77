// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.camel.Message;

/**
 * An idempotent call: a query, or a bulk change that continues where it stopped.
 */
public final class RepeatableCall<T> implements PendingRequest {

    /** Puts a result into a message. */
    public interface Results<T> {
        void put(T result, Message message) throws Exception;
    }

    private final Supplier<CompletableFuture<T>> call;
    private final Results<T> results;

    // Used by one thread at a time.
    private CompletableFuture<T> answer;

    private RepeatableCall(Supplier<CompletableFuture<T>> call, CompletableFuture<T> answer, Results<T> results) {
        this.call = call;
        this.answer = answer;
        this.results = results;
    }

    /** Sends the call. */
    public static <T> RepeatableCall<T> send(Supplier<CompletableFuture<T>> call, Results<T> results) {
        return new RepeatableCall<>(call, call.get(), results);
    }

    @Override
    public CompletableFuture<?> answered() {
        return answer;
    }

    @Override
    public void resume(Duration timeout) {
        answer = call.get();
    }

    @Override
    public void complete(Message message) throws Exception {
        results.put(PendingRequest.value(answer), message);
    }

    @Override
    public boolean mustResume() {
        return false;
    }
}
