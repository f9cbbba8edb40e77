// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import io.github.redisdelay.queue.internal.redis.RepeatedCall;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.Session;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The claims of one consumer, in a session of its own: one call at a time, repeated byte for byte until Redis answers.
 * A repeated claim gives the messages that the first copy leased.
 */
public final class RedisClaimCalls implements ClaimCalls {

    private final Session session;
    private final QueueAddress queue;
    private final List<Object> keys;
    private final byte[] base;
    private final byte[] member;
    private final ScriptExecutor redis;
    private final Backoff backoff;
    private final Consumer<Throwable> attemptFailed;
    private final Runnable released;
    /** The number of calls under way, and one for being open. At zero the session is free again. */
    private final AtomicInteger users = new AtomicInteger(1);
    /** Completes when the session is free. */
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    /**
     * @param member the consumer's name among the waiters; see {@code wakeup.lua}
     * @param attemptFailed gets the error of each sending that got no answer
     * @param released runs when another consumer can use the session
     */
    public RedisClaimCalls(
            Session session,
            byte[] member,
            QueueAddress queue,
            ScriptExecutor redis,
            Timers timers,
            RandomGenerator random,
            Consumer<Throwable> attemptFailed,
            Runnable released) {
        this.session = session;
        this.member = member;
        this.queue = queue;
        this.keys = queue.keys().of(LuaScript.CLAIM);
        this.base = queue.keys().base().getBytes(StandardCharsets.UTF_8);
        this.redis = redis;
        this.backoff = new Backoff(timers, random);
        this.attemptFailed = attemptFailed;
        this.released = released;
    }

    @Override
    public CompletableFuture<ClaimReply> claim(ClaimRequest request, CompletableFuture<ClaimReply> reply) {
        if (!use()) {
            // The consumer was stopped while it was about to claim. Another one may have the session by now.
            reply.completeExceptionally(new DelayQueueException("the consumer was stopped"));
        } else {
            new Call(request, reply).start();
        }
        return reply;
    }

    @Override
    public Runnable leave(ClaimId claimId) {
        long safety = PartitionState.safetyMicros(backoff.random());
        return use() ? new Call(ClaimRequest.leave(claimId, safety), null)::start : () -> {};
    }

    /** Keeps the session for a call; false if it was given back. */
    private boolean use() {
        return users.getAndUpdate(n -> n == 0 ? 0 : n + 1) > 0;
    }

    /** A claim, which is repeated; or one of nothing, which is not: one that fails is the same as one lost on its way. */
    private final class Call extends RepeatedCall<Object> {
        private final Object[] arguments;
        /** Null for a claim of nothing. */
        private final CompletableFuture<ClaimReply> result;

        Call(ClaimRequest request, CompletableFuture<ClaimReply> result) {
            super(backoff);
            this.arguments = arguments(request);
            this.result = result;
        }

        @Override
        protected CompletableFuture<Object> send(int attempt) {
            return redis.call(LuaScript.CLAIM, keys, arguments, attempt);
        }

        @Override
        protected boolean isFinal(Throwable error) {
            return result == null || RedisErrors.isRefusal(error);
        }

        @Override
        protected void failed(int attempt, Throwable error) {
            attemptFailed.accept(error);
        }

        @Override
        protected void ended(Object reply, Throwable error) {
            try {
                if (result != null && error != null) {
                    result.completeExceptionally(RedisErrors.explained(queue, error));
                } else if (result != null) {
                    complete(result, reply);
                }
            } finally {
                release();
            }
        }
    }

    private Object[] arguments(ClaimRequest request) {
        Object[] arguments = {
            session.name(),
            Digits.of(session.numbers().getAsLong()),
            request.claimId().bytes(),
            Digits.of(request.leaseMicros()),
            Digits.of(request.messages()),
            Digits.of(request.expired()),
            Digits.of(ClaimRequest.MAX_BYTES),
            base,
            member,
            Digits.of(request.quick() ? 1 : 0),
            Digits.of(request.safetyMicros()),
            Digits.of(Math.max(0, request.batchMicros()))
        };
        return request.batchMicros() == ClaimRequest.NO_BATCH
                ? Arrays.copyOf(arguments, arguments.length - 1)
                : arguments;
    }

    private static void complete(CompletableFuture<ClaimReply> result, Object reply) {
        try {
            result.complete(ClaimReply.parse((List<?>) reply));
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }

    @Override
    public CompletableFuture<Void> close() {
        release();
        return closed;
    }

    /** Gives up the session when its last answer was handed over: messages that nobody wants have been released by then. */
    private void release() {
        if (users.decrementAndGet() == 0) {
            released.run();
            closed.complete(null);
        }
    }
}
