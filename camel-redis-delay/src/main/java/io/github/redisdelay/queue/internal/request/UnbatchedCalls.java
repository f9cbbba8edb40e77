// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.RepeatedCall;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * Script calls that are sent alone: calls that change nothing, and calls that may be executed any number of times. All
 * end when the request timeout is over.
 */
public final class UnbatchedCalls {

    private final ScriptExecutor redis;
    private final Backoff backoff;
    private final Duration requestTimeout;

    /** The calls, and what goes on by several of them, that have no outcome yet. Thread-safe. */
    private final Set<CompletableFuture<?>> open = ConcurrentHashMap.newKeySet();
    /**
     * The reason why nothing is called any more; null until the client is closed. Written before the open calls are
     * failed.
     */
    private volatile DelayQueueException closed;

    public UnbatchedCalls(ScriptExecutor redis, Timers timers, RandomGenerator random, Duration requestTimeout) {
        this.redis = redis;
        this.backoff = new Backoff(timers, random);
        this.requestTimeout = requestTimeout;
    }

    /**
     * Calls a script once.
     *
     * @return bytes or a list, as the script answers
     */
    public CompletableFuture<Object> once(QueueAddress queue, LuaScript script, Object... arguments) {
        return call(queue, script, arguments, error -> false);
    }

    /**
     * Calls a script, and repeats the call while Redis says that it does not execute it for now. A call that was cut off may
     * have taken effect, and is not repeated: its answer would be another one.
     */
    public CompletableFuture<Object> untilExecuted(QueueAddress queue, LuaScript script, Object... arguments) {
        return call(queue, script, arguments, RedisErrors::isPutOff);
    }

    /**
     * Calls a script, and repeats the call while Redis cannot be reached or does not execute it for now: while it is
     * loading or failing over, or while the queue's slot is being moved.
     */
    public CompletableFuture<Object> untilAnswered(QueueAddress queue, LuaScript script, Object... arguments) {
        return call(queue, script, arguments, RedisErrors::isNotYet);
    }

    /** Fails what is made of several calls when the client is closed, unless it has an outcome before. */
    public void failOnClose(CompletableFuture<?> outcome) {
        open.add(outcome);
        outcome.whenComplete((reply, error) -> open.remove(outcome));
        DelayQueueException reason = closed;
        if (reason != null) {
            outcome.completeExceptionally(reason);
        }
    }

    /** Fails the calls that have no outcome, and all that come later. */
    public void close(DelayQueueException reason) {
        closed = reason;
        open.forEach(outcome -> outcome.completeExceptionally(reason));
    }

    public ScriptExecutor redis() {
        return redis;
    }

    public Timers timers() {
        return backoff.timers();
    }

    public RandomGenerator random() {
        return backoff.random();
    }

    private CompletableFuture<Object> call(
            QueueAddress queue, LuaScript script, Object[] arguments, Predicate<Throwable> repeats) {
        CompletableFuture<Object> outcome = new CompletableFuture<>();
        RepeatedCall<Object> call = new RepeatedCall<>(backoff) {
            @Override
            protected CompletableFuture<Object> send(int attempt) {
                // An answer that does not come is not asked for again, so each sending waits as long as a last repeat.
                return redis.call(script, queue.keys().of(script), arguments, RedissonScriptExecutor.TIMEOUT_STEPS);
            }

            @Override
            protected boolean isFinal(Throwable error) {
                return !repeats.test(error);
            }

            @Override
            protected void ended(Object answer, Throwable error) {
                // Its dependents may change many messages, and must not wait for space on a thread of Redisson.
                CompletingThread.run(() -> {
                    if (error == null) {
                        outcome.complete(answer);
                    } else {
                        outcome.completeExceptionally(error);
                    }
                });
            }
        };
        failOnClose(outcome);
        // It is repeated no more before its caller hears of the end.
        CompletableFuture<Object> told = outcome.orTimeout(requestTimeout.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((answer, error) -> call.stop())
                .exceptionally(error -> {
                    throw exception(queue, ErrorText.unwrap(error), call.lastError());
                });
        call.start();
        return told;
    }

    /** @param lastError the error for which the call was repeated; null for none */
    private DelayQueueException exception(QueueAddress queue, Throwable error, Throwable lastError) {
        if (error == closed) {
            return closed;
        }
        Throwable cause = error;
        if (error instanceof TimeoutException) {
            cause = lastError != null ? lastError : new TimeoutException("no answer within " + requestTimeout);
        }
        Throwable explained = RedisErrors.explained(queue, cause);
        if (explained != cause) {
            return (DelayQueueException) explained;
        }
        if (error instanceof TimeoutException) {
            String why = lastError == null ? "" : " (" + ErrorText.of(lastError) + ")";
            return new RequestTimeoutException(
                    queue.label() + ": " + redis.server() + " did not answer within " + requestTimeout + why,
                    true,
                    cause);
        }
        return new DelayQueueException(queue.label() + ": " + ErrorText.of(error), cause);
    }
}
