// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrderBookTest {

    private static final Clock CLOCK = Clock.fixed(Instant.parse("2030-01-31T10:15:00.123456Z"), ZoneOffset.UTC);

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void setUp() {
        file = folder.resolve("book.txt");
    }

    @Test
    void everyStepIsOneLine() throws IOException {
        try (OrderBook book = open()) {
            book.place(order("A"));
            book.beginPayment("A");
            book.pay("A");
            book.place(order("B"));
            book.close("B");
        }

        assertThat(file).hasContent("""
                        2030-01-31T10:15:00.123Z WAITING A
                        2030-01-31T10:15:00.123Z PAYING A
                        2030-01-31T10:15:00.123Z PAID A
                        2030-01-31T10:15:00.123Z WAITING B
                        2030-01-31T10:15:00.123Z CLOSED B
                        """);
    }

    @Test
    void whatItKnewItKnowsAfterARestart() {
        try (OrderBook book = open()) {
            book.place(order("waits"));
            book.place(order("pays"));
            book.beginPayment("pays");
            book.place(order("paid"));
            book.pay("paid");
            book.place(order("closed"));
            book.close("closed");
        }

        try (OrderBook book = open()) {
            assertThat(book.counts()).isEqualTo(new OrderBook.Counts(2, 1, 1));
            assertThat(book.unfinishedPayments()).containsExactly("pays");
            assertThat(book.state("closed")).contains(OrderState.CLOSED);
            assertThat(book.knows("unheard-of")).isFalse();
        }
    }

    @Test
    void aLineThatACrashCutOffIsDropped() throws IOException {
        try (OrderBook book = open()) {
            book.place(order("A"));
        }
        Files.writeString(file, "2030-01-31T10:15:00.123Z PAI", StandardOpenOption.APPEND);

        try (OrderBook book = open()) {
            assertThat(book.state("A")).contains(OrderState.WAITING);
            book.close("A");
        }

        try (OrderBook book = open()) {
            assertThat(book.state("A")).contains(OrderState.CLOSED);
        }
    }

    @Test
    void anOrderIsTakenAndClosedOnce() {
        try (OrderBook book = open()) {
            book.place(order("A"));
            assertThat(book.close("A")).isTrue();
            assertThat(book.close("A")).isFalse();
            book.place(order("A"));
            book.beginPayment("A");

            assertThat(book.state("A")).contains(OrderState.CLOSED);
        }
    }

    @Test
    void anOrderPaidBeforeItWasWrittenDownStaysPaid() {
        try (OrderBook book = open()) {
            book.beginPayment("A");
            book.pay("A");
            book.place(order("A"));

            assertThat(book.state("A")).contains(OrderState.PAID);
            assertThat(book.counts().all()).isOne();
        }
    }

    @Test
    void whoWantsToBeNotifiedIsKnownAfterARestart() throws IOException {
        Order order = new Order("A", "Ada", BigDecimal.ONE, "1h", null, null, null, null, "http://localhost:1/told");
        try (OrderBook book = open()) {
            book.place(order);
            book.pay("A");
        }

        assertThat(file).hasContent("""
                        2030-01-31T10:15:00.123Z WAITING A http://localhost:1/told
                        2030-01-31T10:15:00.123Z PAID A
                        """);
        try (OrderBook book = open()) {
            assertThat(book.notifyUrl("A")).contains("http://localhost:1/told");
            assertThat(book.notifyUrl("B")).isEmpty();
            assertThat(book.state("A")).contains(OrderState.PAID);
        }
    }

    static Order order(String id) {
        return new Order(id, "Ada", BigDecimal.ONE, "1h", null, null, null, null, null);
    }

    private OrderBook open() {
        return OrderBook.open(file, CLOCK);
    }
}
