// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.RedisDelayClients.OpenClient;
import io.github.redisdelay.camel.SharedResources.Reference;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueStats;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.apache.camel.RuntimeCamelException;

/**
 * The figures of an endpoint's queue for those who read many of them one after the other: asks Redis once a second. A failure
 * holds as long, or each of the figures would wait for a Redis that does not answer.
 */
final class QueueFigures {

    private static final long KEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

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
        Reference<OpenClient> client = null;
        try {
            client = endpoint.acquireClient();
            DelayQueue queue = endpoint.queue(client);
            boolean dead = endpoint.producerSettings().state() == MessageSet.DEAD;
            return (dead ? queue.deadLetters() : queue)
                    .stats()
                    .get(endpoint.clientOptions().requestTimeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed(e);
        } catch (ExecutionException e) {
            throw failed(e.getCause());
        } catch (TimeoutException e) {
            throw failed(e);
        } catch (Exception e) {
            throw e instanceof RuntimeCamelException known ? known : failed(e);
        } finally {
            if (client != null) {
                client.release();
            }
        }
    }

    private RuntimeCamelException failed(Throwable cause) {
        return new RuntimeCamelException(
                "queue '" + endpoint.getQueueName() + "': its figures could not be read"
                        + (cause.getMessage() == null ? "" : ": " + cause.getMessage()),
                cause);
    }
}
