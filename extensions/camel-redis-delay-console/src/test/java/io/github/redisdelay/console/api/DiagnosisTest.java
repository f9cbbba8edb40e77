// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DiagnosisTest {

    private static final long NOW = 1_700_000_000_000_000L;
    private static final long MINUTE = 60_000_000;
    private static final ServerInfo GOOD = new ServerInfo("Redis", "8.0", "noeviction", true);

    private static QueueStats stats(long overdue, long oldest, int consumers, boolean paused, long stored) {
        return new QueueStats(NOW, 100, overdue, 3, 0, oldest, -1, consumers, paused, NOW, stored);
    }

    private static List<String> texts(
            QueueStats stats, List<ConsumerInfo> seen, Map<String, Integer> held, Storm storm) {
        return Diagnosis.of(new Diagnosis.Facts(stats, 7L, seen, held, null, storm, GOOD)).stream()
                .map(Diagnosis.Finding::text)
                .toList();
    }

    @Test
    void should_say_nothing_of_a_queue_that_is_well() {
        assertThat(texts(stats(2, 4_000_000, 1, false, 103), null, null, null)).isEmpty();
    }

    @Test
    void should_say_who_listened_last() {
        List<ConsumerInfo> seen = List.of(
                new ConsumerInfo("notify@app-1", NOW - 90 * MINUTE),
                new ConsumerInfo("notify@app-2", NOW - 43 * MINUTE));
        assertThat(texts(stats(37, 41 * MINUTE, 0, false, 103), seen, null, null))
                .containsExactly("37 are overdue (the oldest for 41 min) and nobody listens (the last consumer was"
                        + " notify@app-2, seen 43 min ago)");
        assertThat(texts(stats(0, 0, 0, false, 103), seen, null, null))
                .containsExactly(
                        "nobody listens (the last consumer was notify@app-2, seen 43 min ago): what becomes due"
                                + " will wait for a consumer");
    }

    @Test
    void should_tell_consumers_that_are_full_from_those_that_do_nothing() {
        QueueStats late = stats(1, MINUTE, 2, false, 103);
        assertThat(texts(late, null, Map.of("a", 2, "", 1), null))
                .containsExactly(
                        "1 is overdue (the oldest for 60 s), although 2 consumers are there: they are busy (a on 2,"
                                + " one without a name on 1), so messages wait for a free one; more or faster consumers help");
        assertThat(texts(late, null, Map.of(), null))
                .singleElement()
                .asString()
                .contains("work on nothing: they are suspended, or cannot receive");
        assertThat(texts(late, null, null, null))
                .containsExactly("1 is overdue (the oldest for 60 s), although 2 consumers are there");
    }

    @Test
    void should_say_what_a_pause_holds_up() {
        assertThat(texts(stats(0, 0, 1, true, 103), null, null, null))
                .containsExactly("paused: nothing is due yet, and 7 more become due within the next hour");
    }

    @Test
    void should_tell_of_messages_in_no_list_and_of_lost_ones() {
        assertThat(texts(stats(0, 0, 1, false, 110), null, null, null))
                .singleElement()
                .asString()
                .startsWith("7 stored messages neither wait nor are being delivered");
        assertThat(texts(stats(0, 0, 1, false, 100), null, null, null))
                .singleElement()
                .asString()
                .startsWith("3 messages are lost");
    }

    @Test
    void should_warn_of_a_storm_that_is_large() {
        QueueStats well = stats(0, 0, 1, false, 103);
        assertThat(texts(well, null, null, new Storm(Times.of(NOW), Times.of(NOW + 1_000_000), 999)))
                .isEmpty();
        assertThat(texts(well, null, null, new Storm(Times.of(NOW), Times.of(NOW + 1_000_000), 9200)))
                .containsExactly("9200 messages become due within one second, at 2023-11-14T22:13:20Z");
    }

    @Test
    void should_warn_of_a_server_that_loses_messages() {
        ServerInfo bad = new ServerInfo("Redis", "8.0", "allkeys-lru", false);
        assertThat(Diagnosis.of(new Diagnosis.Facts(stats(0, 0, 1, false, 103), 0L, null, null, null, null, bad)))
                .extracting(Diagnosis.Finding::level)
                .containsExactly("error", "warning");
    }
}
