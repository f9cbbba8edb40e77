// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.camel.Message;

/**
 * A request of a producer's step to Redis. One thread uses it at a time: Camel redelivers a step after it has failed.
 */
public interface PendingRequest {

    /** Puts a result into a message. */
    interface Results<T> {
        void put(T result, Message message) throws Exception;
    }

    /**
     * Completes when everything is answered or the request timeout is over. Its value or error has no meaning: {@link
     * #complete} gives the outcome.
     */
    CompletableFuture<?> answered();

    /**
     * Puts the results into the message.
     *
     * @throws Exception if the request failed as a whole or in part, or if its outcome is not known
     */
    void complete(Message message) throws Exception;

    /** True if a redelivery of the step has to go on with this request; otherwise it makes a new one. */
    default boolean mustResume() {
        return false;
    }

    /**
     * Goes on in a redelivery of the step: sends again what certainly had no effect, and waits for what may have had
     * one.
     */
    default void resume(Duration timeout) {}

    /** A call that may be made any number of times: a query, or a bulk change that continues where it stopped. */
    static <T> PendingRequest of(CompletableFuture<T> answer, Results<T> results) {
        return new PendingRequest() {
            @Override
            public CompletableFuture<?> answered() {
                return answer;
            }

            @Override
            public void complete(Message message) throws Exception {
                results.put(value(answer), message);
            }
        };
    }

    /** The value of a future that is done, or its error as it was thrown. */
    static <T> T value(CompletableFuture<T> done) throws Exception {
        try {
            return done.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
