// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.example.PaymentAnswer.Result;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PaymentDeskTest {

    private static final String URL = "http://localhost:1/told";

    @TempDir
    Path folder;

    private ShopDatabase database;
    private OrderBook book;
    private PaymentDesk desk;

    @BeforeEach
    void open() {
        database = ShopDatabase.open(folder);
        book = new OrderBook(database.dataSource(), Clock.systemUTC());
        desk = new PaymentDesk(book);
        book.place(OrderBookTest.order("A"));
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void aPaymentBeforeTheClosingIsInTime() {
        assertThat(pay("A", "delayed")).isEqualTo(Result.PAID);
        assertThat(book.state("A")).contains(OrderBook.State.PAID);
    }

    @Test
    void aPaymentDuringTheClosingIsTooLateAndTheBookHasTheClosing() {
        assertThat(pay("A", "leased")).isEqualTo(Result.CLOSING_UNDER_WAY);
        assertThat(book.state("A")).contains(OrderBook.State.CLOSED);
    }

    @Test
    void aPaymentAfterTheClosingIsTooLate() {
        book.close("A");

        assertThat(pay("A", "none")).isEqualTo(Result.CLOSED);
    }

    @Test
    void aSecondPaymentIsToldApart() {
        pay("A", "delayed");

        assertThat(pay("A", "none")).isEqualTo(Result.PAID_BEFORE);
    }

    @Test
    void aPaymentThatWasInterruptedAfterItsCancelIsFinishedByTheNextTry() {
        desk.begin("A");

        assertThat(book.unfinishedPayments()).containsExactly("A");
        assertThat(pay("A", "none")).isEqualTo(Result.PAID);
        assertThat(book.unfinishedPayments()).isEmpty();
    }

    @Test
    void aPaymentOfAnUnknownOrderLeavesNoTrace() {
        assertThat(pay("B", "none")).isEqualTo(Result.UNKNOWN);
        assertThat(book.knows("B")).isFalse();
    }

    @Test
    void anOrderThatRedisKnowsAndTheBookNotYetCanBePaid() {
        assertThat(pay("B", "delayed")).isEqualTo(Result.PAID);
        assertThat(book.state("B")).contains(OrderBook.State.PAID);
    }

    @Test
    void aPartnerHearsOfWhatIsDecidedHere() {
        book.place(new Order("P", "Ada", BigDecimal.ONE, "1h", null, null, null, null, URL));

        assertThat(news("P", Result.PAID)).isEqualTo(new Notification("P", "paid", URL));
        assertThat(news("P", Result.CLOSING_UNDER_WAY)).isEqualTo(new Notification("P", "closed", URL));
        assertThat(news("P", Result.CLOSED)).isNull();
        assertThat(news("P", Result.PAID_BEFORE)).isNull();
        assertThat(news("A", Result.PAID)).isNull();
    }

    private Notification news(String id, Result result) {
        return desk.notification(new PaymentAnswer(id, result, ""));
    }

    private Result pay(String id, String previousState) {
        desk.begin(id);
        PaymentAnswer answer = desk.decide(id, previousState);
        desk.finish(answer);
        return answer.result();
    }
}
