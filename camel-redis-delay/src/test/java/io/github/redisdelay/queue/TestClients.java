// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.command.SettleCommand;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScheduledTimers;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.redisson.api.RedissonClient;

/** Clients for tests outside of this package that need a hand on what a client does not show. */
public final class TestClients {

    private TestClients() {}

    /** Where a script call is. */
    public enum Moment {
        /** It is about to be sent. */
        BEFORE,
        /** It was handed to the connection. */
        SENT,
        /** Redis has executed it; the client does not know yet. */
        EXECUTED
    }

    /** Learns of each script call. */
    public interface CallListener {
        /**
         * @param script its name, such as {@code CLAIM}; {@code EXTEND} if the first thing that it does is to extend a lease
         * @param group whether it carries requests of several callers
         */
        void reached(String script, boolean group, Moment moment);
    }

    /** A client that tells of each of its script calls, on the threads that send them and receive their answers. */
    public static DelayQueueClient listening(RedissonClient redisson, ClientOptions options, CallListener listener) {
        ScriptExecutor redis = new RedissonScriptExecutor(redisson);
        return ClientAccess.create(redisson, options, (script, keys, arguments, attempt) -> {
            boolean group = isGroup(script, arguments);
            String name = isExtension(script, arguments) ? "EXTEND" : script.toString();
            listener.reached(name, group, Moment.BEFORE);
            CompletableFuture<Object> answer = redis.call(script, keys, arguments, attempt)
                    .whenComplete((reply, error) -> {
                        if (error == null) {
                            listener.reached(name, group, Moment.EXECUTED);
                        }
                    });
            listener.reached(name, group, Moment.SENT);
            return answer;
        });
    }

    private static boolean isExtension(LuaScript script, Object[] arguments) {
        return script == LuaScript.SETTLE
                && new String((byte[]) arguments[6], StandardCharsets.US_ASCII).equals(SettleCommand.EXTEND);
    }

    /** The arguments of each request are behind two of the call, up to two base keys or channels, or none. */
    private static boolean isGroup(LuaScript script, Object[] arguments) {
        return switch (script.toString()) {
            case "SCHEDULE" -> arguments.length >= 3 + 2 * 5;
            case "SETTLE" -> arguments.length >= 4 + 2 * 5;
            case "ACKNOWLEDGE" -> arguments.length >= 2 + 2 * 2;
            default -> false;
        };
    }

    /** A client whose clocks, the one of the wall and the monotonic one, are ahead by this; behind if it is negative. */
    public static DelayQueueClient skewed(RedissonClient redisson, ClientOptions options, Duration ahead) {
        ScheduledTimers timers = new ScheduledTimers();
        Timers skewed = new Timers() {
            @Override
            public long nanoTime() {
                return timers.nanoTime() + ahead.toNanos();
            }

            @Override
            public Timer schedule(long delayNanos, Runnable task) {
                return timers.schedule(delayNanos, task);
            }
        };
        return ClientAccess.create(
                new RedissonScriptExecutor(redisson),
                options,
                skewed,
                new SecureRandom(),
                () -> System.currentTimeMillis() + ahead.toMillis(),
                redisson);
    }

    /**
     * A client for which the server's clock is ahead by as many seconds as a key of the server says, 0 without it; behind if
     * that is negative. Whoever sets the key steps the clock of all such clients at one moment.
     */
    public static DelayQueueClient onSteppedClock(RedissonClient redisson, ClientOptions options, String key) {
        return ClientAccess.create(redisson, options, new SteppedCaller(redisson, key));
    }

    /** The same, and the client's clock is another one as well: both may be in any year. */
    public static DelayQueueClient onSteppedClock(
            RedissonClient redisson, ClientOptions options, String key, LongSupplier wallClockMillis) {
        return ClientAccess.create(
                new SteppedCaller(redisson, key),
                options,
                new ScheduledTimers(),
                new SecureRandom(),
                wallClockMillis,
                redisson);
    }

    /** The digest by which a script is called, such as that of {@code SCHEDULE}. */
    public static String digest(String script) {
        return Stream.of(LuaScript.values())
                .filter(each -> each.toString().equals(script))
                .findFirst()
                .orElseThrow()
                .sha();
    }
}
