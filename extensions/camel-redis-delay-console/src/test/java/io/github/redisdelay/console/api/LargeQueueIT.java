// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNode.InfoSection;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * Each view of a queue with a million messages, spread over a month, and 100 000 dead letters. With {@code
 * -Dconsole.messages=10000000} of another number: it prints how long each call took, and how long Redis worked for it.
 */
class LargeQueueIT {

    private static final int MESSAGES = Integer.getInteger("console.messages", 1_000_000);
    private static final int DEAD = 100_000;
    private static final int SLICE = 20_000;
    private static final int CALLS = 5;

    /** Messages from the first number to the last, each due at its share of the month; the ids from m0 on. */
    private static final String PLANT = """
            local now = redis.call('TIME')
            local from = now[1] * 1000000 + now[2]
            for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
              local id = 'm' .. i .. ARGV[5]
              local due = from + i * tonumber(ARGV[4])
              redis.call('HSET', KEYS[1], id, struct.pack('<dd', from, due) .. ARGV[3])
              redis.call('ZADD', KEYS[2], due, id)
            end
            return 'done'
            """;

    private static final Pattern CALLED = Pattern.compile("calls=([0-9]+),usec=([0-9]+)");

    private static byte[] bytes(Object value) {
        return value.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void plant(RedissonClient redisson, String keys, int count, long stepMicros, String suffix) {
        for (int i = 0; i < count; i += SLICE) {
            redisson.getScript(ByteArrayCodec.INSTANCE)
                    .eval(
                            RScript.Mode.READ_WRITE,
                            PLANT,
                            RScript.ReturnType.VALUE,
                            List.of(keys + "messages", keys + "delayed"),
                            bytes(i),
                            bytes(Math.min(count, i + SLICE) - 1),
                            Envelope.of("body").encode(),
                            bytes(stepMicros),
                            bytes(suffix));
        }
    }

    /** For how long Redis has worked on scripts, in microseconds. */
    private static long scriptMicros(RedissonClient redisson) {
        Map<String, String> stats =
                redisson.getRedisNodes(RedisNodes.SINGLE).getInstance().info(InfoSection.COMMANDSTATS);
        long micros = 0;
        for (String command : List.of("cmdstat_evalsha", "cmdstat_eval")) {
            Matcher called = CALLED.matcher(stats.getOrDefault(command, ""));
            micros += called.find() ? Long.parseLong(called.group(2)) : 0;
        }
        return micros;
    }

    @Test
    void should_answer_fast_however_many_messages_there_are() {
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setTimeout(60_000);
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient client =
                            DelayQueueClient.create(redisson, ClientOptions.DEFAULTS.withKeyPrefix("large"));
                    ConsoleApi api = new ConsoleApi(
                            () -> List.of(new QueueSource(client, server.address(), Map.of("orders", 0))),
                            List::of,
                            ConsoleOptions.DEFAULTS)) {
                long step = Duration.ofDays(30).toNanos() / 1000 / MESSAGES;
                plant(redisson, "large:{orders}:", MESSAGES, step, "");
                plant(redisson, "large:{orders}:dead:", DEAD, -1, "@1700000000000000");
                measure(api, redisson);
            } finally {
                redisson.shutdown();
            }
        }
    }

    private static void measure(ConsoleApi api, RedissonClient redisson) {
        Map<String, Supplier<Object>> views = new LinkedHashMap<>();
        views.put("queues", () -> api.queues(ApiIT.ANYBODY));
        views.put("queue", () -> api.queue(ApiIT.ANYBODY, "orders"));
        for (Span span : Span.values()) {
            views.put("outlook, " + span.code(), () -> api.outlook("orders", span.code()));
        }
        Instant middle = Instant.now().plus(Duration.ofDays(15));
        views.put("messages, 256 from a time", () -> api.messages("orders", "delayed", middle, false, null, 256L));
        views.put("messages, the newest 256", () -> api.messages("orders", "delayed", null, true, null, 256L));
        views.put("message", () -> api.message("orders", "m" + MESSAGES / 2, null));
        views.put("failures, the newest 10 000", () -> api.failures("orders", null));
        StringBuilder table = new StringBuilder("\n| call | median | slowest | Redis |\n|---|---|---|---|\n");
        views.forEach((name, view) -> {
            view.get();
            long[] nanos = new long[CALLS];
            long before = scriptMicros(redisson);
            for (int i = 0; i < CALLS; i++) {
                api.forget("orders");
                long began = System.nanoTime();
                view.get();
                nanos[i] = System.nanoTime() - began;
            }
            Arrays.sort(nanos);
            double redis = (scriptMicros(redisson) - before) / 1000.0 / CALLS;
            table.append(String.format(
                    "| %s | %.1f ms | %.1f ms | %.2f ms |%n",
                    name, nanos[CALLS / 2] / 1e6, nanos[CALLS - 1] / 1e6, redis));
            assertThat(Duration.ofNanos(nanos[CALLS / 2])).as(name).isLessThan(Duration.ofSeconds(2));
        });
        if (System.getProperty("console.messages") != null) {
            System.out.println(table);
        }
        QueueViews.Row row = api.queues(ApiIT.ANYBODY).queues().get(0);
        assertThat(row.delayed()).isEqualTo(MESSAGES);
        assertThat(row.dead()).isEqualTo(DEAD);
        List<Long> counted = new ArrayList<>();
        for (Span span : Span.values()) {
            QueueViews.Ahead ahead = api.outlook("orders", span.code());
            counted.add(ahead.overdue()
                    + ahead.bars().stream().mapToLong(QueueViews.Bar::count).sum()
                    + ahead.after());
        }
        assertThat(counted).containsOnly((long) MESSAGES);
        assertThat(api.failures("orders", null).lookedAt()).isEqualTo(10_000);
    }
}
