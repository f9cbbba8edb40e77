// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;

/**
 * A message's way through the classes of the component, from recorded stacks: how many have to be read to follow it. The list of
 * the last run is {@code target/message-way.txt}.
 */
class MessageWayIT extends CamelRedisIT {

    /** The classes from a route to the call that stores a message. */
    private static final int STOPS_DOWN = 10;
    /** The classes from a claim to the route, and on to the call that acknowledges. */
    private static final int STOPS_UP = 20;

    /** As many messages as it takes to see the straight way: others are woken, or wait, at some stop. */
    private static final int MESSAGES = 20;

    private static final StackWalker STACK = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    private static final Map<String, String> SCRIPTS =
            Arrays.stream(LuaScript.values()).collect(Collectors.toMap(LuaScript::sha, LuaScript::command));

    /** The stack at each place. */
    private final ConcurrentMap<String, Collection<List<String>>> stacks = new ConcurrentHashMap<>();

    @Test
    void should_be_short() throws Exception {
        context.getRegistry().unbind("redisson");
        context.getRegistry().bind("redisson", recording(redis.client()));
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>()) {
            @Override
            public void execute(Runnable task) {
                record("hand over");
                super.execute(task);
            }
        };
        context.getRegistry().bind("pool", pool);
        AtomicInteger received = new AtomicInteger();
        start(consume("?executorService=#pool", exchange -> {
            record("route");
            received.incrementAndGet();
        }));

        for (int i = 1; i <= MESSAGES; i++) {
            send(uri, "body", Map.of());
            int sent = i;
            await().until(() -> received.get() == sent && stats().leased() == 0);
        }
        pool.shutdown();

        Map<String, List<String>> down = ways("schedule");
        Map<String, List<String>> up = ways("claim", "hand over", "route", "acknowledge");
        String list = "down, " + stops(down).size() + " stops:\n" + text(down) + "up, "
                + stops(up).size() + " stops:\n" + text(up);
        Files.writeString(Path.of("target", "message-way.txt"), list);
        assertThat(stops(down)).as(list).hasSizeBetween(3, STOPS_DOWN);
        assertThat(stops(up)).as(list).hasSizeBetween(6, STOPS_UP);
    }

    /** The shortest way to each place. */
    private Map<String, List<String>> ways(String... places) {
        Map<String, List<String>> ways = new LinkedHashMap<>();
        for (String place : places) {
            assertThat(stacks).containsKey(place);
            ways.put(place, Collections.min(stacks.get(place), Comparator.comparing(List::size)));
        }
        return ways;
    }

    private static Set<String> stops(Map<String, List<String>> ways) {
        return ways.values().stream().flatMap(List::stream).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static String text(Map<String, List<String>> ways) {
        return ways.entrySet().stream()
                .map(way -> "  " + way.getKey() + ": " + String.join(" > ", way.getValue()) + "\n")
                .collect(Collectors.joining());
    }

    /** Notes which classes of the component are on the stack, the outermost first. */
    private void record(String place) {
        List<String> classes = STACK.walk(frames -> frames.map(StackWalker.StackFrame::getDeclaringClass)
                .filter(MessageWayIT::isOfTheComponent)
                .map(type -> type.getName().replaceAll(".*\\.|\\$.*", ""))
                .distinct()
                .collect(Collectors.toCollection(ArrayList::new)));
        Collections.reverse(classes);
        stacks.computeIfAbsent(place, key -> new CopyOnWriteArrayList<>()).add(classes);
    }

    private static boolean isOfTheComponent(Class<?> type) {
        return type.getName().startsWith("io.github.redisdelay.")
                && type.getProtectionDomain()
                        .getCodeSource()
                        .equals(RedisDelayComponent.class.getProtectionDomain().getCodeSource());
    }

    private RedissonClient recording(RedissonClient client) {
        return proxy(
                RedissonClient.class,
                client,
                (method, arguments) -> {},
                script -> proxy(
                        RScript.class,
                        script,
                        (method, arguments) -> {
                            if (method.getName().equals("evalShaAsync") && arguments[1] instanceof String sha) {
                                record(SCRIPTS.getOrDefault(sha, "unknown"));
                            }
                        },
                        same -> same));
    }

    private interface Seen {
        void call(Method method, Object[] arguments);
    }

    private interface Scripts {
        RScript of(RScript script);
    }

    private static <T> T proxy(Class<T> type, T target, Seen seen, Scripts scripts) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            try {
                seen.call(method, arguments);
                Object result = method.invoke(target, arguments);
                return result instanceof RScript script ? scripts.of(script) : result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
