// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ConsumerDeliveries;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A route that hangs while messages are overdue: the log names what hangs, and says when the consumer goes on. */
class StandstillIT extends ConsumerSideIT {

    @Test
    void should_log_what_hangs_and_when_it_goes_on() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        schedule("first", "x");
        schedule("second", "x");
        try (LogLines log = new LogLines(ConsumerDeliveries.class)) {
            start(consume("?concurrentConsumers=1", exchange -> go.await(60, TimeUnit.SECONDS)));
            await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(log.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("a message has been due for 1", "The longest running is ", "first", "claimed 1"));
            assertThat(log.of(Level.INFO)).noneMatch(line -> line.contains("goes on"));
            go.countDown();
            assertEmpty();
            await().untilAsserted(() -> assertThat(log.of(Level.INFO))
                    .filteredOn(line -> line.contains(" goes on: "))
                    .singleElement()
                    .asString()
                    .contains("first", "has ended, claimed 1"));
        }
    }
}
