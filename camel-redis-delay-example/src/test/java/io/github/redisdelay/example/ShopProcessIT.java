// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The program as its user starts and stops it: by a command, by signals. */
class ShopProcessIT extends ShopProcess {

    @Test
    void theCommandsOfTheReadmeDoWhatItSays() throws Exception {
        mainClass = ReadmeCommands.mainClass();
        replay = "on";
        speed = 3600;
        start();
        List<String> output = ReadmeCommands.output();
        await().atMost(window(Duration.ofSeconds(30)))
                .untilAsserted(() ->
                        assertThat(text().lines().map(ReadmeCommands::pattern)).containsAll(output));

        HttpClient curl = HttpClient.newHttpClient();
        List<HttpRequest> requests = ReadmeCommands.curls(port);
        assertThat(requests).hasSize(7);
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
        start();
        List<String> ids = placeOrders();

        new ProcessBuilder("kill", "-s", "INT", String.valueOf(process.pid()))
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
    void aProducerAndItsConsumersAreProcessesOfTheirOwn() throws Exception {
        start("producer");
        await().until(() -> text().contains("This process only produces"));
        Path first = launchConsumer();
        Path second = launchConsumer();
        for (Path consumer : List.of(first, second)) {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> Files.readString(consumer).contains("This process consumes"));
        }

        List<String> ids = IntStream.range(0, 40).mapToObj(i -> "P-" + i).toList();
        ids.forEach(id -> customer.order(ShopClient.order(id, "1s", ShopClient.NOBODY)));

        for (String id : ids) {
            await(id).until(() -> customer.state(id).equals("CLOSED"));
        }
        assertThat(text()).contains("placed   P-0").doesNotContain("closed   ");
        // Each says so a moment later.
        await().untilAsserted(() -> {
            String consumed = Files.readString(first) + Files.readString(second);
            assertThat(ids).allSatisfy(id -> assertThat(consumed.split("closed   " + id + " "))
                    .hasSize(2));
            assertThat(consumed).contains("on route 'notify-partner'").doesNotContain("ERROR");
        });
    }

    @Test
    void aConsumerWithoutAProducerSaysSo() throws Exception {
        launch("consumer");

        assertThat(process.onExit().join().exitValue()).isEqualTo(1);
        assertThat(text())
                .contains("No producer runs on " + folder.resolve("data"))
                .doesNotContain("Exception");
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
}
