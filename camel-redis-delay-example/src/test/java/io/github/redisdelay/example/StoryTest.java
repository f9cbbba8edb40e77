// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StoryTest {

    @Test
    void oneOrderIsAnOrder() {
        assertThat(Story.count(0, "order is", "orders are")).isEqualTo("0 orders are");
        assertThat(Story.count(1, "order is", "orders are")).isEqualTo("1 order is");
        assertThat(Story.count(2, "order is", "orders are")).isEqualTo("2 orders are");
    }
}
