// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.TestPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A shop that is open, on an embedded Redis, with payment windows of seconds and less. */
abstract class RunningShop {

    static final Duration REPLAY_TIME = Duration.ofSeconds(3);
    static final ShopTime REAL_TIME = new ShopTime(1);

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    ExampleSettings settings;
    ShopClient customer;
    OrderShop shop;

    /** How long the longest start took: how fast this machine is. */
    private Duration startTime = Duration.ZERO;

    @BeforeEach
    void open() {
        settings = new ExampleSettings(
                folder.resolve("data"),
                Optional.empty(),
                TestPorts.next(),
                0,
                false,
                REAL_TIME,
                ExampleSettings.Role.BOTH);
        customer = new ShopClient(settings.httpPort());
        start(DataSet.EMPTY);
    }

    @AfterEach
    void stop() {
        if (shop != null) {
            shop.close();
            shop = null;
        }
    }

    final void start(DataSet dataSet) {
        long begin = System.nanoTime();
        shop = OrderShop.start(settings, dataSet, REPLAY_TIME);
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        startTime = took.compareTo(startTime) > 0 ? took : startTime;
    }

    /** At least this long, and longer on a busy machine: to close the shop before something is due. */
    final Duration window(Duration least) {
        return least.plus(startTime);
    }

    final void awaitState(String id, String state) {
        await(id).atMost(window(Duration.ofSeconds(10))).until(() -> customer.state(id)
                .equals(state));
    }
}
