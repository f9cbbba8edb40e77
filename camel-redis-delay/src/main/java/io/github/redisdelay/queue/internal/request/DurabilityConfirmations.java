// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.DurableReply;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * Further waits for requests that Redis has executed but that are not as safe as was asked for. One wait at a time is
 * under way for a queue; requests that want one meanwhile share the next.
 *
 * <p>While the same master answers, Redis waits for the replicas once more. After a failover nobody can tell whether a
 * request was undone. Then the client sends the request again if it cannot undo what others have done since; otherwise
 * it tells the caller.
 */
final class DurabilityConfirmations {

    private final ScriptExecutor redis;
    private final ClientOptions options;
    private final Timers timers;
    private final RandomGenerator random;
    private final Request.Sender sender;

    /** The waits that share the next call, for each queue with a wait under way. Guarded by itself. */
    private final Map<QueueKeys, List<Wait<?>>> waiting = new HashMap<>();
    /** The waits that have no answer. Thread-safe. */
    private final Set<Wait<?>> open = ConcurrentHashMap.newKeySet();
    /**
     * The reason why nothing is waited for any more; null until the client is closed. Written before the open waits are
     * failed.
     */
    private volatile DelayQueueException closed;

    /**
     * The request that is waited for.
     *
     * @param history the id of the history of the master that has executed it; null if it is not known
     */
    private record Executed<T>(Request<T> request, String history) {}

    DurabilityConfirmations(
            ScriptExecutor redis, ClientOptions options, Timers timers, RandomGenerator random, Request.Sender sender) {
        this.redis = redis;
        this.options = options;
        this.timers = timers;
        this.random = random;
        this.sender = sender;
    }

    /**
     * Waits for whatever the master has, also after a failover.
     *
     * @param done a clause that says what was done
     * @param result the value to complete with
     */
    <T> Submission<T> await(QueueAddress queue, String done, T result) {
        return await(new Wait<>(queue, done, result, null));
    }

    /**
     * Tells the caller of a request that it was executed and is not as safe as was asked for. {@link
     * Submission#confirm()} waits once more.
     *
     * @param result the answer to the request
     */
    <T> void tell(Request<T> request, T result, UnmetDurability unmet) {
        Executed<T> executed = new Executed<>(request, unmet.history());
        new Wait<>(request.queue(), request.done(), result, executed).tell(request.submission(), unmet);
    }

    private <T> Submission<T> await(Wait<T> wait) {
        open.add(wait);
        Timers.Timer expiry = timers.schedule(options.requestTimeout().toNanos(), wait::expire);
        wait.submission.whenComplete((none, error) -> expiry.cancel());
        QueueKeys keys = wait.queue.keys();
        List<Wait<?>> shared;
        synchronized (waiting) {
            shared = waiting.putIfAbsent(keys, new ArrayList<>());
            if (shared != null) {
                shared.add(wait);
            }
        }
        DelayQueueException reason = closed;
        if (reason != null) {
            close(reason); // the wait may have come while the others were failed
        } else if (shared == null) {
            send(keys, List.of(wait), 1);
        }
        return wait.submission;
    }

    /** Begins one wait for all requests that want one. */
    private void next(QueueKeys keys) {
        List<Wait<?>> waits;
        synchronized (waiting) {
            waits = waiting.get(keys);
            if (waits.isEmpty()) {
                waiting.remove(keys);
                return;
            }
            waiting.put(keys, new ArrayList<>());
        }
        send(keys, waits, 1);
    }

    private void send(QueueKeys keys, List<Wait<?>> waits, int attempt) {
        redis.awaitDurable(keys, attempt, options.durability()).whenComplete((reply, failure) -> {
            if (closed != null) {
                return;
            }
            Throwable error = failure == null ? null : ErrorText.unwrap(failure);
            if (error != null && !RedisErrors.isRefusal(error)) {
                timers.schedule(Backoff.nanos(attempt, random), () -> send(keys, waits, attempt + 1));
                return;
            }
            next(keys);
            CompletingThread.run(() -> waits.forEach(wait -> wait.answer(reply, error)));
        });
    }

    /** Fails all waits that have no answer, and all that come later. */
    void close(DelayQueueException reason) {
        closed = reason;
        open.forEach(wait -> wait.submission.fail(reason));
        open.clear();
    }

    /** One wait, and its caller's future. */
    private final class Wait<T> {
        final SubmissionPromise<T> submission = new SubmissionPromise<>();
        private final QueueAddress queue;
        private final String done;
        private final T result;
        private final Executed<T> executed;

        /** @param executed the request that a failover may have undone; null to wait for whatever the master has */
        Wait(QueueAddress queue, String done, T result, Executed<T> executed) {
            this.queue = queue;
            this.done = done;
            this.result = result;
            this.executed = executed;
        }

        void answer(DurableReply reply, Throwable refusal) {
            open.remove(this);
            if (refusal != null) {
                tell(submission, new UnmetDurability(options.durability(), 0, false, null, refusal));
            } else if (executed != null && !isSameMaster((byte[]) reply.reply())) {
                sendAgain();
            } else if (reply.unmet() != null) {
                tell(submission, reply.unmet());
            } else {
                submission.succeed(result);
            }
        }

        private boolean isSameMaster(byte[] history) {
            return new String(history, StandardCharsets.US_ASCII).equals(executed.history());
        }

        private void sendAgain() {
            Request<T> again = executed.request().afterFailover(result);
            if (again == null) {
                tell(submission, UnmetDurability.unknown(options.durability()));
            } else {
                submission.follow(sender.submit(again));
            }
        }

        void tell(SubmissionPromise<T> caller, UnmetDurability unmet) {
            caller.unconfirmed(
                    unmet.exception(queue.name(), done, result),
                    () -> await(new Wait<>(queue, done, result, executed)));
        }

        /** Ends the wait of the caller only. */
        void expire() {
            submission.completeExceptionally(new RequestTimeoutException(
                    "queue '" + queue.name() + "': " + redis.server() + " did not answer in time; " + done
                            + ", not known to be replicated",
                    true,
                    null));
        }
    }
}
