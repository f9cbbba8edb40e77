// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * Waits once more, for requests that Redis has executed, until they are as safe as was asked for. For one queue one wait is
 * under way at a time; those who ask meanwhile share the next one.
 *
 * <p>After a failover nobody can tell whether a request was undone. Then it is sent again if it cannot undo what others have done
 * since; otherwise its caller is told.
 */
final class ReplicationWaits {

    private final RedisCaller redis;
    private final ClientOptions options;
    private final Timers timers;
    private final RandomGenerator random;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Group> groups = new HashMap<>(); // guarded by lock
    /** Those that have no answer. */
    private final Set<Wait<?>> open = ConcurrentHashMap.newKeySet();

    private volatile DelayQueueException closed;

    /** Those of one queue. */
    private static final class Group {
        final String base;
        final QueueKeys keys;
        List<Wait<?>> waiting = new ArrayList<>(); // guarded by lock

        Group(QueueKeys queue) {
            base = queue.base();
            keys = queue;
        }
    }

    ReplicationWaits(RedisCaller redis, ClientOptions options, Timers timers, RandomGenerator random) {
        this.redis = redis;
        this.options = options;
        this.timers = timers;
        this.random = random;
    }

    /**
     * Waits for whatever the master has, also behind a failover.
     *
     * @param done what was done, a clause
     * @param result what to complete with
     */
    <T> Submission<T> await(QueueAddress queue, String done, T result) {
        return await(new Wait<>(queue, done, result, false, null, null));
    }

    /**
     * Waits for a request that a master has executed.
     *
     * @param done what was done, a clause
     * @param result what the request was answered
     * @param history the id of that master's history; null if it is not known
     * @param resend sends it again if it may have been undone; null if that must not be
     * @return as for the request
     */
    <T> Submission<T> await(
            QueueAddress queue, String done, T result, String history, Request.Resend<T> resend) {
        return await(new Wait<>(queue, done, result, true, history, resend));
    }

    private <T> Submission<T> await(Wait<T> wait) {
        open.add(wait);
        Timers.Timer expiry = timers.schedule(options.requestTimeout().toNanos(), wait::expire);
        wait.submission.whenComplete((none, error) -> expiry.cancel());
        Group begun = null;
        lock.lock();
        try {
            QueueKeys keys = wait.queue.keys();
            Group group = groups.get(keys.base());
            if (group == null) {
                begun = group = new Group(keys);
                groups.put(group.base, group);
            }
            group.waiting.add(wait);
        } finally {
            lock.unlock();
        }
        DelayQueueException reason = closed;
        if (reason != null) {
            close(reason); // it may have come while the others were ended
        } else if (begun != null) {
            next(begun);
        }
        return wait.submission;
    }

    /** Begins a wait for all that want one. */
    private void next(Group group) {
        List<Wait<?>> waits;
        lock.lock();
        try {
            waits = group.waiting;
            group.waiting = new ArrayList<>();
            if (waits.isEmpty()) {
                groups.remove(group.base, group);
                return;
            }
        } finally {
            lock.unlock();
        }
        send(group, waits, 1);
    }

    private void send(Group group, List<Wait<?>> waits, int attempt) {
        redis.awaitDurable(group.keys, attempt, options.durability()).whenComplete((reply, failure) -> {
            if (closed != null) {
                return;
            }
            Throwable error = failure == null ? null : RedisErrors.unwrap(failure);
            if (error != null && !RedisErrors.isRefusal(error)) {
                timers.schedule(Backoff.nanos(attempt, random), () -> send(group, waits, attempt + 1));
                return;
            }
            next(group);
            CompletingThread.run(() -> waits.forEach(wait -> wait.answer(reply, error)));
        });
    }

    /** Fails all that have no answer, and those to come. */
    void close(DelayQueueException reason) {
        closed = reason;
        open.forEach(wait -> wait.submission.fail(reason));
        open.clear();
    }

    /** One request. */
    private final class Wait<T> {
        final Submission<T> submission = new Submission<>();
        private final QueueAddress queue;
        private final String done;
        private final T result;
        private final boolean sameMaster;
        private final String history;
        private final Request.Resend<T> resend;

        /** @param sameMaster whether another master's answer says nothing */
        Wait(
                QueueAddress queue,
                String done,
                T result,
                boolean sameMaster,
                String history,
                Request.Resend<T> resend) {
            this.queue = queue;
            this.done = done;
            this.result = result;
            this.sameMaster = sameMaster;
            this.history = history;
            this.resend = resend;
        }

        void answer(DurableReply reply, Throwable refusal) {
            open.remove(this);
            if (refusal != null) {
                tell(new Shortfall(options.durability(), 0, false, history, refusal));
            } else if (sameMaster && !isSame((byte[]) reply.reply())) {
                if (resend == null) {
                    tell(Shortfall.unknown(options.durability(), history));
                } else {
                    submission.follow(resend.send(result));
                }
            } else if (reply.shortfall() != null) {
                tell(reply.shortfall());
            } else {
                submission.succeed(result);
            }
        }

        private boolean isSame(byte[] master) {
            return history != null && history.equals(new String(master, StandardCharsets.US_ASCII));
        }

        private void tell(Shortfall shortfall) {
            submission.unconfirmed(
                    shortfall.exception(queue.name(), done, result),
                    () -> await(new Wait<>(queue, done, result, sameMaster, history, resend)));
        }

        /** Ends the caller's wait only. */
        void expire() {
            submission.completeExceptionally(new RequestTimeoutException(
                    "queue '" + queue.name() + "': " + redis.server() + " did not answer in time; " + done
                            + ", not known to be replicated",
                    true,
                    null));
        }
    }
}
