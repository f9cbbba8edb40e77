// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program as its user starts and stops it: in a process of its own, by signals. */
@Timeout(300)
class ExampleProcessIT {

    @TempDir
    Path folder;

    private int port;
    private ShopClient customer;
    private Process process;
    private Path output;
    private int starts;
    private int speed = 1;
    private String replay = "off";
    private String mainClass = ExampleApplication.class.getName();

    @BeforeEach
    void setUp() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        customer = new ShopClient(port);
    }

    @AfterEach
    void tearDown() throws IOException {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
        awaitNoRedis();
    }

    @Test
    void theCommandsOfTheReadmeDoWhatItSays() throws Exception {
        mainClass = ReadmeCommands.mainClass();
        replay = "on";
        speed = 3600;
        start();
        await().atMost(Duration.ofSeconds(20)).until(() -> text().contains("placed"));

        HttpClient curl = HttpClient.newHttpClient();
        List<HttpRequest> requests = ReadmeCommands.curls(port);
        assertThat(requests).hasSize(4);
        for (HttpRequest request : requests) {
            assertThat(curl.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .as(request.toString())
                    .isBetween(200, 299);
        }
        assertThat(customer.state("mine")).isEqualTo("PAID");

        process.destroy();
        process.onExit().join();
        assertThat(text()).contains("stopped. The same command carries on.");
        start();
        assertThat(text()).contains("carried on: ");
    }

    @Test
    void ctrlCStopsItAndTheNextStartCarriesOn() throws Exception {
        assertCarriesOnAfter("INT");
    }

    @Test
    void sigtermStopsItAndTheNextStartCarriesOn() throws Exception {
        assertCarriesOnAfter("TERM");
    }

    private void assertCarriesOnAfter(String signal) throws Exception {
        start();
        List<String> ids = placeOrders("5s");

        new ProcessBuilder("kill", "-s", signal, String.valueOf(process.pid()))
                .start()
                .waitFor();
        await().atMost(Duration.ofSeconds(60)).until(() -> !process.isAlive());

        assertThat(text()).contains("10 orders are waiting in Redis", "stopped. The same command carries on.");
        assertThat(redisPid()).doesNotExist();
        start();
        assertThat(text()).contains("carried on: 10 orders waiting from last time");
        awaitClosedOnce(ids);
    }

    @Test
    void evenAKillLosesNothing() throws Exception {
        start();
        List<String> ids = placeOrders("5s");

        process.destroyForcibly().onExit().join();

        start();
        assertThat(text()).contains("carried on: 10 orders waiting from last time");
        awaitClosedOnce(ids);
    }

    @Test
    void afterAKillTheOtherStoriesGoOnToo() throws Exception {
        speed = 36_000; // An hour in a tenth of a second.
        start();
        List<String> there = IntStream.range(0, 10).mapToObj(i -> "T-" + i).toList();
        List<String> gone = List.of("G-0", "G-1", "G-2");
        there.forEach(id -> customer.order(ShopClient.order(id, "1h", PartnerRoutes.url(port))));
        gone.forEach(id -> customer.order(ShopClient.order(id, "1h", PartnerRoutes.GONE)));
        Instant starts = Instant.now().plusSeconds(20).truncatedTo(ChronoUnit.MILLIS);
        customer.plan("E-1", "Chess", starts.minusSeconds(10).toString());
        customer.plan("E-1", "Chess", starts.toString());
        customer.plan("E-2", "Yoga", starts.toString());
        customer.cancel("E-2");
        for (String id : there) {
            await(id).until(() -> customer.state(id).equals("CLOSED"));
            assertThat(customer.pay(id).status()).isEqualTo(409);
        }
        await().until(() -> text().contains("notify   G-2  try 5"));

        process.destroyForcibly().onExit().join();
        start();

        // What was under way when it was killed is delivered again when its lease ends, after half a minute.
        await().atMost(Duration.ofSeconds(90)).until(() -> lastSummary("notifications:")
                .endsWith("notifications: 10 delivered, 3 given up and in the database, 0 to be tried"));
        await().atMost(Duration.ofSeconds(90))
                .until(() -> lastSummary("refunds:").endsWith(", 0 under way"));
        await().until(() -> lastSummary("reminders:").endsWith("reminders: 1 sent, 0 to come; 1 events cancelled"));
        process.destroy();
        process.onExit().join();

        StoryRows rows = new StoryRows(folder.resolve("data"));
        assertThat(rows.column("SELECT order_id FROM received_notification"))
                .containsExactlyInAnyOrderElementsOf(there);
        assertThat(rows.column("SELECT order_id FROM failed_notification")).containsExactlyInAnyOrderElementsOf(gone);
        assertThat(rows.column("SELECT DISTINCT attempts FROM failed_notification"))
                .containsExactly("10");
        assertThat(rows.column("SELECT order_id FROM refund WHERE state = 'DONE'"))
                .containsExactlyInAnyOrderElementsOf(there);
        String inTime = "sent_at BETWEEN DATEADD(MILLISECOND, -100, starts_at) AND DATEADD(SECOND, 2, starts_at)";
        assertThat(rows.column("SELECT event_id FROM reminder WHERE " + inTime)).containsExactly("E-1");
        assertThat(rows.of("SELECT starts_at FROM reminder"))
                .extracting(row -> ((OffsetDateTime) row.get("starts_at")).toInstant())
                .containsExactly(starts);
    }

    private String lastSummary(String story) throws IOException {
        List<String> lines = text().lines()
                .filter(line -> line.contains("-------- " + story))
                .toList();
        return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }

    @Test
    void withoutWhatItNeedsItSaysWhyAndFails() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
            port = taken.getLocalPort();
            launch();

            assertThat(process.onExit().join().exitValue()).isEqualTo(1);
            assertThat(text()).contains("Port " + port + " is taken").doesNotContain("Exception");
        }
    }

    private List<String> placeOrders(String window) {
        List<String> ids = IntStream.range(0, 10).mapToObj(i -> "P-" + i).toList();
        ids.forEach(
                id -> assertThat(customer.order(ShopClient.order(id, window)).status())
                        .isEqualTo(201));
        return ids;
    }

    private void awaitClosedOnce(List<String> ids) throws IOException {
        for (String id : ids) {
            await(id).atMost(Duration.ofSeconds(20)).until(() -> customer.state(id)
                    .equals("CLOSED"));
            assertThat(text().split("closed   " + id + " ")).hasSize(2);
        }
    }

    private void start() throws IOException {
        launch();
        await().atMost(Duration.ofSeconds(60)).until(() -> !process.isAlive() || text().contains("Open for orders"));
        assertThat(process.isAlive()).as(text()).isTrue();
    }

    private void launch() throws IOException {
        output = folder.resolve("output-" + ++starts);
        List<String> command = new ArrayList<>();
        if (canResetSignals()) {
            // Who runs these tests in the background has SIGINT ignored, a JVM keeps it so, and Ctrl-C could not be
            // tried.
            command.addAll(List.of("env", "--default-signal=INT"));
        }
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile="
                        + Path.of("src/main/resources/logback.xml").toAbsolutePath(),
                mainClass));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().remove(ExampleSettings.REDIS_ADDRESS);
        builder.environment().put(ExampleSettings.DATA, folder.resolve("data").toString());
        builder.environment().put(ExampleSettings.HTTP_PORT, String.valueOf(port));
        builder.environment().put(ExampleSettings.REPLAY, replay);
        builder.environment().put(ExampleSettings.SPEED, String.valueOf(speed));
        builder.environment().remove("LOG_ORDERS");
        process = builder.start();
    }

    /** GNU's env can, others cannot. */
    private static boolean canResetSignals() throws IOException {
        Process env = new ProcessBuilder("env", "--default-signal=INT", "true")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return env.onExit().join().exitValue() == 0;
    }

    private String text() throws IOException {
        return Files.readString(output);
    }

    private Path redisPid() {
        return folder.resolve("data/redis/redis.pid");
    }

    private void awaitNoRedis() {
        await().until(() -> !Files.exists(redisPid()));
    }
}
