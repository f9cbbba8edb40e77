// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.redis.DurableReply;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * The way to Redis that the requests of one kind of one queue share.
 *
 * @param durability the safety that a call needs before it counts as done
 * @param sender sends the further waits for calls that were not as safe in time
 * @param random spreads repeats
 * @param used runs when Redis has answered a call; must be cheap
 */
public record RequestChannel(
        QueueAddress queue,
        RequestKind kind,
        Durability durability,
        ScriptExecutor redis,
        Request.Sender sender,
        Timers timers,
        RandomGenerator random,
        Runnable used) {

    /** Sends a call once. */
    CompletableFuture<DurableReply> send(LuaScript script, List<Object> names, Object[] arguments, int attempt) {
        return durability.waits()
                ? redis.callDurably(script, queue.keys(), arguments, attempt, durability)
                : redis.call(script, names, arguments, attempt).thenApply(reply -> new DurableReply(reply, null));
    }

    RequestErrors errors() {
        return new RequestErrors(queue, redis.server());
    }
}
