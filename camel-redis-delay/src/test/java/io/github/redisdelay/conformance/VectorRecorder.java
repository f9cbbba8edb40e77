// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.misc.CompletableFutureWrapper;

/**
 * Notes what a client sends through Redisson: each call of a script, the answer, and what it has changed in the keys. The scripts
 * have a clock that stands, see {@link #setClock}.
 */
final class VectorRecorder implements AutoCloseable {

    /** The beginning of all keys. */
    static final String PREFIX = "conformance";

    static final String BASE = PREFIX + ":{orders}";

    private static final String CLOCK = PREFIX + ":clock";
    private static final String TIME = "redis.call('TIME')";
    private static final String STOPPED = "local function stopped_clock() local now = tonumber(redis.call('GET', '"
            + CLOCK + "')) return { math.floor(now / 1000000), now % 1000000 } end\n";
    private static final Pattern ERROR =
            Pattern.compile("(REDISDELAY .*?|WRONGTYPE)( script: | *[.]? channel: | *$| Operation)");

    /** Each key with its kind, its time to live in milliseconds, how many elements it has, and these. */
    private static final String DUMP = """
            local reply = {}
            for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
              local kind = redis.call('TYPE', key).ok
              local all = kind == 'hash' and redis.call('HGETALL', key) or kind == 'list' and redis.call('LRANGE', key, 0, -1)
                or kind == 'zset' and redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') or { redis.call('GET', key) }
              for _, each in ipairs({ key, kind, string.format('%.0f', redis.call('PTTL', key)), tostring(#all), unpack(all) }) do
                reply[#reply + 1] = each
              end
            end
            return reply
            """;

    /** Those of Redisson's queue, which have other names in an import: here they begin as all keys do. */
    private static final Set<String> OF_REDISSON = Set.of("source", "ready", "order", "nothing");

    private final RedissonClient redisson;
    private final RedisSocket wakeups;
    private final Map<String, LuaScript> scripts = new HashMap<>();
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    /** By key the fields of a hash, the scores of a sorted set, a list, or a text; and the times to live in seconds. */
    private final Map<String, Object> keys = new TreeMap<>();

    private final Map<String, Object> timesToLive = new TreeMap<>();

    // Below: written by the test between calls, and by the thread while one is under way.
    private volatile CompletableFuture<Void> gate;
    private volatile List<Map<String, Object>> steps = new ArrayList<>();
    private volatile Object call;
    private volatile long nowMicros;
    /** Completes when the client has registered its queue; null where that is not recorded. */
    private volatile CompletableFuture<Void> registered;
    /** What was sent last: the script, and its keys and arguments. */
    private volatile Sent last;

    private record Sent(LuaScript script, List<Object> keys, Object[] arguments) {}

    /** @param scripts all that may be called */
    VectorRecorder(RedissonClient redisson, String address, LuaScript... scripts) throws IOException {
        this.redisson = redisson;
        Stream.of(scripts).forEach(script -> this.scripts.put(script.sha(), script));
        wakeups = RedisSocket.open(address);
        wakeups.call("PSUBSCRIBE " + PREFIX + ":wakeup:*");
        wakeups.skip(5);
    }

    /** Begins a vector: there are no keys, and the client has called nothing yet. */
    ScriptExecutor begin() {
        redisson.getKeys().deleteByPattern(PREFIX + ":*");
        keys.clear();
        timesToLive.clear();
        steps = new ArrayList<>();
        registered = null;
        wakeups(); // of others, before
        return new RedissonScriptExecutor(recording());
    }

    List<Map<String, Object>> steps() {
        return steps;
    }

    void setClock(long micros) {
        nowMicros = micros;
        redisson.getBucket(CLOCK, StringCodec.INSTANCE).set(String.valueOf(micros));
    }

    /** What is sent from now on belongs to this call, and is sent when {@link #go} is called. */
    void hold(Object called) {
        // The client is done with the answer before: else what it sends goes in other calls.
        CompletableFuture.runAsync(() -> {}, thread).join();
        call = called;
        gate = new CompletableFuture<>();
    }

