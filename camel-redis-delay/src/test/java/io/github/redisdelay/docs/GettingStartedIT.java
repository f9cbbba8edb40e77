// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Does what {@code docs/getting-started.md} says: runs its program, {@link Orders}, with its properties, in a JVM of its own on a
 * Redis of its own, and sees the lines that the page shows. {@link PagesIT} compares the program with the page's, and reads its
 * {@code pom.xml}.
 */
class GettingStartedIT {

    private static final String ADDRESS = "redis://localhost:6379";

    /** The output that the page shows: as a whole, and after a restart. */
    private static List<List<String>> printed;

    private static String properties;

    @TempDir
    static Path classes;

    @BeforeAll
    static void read() throws IOException {
        List<Block> blocks = Block.of("the page", Files.readAllLines(Block.ROOT.resolve("docs/getting-started.md")));
        printed = blocks.stream()
                .filter(block -> block.language().equals("text"))
                .map(block -> block.code().lines().toList())
                .toList();
        assertThat(printed).hasSize(2);
        properties = blocks.stream()
                .filter(block -> block.language().equals("properties"))
                .findFirst()
                .orElseThrow()
                .code();
        assertThat(properties).contains(ADDRESS);
        Files.writeString(classes.resolve("log.xml"), """
                <configuration>
                    <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
                        <encoder><pattern>%relative %msg%n</pattern></encoder>
                    </appender>
                    <root level="INFO"><appender-ref ref="out"/></root>
                </configuration>
                """);
    }

    @Test
    void should_print_what_the_page_shows() throws Exception {
        List<String> lines;
        int tries = 0;
        do {
            try (RedisServer server = RedisServer.dedicated()) {
                lines = run(server, printed.get(0));
            }
            // Where the machine stood still, the third order is placed after the second one is paid: then once more.
        } while (++tries < 5
                && millis(lines, "order-3 is placed") - millis(lines, "Apache Camel .* started in .*") > 4_500);
        assertThat(orders(lines)).isEqualTo(printed.get(0));
    }

    @Test
    void should_close_after_a_restart_what_was_placed_before() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            // Where the machine is slow, the second order may be paid before the program has ended: then once more.
            for (int tries = 1; ; tries++) {
                run(server, printed.get(0).subList(0, 3)); // and stopped
                if (awaitOverdue(server) == 3 || tries == 5) {
                    break;
                }
                server.kill();
                server.start();
            }
            // Where the machine is slow, the next order may be placed before the last one is closed.
            assertThat(orders(run(server, printed.get(1))))
                    .filteredOn(line -> line.endsWith("closed"))
                    .isEqualTo(printed.get(1).subList(0, 3));
        }
    }

    /** Runs the program until it has printed these lines. Returns all, each behind the milliseconds since its start. */
    private static List<String> run(RedisServer server, List<String> lines) throws Exception {
        String classPath = JavaCommand.classPath();
        ProcessBuilder program = new ProcessBuilder(JavaCommand.of(
                List.of("-Dlogback.configurationFile=log.xml"),
                classes + File.pathSeparator + classPath,
                Orders.class));
        Files.writeString(classes.resolve("application.properties"), properties.replace(ADDRESS, server.address()));
        Process running = program.redirectErrorStream(true).start();
        List<String> said = new CopyOnWriteArrayList<>();
        try {
            Thread reader = new Thread(() -> running.inputReader().lines().forEach(said::add));
            reader.start();
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(orders(said)).containsAll(lines));
            running.destroy(); // as Ctrl-C
            reader.join();
            assertThat(running.waitFor(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            running.destroyForcibly();
        }
        return said;
    }

    /** The lines about orders. */
    private static List<String> orders(List<String> lines) {
        return lines.stream()
                .map(line -> line.replaceFirst("^[0-9]+ ", ""))
                .filter(line -> line.startsWith("order-"))
                .toList();
    }

    /** When a line was printed, in milliseconds. */
    private static long millis(List<String> lines, String what) {
        return lines.stream()
                .filter(line -> line.matches("[0-9]+ " + what))
                .mapToLong(line -> Long.parseLong(line.substring(0, line.indexOf(' '))))
                .findFirst()
                .orElseThrow();
    }

    /** Waits until all messages are due. Returns how many they are. */
    private static long awaitOverdue(RedisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
        RedissonClient redisson = Redisson.create(config);
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            return await().atMost(Duration.ofSeconds(30))
                    .until(
                            () -> client.queue("orders").admin().stats().join(),
                            stats -> stats.overdue() == stats.delayed())
                    .overdue();
        } finally {
            redisson.shutdown();
        }
    }
}
