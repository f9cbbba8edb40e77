// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.TestPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A payment that came too late goes back: the shop looks by steps until the bank has paid, or is told before. */
class RefundStoryIT {

    private static final ShopTime TIME = new ShopTime(7_200);

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    private final Bank bank = new Bank(OrderShop.SEED, TIME);
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
    void eachIsDoneOnceAsALookFindsOrAsTheBankSays() {
        List<String> ids = paidTooLate(12);

        awaitDone(ids.size());

        assertThat(rows.column("SELECT order_id FROM refund WHERE state = 'DONE'"))
                .containsExactlyInAnyOrderElementsOf(ids);
        // Whoever the bank does not tell can only have looked.
        assertThat(rows.column("SELECT order_id FROM refund WHERE found_by = 'look'"))
                .containsAll(ids.stream().filter(id -> !bank.tells(id)).toList());
        assertThat(rows.column("SELECT order_id FROM refund WHERE found_by = 'bank'"))
                .isNotEmpty();
        for (String id : ids) {
            awaitSaidOnce(id);
        }
    }

    @Test
    void noneIsDoneBeforeTheBankHasPaid() {
        paidTooLate(6);

        awaitDone(6);

        assertThat(
                        rows.of(
                                "SELECT * FROM refund JOIN bank_refund USING (order_id) WHERE refund.done_at < bank_refund.done_at"))
                .isEmpty();
    }

    @Test
    void afterARestartEachIsDoneOnce() {
        List<String> ids = paidTooLate(10);

        shop.close();
        start();

        awaitDone(ids.size());
        for (String id : ids) {
            awaitSaidOnce(id);
        }
    }

    @Test
    void whoPaysTwiceGetsOneRefund() {
        List<String> ids = paidTooLate(1);

        assertThat(customer.pay(ids.get(0)).text("result")).isEqualTo("CLOSED");
        awaitDone(1);
        assertThat(customer.pay(ids.get(0)).text("result")).isEqualTo("CLOSED");

        await().until(() -> shop.waiting("refunds") == 0);
        awaitSaidOnce(ids.get(0));
    }

    private List<String> paidTooLate(int count) {
        List<String> ids = IntStream.range(0, count).mapToObj(i -> "A-" + i).toList();
        ids.forEach(id -> customer.order(ShopClient.order(id, "1m")));
        ids.forEach(id -> await(id).until(() -> customer.state(id).equals("CLOSED")));
        ids.forEach(id -> assertThat(customer.pay(id).status()).isEqualTo(409));
        return ids;
    }

    /** A look may say so a moment after the bank has taken its message out of the queue. */
    private void awaitSaidOnce(String id) {
        await(id).untilAsserted(() -> assertThat(log.lines("refund   " + id + " ", "is done"))
                .hasSize(1));
    }

    private void awaitDone(int count) {
        await().atMost(Duration.ofSeconds(40))
                .until(() -> rows.column("SELECT order_id FROM refund WHERE state = 'DONE'")
                                .size()
                        == count);
        await().until(() -> shop.waiting("refunds", "bank") == 0);
    }
}