    /** Records how the client registers its queue, in this vector. */
    CompletableFuture<Void> registered() {
        registered = new CompletableFuture<>();
        return registered;
    }

    /** Completes when all is sent that follows from this. */
    CompletableFuture<Void> quiet(CompletableFuture<?> sent) {
        // What follows was handed to the thread before it takes the second of these.
        return sent.handleAsync((reply, error) -> null, thread).thenRunAsync(() -> {}, thread);
    }

    void go() {
        gate.complete(null);
    }

    /** Sends the last call once more. */
    CompletableFuture<Object> again() {
        return send(last);
    }

    /** Sends a call as it is. */
    CompletableFuture<Object> send(LuaScript script, List<Object> names, Object... arguments) {
        return send(new Sent(
                script,
                names,
                Arrays.stream(arguments)
                        .map(a -> a instanceof byte[] ? a : String.valueOf(a).getBytes(StandardCharsets.UTF_8))
                        .toArray()));
    }

    /** A command to Redis, which is a step of its own. */
    void command(String... words) {
        Object[] arguments = Arrays.stream(words)
                .map(word -> word.getBytes(StandardCharsets.UTF_8))
                .toArray();
        redisson.getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "return redis.call(unpack(ARGV))",
                        RScript.ReturnType.VALUE,
                        List.of(),
                        arguments);
        Map<String, Object> changes = changes();
        steps.add(Json.object("redis", List.of(words), "after", changes.get("after"), "ttl", changes.get("ttl")));
    }

    /** A Redisson client that sends what it is to send through this object. */
    private RedissonClient recording() {
        RScript script = (RScript) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RScript.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("evalShaAsync")) {
                        throw new UnsupportedOperationException(method.toString());
                    }
                    @SuppressWarnings("unchecked")
                    List<Object> names = (List<Object>) arguments[3];
                    LuaScript called = scripts.get((String) arguments[1]);
                    // The client registers its queues by itself, some time after a call.
                    return new CompletableFutureWrapper<>(
                            called == LuaScript.REGISTER && registered == null
                                    ? CompletableFuture.completedFuture(new byte[0])
                                    : send(new Sent(called, names, (Object[]) arguments[4])));
                });
        return (RedissonClient) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RedissonClient.class},
                (proxy, method, arguments) ->
                        method.getName().equals("getScript") ? script : method.invoke(redisson, arguments));
    }

    private CompletableFuture<Object> send(Sent sent) {
        return gate.thenApplyAsync(open -> execute(sent), thread);
    }

    private Object execute(Sent sent) {
        last = sent;
        List<String> names = new ArrayList<>(sent.script.keyNames());
        names.addAll(VectorFiles.priorities(sent.script));
        List<Object> sentKeys = new ArrayList<>(sent.keys);
        sentKeys.replaceAll(key -> {
            String name = names.get(sent.keys.indexOf(key));
            return OF_REDISSON.contains(name) ? BASE + ":" + name : key;
        });
        String base = ((String) sentKeys.get(0)).replaceFirst(":" + names.get(0) + "$", "");
        assertThat(sentKeys)
                .isEqualTo(names.subList(0, sentKeys.size()).stream()
                        .map(name -> base + ":" + name)
                        .toList());
        Object reply = null;
        RuntimeException error = null;
        try {
            reply = redisson.getScript(ByteArrayCodec.INSTANCE)
                    .eval(
                            RScript.Mode.READ_WRITE,
                            STOPPED + sent.script.source().replace(TIME, "stopped_clock()"),
                            sent.script.repliesWithList() ? RedissonScriptExecutor.LIST : RScript.ReturnType.VALUE,
                            sentKeys,
                            sent.arguments);
        } catch (RedisException e) {
            error = e;
        }
        Map<String, Object> changes = changes();
        steps.add(Json.object(
                "at", nowMicros,
                "call", call,
                "base", base.equals(BASE) ? null : base,
                "script", sent.script.command(),
                "keys", sent.keys.size(),
                "argv", List.of(sent.arguments),
                "reply", error == null ? reply(sent.script, reply) : Json.object("error", word(error)),
                "wakeups", wakeups(),
                "after", changes.get("after"),
                "ttl", changes.get("ttl")));
        call = null;
        if (sent.script == LuaScript.REGISTER && registered != null) {
            registered.complete(null);
        }
        if (error != null) {
            throw error;
        }
        return reply;
    }

    /** The reply; where a server says it of itself, a pattern for it. */
    private static Object reply(LuaScript script, Object reply) {
        String pattern = script == LuaScript.SERVER
                ? "redis_version:[0-9.]+"
                : script == LuaScript.REPLICATION && ((byte[]) reply).length == 40 ? "^[0-9a-f]{40}$" : null;
        return pattern == null ? reply : Json.object("matches", pattern);
    }

    private static String word(RuntimeException error) {
        Matcher matcher = ERROR.matcher(error.getMessage());
        assertThat(matcher.find())
                .as("one of our words in: " + error.getMessage())
                .isTrue();
        return matcher.group(1);
    }

    /** The wake-ups that were published: channel and text of each. */
    private List<Object> wakeups() {
        List<Object> all = new ArrayList<>();
        try {
            String line = wakeups.call("PING");
            while (line.equals("*4")) {
                wakeups.skip(5);
                String channel = wakeups.next();
                wakeups.skip(1);
                all.add(List.of(channel, wakeups.next()));
                line = wakeups.next();
            }
            assertThat(line).isEqualTo("*2");
            wakeups.skip(4);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all.isEmpty() ? null : all;
    }

    /** What has changed since the last look: {@code after}, with null for what is gone, and {@code ttl}. */
    private Map<String, Object> changes() {
        Map<String, Object> keysBefore = new TreeMap<>(keys);
        Map<String, Object> timesBefore = new TreeMap<>(timesToLive);
        keys.clear();
        timesToLive.clear();
        List<byte[]> read = redisson.getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_ONLY,
                        DUMP,
                        RedissonScriptExecutor.LIST,
                        List.of(),
                        (PREFIX + ":*").getBytes(StandardCharsets.US_ASCII));
        List<String> texts = read.stream().map(Json::text).toList();
        for (int at = 0; at < texts.size(); ) {
            String name = texts.get(at).replace(BASE + ":", "");
            String kind = texts.get(at + 1);
            long ttl = Long.parseLong(texts.get(at + 2));
            List<String> all = texts.subList(at + 4, at + 4 + Integer.parseInt(texts.get(at + 3)));
            at += 4 + all.size();
            if (!name.equals(CLOCK)) {
                keys.put(
                        name,
                        switch (kind) {
                            case "string" -> all.get(0);
                            case "list" -> all;
                            default -> members(all, kind.equals("zset"));
                        });
                if (ttl >= 0) {
                    timesToLive.put(name, 60 * ((ttl + 59_999) / 60_000)); // a test takes less than a minute
                }
            }
        }
        return Json.object("after", diff(keysBefore, keys), "ttl", diff(timesBefore, timesToLive));
    }

    private static Map<String, Object> members(List<String> all, boolean scores) {
        Map<String, Object> members = new TreeMap<>();
        for (int i = 0; i < all.size(); i += 2) {
            members.put(all.get(i), scores ? (Object) (long) Double.parseDouble(all.get(i + 1)) : all.get(i + 1));
        }
        return members;
    }

    /** @return null if nothing has changed */
    @SuppressWarnings("unchecked")
    private static Map<String, Object> diff(Map<String, Object> before, Map<String, Object> after) {
        Map<String, Object> changed = new TreeMap<>();
        TreeSet<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        for (String name : names) {
            Object was = before.get(name);
            Object is = after.get(name);
            if (!Objects.equals(was, is)) {
                boolean both = was instanceof Map && is instanceof Map;
                changed.put(name, both ? diff((Map<String, Object>) was, (Map<String, Object>) is) : is);
            }
        }
        return changed.isEmpty() ? null : changed;
    }

    @Override
    public void close() throws IOException {
        thread.shutdown();
        wakeups.close();
    }
}
