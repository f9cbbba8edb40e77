// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A Redis server with one queue, a client to load it with, and what the server tells of its work. */
final class OverloadBench implements AutoCloseable {

    static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    /** Options for requests that wait long, behind thousands of others on a busy machine. */
    static final ClientOptions PATIENT = ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofMinutes(2));

    final RedisServer server;
    final DelayQueueClient client;
    final DelayQueue queue;
    private final RedissonClient redisson;

    OverloadBench() {
        server = RedisServer.dedicated();
        redisson = TestConnections.open(server.address());
        client = DelayQueueClient.create(redisson, PATIENT);
        queue = client.queue(Experiment.QUEUE);
    }

    /** The work of the server since it was started. */
    record Work(long scripts, long scriptMicros, long published) {

        Work since(Work before) {
            return new Work(scripts - before.scripts, scriptMicros - before.scriptMicros, published - before.published);
        }
    }

    Work work() throws IOException {
        try (RedisSocket socket = RedisSocket.open(server.address())) {
            String stats = socket.text("INFO commandstats");
            return new Work(number(stats, "evalsha:calls="), number(stats, "evalsha:.*?usec="), published(stats));
        }
    }

    private static long published(String stats) {
        return number(stats, "publish:calls=");
    }

    private static long number(String stats, String before) {
        Matcher matcher = Pattern.compile("cmdstat_" + before + "(\\d+)").matcher(stats);
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    QueueStats stats() throws Exception {
        return queue.admin().stats().get(20, TimeUnit.SECONDS);
    }

    boolean isEmpty() throws Exception {
        QueueStats stats = stats();
        return stats.delayed() + stats.leased() == 0;
    }

    void awaitEmpty(Duration atMost) {
        await().atMost(atMost).pollInterval(Duration.ofMillis(50)).until(this::isEmpty);
    }

    static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }

    /** Lets a load run for a while; not at all if that is over. */
    static void run(Duration duration) {
        if (duration.isNegative()) {
            return;
        }
        await().pollDelay(duration).atMost(duration.plusSeconds(60)).until(() -> true);
    }

    static ConsumerOptions concurrent(int consumers) {
        return ConsumerOptions.DEFAULTS.withConcurrentConsumers(consumers);
    }

    /** {@code -Doverload.minutes=}: for how long a consumer is slower than its producers; 0 if nothing is said. */
    static int minutes() {
        return Integer.getInteger("overload.minutes", 0);
    }

    /** A time for each round. */
    static Duration lasting(Duration round) {
        return round.multipliedBy(Experiment.rounds());
    }

    @Override
    public void close() {
        client.close();
        redisson.shutdown();
        server.close();
    }
}
