// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * The way to Redis that the requests of one kind of one queue share.
 *
 * @param queue the queue's name, for messages
 * @param durability how safe a call has to be before it counts as done
 * @param random spreads repeats
 */
record RequestChannel(
        String queue,
        QueueKeys keys,
        RequestKind kind,
        Durability durability,
        RedisCaller redis,
        Timers timers,
        RandomGenerator random) {

    /** Sends a call once. */
    CompletableFuture<DurableReply> send(LuaScript script, List<Object> names, Object[] arguments, int attempt) {
        return durability.waits()
                ? redis.callDurably(script, keys, arguments, attempt, durability)
                : redis.call(script, names, arguments, attempt).thenApply(reply -> new DurableReply(reply, null));
    }

    Timers.Timer retry(int failures, Runnable task) {
        return timers.schedule(Backoff.nanos(failures, random), task);
    }

    RequestErrors errors() {
        return new RequestErrors(queue, redis.server());
    }
}
