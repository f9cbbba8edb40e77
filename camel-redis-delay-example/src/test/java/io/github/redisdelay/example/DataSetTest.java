// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The data set that ships is whole, and is the one that its generator makes. */
class DataSetTest {

    private static final DataSet SHIPPED = DataSet.shipped(8080);
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
        long inTime = payers.stream()
                .filter(id -> paidAfter(id).compareTo(window(id)) < 0)
                .count();
        // Not so close to the end of the window that it would hang on a second whether the order is paid.
        assertThat(payers).allMatch(id -> paidAfter(id).minus(window(id)).abs().toMinutes() >= 90);

        assertThat(inTime).isBetween(1_900L, 2_100L);
        assertThat(payers.size() - inTime).isBetween(30L, 90L);
    }

    @Test
    void allIsDoneWithinAMinute() {
        // The last order arrives after 20 s, and an hour is a second.
        assertThat(ORDERS.keySet()).allMatch(id -> window(id).toHours() <= 25);
        assertThat(SHIPPED.payments().keySet()).allMatch(id -> paidAfter(id).toHours() <= 28);
    }

    @Test
    void someOrdersHaveAPartnerAndAFewOfThemOneThatIsOutOfOrder() {
        List<String> urls = ORDERS.values().stream()
                .map(Order::notifyUrl)
                .filter(Objects::nonNull)
                .toList();

        assertThat(urls).hasSize(28).allSatisfy(NotificationUrl::check);
        assertThat(urls).filteredOn(PartnerRoutes.warehouse(8080)::equals).hasSize(6);
        assertThat(urls).filteredOn(PartnerRoutes.url(8080)::equals).hasSize(22);
    }

    @Test
    void theProgrammeIsWhole() {
        ShopTime hours = new ShopTime(3600);
        Map<String, DataSet.Act> last = new LinkedHashMap<>();
        for (DataSet.Act step : SHIPPED.programme()) {
            // Planned first; each further step when the earlier ones are done, and before the event's reminder is due.
            DataSet.Act before = last.put(step.event(), step);
            if (before == null) {
                assertThat(step.startsAfter()).as(step.event()).isNotNull();
            } else {
                assertThat(hours.real(step.after())).isGreaterThan(hours.real(before.after()));
                assertThat(hours.real(step.after()).plus(ReminderRoutes.AHEAD.dividedBy(3600)))
                        .isLessThan(hours.real(before.startsAfter()));
            }
            if (step.startsAfter() != null) {
                assertThat(hours.real(step.startsAfter())).isLessThan(Duration.ofMinutes(1));
            }
        }
        assertThat(last).hasSize(12);
        assertThat(last.values()).filteredOn(step -> step.startsAfter() == null).hasSize(2);
    }

    private static Duration paidAfter(String id) {
        return Duration.parse("PT" + SHIPPED.payments().get(id));
    }

    private static Duration window(String id) {
        return Duration.parse("PT" + ORDERS.get(id).paymentWindow());
    }
}
