// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.RedisCommands;

/**
 * Calls scripts through Redisson: by digest, and with the source where a server does not know it (after a restart, a
 * failover or SCRIPT FLUSH). Timeout and retries are ours, whatever the client is set to: Redisson would repeat a call
 * on its own, and only who knows how often a call was sent can say whether a refusal is the last word.
 */
final class RedissonCaller implements RedisCaller {

    /** How long to wait for the answer to a first sending; doubled with each repeat, so that a slow line gets through. */
    private static final Duration FIRST_TIMEOUT = Duration.ofSeconds(3);

    private static final int TIMEOUT_STEPS = 3;

    /** The constant was renamed between Redisson 3 (MULTI) and 4 (LIST). */
    static final RScript.ReturnType LIST = Arrays.stream(RScript.ReturnType.values())
            .filter(type -> type.getCommand() == RedisCommands.EVAL_LIST)
            .findFirst()
            .orElseThrow();

    private final RScript[] scripts = new RScript[TIMEOUT_STEPS];

    RedissonCaller(RedissonClient redisson) {
        for (int i = 0; i < TIMEOUT_STEPS; i++) {
            scripts[i] = redisson.getScript(OptionalOptions.defaults()
                    .codec(ByteArrayCodec.INSTANCE)
                    .timeout(FIRST_TIMEOUT.multipliedBy(1L << i))
                    .retryAttempts(0));
        }
    }

    @Override
    public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
        RScript redis = scripts[Math.min(attempt, TIMEOUT_STEPS) - 1];
        RScript.ReturnType type = script.repliesWithList() ? LIST : RScript.ReturnType.VALUE;
        try {
            return redis.evalShaAsync(RScript.Mode.READ_WRITE, script.sha(), type, keys, arguments)
                    .toCompletableFuture()
                    .exceptionallyCompose(e -> RedisErrors.unwrap(e) instanceof RedisNoScriptException
                            ? redis.evalAsync(RScript.Mode.READ_WRITE, script.source(), type, keys, arguments)
                                    .toCompletableFuture()
                            : CompletableFuture.failedFuture(e));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
