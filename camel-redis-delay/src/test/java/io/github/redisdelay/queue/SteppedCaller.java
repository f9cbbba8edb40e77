// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * Calls scripts that add a number of seconds to the server's clock, which they read from a key: so a test steps the clock of
 * a server that cannot be made to see another one than the machine's. All else is as it is in the scripts.
 */
public final class SteppedCaller implements ScriptExecutor {

    private static final String TIME = "redis.call('TIME')";

    private final Map<LuaScript, String> sources = new HashMap<>();
    private final RScript redis;

    /** @param key of a string: by how many seconds the clock is ahead */
    public SteppedCaller(RedissonClient redisson, String key) {
        this(
                "local t = " + TIME + "; t[1] = tonumber(t[1]) + tonumber(redis.call('GET', '" + key
                        + "') or '0'); return t",
                redisson);
    }

    /** One for which it is always the time that a key has, in microseconds. */
    public static SteppedCaller at(RedissonClient redisson, String key) {
        return new SteppedCaller(
                "local m = tonumber(redis.call('GET', '" + key + "')); return { math.floor(m / 1000000), m % 1000000 }",
                redisson);
    }

    private SteppedCaller(String time, RedissonClient redisson) {
        String clock = "local function stepped_time() " + time + " end\n";
        for (LuaScript script : LuaScript.values()) {
            String source = script.source().replace(TIME, "stepped_time()");
            if (source.contains("'TIME'")) {
                throw new IllegalStateException(script + " reads the clock otherwise than by " + TIME);
            }
            sources.put(script, clock + source);
        }
        redis = redisson.getScript(OptionalOptions.defaults()
                .codec(ByteArrayCodec.INSTANCE)
                .timeout(Duration.ofSeconds(3))
                .retryAttempts(0));
    }

    @Override
    public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
        RScript.ReturnType type = script.repliesWithList() ? RedissonScriptExecutor.LIST : RScript.ReturnType.VALUE;
        try {
            return redis.evalAsync(RScript.Mode.READ_WRITE, sources.get(script), type, keys, script.sent(arguments))
                    .toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
