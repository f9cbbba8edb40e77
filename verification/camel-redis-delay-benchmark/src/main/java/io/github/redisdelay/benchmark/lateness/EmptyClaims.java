// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNode.InfoSection;
import org.redisson.api.redisnode.RedisNodes;

/**
 * The time that Redis needs for a claim with nothing due, one after the other, of a consumer that keeps waiting; a
 * message waits for an hour from now. By {@code INFO commandstats}: {@link ScriptTimes} has Redis note each command,
 * and is about a Redis that sleeps between two calls.
 */
final class EmptyClaims {

    private static final Pattern CALLS = Pattern.compile("calls=(\\d+),usec=(\\d+)");

    private static final int WARM_UP = 2_000;

    private EmptyClaims() {}

    /** Microseconds of Redis for each. */
    static double measure(Environment environment, int claims) {
        RedissonClient redisson = environment.newRedisson();
        try {
            RedissonScriptExecutor scripts = new RedissonScriptExecutor(redisson);
            QueueKeys keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, "empty");
            call(
                    scripts,
                    LuaScript.SCHEDULE,
                    keys,
                    "s",
                    1,
                    keys.base(),
                    "m",
                    "after reject",
                    3_600_000_000L,
                    "",
                    "body");
            for (int i = 1; i <= WARM_UP; i++) {
                claim(scripts, keys, i);
            }
            long[] before = evaluated(redisson);
            for (int i = 1; i <= claims; i++) {
                claim(scripts, keys, WARM_UP + i);
            }
            long[] after = evaluated(redisson);
            return (after[1] - before[1]) / (double) (after[0] - before[0]);
        } finally {
            redisson.shutdown();
        }
    }

    private static void claim(RedissonScriptExecutor scripts, QueueKeys keys, long number) {
        byte[] claimId = ByteBuffer.allocate(16).putLong(1).putLong(number).array();
        call(
                scripts,
                LuaScript.CLAIM,
                keys,
                "c",
                number,
                claimId,
                30_000_000,
                256,
                256,
                1 << 22,
                keys.base(),
                "~consumer channel",
                1,
                30_000_000);
    }

    private static void call(RedissonScriptExecutor scripts, LuaScript script, QueueKeys keys, Object... arguments) {
        Object[] bytes = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            bytes[i] = arguments[i] instanceof byte[]
                    ? arguments[i]
                    : arguments[i].toString().getBytes(StandardCharsets.US_ASCII);
        }
        scripts.call(script, keys.of(script), bytes, 1).join();
    }

    /** How many script calls there were, and their microseconds. */
    private static long[] evaluated(RedissonClient redisson) {
        Map<String, String> stats =
                redisson.getRedisNodes(RedisNodes.SINGLE).getInstance().info(InfoSection.COMMANDSTATS);
        Matcher matcher = CALLS.matcher(stats.getOrDefault("cmdstat_evalsha", "calls=0,usec=0"));
        if (!matcher.find()) {
            throw new IllegalStateException("INFO commandstats: " + stats);
        }
        return new long[] {Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))};
    }
}
