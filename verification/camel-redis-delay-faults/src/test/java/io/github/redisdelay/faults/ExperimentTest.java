// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExperimentTest {

    private final List<Event> events = new ArrayList<>();

    /** @param due 0 where it does not apply, or where nothing was moved */
    private void event(long millis, What what, String id, long due) {
        events.add(new Event(1000 * millis, "a", what, id, "", 1000 * due, 0, 0, "", ""));
    }

    private Duration recovery(Experiment.Outage... outages) {
        return Experiment.recovery(events, List.of(outages));
    }

    @Test
    void should_count_the_recovery_from_when_the_latest_message_was_due() {
        event(1, What.SCHEDULED, "a", 1000);
        event(2, What.SCHEDULED, "b", 1000);
        event(1005, What.DELIVERED, "a", 0);
        event(1030, What.DELIVERED, "b", 0);
        event(1090, What.DELIVERED, "b", 0);

        assertThat(recovery()).isEqualTo(Duration.ofMillis(30));
        assertThat(recovery(new Experiment.Outage(1_010_000, 1_020_000))).isEqualTo(Duration.ofMillis(20));
    }

    @Test
    void should_count_the_recovery_of_a_message_that_is_rescheduled_from_its_new_time() {
        event(1, What.SCHEDULED, "a", 1000);
        event(900, What.MOVED, "a", 1900);
        event(901, What.SCHEDULED, "b", 1000);
        event(1003, What.MOVED, "b", 0);
        event(1005, What.DELIVERED, "b", 0);
        event(1910, What.DELIVERED, "a", 0);

        assertThat(recovery()).isEqualTo(Duration.ofMillis(10));
    }
}
