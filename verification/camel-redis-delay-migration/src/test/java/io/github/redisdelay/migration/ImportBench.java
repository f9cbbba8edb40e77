// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.migration.Fleet.Member;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/**
 * Measures what it costs Redis to import a backlog of 200-byte messages by a producer, and to transfer it as Redisson
 * 4.7.0 does. {@code -Dimport.messages} says how many there are.
 */
class ImportBench {

    private static final int MESSAGES = Integer.getInteger("import.messages", 100_000);
    private static final int LENGTH = 200;
    private static final String QUEUE = "bench";
    private static final String IMPORT =
            "redis-delay:" + QUEUE + "?operation=import&import.from=" + QUEUE + "&import.codec=string";
    /** How many the transfer is watched for: a million would take hours. */
    private static final int TRANSFERRED = Math.min(MESSAGES, 2_000);

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path folder;

    private RedisServer server;
    private RedissonClient redisson;

    @BeforeEach
    void fill() {
        server = RedisServer.dedicated();
        redisson = TestConnections.open(server.address());
        Backlog.add(redisson, QUEUE, MESSAGES, LENGTH, System.currentTimeMillis());
    }

    @AfterEach
    void close() {
        redisson.shutdown();
        server.close();
    }

    @Test
    void should_measure_the_import() throws Exception {
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.getComponent("redis-delay", RedisDelayComponent.class)
                    .getConfiguration()
                    .setAddress(server.address());
            context.start();
            double cpu = cpuSeconds();
            long begin = System.nanoTime();
            Map<?, ?> report = context.createProducerTemplate().requestBody(IMPORT, null, Map.class);
            long moved = (long) report.get("moved");
            print("import", moved, cpu, begin);
            assertThat(moved).isEqualTo(MESSAGES);
        }
    }

    @Test
    void should_measure_the_transfer() throws Exception {
        try (Fleet fleet = new Fleet(folder, List.of(server.address()), QUEUE)) {
            Member transfer = fleet.old("4.7.0", OldQueueProcess.Role.TRANSFER, "string");
            Fleet.until(() -> transferred() > 0);
            double cpu = cpuSeconds();
            long before = transferred();
            long begin = System.nanoTime();
            Fleet.until(() -> transferred() >= TRANSFERRED);
            print("transfer", transferred() - before, cpu, begin);
            transfer.end();
        }
    }

    private long transferred() throws IOException {
        try (RedisSocket redis = RedisSocket.open(server.address())) {
            redis.timeout(PATIENCE); // a transfer of a hundred messages keeps Redis busy for seconds
            return Long.parseLong(redis.call("LLEN " + QUEUE).substring(1));
        }
    }

    private double cpuSeconds() throws IOException {
        try (RedisSocket redis = RedisSocket.open(server.address())) {
            return redis.text("INFO cpu")
                    .lines()
                    .filter(line -> line.matches("used_cpu_(sys|user):.*"))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1)))
                    .sum();
        }
    }

    private void print(String what, long messages, double cpuBefore, long begin) throws IOException {
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf(
                "%s: %d of %d messages in %.1f s, %.0f/s, Redis CPU %.1f us/message%n",
                what, messages, MESSAGES, seconds, messages / seconds, (cpuSeconds() - cpuBefore) * 1e6 / messages);
    }
}
