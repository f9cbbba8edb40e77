// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.fake.StatsBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

class DiagnosisTest {

    private static final long NOW = 1_700_000_000_000_000L;
    private static final long MINUTE = 60_000_000;
    private static final ServerInfo GOOD = new ServerInfo("Redis", "8.0", "noeviction", true);

    private static QueueStats stats(long overdue, long oldest, int consumers, boolean paused, long stored) {
        return new StatsBuilder()
                .timeMicros(NOW)
                .delayed(100)
                .overdue(overdue)
                .leased(3)
                .oldestOverdueMicros(oldest)
                .consumers(consumers)
                .pausedMicros(paused ? NOW : 0)
                .lastDueMicros(NOW)
                .stored(stored)
                .build();
    }

    private static List<String> texts(QueueStats stats, List<ConsumerInfo> seen, Leased leased, Burst burst) {
        return Diagnosis.of(new Diagnosis.Facts(stats, 7L, seen, leased, null, burst, null, GOOD)).stream()
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
                new ConsumerInfo("notify@app-1", NOW - 90 * MINUTE, "0.1"),
                new ConsumerInfo("notify@app-2", NOW - 43 * MINUTE, "0.1"));
        assertThat(texts(stats(37, 41 * MINUTE, 0, false, 103), seen, null, null))
                .containsExactly(
                        "37 are overdue (the oldest for 41 min) and no consumer is there (the last consumer was"
                                + " notify@app-2, seen 43 min ago)");
        assertThat(texts(stats(0, 0, 0, false, 103), seen, null, null))
                .containsExactly(
                        "no consumer is there (the last consumer was notify@app-2, seen 43 min ago): what becomes due"
                                + " is not delivered");
    }

    @Test
    void should_say_which_groups_hold_messages_back() {
        List<GroupInfo> groups = List.of(
                new GroupInfo("acme", 9, 10, 0),
                new GroupInfo("b", 2, 3, NOW),
                new GroupInfo("c", 1, 2, DueTime.MAX_MICROS),
                new GroupInfo("d", 1, 2, 0));
        StatsBuilder held =
                new StatsBuilder().consumers(1).delayed(20).stored(20).parked(13);
        assertThat(Diagnosis.of(new Diagnosis.Facts(
                        held.oldestParkedMicros(9 * MINUTE).build(), 0L, null, null, null, null, groups, GOOD)))
                .containsExactly(new Diagnosis.Finding(
                        "info",
                        "13 due messages are parked (the oldest for 9 min): those of their groups before them"
                                + " are not finished, or a limit or a pause delays them. Most are of acme with 9, b"
                                + " with 2 (paused until 2023-11-14T22:13:20Z), c with 1 (paused until it is"
                                + " resumed), …"));
        assertThat(Diagnosis.of(new Diagnosis.Facts(
                        held.parked(1).oldestParkedMicros(11 * MINUTE).build(),
                        0L,
                        null,
                        null,
                        null,
                        null,
                        null,
                        GOOD)))
                .containsExactly(new Diagnosis.Finding(
                        "warning",
                        "1 due message is parked (the oldest for 11 min): those of their groups before them"
                                + " are not finished, or a limit or a pause delays them"));
    }

    private static MessageInfo leased(String id, String consumer, int attempt, long due) {
        return new MessageInfo(
                id,
                MessageState.LEASED,
                due,
                NOW + MINUTE,
                consumer,
                attempt,
                RedeliveryReason.NONE,
                0,
                new byte[0],
                null,
                due,
                0,
                0,
                0,
                null);
    }

    @Test
    void should_tell_consumers_that_are_full_from_those_that_do_nothing() {
        QueueStats late = stats(1, MINUTE, 2, false, 103);
        Leased full = Leased.of(
                List.of(
                        leased("o-1", "a", 1, NOW - 2 * MINUTE),
                        leased("o-2", "a", 1, NOW - 3 * MINUTE),
                        leased("o-3", "", 1, NOW - MINUTE)),
                Leased.NOTHING,
                NOW);
        assertThat(texts(late, null, full, null))
                .containsExactly(
                        "1 is overdue (the oldest for 60 s), although 2 consumers are there: they are busy (a on 2,"
                                + " one without a name on 1), so messages wait for a free one. a has worked for the"
                                + " longest time on o-2, due at 2023-11-14T22:10:20Z and leased since 2023-11-14T22:13:20Z"
                                + " or earlier: more or faster consumers help");
        assertThat(texts(late, null, Leased.NOTHING, null))
                .singleElement()
                .asString()
                .contains("work on nothing: they are suspended, or cannot receive");
        assertThat(texts(late, null, null, null))
                .containsExactly("1 is overdue (the oldest for 60 s), although 2 consumers are there");
    }

    @Test
    void should_name_the_delivery_that_may_hang() {
        MessageInfo hangs = leased("o-2", "notify@app-1", 1, NOW - MINUTE);
        Leased before =
                Leased.of(List.of(hangs, leased("o-1", "notify@app-1", 1, NOW - 2 * MINUTE)), Leased.NOTHING, NOW);
        // The other one was released and is delivered once more.
        Leased now =
                Leased.of(List.of(leased("o-1", "notify@app-2", 2, NOW - 2 * MINUTE), hangs), before, NOW + 10_000_000);
        assertThat(texts(stats(1, MINUTE, 1, false, 103), null, now, null))
                .singleElement()
                .asString()
                .endsWith(
                        ". notify@app-1 has worked for the longest time on o-2, due at 2023-11-14T22:12:20Z and leased"
                                + " since 2023-11-14T22:13:20Z or earlier: check what its route waits for");
    }

    @Test
    void should_say_what_a_pause_holds_up() {
        assertThat(texts(stats(0, 0, 1, true, 103), null, null, null))
                .containsExactly("paused: nothing is due yet, 7 become due within the next hour");
        assertThat(texts(
                        new StatsBuilder()
                                .consumers(1)
                                .delayed(3)
                                .stored(3)
                                .pausedMicros(1)
                                .parked(3)
                                .build(),
                        null,
                        null,
                        null))
                .first()
                .asString()
                .startsWith("paused: nothing is due yet but parked messages");
    }

    @Test
    void should_name_a_pause_and_the_lack_of_consumers() {
        List<ConsumerInfo> seen = List.of(new ConsumerInfo("notify@app-1", NOW - 119 * MINUTE, "0.1"));
        assertThat(texts(stats(2, 12 * MINUTE - 1, 0, true, 103), seen, null, null))
                .containsExactly(
                        "paused, and no consumer is there (the last consumer was notify@app-1, seen 119 min ago): 2"
                                + " are due and wait for Resume (the oldest for 11 min), 7 more become due within the next"
                                + " hour");
    }

    @Test
    void should_not_tell_of_more_dead_letters_than_there_are() {
        assertThat(dead(300, 256, false, 136))
                .isEqualTo("300 dead letters, most often of the newest 256: java.net.ConnectException in route send"
                        + " (136 of these)");
        assertThat(dead(60, 62, true, 62))
                .isEqualTo("60 dead letters, all since 2023-11-14T22:13:20Z: java.net.ConnectException in route send");
        assertThat(dead(60, 60, true, 40)).startsWith("60 dead letters, 40 of them since 2023");
        assertThat(dead(1, 1, true, 1)).startsWith("1 dead letter since 2023");
    }

    private static String dead(long dead, int lookedAt, boolean complete, int count) {
        DeadLetters.Cause cause = new DeadLetters.Cause(
                "g",
                "java.net.ConnectException",
                "send",
                "failed",
                null,
                count,
                Times.of(NOW),
                Times.of(NOW),
                List.of(),
                List.of(),
                List.of());
        DeadLetters letters = new DeadLetters(Times.of(NOW), lookedAt, complete, List.of(cause), false);
        QueueStats stats = new StatsBuilder()
                .timeMicros(NOW)
                .dead(dead)
                .consumers(1)
                .lastDueMicros(NOW)
                .build();
        return Diagnosis.of(new Diagnosis.Facts(stats, null, null, null, letters, null, null, null))
                .get(0)
                .text();
    }

    @Test
    void should_say_that_redis_has_lost_data() {
        QueueStats stats = new StatsBuilder()
                .timeMicros(NOW)
                .consumers(1)
                .lastDueMicros(NOW)
                .lostMicros(1_795_379_947_000_000L)
                .build();
        assertThat(texts(stats, null, null, null))
                .contains("Redis has lost data, as was found at 2026-11-22T20:39:07Z: messages that were delayed then"
                        + " may be gone");
    }

    @Test
    void should_round_durations_down_as_the_page_does() {
        assertThat(Times.words(9_990_000)).isEqualTo("9.9 s");
        assertThat(Times.words(2 * MINUTE - 1)).isEqualTo("119 s");
        assertThat(Times.words(12 * MINUTE - 1)).isEqualTo("11 min");
        assertThat(Times.words(120 * MINUTE)).isEqualTo("2 h");
        assertThat(Times.words(150 * MINUTE)).isEqualTo("2 h 30 min");
        assertThat(Times.words(49 * 60 * MINUTE)).isEqualTo("2 d 1 h");
        assertThat(Times.words(100 * 24 * 60 * MINUTE)).isEqualTo("100 d");
    }

    @Test
    void should_tell_of_messages_in_no_list_and_of_lost_ones() {
        assertThat(texts(stats(0, 0, 1, false, 110), null, null, null))
                .singleElement()
                .asString()
                .startsWith("7 stored messages are neither delayed nor leased");
        assertThat(texts(stats(0, 0, 1, false, 100), null, null, null))
                .singleElement()
                .asString()
                .startsWith("3 messages are lost");
    }

    @Test
    void should_warn_of_a_burst_that_is_large() {
        QueueStats well = stats(0, 0, 1, false, 103);
        assertThat(texts(well, null, null, new Burst(Times.of(NOW), Times.of(NOW + 1_000_000), 999)))
                .isEmpty();
        assertThat(texts(well, null, null, new Burst(Times.of(NOW), Times.of(NOW + 1_000_000), 9200)))
                .containsExactly("9200 messages become due within one second, at 2023-11-14T22:13:20Z");
    }

    @Test
    void should_warn_of_a_server_that_loses_messages() {
        ServerInfo bad = new ServerInfo("Redis", "8.0", "allkeys-lru", false);
        assertThat(Diagnosis.of(new Diagnosis.Facts(stats(0, 0, 1, false, 103), 0L, null, null, null, null, null, bad)))
                .extracting(Diagnosis.Finding::level)
                .containsExactly("error", "warning");
    }
}
