// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.redisdelay.test.TestPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A partner is told what became of an order, by HTTP, until it answers 200; if it never does, that is in the database.
 */
class NotificationStoryIT {

    /** All the steps together, more than a day, take less than three seconds. */
    private static final ShopTime TIME = new ShopTime(36_000);

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    private ExampleSettings settings;
    private ShopClient customer;
    private ShopRows rows;
    private OrderShop shop;

    @BeforeEach
    void open() throws Exception {
        settings = new ExampleSettings(
                folder, Optional.empty(), TestPorts.next(), 0, false, TIME, ExampleSettings.Role.BOTH);
        customer = new ShopClient(settings.httpPort());
        rows = new ShopRows(folder);
        start();
    }

    private void start() {
        shop = OrderShop.start(settings, DataSet.EMPTY, Duration.ofSeconds(3));
    }

    @AfterEach
    void stop() {
        shop.close();
    }

    @Test
    void eachIsDeliveredOnce() {
        List<String> paid = placed("P", 10, "100d", PartnerRoutes.url(settings.httpPort()));
        List<String> closed = placed("C", 10, "1h", PartnerRoutes.url(settings.httpPort()));
        paid.forEach(id -> assertThat(customer.pay(id).status()).isEqualTo(200));
        customer.order(ShopClient.order("without", "1h"));

        awaitOutcomes(20);

        assertThat(delivered("paid")).containsExactlyInAnyOrderElementsOf(paid);
        assertThat(delivered("closed")).containsExactlyInAnyOrderElementsOf(closed);
        // It had its bad moments.
        assertThat(log.lines("attempt", "statusCode: 500")).isNotEmpty();
        assertThat(log.lines("attempt", "as CamelRedisDelayRetryAfter says", "statusCode: 429"))
                .isNotEmpty();
        assertThat(log.lines("attempt", "timed out")).isNotEmpty();
        for (String id : paid) {
            assertThat(log.lines("notify   " + id + " ", "delivered")).as(id).hasSize(1);
        }
    }

    @Test
    void whatAPartnerThatIsOutOfOrderDidNotTakeEndsInTheDatabaseAndIsSentAgain() {
        List<String> ids = placed("W", 4, "1h", PartnerRoutes.warehouse(settings.httpPort()));
        await().atMost(Duration.ofSeconds(30)).until(() -> failed().size() == 4);
        await().until(() -> shop.deadLetters("notifications") == 0);

        List<JsonNode> failed = new ArrayList<>();
        customer.get("/notifications/failed").body().forEach(failed::add);
        assertThat(failed).extracting(row -> row.path("ORDER_ID").asText()).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(failed)
                .extracting(row -> row.path("REASON").asText() + " after "
                        + row.path("ATTEMPTS").asInt() + ": "
                        + row.path("FAILURE").asText())
                .areExactly(2, matching("failed after 10: .*statusCode: 500.*"))
                .areExactly(2, matching("the partner does not let us in after 1: .*statusCode: 403.*"));

        assertThat(customer.repairWarehouse().status()).isEqualTo(200);
        assertThat(customer.post("/notifications/failed", "")
                        .body()
                        .path("sentAgain")
                        .asInt())
                .isEqualTo(4);

        await().atMost(Duration.ofSeconds(30)).until(() -> delivered("closed").size() == 4);
        assertThat(failed()).isEmpty();
    }

    private static Condition<String> matching(String pattern) {
        return new Condition<>(text -> text.matches(pattern), pattern);
    }

    private List<String> failed() {
        return rows.column("SELECT order_id FROM failed_notification");
    }

    @Test
    void afterARestartEachHasOneOutcome() {
        List<String> gone = placed("G", 5, "1h", ShopClient.NOBODY);
        List<String> there = placed("T", 10, "1h", PartnerRoutes.url(settings.httpPort()));
        await().until(() -> log.lines("message 'G-", "attempt 6").size() > 2);

        shop.close();
        start();

        awaitOutcomes(15);
        assertThat(failed()).containsExactlyInAnyOrderElementsOf(gone);
        assertThat(delivered("closed")).containsExactlyInAnyOrderElementsOf(there);
    }

    @Test
    void aUrlThatTheShopDoesNotCallIsRefusedAtOnce() {
        ShopClient.Answer answer = customer.order(ShopClient.order("A-1", "1h", "file:/etc/passwd"));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("reason")).contains("notifyUrl 'file:/etc/passwd'");
        assertThat(customer.state("A-1")).isEqualTo("UNKNOWN");
    }

    private List<String> placed(String prefix, int count, String window, String url) {
        List<String> ids =
                IntStream.range(0, count).mapToObj(i -> prefix + "-" + i).toList();
        ids.forEach(id -> assertThat(
                        customer.order(ShopClient.order(id, window, url)).status())
                .isEqualTo(201));
        return ids;
    }

    private void awaitOutcomes(int count) {
        // Each has one, and nothing is left that could make a second one.
        await().atMost(Duration.ofSeconds(40)).until(() -> outcomesAndWaiting().equals(List.of((long) count, 0L)));
    }

    private List<Long> outcomesAndWaiting() {
        long outcomes =
                rows.column("SELECT order_id FROM received_notification").size() + failed().size();
        return List.of(outcomes, shop.waiting("notifications"));
    }

    private List<String> delivered(String event) {
        return rows.column("SELECT order_id FROM received_notification WHERE event = '" + event + "'");
    }
}
