// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.CallListener;
import io.github.redisdelay.queue.Durability;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/** Script calls whose listener is told how long each took. */
public final class ObservedScriptExecutor implements ScriptExecutor {

    private final ScriptExecutor redis;
    private final CallListener listener;
    private final LongSupplier nanoTime;

    public ObservedScriptExecutor(ScriptExecutor redis, CallListener listener, LongSupplier nanoTime) {
        this.redis = redis;
        this.listener = listener;
        this.nanoTime = nanoTime;
    }

    @Override
    public String server() {
        return redis.server();
    }

    @Override
    public Object connection() {
        return redis.connection();
    }

    @Override
    public boolean canNameTogether(List<Object> keys) {
        return redis.canNameTogether(keys);
    }

    @Override
    public String nameInRedis(String key) {
        return redis.nameInRedis(key);
    }

    @Override
    public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
        long begin = nanoTime.getAsLong();
        return tell(script, begin, redis.call(script, keys, arguments, attempt));
    }

    @Override
    public CompletableFuture<DurableReply> callDurably(
            LuaScript script, QueueKeys queue, Object[] arguments, int attempt, Durability wanted) {
        long begin = nanoTime.getAsLong();
        return tell(script, begin, redis.callDurably(script, queue, arguments, attempt, wanted));
    }

    @Override
    public CompletableFuture<Void> checkDurable(QueueKeys queue, Durability wanted) {
        return redis.checkDurable(queue, wanted);
    }

    private <T> CompletableFuture<T> tell(LuaScript script, long begin, CompletableFuture<T> answer) {
        answer.whenComplete(
                (reply, error) -> listener.ended(script.command(), nanoTime.getAsLong() - begin, error != null));
        return answer;
    }
}
