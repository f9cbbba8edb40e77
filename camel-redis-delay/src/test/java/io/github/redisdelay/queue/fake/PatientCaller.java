// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RedissonClient;

/** A real Redis for tests that repeat nothing: each answer is waited for as long as that of a late repeat. */
public final class PatientCaller implements ScriptExecutor {

    private final ScriptExecutor redis;

    public PatientCaller(RedissonClient redisson) {
        this.redis = new RedissonScriptExecutor(redisson);
    }

    @Override
    public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
        return redis.call(script, keys, arguments, RedissonScriptExecutor.TIMEOUT_STEPS);
    }
}
