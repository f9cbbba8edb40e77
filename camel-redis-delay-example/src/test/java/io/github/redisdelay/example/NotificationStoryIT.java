// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A partner is told what became of an order, by HTTP, until it answers 200; if it never does, the database has it. */
class NotificationStoryIT {

    /** All the steps together, more than a day, take less than three seconds. */
    private static final ShopTime TIME = new ShopTime(36_000);

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    private ExampleSettings settings;
    private ShopClient customer;
    private StoryRows rows;
    private OrderShop shop;

    @BeforeEach
    void open() throws Exception {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            settings = new ExampleSettings(folder, Optional.empty(), free.getLocalPort(), 0, false, TIME);
        }
        customer = new ShopClient(settings.httpPort());
        rows = new StoryRows(folder);
        start();
    }

    private void start() {
        shop = OrderShop.start(settings, DataSet.EMPTY, Programme.EMPTY, Duration.ofSeconds(3));
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
        assertThat(failed()).isEmpty();
        // It had its bad moments.
        assertThat(log.lines("notify", "the partner answered 500")).isNotEmpty();
        assertThat(log.lines("notify", "the partner answered 429, Retry-After: 1"))
                .isNotEmpty();
        assertThat(log.lines("notify", "timed out")).isNotEmpty();
        for (String id : paid) {
            assertThat(log.lines("notify   " + id + " ", "delivered")).as(id).hasSize(1);
        }
    }

    @Test
    void whatCannotBeDeliveredIsInTheDatabaseAfterTheLastStep() {
        OffsetDateTime before = OffsetDateTime.now();
        customer.order(ShopClient.order("A-1", "1h", PartnerRoutes.GONE));

        awaitOutcomes(1);

        assertThat(log.lines("notify   A-1", "Connection refused")).hasSize(10);
        List<Map<String, Object>> failed = rows.of("SELECT * FROM failed_notification");
        assertThat(failed).hasSize(1);
        assertThat(failed.get(0))
                .containsEntry("message_id", "A-1")
                .containsEntry("order_id", "A-1")
                .containsEntry("url", PartnerRoutes.GONE)
                .containsEntry("exception", "org.apache.hc.client5.http.HttpHostConnectException")
                .containsEntry("attempts", 10);
        assertThat((String) failed.get(0).get("message")).contains("Connection refused");
        assertThat((String) failed.get(0).get("dead_letter_id")).startsWith("A-1@");
        assertThat((OffsetDateTime) failed.get(0).get("failed_at")).isBetween(before, OffsetDateTime.now());
        assertThat(delivered("closed")).isEmpty();
    }

    @Test
    void afterARestartEachHasOneOutcome() {
        List<String> gone = placed("G", 5, "1h", PartnerRoutes.GONE);
        List<String> there = placed("T", 10, "1h", PartnerRoutes.url(settings.httpPort()));
        await().until(() -> log.lines("notify", "try 6").size() > 2);

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
        await().atMost(Duration.ofSeconds(40))
                .until(() -> rows.column("SELECT order_id FROM received_notification")
                                        .size()
                                + failed().size()
                        == count);
        // And nothing is left that could make a second one.
        await().until(() -> outcomesAndWaiting().equals(List.of((long) count, 0L)));
    }

    private List<Long> outcomesAndWaiting() {
        List<String> outcomes = new ArrayList<>(rows.column("SELECT order_id FROM received_notification"));
        outcomes.addAll(failed());
        return List.of((long) outcomes.size(), shop.waiting("notifications"));
    }

    private List<String> delivered(String event) {
        return rows.column("SELECT order_id FROM received_notification WHERE event = '" + event + "'");
    }

    private List<String> failed() {
        return rows.column("SELECT order_id FROM failed_notification");
    }
}
