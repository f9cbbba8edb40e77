// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.camel.RuntimeCamelException;

/**
 * Calls to the queue of an endpoint, for tools, which wait for the answer.
 *
 * @param client gives a share in a client, which is released
 * @param queue the queue of a client
 */
public record QueueCalls(
        String name,
        Duration requestTimeout,
        Supplier<Reference<OpenClient>> client,
        Function<Reference<OpenClient>, DelayQueue> queue) {

    /** The queue layer ends a call by itself, and knows better what became of it. */
    private static final Duration BEYOND_TIMEOUT = Duration.ofSeconds(1);

    /**
     * Asks Redis about the queue, or to change it, and waits for the answer.
     *
     * @param failed what it means if there is none, for the error
     * @throws RuntimeCamelException if Redis cannot be asked, or refuses
     */
    public <T> T ask(String failed, Function<DelayQueue, CompletableFuture<T>> call) {
        Reference<OpenClient> share = null;
        try {
            share = client.get();
            Duration patience = requestTimeout.plus(BEYOND_TIMEOUT);
            return call.apply(queue.apply(share)).get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(failed, e);
        } catch (Exception e) {
            throw failure(failed, e instanceof ExecutionException ? e.getCause() : e);
        } finally {
            if (share != null) {
                share.release();
            }
        }
    }

    private RuntimeCamelException failure(String failed, Throwable cause) {
        String prefix = "queue '" + name + "': ";
        String why = cause instanceof RuntimeCamelException ? cause.getMessage() : ErrorText.of(cause);
        return new RuntimeCamelException(
                prefix + failed + ": " + (why.startsWith(prefix) ? why.substring(prefix.length()) : why), cause);
    }
}
