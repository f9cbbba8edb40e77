// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.RedisDelayClients.OpenClient;
import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedisErrors;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.camel.RuntimeCamelException;

/**
 * The figures of an endpoint's queue for those who read many of them one after the other: asks Redis once a second. A failure
 * holds as long, or each of the figures would wait for a Redis that does not answer.
 */
final class QueueFigures {

    private static final long KEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The queue layer ends a call by itself, and knows better what became of it. */
    private static final Duration BEYOND_TIMEOUT = Duration.ofSeconds(1);

    private final RedisDelayEndpoint endpoint;
    private final LongSupplier nanoTime;

    // Guarded by this.
    private QueueStats latest;
    private RuntimeCamelException failure; // null if the latest reading gave figures
    private boolean isRead;
    private long readNanos;

    QueueFigures(RedisDelayEndpoint endpoint, LongSupplier nanoTime) {
        this.endpoint = endpoint;
        this.nanoTime = nanoTime;
    }

    /**
     * The figures, at most a second old.
     *
     * @throws RuntimeCamelException if Redis cannot be asked
     */
    synchronized QueueStats get() {
        if (!isRead || nanoTime.getAsLong() - readNanos >= KEEP_NANOS) {
            try {
                latest = read();
                failure = null;
            } catch (RuntimeCamelException e) {
                failure = e;
            }
            isRead = true;
            readNanos = nanoTime.getAsLong(); // after it: a failure may have taken long
        }
        if (failure != null) {
            throw failure;
        }
        return latest;
    }

    private QueueStats read() {
        boolean dead = endpoint.isOfDeadLetters();
        return ask(endpoint, "its figures could not be read", queue -> (dead ? queue.deadLetters() : queue).stats());
    }

    /**
     * Asks Redis about the queue of an endpoint, or to change it, and waits for the answer.
     *
     * @param failed what it means if there is none, for the error
     * @throws RuntimeCamelException if Redis cannot be asked, or refuses
     */
    static <T> T ask(RedisDelayEndpoint endpoint, String failed, Function<DelayQueue, CompletableFuture<T>> call) {
        Reference<OpenClient> client = null;
        try {
            client = endpoint.acquireClient();
            Duration patience = endpoint.clientOptions().requestTimeout().plus(BEYOND_TIMEOUT);
            return call.apply(endpoint.queue(client)).get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(endpoint, failed, e);
        } catch (ExecutionException e) {
            throw failure(endpoint, failed, e.getCause());
        } catch (Exception e) {
            throw failure(endpoint, failed, e);
        } finally {
            if (client != null) {
                client.release();
            }
        }
    }

    private static RuntimeCamelException failure(RedisDelayEndpoint endpoint, String failed, Throwable cause) {
        String queue = "queue '" + endpoint.getQueueName() + "': ";
        String why = cause instanceof RuntimeCamelException ? cause.getMessage() : RedisErrors.text(cause);
        return new RuntimeCamelException(
                queue + failed + ": " + (why.startsWith(queue) ? why.substring(queue.length()) : why), cause);
    }
}
