// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What ships is whole, and is what its generator makes. */
class DataSetTest {

    private static final DataSet SHIPPED = DataSet.shipped();
    private static final Map<String, Order> ORDERS = new LinkedHashMap<>();

    @BeforeAll
    static void read() throws IOException {
        ObjectMapper json = new ObjectMapper();
        for (String line : SHIPPED.orders().values()) {
            Order order = json.readValue(line, Order.class);
            ORDERS.put(order.id(), order);
        }
    }

    @Test
    void theGeneratorMakesWhatShips() {
        DataSetGenerator generator = DataSetGenerator.generate();

        assertThat(DataSetGenerator.FOLDER.resolve("orders.ndjson")).hasContent(generator.orders());
        assertThat(DataSetGenerator.FOLDER.resolve("payments.ndjson")).hasContent(generator.payments());
    }

    @Test
    void everyLineIsAnOrder() throws IOException {
        assertThat(Files.readAllLines(DataSetGenerator.FOLDER.resolve("orders.ndjson")))
                .hasSize(DataSetGenerator.ORDERS);
        assertThat(ORDERS)
                .hasSize(DataSetGenerator.ORDERS)
                .containsOnlyKeys(SHIPPED.orders().keySet());
        assertThat(ORDERS.values()).allSatisfy(order -> {
            assertThat(order.amount()).isBetween(BigDecimal.ONE, new BigDecimal(1000));
            assertThat(order.amount().scale()).isEqualTo(2);
            assertThat(order.email()).matches("[a-z]+\\.[a-z]+@example\\.com");
            assertThat(order.quantity()).isBetween(1, 4);
            assertThat(order.article()).isNotBlank();
        });
    }

    @Test
    void everyPaymentIsForAnOrder() {
        assertThat(ORDERS.keySet()).containsAll(SHIPPED.payments().keySet());
    }

    @Test
    void twoThirdsPayInTimeAndAFewTooLate() {
        Collection<String> payers = SHIPPED.payments().keySet();
        long inTime = payers.stream().filter(id -> paidAfter(id) < window(id)).count();
        // Not so close to the end of the window that it would hang on a second whether the order is paid.
        assertThat(payers).allMatch(id -> Math.abs(paidAfter(id) - window(id)) >= 1_500);

        assertThat(inTime).isBetween(1_900L, 2_100L);
        assertThat(payers.size() - inTime).isBetween(30L, 90L);
    }

    @Test
    void allIsDoneWithinAMinute() {
        // The last order arrives when the first half of the minute is over.
        assertThat(ORDERS.keySet()).allMatch(id -> window(id) <= 25_000);
        assertThat(SHIPPED.payments().keySet()).allMatch(id -> paidAfter(id) <= 28_000);
    }

    private static int paidAfter(String id) {
        return Integer.parseInt(SHIPPED.payments().get(id).replace("ms", ""));
    }

    private static int window(String id) {
        return 1000 * Integer.parseInt(ORDERS.get(id).paymentWindow().replace("s", ""));
    }
}
