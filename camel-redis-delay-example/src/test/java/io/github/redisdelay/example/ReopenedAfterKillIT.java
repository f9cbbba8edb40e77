// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The orders after the program was killed. */
class ReopenedAfterKillIT extends ShopProcess {

    @Test
    void evenAKillLosesNothing() throws Exception {
        start();
        List<String> ids = placeOrders();

        process.destroyForcibly().onExit().join();

        start();
        assertThat(text()).contains("carried on: 10 orders waiting from last time");
        awaitClosedOnce(ids);
    }
}
