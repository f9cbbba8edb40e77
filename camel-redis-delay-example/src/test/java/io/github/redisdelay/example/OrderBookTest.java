// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrderBookTest {

    private static final Clock CLOCK = Clock.fixed(Instant.parse("2030-01-31T10:15:00.123Z"), ZoneOffset.UTC);

    @TempDir
    Path folder;

    private ShopDatabase database;
    private OrderBook book;

    @BeforeEach
    void open() {
        database = ShopDatabase.open(folder);
        book = new OrderBook(database.dataSource(), CLOCK);
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void itKnowsWhatBecameOfEachAlsoAfterARestart() {
        book.place(order("waits"));
        book.place(order("pays"));
        book.beginPayment("pays");
        book.place(order("paid"));
        book.pay("paid");
        book.place(order("closed"));
        book.close("closed");

        close();
        open();

        assertThat(book.counts()).isEqualTo(new OrderBook.Counts(2, 1, 1));
        assertThat(book.unfinishedPayments()).containsExactly("pays");
        assertThat(book.state("closed")).contains(OrderBook.State.CLOSED);
        assertThat(book.knows("unheard-of")).isFalse();
        assertThat(new ShopRows(folder).of("SELECT changed_at FROM shop_order"))
                .extracting(row -> ((OffsetDateTime) row.get("changed_at")).toInstant())
                .containsOnly(CLOCK.instant());
    }

    @Test
    void anOrderIsTakenAndClosedOnce() {
        book.place(order("A"));
        assertThat(book.close("A")).isTrue();
        assertThat(book.close("A")).isFalse();
        book.place(order("A"));
        book.beginPayment("A");

        assertThat(book.state("A")).contains(OrderBook.State.CLOSED);
    }

    @Test
    void anOrderPaidBeforeItWasWrittenDownStaysPaid() {
        book.beginPayment("A");
        book.pay("A");
        book.place(order("A"));

        assertThat(book.state("A")).contains(OrderBook.State.PAID);
        assertThat(book.counts().all()).isOne();
    }

    @Test
    void whoWantsToBeNotifiedIsKnown() {
        book.place(new Order("A", "Ada", BigDecimal.ONE, "1h", null, null, null, null, "http://localhost:1/told"));
        book.place(order("B"));
        book.pay("A");

        assertThat(book.notifyUrl("A")).contains("http://localhost:1/told");
        assertThat(book.notifyUrl("B")).isEmpty();
        assertThat(book.notifyUrl("C")).isEmpty();
    }

    static Order order(String id) {
        return new Order(id, "Ada", BigDecimal.ONE, "1h", null, null, null, null, null);
    }
}
