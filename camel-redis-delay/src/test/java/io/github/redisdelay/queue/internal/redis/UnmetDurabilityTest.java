// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.Durability;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnmetDurabilityTest {

    /** By what WAITAOF answers: on how many disks of the master it is, and on those of how many replicas. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "done",
            value = {
                "0, 0, 0, the master does not have it",
                "0, 1, 0, done",
                "0, 1, 1, done",
                "0, 1, 2, done",
                "1, 0, 0, 'the master does not have it, 0 of 1 replicas have it,'",
                "1, 1, 0, 'the master has it, 0 of 1 replicas have it,'",
                "1, 1, 1, done",
                "1, 1, 2, done",
                "2, 1, 1, 'the master has it, 1 of 2 replicas have it,'",
                "2, 1, 2, done",
                // A replica can be faster than its master.
                "1, 0, 1, 'the master does not have it, 1 of 1 replicas have it,'"
            })
    void should_be_done_when_it_is_on_the_disks(int wantedReplicas, long local, long replicas, String missing) {
        Durability wanted = new Durability(wantedReplicas, true, Duration.ofSeconds(1));
        UnmetDurability unmet =
                UnmetDurability.missing(wanted, Waited.ofWaitaof(List.of(local, replicas)), "first", null);
        if (missing == null) {
            assertThat(unmet).isNull();
        } else {
            assertThat(unmet.exception("orders", "message 'a' is stored", "a"))
                    .hasMessage("queue 'orders': message 'a' is stored, not known to be on disk: " + missing
                            + " within 1 s");
        }
    }
}
