// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Measures how long Redis is busy with a look at a queue of many messages, which are due at random times of one day:
 * all of priority 0, then as many in all ten priorities. {@code -Dlooking.messages} says how many.
 */
@Tag("faults")
class LookingBench {

    private static final int MESSAGES = Integer.getInteger("looking.messages", 1_000_000);
    private static final int LOOKS = 300;
    private static final long DAY = 4_000_000_000_000_000L;
    private static final long MICROS = Duration.ofDays(1).toSeconds() * 1_000_000;

    private static final String FILL = """
            math.randomseed(tonumber(ARGV[1]))
            local levels = tonumber(ARGV[3])
            for i = 1, 10000 do
              local id = string.format('%08d-%05d', ARGV[1], i)
              redis.call('HSET', KEYS[1], id, struct.pack('<dd', 1, 1) .. 'x')
              redis.call('ZADD', KEYS[2 + i % levels], ARGV[2] + math.random(0, 86399999) * 1000, id)
            end
            if levels > 1 then
              redis.call('HSET', KEYS[12], 'priorities', '987654321')
            end
            """;

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void should_measure_looks_at_a_long_queue(int levels) throws Exception {
        try (RedisServer server = RedisServer.dedicated("save \"\"")) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setTimeout(20_000);
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                DelayQueue queue = client.queue("looks");
                fill(redisson, queue.name(), levels);
                Outlook all = queue.admin()
                        .outlook(Outlook.bounds(DAY, Duration.ofDays(1), 1))
                        .get(20, TimeUnit.SECONDS);
                assertThat(all.counts()).containsExactly((long) MESSAGES);
                for (int steps : new int[] {60, 240}) {
                    Duration step = Duration.ofDays(1).dividedBy(steps);
                    measure(server, levels, "outlook of " + steps + " steps", i -> queue.admin()
                            .outlook(Outlook.bounds(DAY + i, step, steps)));
                }
                Random random = new Random(1);
                measure(
                        server,
                        levels,
                        "page at a time",
                        i -> page(queue, PageStart.at(DAY + random.nextLong(MICROS))));
                measure(server, levels, "page newest first", i -> page(queue, PageStart.newest()));
                measure(server, levels, "first page", i -> page(queue, PageStart.first()));
            } finally {
                redisson.shutdown();
            }
        }
    }

    private static CompletableFuture<?> page(DelayQueue queue, PageStart start) {
        return queue.admin().list(MessageState.DELAYED, start, QueueAdmin.MAX_PAGE);
    }

    /** Puts them where schedule.lua would: so ten millions are there within a minute. */
    private static void fill(RedissonClient redisson, String queue, int levels) {
        String base = ClientOptions.DEFAULT_KEY_PREFIX + ":{" + queue + "}:";
        List<Object> keys = new ArrayList<>(List.of(base + "messages", base + "delayed"));
        for (int level = 1; level < 10; level++) {
            keys.add(base + "delayed:" + level);
        }
        keys.add(base + "config");
        for (int slice = 0; slice < MESSAGES / 10_000; slice++) {
            redisson.getScript(StringCodec.INSTANCE)
                    .eval(RScript.Mode.READ_WRITE, FILL, RScript.ReturnType.VALUE, keys, slice, DAY, levels);
        }
    }

    private static void measure(RedisServer server, int levels, String what, LongFunction<CompletableFuture<?>> look)
            throws Exception {
        try (RedisSocket redis = RedisSocket.open(server.address())) {
            for (int i = 0; i < LOOKS / 10; i++) {
                look.apply(i).get(20, TimeUnit.SECONDS);
            }
            redis.call("CONFIG RESETSTAT");
            long[] answered = new long[LOOKS];
            for (int i = 0; i < LOOKS; i++) {
                long begin = System.nanoTime();
                look.apply(i).get(20, TimeUnit.SECONDS);
                answered[i] = (System.nanoTime() - begin) / 1000;
            }
            Arrays.sort(answered);
            System.out.printf(
                    Locale.ROOT,
                    "%d messages, priorities in use %d: %s: Redis is busy for %s us; answered within p50=%d,p99=%d us%n",
                    MESSAGES,
                    levels,
                    what,
                    redis.text("INFO latencystats")
                            .lines()
                            .filter(line -> line.startsWith("latency_percentiles_usec_evalsha:"))
                            .map(line -> line.substring(line.indexOf(':') + 1, line.lastIndexOf(',')))
                            .findFirst()
                            .orElseThrow(),
                    answered[LOOKS / 2],
                    answered[LOOKS * 99 / 100]);
        }
    }
}
