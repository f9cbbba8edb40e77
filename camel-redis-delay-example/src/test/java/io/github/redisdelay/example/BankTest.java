// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BankTest {

    private final Bank bank = new Bank(4, new ShopTime(1));
    private final List<String> orders =
            IntStream.range(0, 1_000).mapToObj(i -> "A-" + i).toList();

    @Test
    void itTakesTenMinutesToFiveHours() {
        assertThat(orders).allSatisfy(order -> assertThat(bank.takes(order))
                .isBetween(Duration.ofMinutes(10), Duration.ofHours(5)));
        assertThat(orders.stream().map(bank::takes).distinct()).hasSizeGreaterThan(200);
    }

    @Test
    void everyOtherTimeItTells() {
        assertThat(orders.stream().filter(bank::tells).count()).isBetween(430L, 570L);
    }

    @Test
    void itIsFasterInAFasterShop() {
        assertThat(new Bank(4, new ShopTime(60)).takes("A-1"))
                .isEqualTo(bank.takes("A-1").dividedBy(60));
    }
}
