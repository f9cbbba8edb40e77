// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Sends a script call to Redis once and answers what came back. It never repeats a call whose outcome is not known. */
interface RedisCaller {

    /**
     * Calls a script.
     *
     * @param attempt which sending of the same call this is, from 1: later ones wait longer for their answer
     * @return the reply: bytes, or a list of bytes for {@link LuaScript#CLAIM}
     */
    CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt);
}
