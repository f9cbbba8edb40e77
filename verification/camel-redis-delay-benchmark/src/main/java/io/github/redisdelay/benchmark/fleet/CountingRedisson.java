// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.fleet;

import io.github.redisdelay.queue.ScriptDigests;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.redisson.api.RScript;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;

/**
 * Counts what a component sends through a {@link RedissonClient}: the calls of each script, and what it publishes
 * itself. Stands between the two, so nothing in Redis is disturbed, at whatever rate. Thread-safe.
 */
final class CountingRedisson {

    private static final Map<String, String> SCRIPTS = ScriptDigests.names();

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final RedissonClient client;

    /** @param client stays the caller's */
    CountingRedisson(RedissonClient client) {
        this.client = proxy(RedissonClient.class, (proxy, method, arguments) -> {
            Object result = invoke(method, client, arguments);
            return switch (method.getName()) {
                case "getScript" -> counted((RScript) result);
                case "getTopic" -> counted((RTopic) result);
                default -> result;
            };
        });
    }

    /** The client to be given to a component. */
    RedissonClient client() {
        return client;
    }

    /** The number of calls of a script. */
    long scripts(String name) {
        return count(name);
    }

    /** The number of publications other than by a script. */
    long published() {
        return count("publish");
    }

    private long count(String name) {
        LongAdder count = counts.get(name);
        return count == null ? 0 : count.sum();
    }

    private void add(String name) {
        counts.computeIfAbsent(name, key -> new LongAdder()).increment();
    }

    private RScript counted(RScript script) {
        return proxy(RScript.class, (proxy, method, arguments) -> {
            // The second argument is the digest; a script that the server did not know comes again with its source.
            if (method.getName().startsWith("evalSha") && arguments[1] instanceof String digest) {
                add(SCRIPTS.getOrDefault(digest, "unknown"));
            }
            return invoke(method, script, arguments);
        });
    }

    private RTopic counted(RTopic topic) {
        return proxy(RTopic.class, (proxy, method, arguments) -> {
            if (method.getName().startsWith("publish")) {
                add("publish");
            }
            return invoke(method, topic, arguments);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object invoke(java.lang.reflect.Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
