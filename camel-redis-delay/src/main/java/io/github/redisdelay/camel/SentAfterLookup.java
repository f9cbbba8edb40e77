// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.camel.Message;

/** A request that can be made only when something has been looked up. */
final class SentAfterLookup<T> implements SentRequest {

    private final Supplier<CompletableFuture<T>> lookup;
    private final Function<T, SentRequest> request;

    // Used by one thread at a time: Camel's error handler redelivers a step after it has failed.
    private CompletableFuture<SentRequest> sent;

    /** @param request makes the request; called on a thread that must not block */
    SentAfterLookup(Supplier<CompletableFuture<T>> lookup, Function<T, SentRequest> request) {
        this.lookup = lookup;
        this.request = request;
        send();
    }

    private void send() {
        sent = lookup.get().thenApply(request);
    }

    private SentRequest made() {
        return sent.isDone() && !sent.isCompletedExceptionally() ? sent.join() : null;
    }

    @Override
    public CompletableFuture<?> answered() {
        return sent.thenCompose(SentRequest::answered);
    }

    @Override
    public CompletableFuture<?> again(Duration timeout) {
        SentRequest made = made();
        if (made != null) {
            return made.again(timeout);
        }
        send();
        return answered();
    }

    @Override
    public void complete(Message message) throws Exception {
        SentRequest made;
        try {
            made = sent.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
        made.complete(message);
    }

    @Override
    public boolean isToBeContinued() {
        SentRequest made = made();
        return made != null && made.isToBeContinued();
    }
}
