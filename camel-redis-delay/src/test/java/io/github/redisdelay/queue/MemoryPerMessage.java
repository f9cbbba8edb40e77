// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Measures how much of Redis's memory a pending message takes: a program, not a test.
 *
 * <pre>{@code
 * mvn -q -pl :camel-redis-delay -am test-compile exec:java -Dexec.skip=false -Dexec.classpathScope=test \
 *     -Dexec.mainClass=io.github.redisdelay.queue.MemoryPerMessage -Dexec.args="200 1000000"
 * }</pre>
 *
 * Arguments: the length of the text body in bytes, and how many messages. Text without headers, generated ids, due times at
 * random within a day.
 */
public final class MemoryPerMessage {

    private static final int UNDER_WAY = 2_000;

    private MemoryPerMessage() {}

    public static void main(String[] args) throws Exception {
        int length = Integer.parseInt(args[0]);
        int count = Integer.parseInt(args[1]);
        RedisServer server = RedisServer.dedicated();
        Config config = new Config();
        config.useSingleServer().setAddress(server.address());
        RedissonClient redisson = Redisson.create(config);
        try (DelayQueueClient client =
                DelayQueueClient.create(redisson, new ClientOptions("memory", Duration.ofMinutes(1)))) {
            DelayQueue queue = client.queue("messages");
            byte[] envelope = Envelope.of("x".repeat(length)).encode();
            long before = usedMemory(redisson);
            Semaphore underWay = new Semaphore(UNDER_WAY);
            for (int i = 0; i < count; i++) {
                underWay.acquire();
                DueTime due = DueTime.after(
                        Duration.ofSeconds(3_600 + ThreadLocalRandom.current().nextInt(86_400)));
                queue.schedule(ScheduleRequest.of(envelope, due)).whenComplete((result, error) -> underWay.release());
            }
            underWay.acquire(UNDER_WAY);
            long pending = queue.stats().get().delayed();
            System.out.printf(
                    "%s: %d messages of %d bytes, %.0f bytes of memory each%n",
                    queue.serverInfo().get(), pending, length, (usedMemory(redisson) - before) / (double) pending);
        } finally {
            redisson.shutdown();
            server.stop();
        }
    }

    private static long usedMemory(RedissonClient redisson) {
        String info = redisson.getScript(StringCodec.INSTANCE)
                .eval(RScript.Mode.READ_WRITE, "return redis.call('INFO', 'memory')", RScript.ReturnType.VALUE);
        return Long.parseLong(info.lines()
                .filter(line -> line.startsWith("used_memory:"))
                .findFirst()
                .orElseThrow()
                .substring("used_memory:".length())
                .trim());
    }
}
