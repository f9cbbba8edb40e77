// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.TestPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A test with the program in a process of its own. */
@Timeout(300)
abstract class ShopProcess {

    @TempDir
    Path folder;

    int port;
    ShopClient customer;
    Process process;
    private final List<Process> consumers = new ArrayList<>();
    private Path output;
    private int starts;
    /** How long the longest start took: how fast this machine is. */
    private Duration startTime = Duration.ZERO;

    int speed = 1;
    String replay = "off";
    String mainClass = ExampleApplication.class.getName();

    @BeforeEach
    void setUp() throws IOException {
        port = TestPorts.next();
        customer = new ShopClient(port);
    }

    @AfterEach
    void tearDown() throws IOException {
        consumers.forEach(consumer -> consumer.destroyForcibly().onExit().join());
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
        awaitNoRedis();
    }

    /** At least this long, and longer on a busy machine. */
    Duration window(Duration least) {
        return least.plus(startTime.multipliedBy(2));
    }

    /** Places orders, and leaves the time to stop the process before they are closed. */
    List<String> placeOrders() {
        String window = window(Duration.ofSeconds(6)).toMillis() + "ms";
        List<String> ids = IntStream.range(0, 10).mapToObj(i -> "P-" + i).toList();
        ids.forEach(
                id -> assertThat(customer.order(ShopClient.order(id, window)).status())
                        .isEqualTo(201));
        return ids;
    }

    void awaitClosedOnce(List<String> ids) throws IOException {
        for (String id : ids) {
            await(id).atMost(window(Duration.ofSeconds(30))).until(() -> customer.state(id)
                    .equals("CLOSED"));
            // It says so a moment later.
            await(id).untilAsserted(() -> assertThat(text().split("closed   " + id + " "))
                    .hasSize(2));
        }
    }

    void start(String... arguments) throws IOException {
        long begin = System.nanoTime();
        launch(arguments);
        await().atMost(Duration.ofSeconds(60)).until(() -> !process.isAlive() || text().contains("See what waits"));
        assertThat(process.isAlive()).as(text()).isTrue();
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        startTime = took.compareTo(startTime) > 0 ? took : startTime;
    }

    void launch(String... arguments) throws IOException {
        output = folder.resolve("output-" + ++starts);
        process = launch(output, arguments);
    }

    /** Starts a consumer beside the process, and returns the file of its output. */
    Path launchConsumer() throws IOException {
        Path output = folder.resolve("consumer-" + consumers.size());
        consumers.add(launch(output, "consumer"));
        return output;
    }

    private Process launch(Path output, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        if (canResetSignals()) {
            // If these tests run in the background, SIGINT is ignored, a JVM keeps it so, and Ctrl-C could not be
            // tried.
            command.addAll(List.of("env", "--default-signal=INT"));
        }
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile="
                        + Path.of("src/main/resources/logback.xml").toAbsolutePath(),
                mainClass));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().remove(ExampleSettings.REDIS_ADDRESS);
        builder.environment().put(ExampleSettings.DATA, folder.resolve("data").toString());
        builder.environment().put(ExampleSettings.HTTP_PORT, String.valueOf(port));
        builder.environment().put(ExampleSettings.CONSOLE_PORT, "0");
        builder.environment().put(ExampleSettings.REPLAY, replay);
        builder.environment().put(ExampleSettings.SPEED, String.valueOf(speed));
        builder.environment().put("LOG_ORDERS", "INFO");
        return builder.start();
    }

    /** GNU's env can, others cannot. */
    private static boolean canResetSignals() throws IOException {
        Process env = new ProcessBuilder("env", "--default-signal=INT", "true")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return env.onExit().join().exitValue() == 0;
    }

    String text() throws IOException {
        return Files.readString(output);
    }

    Path redisPid() {
        return folder.resolve("data/redis/redis.pid");
    }

    private void awaitNoRedis() {
        await().atMost(Duration.ofSeconds(60)).until(() -> !Files.exists(redisPid()));
    }
}
