// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Durability;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A way to send script calls to Redis, each once. It never repeats a call whose outcome is not known. */
public interface ScriptExecutor {

    /** The server's name for people: Redis, with its address if that is known. */
    default String server() {
        return "Redis";
    }

    /** The connection that it uses: the same object for two callers of one Redisson client. */
    default Object connection() {
        return this;
    }

    /** True if one call can name all of these keys: in a cluster they have to be in one slot. */
    default boolean canNameTogether(List<Object> keys) {
        return true;
    }

    /** The name under which Redis gets a key: another one if the Redisson client has a NameMapper. */
    default String nameInRedis(String key) {
        return key;
    }

    /**
     * Calls a script.
     *
     * @param attempt the number of this sending of the call, from 1; later sendings wait longer for their answer
     * @return the reply: bytes, or a list of bytes where {@link LuaScript#repliesWithList} says so
     */
    CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt);

    /**
     * Calls a script and has Redis wait until its writes are as safe as is wanted.
     *
     * @param wanted a durability that waits for something
     * @return the reply with what is missing. Fails if it is not known whether the script was executed, and if this
     *     Redis can never wait for that
     */
    default CompletableFuture<DurableReply> callDurably(
            LuaScript script, QueueKeys queue, Object[] arguments, int attempt, Durability wanted) {
        throw new UnsupportedOperationException("this one does not wait for replicas");
    }

    /**
     * Asks once whether Redis can wait for that at all.
     *
     * @return fails with a {@link io.github.redisdelay.queue.exception.DurabilityUnavailableException} if it never can
     */
    default CompletableFuture<Void> checkDurable(QueueKeys queue, Durability wanted) {
        throw new UnsupportedOperationException("this one does not wait for replicas");
    }
}
