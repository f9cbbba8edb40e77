// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A gate before the calls to a queue: it lets them pass, at once or when they may. */
public interface CallGate {

    /** The gate of a queue about which nothing has to be known before. */
    CallGate OPEN = new CallGate() {
        @Override
        public <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> call) {
            return call.get();
        }
    };

    /**
     * Makes a call when it may pass. Calls that wait keep their order.
     *
     * @return fails as the call does, or if it may not pass
     */
    <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> call);
}
