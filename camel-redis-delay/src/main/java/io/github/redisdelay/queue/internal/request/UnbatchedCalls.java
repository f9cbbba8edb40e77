// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;

/**
 * Script calls outside of the lanes: those that change nothing, and those for which it does not matter how often they are
 * executed. All end when the request timeout is over.
 */
public final class UnbatchedCalls {

    private final ScriptExecutor redis;
    private final Timers timers;
    private final RandomGenerator random;
    private final Duration requestTimeout;

    /** Those that have no outcome yet. */
    private final Set<Attempts> open = ConcurrentHashMap.newKeySet();
    /** Why nothing is called any more; null until the client is closed. Written once, before the open ones are failed. */
    private volatile DelayQueueException closed;

    public UnbatchedCalls(ScriptExecutor redis, Timers timers, RandomGenerator random, Duration requestTimeout) {
        this.redis = redis;
        this.timers = timers;
        this.random = random;
        this.requestTimeout = requestTimeout;
    }

    /**
     * Calls a script once.
     *
     * @return bytes or a list, as the script answers
     */
    public CompletableFuture<Object> once(QueueAddress queue, LuaScript script, Object... arguments) {
        return new Attempts(queue, script, arguments, false).begin();
    }

    /**
     * The same, and again while Redis cannot be reached or does not execute the call for now: it is loading or failing over, or
     * the queue's slot is being moved.
     */
    public CompletableFuture<Object> untilAnswered(QueueAddress queue, LuaScript script, Object... arguments) {
        return new Attempts(queue, script, arguments, true).begin();
    }

    /** Fails those that wait for another attempt, and those to come. */
    public void close(DelayQueueException reason) {
        closed = reason;
        open.forEach(attempts -> attempts.outcome.completeExceptionally(reason));
    }

    private final class Attempts {
        private final QueueAddress queue;
        private final LuaScript script;
        private final Object[] arguments;
        private final boolean patient;
        private final CompletableFuture<Object> outcome = new CompletableFuture<>();
        // Each attempt begins when the one before has failed: no two threads are in here at a time.
        private int failures;
        /** Why the last attempt has failed; read by whoever ends the wait. */
        private volatile Throwable lastError;

        Attempts(QueueAddress queue, LuaScript script, Object[] arguments, boolean patient) {
            this.queue = queue;
            this.script = script;
            this.arguments = arguments;
            this.patient = patient;
        }

        /** Sends the first one; answers what becomes of it. */
        CompletableFuture<Object> begin() {
            open.add(this);
            outcome.whenComplete((reply, error) -> open.remove(this));
            next();
            return answer();
        }

        private void next() {
            DelayQueueException reason = closed;
            if (reason != null) {
                outcome.completeExceptionally(reason);
            } else if (!outcome.isDone()) {
                // As a last repeat, whose answer is waited for longest: an answer that does not come is not asked for
                // again.
                redis.call(script, queue.keys().of(script), arguments, RedissonScriptExecutor.TIMEOUT_STEPS)
                        .whenComplete((reply, error) -> {
                            if (error == null) {
                                outcome.complete(reply);
                            } else {
                                failed(RedisErrors.unwrap(error));
                            }
                        });
            }
        }

        private void failed(Throwable error) {
            if (patient && RedisErrors.isNotYet(error)) {
                lastError = error;
                failures++;
                timers.schedule(Backoff.nanos(failures, random), this::next);
            } else {
                outcome.completeExceptionally(error);
            }
        }

        private CompletableFuture<Object> answer() {
            return outcome.orTimeout(requestTimeout.toNanos(), TimeUnit.NANOSECONDS)
                    .handle((reply, error) -> {
                        if (error == null) {
                            return reply;
                        }
                        throw exception(RedisErrors.unwrap(error));
                    });
        }

        private DelayQueueException exception(Throwable error) {
            if (error == closed) {
                return closed;
            }
            Throwable cause = error;
            if (error instanceof TimeoutException) {
                cause = lastError != null ? lastError : new TimeoutException("no answer within " + requestTimeout);
            }
            if (RedisErrors.explained(queue.name(), cause) instanceof PartitionMismatchException mismatch) {
                return mismatch;
            }
            String what = error instanceof TimeoutException
                    ? redis.server() + " did not answer within " + requestTimeout
                            + (lastError == null ? "" : " (" + RedisErrors.text(lastError) + ")")
                    : RedisErrors.text(error);
            return new DelayQueueException("queue '" + queue.name() + "': " + what, cause);
        }
    }
}
