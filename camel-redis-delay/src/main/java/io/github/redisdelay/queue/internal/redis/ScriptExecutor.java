// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Durability;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Sends a script call to Redis once and answers what came back. It never repeats a call whose outcome is not known. */
public interface ScriptExecutor {

    /** Who is called, for people: Redis, and where it is if that is known. */
    default String server() {
        return "Redis";
    }

    /** The connection that it uses: the same object for two callers of one Redisson client. */
    default Object connection() {
        return this;
    }

    /**
     * Calls a script.
     *
     * @param attempt which sending of the same call this is, from 1: later ones wait longer for their answer
     * @return the reply: bytes, or a list of bytes for {@link LuaScript#CLAIM}
     */
    CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt);

    /**
     * Calls a script of a lane and waits until what it wrote is as safe as is wanted.
     *
     * @param wanted something to wait for
     * @return the reply with what is missing. Fails where it is not known whether the script was executed, and where this can be
     *     had never
     */
    default CompletableFuture<DurableReply> callDurably(
            LuaScript script, QueueKeys queue, Object[] arguments, int attempt, Durability wanted) {
        throw new UnsupportedOperationException("this one does not wait for replicas");
    }

    /**
     * Waits until all that a master has executed so far is as safe as is wanted.
     *
     * @param attempt as of {@link #call}
     * @return what is missing, and as the reply the id of the master's history: bytes, empty if it does not tell
     */
    default CompletableFuture<DurableReply> awaitDurable(QueueKeys queue, int attempt, Durability wanted) {
        throw new UnsupportedOperationException("this one does not wait for replicas");
    }
}
