// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * Script calls through Redisson. A call names the script by its digest, and sends the source to a server that does not
 * know it (after a restart, a failover or SCRIPT FLUSH).
 *
 * <p>This class sets timeout and retries itself, whatever the Redisson client is set to. Redisson would repeat a call
 * on its own, but a refusal is the last word only for a caller that knows how often the call was sent.
 */
public final class RedissonScriptExecutor implements ScriptExecutor {

    /**
     * The wait for the answer to a first sending. A call that was lost with a connection is sent again after this time.
     * The wait doubles with each repeat, to 16 s, so that a slow line gets through.
     */
    private static final Duration FIRST_TIMEOUT = Duration.ofSeconds(1);

    /** The number of different waits: from this attempt on they do not grow. */
    public static final int TIMEOUT_STEPS = 5;

    private static final Set<String> LIST_NAMES = Set.of("LIST", "MULTI");

    /** The type of a reply that is a list. The constant was renamed between Redisson 3 (MULTI) and 4 (LIST). */
    public static final RScript.ReturnType LIST = Arrays.stream(RScript.ReturnType.values())
            .filter(type -> LIST_NAMES.contains(type.name()))
            .findFirst()
            .orElseThrow();

    private final RedissonClient redisson;
    private final RScript[] scripts = new RScript[TIMEOUT_STEPS];
    private final DurableScriptExecutor durable;
    private final String server;
    /** The first keys of the queues that are known to use priorities. Thread-safe. */
    private final Set<Object> queuesWithPriorities = ConcurrentHashMap.newKeySet();
    /** True if a queue's slot can be moved to another server. */
    private final boolean cluster;

    public RedissonScriptExecutor(RedissonClient redisson) {
        this(redisson, null);
    }

    /** @param address the server's address, without credentials; null if it is not known */
    public RedissonScriptExecutor(RedissonClient redisson, String address) {
        this.redisson = redisson;
        server = address == null ? "Redis" : "Redis at " + address;
        for (int i = 0; i < TIMEOUT_STEPS; i++) {
            scripts[i] = redisson.getScript(OptionalOptions.defaults()
                    .codec(ByteArrayCodec.INSTANCE)
                    .timeout(FIRST_TIMEOUT.multipliedBy(1L << i))
                    .retryAttempts(0));
        }
        durable = new DurableScriptExecutor(redisson, this);
        cluster = redisson.getConfig().isClusterConfig();
    }

    @Override
    public Object connection() {
        return redisson;
    }

    @Override
    public String server() {
        return server;
    }

    @Override
    public boolean canNameTogether(List<Object> keys) {
        return !cluster
                || keys.stream()
                                .mapToInt(key -> ClusterSlot.of((String) key))
                                .distinct()
                                .count()
                        == 1;
    }

    @Override
    public String nameInRedis(String key) {
        return DurableScriptExecutor.nameInRedis(redisson, key);
    }

    /** The wait for the answer to a sending. */
    static Duration timeout(int attempt) {
        return FIRST_TIMEOUT.multipliedBy(1L << step(attempt));
    }

    private static int step(int attempt) {
        return Math.min(attempt, TIMEOUT_STEPS) - 1;
    }

    /**
     * The keys of a script and a guard: one more key in their slot, which never exists. While a slot of a cluster is
     * moved, Redis executes a script on a node that has all of its keys. If the script empties a key, Redis refuses it
     * that key from then on, and the script ends half done. With the guard no node executes the script, and the client
     * repeats the call until the move has ended. A script of one key needs no guard, because it cannot meet a part of
     * its queue.
     */
    public static List<Object> withGuard(List<Object> keys) {
        if (keys.size() == 1) {
            return keys;
        }
        List<Object> guarded = new ArrayList<>(keys.size() + 1);
        guarded.addAll(keys);
        guarded.add(keys.get(0) + ":none");
        return guarded;
    }

    @Override
    public CompletableFuture<Object> call(LuaScript script, List<Object> names, Object[] arguments, int attempt) {
        boolean brief = script.mayLeaveOutPriorities() && !queuesWithPriorities.contains(names.get(0));
        List<Object> sent = brief ? script.withoutPriorities(names) : names;
        List<Object> keys = cluster ? withGuard(sent) : sent;
        Object[] packed = script.sent(arguments);
        RScript redis = scripts[step(attempt)];
        RScript.ReturnType type = script.repliesWithList() ? LIST : RScript.ReturnType.VALUE;
        try {
            return redis.evalShaAsync(RScript.Mode.READ_WRITE, script.sha(), type, keys, packed)
                    .toCompletableFuture()
                    .exceptionallyCompose(e -> ErrorText.unwrap(e) instanceof RedisNoScriptException
                            ? redis.evalAsync(RScript.Mode.READ_WRITE, script.source(), type, keys, packed)
                                    .toCompletableFuture()
                            : CompletableFuture.failedFuture(e))
                    .exceptionallyCompose(e -> {
                        if (brief && RedisErrors.isForWantOfKeys(ErrorText.unwrap(e))) {
                            queuesWithPriorities.add(names.get(0));
                            return call(script, names, arguments, attempt);
                        }
                        return CompletableFuture.failedFuture(e);
                    });
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CompletableFuture<DurableReply> callDurably(
            LuaScript script, QueueKeys queue, Object[] arguments, int attempt, Durability wanted) {
        List<Object> keys = queue.of(script);
        DurableScriptExecutor.ScriptCall call =
                new DurableScriptExecutor.ScriptCall(script, cluster ? withGuard(keys) : keys, arguments);
        return durable.call(List.of(call, marker(queue)), attempt, wanted);
    }

    @Override
    public CompletableFuture<Void> checkDurable(QueueKeys queue, Durability wanted) {
        return durable.check(marker(queue), 1, wanted);
    }

    private static DurableScriptExecutor.ScriptCall marker(QueueKeys queue) {
        return new DurableScriptExecutor.ScriptCall(
                LuaScript.REPLICATION, queue.of(LuaScript.REPLICATION), new Object[0]);
    }
}
