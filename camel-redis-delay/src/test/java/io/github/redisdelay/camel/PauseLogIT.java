// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ConsumerDeliveries;
import io.github.redisdelay.testkit.LogLines;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A pause and its end leave a line in the log of whoever did it, and one in that of each consumer. */
class PauseLogIT extends ConsumerSideIT {

    private final LogLines operations = new LogLines("io.github.redisdelay.camel.producer.PauseOperation");
    private final LogLines consumers = new LogLines(ConsumerDeliveries.class);

    @AfterEach
    void closeLogs() {
        operations.close();
        consumers.close();
    }

    /** An idle consumer looks every 30 s. */
    private void look() {
        consumer().claims().suspend();
        consumer().claims().resume();
    }

    private void ask(String operation) {
        for (int i = 0; i < 2; i++) { // the second one changes nothing
            template.sendBody(uri + "?operation=" + operation, null);
        }
    }

    private List<String> consumerLines(int count) {
        await().untilAsserted(() -> assertThat(consumers.of(Level.INFO)).hasSize(count));
        return consumers.of(Level.INFO);
    }

    @Test
    void should_say_who_has_paused_and_that_the_consumer_receives_nothing_and_since_when() throws Exception {
        start(consume("", this::take));
        await().until(() -> stats().consumers() == 1);
        ask("pause");
        String since = Instant.EPOCH
                .plus(stats().pausedMicros(), ChronoUnit.MICROS)
                .truncatedTo(ChronoUnit.SECONDS)
                .toString();
        look();
        assertThat(consumerLines(1))
                .containsExactly("queue '" + queue + "': paused since " + since
                        + ": route 'consumer' receives nothing until it is resumed");
        look();
        ask("resume");
        assertThat(consumerLines(2).get(1))
                .isEqualTo("queue '" + queue + "': resumed: route 'consumer' receives again");
        assertThat(operations.of(Level.INFO))
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("queue '" + queue + "' of Redis")
                                .endsWith(": paused by an operation"),
                        line -> assertThat(line)
                                .startsWith("queue '" + queue + "' of Redis")
                                .endsWith(": resumed by an operation"));
    }

    @Test
    void should_say_so_where_the_queue_is_paused_as_the_consumer_starts() throws Exception {
        stored().admin().pause().result().join();
        start(consume("", this::take));
        assertThat(consumerLines(1).get(0)).contains(": paused since 2");
    }
}
