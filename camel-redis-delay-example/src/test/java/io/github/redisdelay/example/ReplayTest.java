// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayTest {

    @TempDir
    Path folder;

    private ShopDatabase database;
    private OrderBook book;

    @BeforeEach
    void open() {
        database = ShopDatabase.open(folder);
        book = new OrderBook(database.dataSource(), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void theOrdersComeInBatchesAndInTheirOrder() {
        Replay replay = new Replay(orders("A", "B", "C", "D", "E"), book, 2);

        assertThat(replay.next()).extracting(Replay.Step::id).containsExactly("A", "B", "C");
        assertThat(replay.remaining()).isEqualTo(2);
        assertThat(replay.next()).extracting(Replay.Step::id).containsExactly("D", "E");
        assertThat(replay.next()).isEmpty();
    }

    @Test
    void eachComesWithItsPayment() {
        DataSet dataSet = new DataSet(orders("A", "B").orders(), Map.of("B", "3s"), List.of());

        assertThat(new Replay(dataSet, book, 1).next())
                .containsExactly(new Replay.Step("A", "json of A", null), new Replay.Step("B", "json of B", "3s"));
    }

    @Test
    void ordersOfLastTimeAreLeftOut() {
        book.place(OrderBookTest.order("A"));
        book.place(OrderBookTest.order("C"));
        book.close("C");

        assertThat(new Replay(orders("A", "B", "C", "D"), book, 1).next())
                .extracting(Replay.Step::id)
                .containsExactly("B", "D");
    }

    @Test
    void withoutADataSetNothingComes() {
        assertThat(new Replay(DataSet.EMPTY, book, 60).next()).isEmpty();
    }

    private static DataSet orders(String... ids) {
        Map<String, String> orders = new LinkedHashMap<>();
        for (String id : ids) {
            orders.put(id, "json of " + id);
        }
        return new DataSet(orders, Map.of(), List.of());
    }
}
