// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The story of the orders from end to end. */
class OrderShopIT extends RunningShop {

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
        // The console's own client may still be connecting.
        await().untilAsserted(() -> assertThat(console.get("/api/queues").body().toString())
                .contains("orders", "notifications", "refunds", "reminders", "bank"));
        JsonNode order = console.get("/api/message?queue=orders&id=A-1").body();
        assertThat(order.findValue("state").asText()).isEqualTo("delayed");
        ShopClient.Answer promoted = console.post(
                "/api/promote",
                "{\"queue\":\"orders\",\"id\":\"A-1\",\"state\":\"delayed\",\"due\":" + order.findValue("due") + "}");
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

    /** As the inbox wants it: a file is written elsewhere and then moved there. */
    private void putIntoInbox(String name, String content) throws IOException {
        Path written = Files.writeString(folder.resolve(name), content);
        Files.move(written, settings.inbox().resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
