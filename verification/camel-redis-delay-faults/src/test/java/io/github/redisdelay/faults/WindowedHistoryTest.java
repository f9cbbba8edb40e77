// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.redisdelay.history.History.Event;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WindowedHistoryTest {

    @TempDir
    Path directory;

    @Test
    void should_keep_what_happens_to_a_message_in_the_window_that_its_id_names() {
        assertThat(WindowedHistory.hasBegun(directory, "a")).isFalse();
        try (WindowedHistory a = new WindowedHistory(directory, "a");
                WindowedHistory b = new WindowedHistory(directory, "b")) {
            a.of("0-x").scheduling("0-x", 0);
            a.of("1-y").scheduling("1-y", 0);
            b.of("0-x@123").cancelling("0-x@123");
        }
        assertThat(WindowedHistory.hasBegun(directory, "a")).isTrue();
        assertThat(WindowedHistory.hasBegun(directory, "c")).isFalse();
        assertThat(WindowedHistory.read(directory, 0))
                .extracting(Event::source, Event::id)
                .containsExactlyInAnyOrder(tuple("a", "0-x"), tuple("b", "0-x@123"));
        assertThat(WindowedHistory.read(directory, 1)).extracting(Event::id).containsExactly("1-y");
        assertThat(WindowedHistory.read(directory, 2)).isEmpty();
    }

    @Test
    void should_go_on_in_a_window_long_after_others_have_begun() {
        try (WindowedHistory history = new WindowedHistory(directory, "a")) {
            for (int window = 0; window < 30; window++) {
                String id = WindowedHistory.prefix(window) + "m";
                history.of(id).scheduling(id, 0);
                history.of("0-m").cancelling("0-m");
            }
        }
        assertThat(WindowedHistory.read(directory, 0)).hasSize(31);
        assertThat(WindowedHistory.read(directory, 29)).hasSize(1);
    }
}
