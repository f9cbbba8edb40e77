// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShopTimeTest {

    private final ShopTime hourInASecond = new ShopTime(3600);

    @Test
    void everythingTakesAsManyTimesLess() {
        assertThat(hourInASecond.real("1h")).isEqualTo(Duration.ofSeconds(1));
        assertThat(hourInASecond.real("1d6h30m")).isEqualTo(Duration.ofMillis(30_500));
        assertThat(new ShopTime(1).real("1m2s3ms")).isEqualTo(Duration.ofMillis(62_003));
    }

    @Test
    void whatTakesTimeTakesAMillisecond() {
        assertThat(hourInASecond.real("1s")).isEqualTo(Duration.ofMillis(1));
        assertThat(hourInASecond.real("0h")).isZero();
    }

    @Test
    void stepsAreReal() {
        assertThat(hourInASecond.realSteps("1h,2h")).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(2));
        assertThat(new ShopTime(1).realSteps("15s,3m")).containsExactly(Duration.ofSeconds(15), Duration.ofMinutes(3));
    }

    @Test
    void aRealTimeIsLongInTheShop() {
        assertThat(hourInASecond.inShop(Duration.ofSeconds(90))).isEqualTo("90 h");
        assertThat(new ShopTime(60).inShop(Duration.ofSeconds(30))).isEqualTo("30 min");
        assertThat(new ShopTime(1).inShop(Duration.ofSeconds(30))).isEqualTo("30 s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "-5s", "1w", "5S", "1h-30m", "1 h", "30m1h", "9999999h"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> hourInASecond.real(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("'" + text + "' is no time span: write 20s, 30m, 1h30m or 2d");
    }

    @Test
    void itSaysHowFastItIs() {
        assertThat(hourInASecond).hasToString("time passes 3600 times as fast: 1h takes 1 s");
        assertThat(new ShopTime(7200)).hasToString("time passes 7200 times as fast: 1h takes 500 ms");
        assertThat(new ShopTime(1)).hasToString("time passes as usual");
    }
}
