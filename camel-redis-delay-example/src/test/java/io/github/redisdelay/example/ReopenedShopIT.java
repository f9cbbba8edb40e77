// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A shop that was closed and opens again: its orders, and its data set. */
class ReopenedShopIT extends RunningShop {

    @Test
    void afterARestartTheOrdersOfLastTimeAreClosedOrPaid() {
        List<String> ids = IntStream.range(0, 20).mapToObj(i -> "R-" + i).toList();
        String window = window(Duration.ofSeconds(7)).toMillis() + "ms";
        ids.forEach(id -> customer.order(ShopClient.order(id, window)));
        customer.order(ShopClient.order("later", "1h"));
        customer.order(ShopClient.order("paid", "1h"));
        customer.pay("paid");

        shop.close();
        start(DataSet.EMPTY);

        assertThat(log.lines("21 orders are waiting in Redis")).hasSize(1);
        assertThat(log.lines("carried on: 21 orders waiting from last time (1 paid, 0 closed)"))
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
        Duration window = window(Duration.ofSeconds(3));
        customer.order(ShopClient.order("A-1", window.toMillis() + "ms"));
        Instant due = Instant.now().plus(window);
        shop.close();
        await().atMost(window.plusSeconds(10)).until(() -> Instant.now().isAfter(due));

        start(DataSet.EMPTY);

        awaitState("A-1", "CLOSED");
        assertThat(log.lines("The clock went on while the example was down: 1 order was to be closed meanwhile"))
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
}
