// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The story from end to end, on an embedded Redis, with payment windows of seconds and less. */
class OrderShopIT {

    private static final Duration REPLAY_TIME = Duration.ofSeconds(3);
    private static final ShopTime REAL_TIME = new ShopTime(1);

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    private ExampleSettings settings;
    private ShopClient customer;
    private OrderShop shop;

    @BeforeEach
    void open() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            settings = new ExampleSettings(
                    folder.resolve("data"),
                    Optional.empty(),
                    free.getLocalPort(),
                    0,
                    false,
                    REAL_TIME,
                    ExampleSettings.Role.BOTH);
        }
        customer = new ShopClient(settings.httpPort());
        start(DataSet.EMPTY);
    }

    @AfterEach
    void stop() {
        if (shop != null) {
            shop.close();
            shop = null;
        }
    }

    private void start(DataSet dataSet) {
        shop = OrderShop.start(settings, dataSet, REPLAY_TIME);
    }

    @Test
    void anOrderThatIsNotPaidIsClosedWhenItsWindowEnds() {
        ShopClient.Answer answer = customer.order(ShopClient.order("A-1", "3s"));

        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.text("id")).isEqualTo("A-1");
        assertThat(customer.state("A-1")).isEqualTo("WAITING");
        awaitState("A-1", "CLOSED");
        // It says so a moment later.
        await().untilAsserted(() -> assertThat(log.lines("closed   A-1", "Ada", "12.50 EUR", "ms late"))
                .hasSize(1));
    }

    @Test
    void theConsoleShowsTheStoriesAndClosesAnOrderNow() {
        customer.order(ShopClient.order("A-1", "1h"));

        ShopClient console = ShopClient.ofConsole(shop.consoleUrl());
        assertThat(console.get("/api/queues").body().toString())
                .contains("orders", "notifications", "refunds", "reminders", "bank");
        JsonNode order = console.get("/api/message?queue=orders&id=A-1").body();
        assertThat(order.findValue("state").asText()).isEqualTo("waiting");
        ShopClient.Answer promoted = console.post(
                "/api/promote",
                "{\"queue\":\"orders\",\"id\":\"A-1\",\"state\":\"waiting\",\"due\":" + order.findValue("due") + "}");
        assertThat(promoted.text("outcome")).isEqualTo("done");
        awaitState("A-1", "CLOSED");
    }

    @Test
    void anOrderThatIsPaidInTimeIsNotClosed() {
        customer.order(ShopClient.order("A-1", "5s"));
        customer.order(ShopClient.order("A-2", "5s"));

        ShopClient.Answer answer = customer.pay("A-1");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text("result")).isEqualTo("PAID");
        awaitState("A-2", "CLOSED");
        assertThat(customer.state("A-1")).isEqualTo("PAID");
        assertThat(customer.pay("A-1").text("result")).isEqualTo("PAID_BEFORE");
        assertThat(log.lines("closed", "A-1")).isEmpty();
    }

    @Test
    void aPaymentAfterTheWindowIsReturned() {
        customer.order(ShopClient.order("A-1", "1ms"));
        awaitState("A-1", "CLOSED");

        ShopClient.Answer answer = customer.pay("A-1");

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.text("result")).isIn("CLOSED", "CLOSING_UNDER_WAY");
        assertThat(customer.state("A-1")).isEqualTo("CLOSED");
    }

    @Test
    void aPaymentForNoOrderIsRefused() {
        ShopClient.Answer answer = customer.pay("nobody");

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.text("result")).isEqualTo("UNKNOWN");
        assertThat(customer.state("nobody")).isEqualTo("UNKNOWN");
    }

    @Test
    void anOrderThatIsSentTwiceIsTakenOnce() {
        customer.order(ShopClient.order("A-1", "700ms"));

        assertThat(customer.order(ShopClient.order("A-1", "1h")).status()).isEqualTo(200);
        awaitState("A-1", "CLOSED");
        assertThat(customer.order(ShopClient.order("A-1", "1h")).status()).isEqualTo(200);
        assertThat(log.lines("placed   A-1")).hasSize(1);
        assertThat(log.lines("known    A-1")).hasSize(2);
    }

    @Test
    void aBadOrderIsRefusedWithTheReason() {
        assertRefused("{\"id\":", "Unexpected end-of-input");
        assertRefused("{}", "id 'null'");
        assertRefused(ShopClient.order("A 1", "1s"), "id 'A 1'");
        assertRefused(ShopClient.order("A-1", "-5s"), "-5s");
        assertRefused(ShopClient.order("A-1", "1w"), "1w");
        assertRefused(ShopClient.order("A-1", "1s").replace("12.50", "0"), "more than 0");
        assertThat(customer.state("A-1")).isEqualTo("UNKNOWN");
    }

    private void assertRefused(String json, String reason) {
        ShopClient.Answer answer = customer.order(json);
        assertThat(answer.status()).as(json).isEqualTo(400);
        assertThat(answer.text("reason")).contains(reason);
    }

    @Test
    void ordersArriveAsFiles() throws IOException {
        putIntoInbox(
                "one.json",
                "{\n  \"id\": \"F-1\",\n  \"customer\": \"Ada\",\n  \"amount\": 5,\n"
                        + "  \"paymentWindow\": \"500ms\"\n}\n");
        putIntoInbox(
                "list.ndjson",
                ShopClient.order("F-2", "500ms") + "\n" + ShopClient.order("F-3", "3 days") + "\n"
                        + ShopClient.order("F-4", "500ms") + "\n\n");

        awaitState("F-1", "CLOSED");
        awaitState("F-2", "CLOSED");
        awaitState("F-4", "CLOSED");
        assertThat(customer.state("F-3")).isEqualTo("UNKNOWN");
        assertThat(log.lines("refused", "list.ndjson", "3 days")).hasSize(1);
        await().until(() -> !Files.exists(settings.inbox().resolve("list.ndjson")));
    }

    @Test
    void afterARestartTheOrdersOfLastTimeAreClosedOrPaid() {
        List<String> ids = IntStream.range(0, 20).mapToObj(i -> "R-" + i).toList();
        ids.forEach(id -> customer.order(ShopClient.order(id, "8s")));
        customer.order(ShopClient.order("later", "1h"));
        customer.order(ShopClient.order("paid", "1h"));
        customer.pay("paid");

        shop.close();
        start(DataSet.EMPTY);

        assertThat(log.lines("21 orders are waiting in Redis")).hasSize(1);
        assertThat(log.lines("carried on: 21 orders waiting from last time (1 were paid, 0 closed)"))
                .hasSize(1);
        ids.forEach(id -> awaitState(id, "CLOSED"));
        for (String id : ids) {
            await(id).untilAsserted(() -> assertThat(log.lines("closed   " + id + " "))
                    .hasSize(1));
        }
        assertThat(customer.state("later")).isEqualTo("WAITING");
        assertThat(customer.pay("later").text("result")).isEqualTo("PAID");
        assertThat(customer.pay("paid").text("result")).isEqualTo("PAID_BEFORE");
    }

    @Test
    void whatBecomesDueWhileTheShopIsClosedIsClosedWhenItOpensAgain() {
        customer.order(ShopClient.order("A-1", "4s"));
        Instant due = Instant.now().plusSeconds(4);
        shop.close();
        await().until(() -> Instant.now().isAfter(due));

        start(DataSet.EMPTY);

        awaitState("A-1", "CLOSED");
        assertThat(log.lines("The clock went on while the example was down: 1 orders were to be closed meanwhile"))
                .hasSize(1);
    }

    @Test
    void aPaymentThatACrashInterruptedIsFinishedAtTheNextStart() throws IOException {
        customer.order(ShopClient.order("A-1", "1h"));
        shop.close();
        try (ShopDatabase database = ShopDatabase.open(settings.dataFolder())) {
            new OrderBook(database.dataSource(), Clock.systemUTC()).beginPayment("A-1");
        }

        start(DataSet.EMPTY);

        assertThat(customer.state("A-1")).isEqualTo("PAID");
    }

    @Test
    void theDataSetIsPlayedOnce() {
        shop.close();
        DataSet dataSet = dataSet(40, "1s", "6s", "1500ms");
        start(dataSet);

        await().atMost(Duration.ofSeconds(30))
                .until(() -> log.lines("----", "20 paid, 20 closed, 0 wait in Redis", "All is done")
                                .size()
                        == 1);
        shop.close();
        start(dataSet);
        customer.order(ShopClient.order("one-more", "1ms"));
        await().atMost(Duration.ofSeconds(30))
                .until(() ->
                        log.lines("----", "20 paid, 21 closed", "All is done").size() == 1);

        assertThat(log.lines("placed   ")).hasSize(41);
        assertThat(log.lines("known")).isEmpty();
        assertThat(log.lines("payment", "paid in time")).hasSize(20);
        assertThat(log.lines("closed   ")).hasSize(21);
    }

    @Test
    void aDataSetThatWasInterruptedIsPlayedToItsEnd() {
        shop.close();
        // A customer who pays too late as the shop was closed has to get the money back, which takes the bank hours.
        ShopTime time = new ShopTime(2_000);
        settings = new ExampleSettings(
                settings.dataFolder(),
                Optional.empty(),
                settings.httpPort(),
                0,
                settings.replay(),
                time,
                ExampleSettings.Role.BOTH);
        DataSet dataSet = dataSet(240, "2000s", "12000s", "3000s");
        // So slowly that most of it is still to come.
        shop = OrderShop.start(settings, dataSet, Duration.ofSeconds(30));
        await().until(() -> log.lines("placed   ").size() > 10);

        shop.close();
        int before = log.lines("placed   ").size();
        assertThat(before).isLessThan(240);
        start(dataSet);

        await().atMost(Duration.ofMinutes(1))
                .until(() -> log.lines("----", "240 placed", " 0 wait in Redis", "All is done")
                                .size()
                        == 1);
        assertThat(log.lines("placed   ")).hasSize(240);
        // An order whose payment came while the shop was closed, and whose window ended meanwhile, is closed.
        await().untilAsserted(() -> assertThat(log.lines("closed   ").size()
                        + log.lines("payment", "paid in time").size())
                .isEqualTo(240));
    }

    @Test
    void aReplayInNoTimeLosesNoOrder() {
        shop.close();
        // A batch each millisecond, as after a stall, when the timer catches up.
        shop = OrderShop.start(settings, dataSet(240, "1h", "1h", "1h"), Duration.ofMillis(60));

        await().atMost(Duration.ofSeconds(30)).until(() -> shop.waiting("orders") == 240);
        await().untilAsserted(() -> assertThat(log.lines("placed   ")).hasSize(240));
    }

    /** Every other order is paid. */
    private static DataSet dataSet(int size, String unpaidWindow, String paidWindow, String paidAfter) {
        Map<String, String> orders = new LinkedHashMap<>();
        Map<String, String> payments = new LinkedHashMap<>();
        for (int i = 0; i < size; i++) {
            orders.put("D-" + i, ShopClient.order("D-" + i, i % 2 == 0 ? unpaidWindow : paidWindow));
            if (i % 2 == 1) {
                payments.put("D-" + i, paidAfter);
            }
        }
        return new DataSet(orders, payments, List.of());
    }

    @Test
    void aSecondShopOnTheSameFolderIsRefused() {
        assertThatThrownBy(() -> OrderShop.start(settings, DataSet.EMPTY, REPLAY_TIME))
                .isInstanceOf(ExampleException.class)
                .hasMessageContaining("already running on " + settings.dataFolder())
                .hasMessageContaining("EXAMPLE_DATA=");
        assertThat(customer.state("any")).isEqualTo("UNKNOWN");
    }

    @Test
    void aPortThatIsTakenIsNamed() {
        ExampleSettings other = new ExampleSettings(
                folder.resolve("other"),
                Optional.empty(),
                settings.httpPort(),
                0,
                false,
                REAL_TIME,
                ExampleSettings.Role.BOTH);

        assertThatThrownBy(() -> OrderShop.start(other, DataSet.EMPTY, REPLAY_TIME))
                .isInstanceOf(ExampleException.class)
                .hasMessage(
                        "Port " + settings.httpPort() + " is taken by another program. Choose another: HTTP_PORT=8081");
        assertThat(folder.resolve("other/redis/redis.pid")).doesNotExist();
    }

    @Test
    void aRedisThatDoesNotAnswerIsNamed() {
        shop.close();
        ExampleSettings other = new ExampleSettings(
                folder.resolve("other"),
                Optional.of("redis://127.0.0.1:1"),
                settings.httpPort(),
                0,
                false,
                REAL_TIME,
                ExampleSettings.Role.BOTH);

        assertThatThrownBy(() -> OrderShop.start(other, DataSet.EMPTY, REPLAY_TIME))
                .isInstanceOf(ExampleException.class)
                .hasMessageContaining("redis://127.0.0.1:1")
                .hasMessageContaining("REDIS_ADDRESS");
    }

    private void awaitState(String id, String state) {
        await(id).until(() -> customer.state(id).equals(state));
    }

    /** As the inbox wants it: a file is written elsewhere and then moved there. */
    private void putIntoInbox(String name, String content) throws IOException {
        Path written = Files.writeString(folder.resolve(name), content);
        Files.move(written, settings.inbox().resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
