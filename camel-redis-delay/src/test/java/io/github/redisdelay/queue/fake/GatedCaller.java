// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RedissonClient;

/** A real Redis whose answers to one script arrive when a test says so. The calls themselves are executed at once. */
public final class GatedCaller implements ScriptExecutor {

    private final ScriptExecutor redis;
    // Guarded by this.
    private final List<Runnable> held = new ArrayList<>();
    private LuaScript closed;

    public GatedCaller(RedissonClient redisson) {
        this.redis = new RedissonScriptExecutor(redisson);
    }

    @Override
    public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        redis.call(script, keys, arguments, attempt).whenComplete((reply, error) -> {
            Runnable arrive = () -> {
                if (error == null) {
                    answer.complete(reply);
                } else {
                    answer.completeExceptionally(error);
                }
            };
            synchronized (this) {
                if (script == closed) {
                    held.add(arrive);
                    return;
                }
            }
            arrive.run();
        });
        return answer;
    }

    /** From now on, answers to this script wait. */
    public synchronized void hold(LuaScript script) {
        closed = script;
    }

    /** How many answers wait. */
    public synchronized int held() {
        return held.size();
    }

    /** Lets the answers through that wait, and those to come. */
    public void open() {
        List<Runnable> arriving;
        synchronized (this) {
            closed = null;
            arriving = List.copyOf(held);
            held.clear();
        }
        arriving.forEach(Runnable::run);
    }

    /** Lets the answers through that wait; those to come wait. */
    public void letThrough() {
        List<Runnable> arriving;
        synchronized (this) {
            arriving = List.copyOf(held);
            held.clear();
        }
        arriving.forEach(Runnable::run);
    }
}
