// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.client.codec.StringCodec;

/** Pauses of groups: by whom, for how long, whatever the clock does, and what they leave behind. */
class GroupPauseIT extends ClockedQueueIT {

    private static final Settlement RETRY = new Settlement.Retry(Duration.ZERO, bytes("429"));

    private static DueTime seconds(long count) {
        return DueTime.after(Duration.ofSeconds(count));
    }

    private boolean pause(String group, long seconds) {
        return get(queue.group(group).pause(seconds(seconds)));
    }

    private long pausedSeconds(String group) {
        long until = get(queue.group(group).info()).pausedUntilMicros();
        return until == 0 ? 0 : (until - now) / SECOND;
    }

    private ClaimedDelivery claimOnly(String id) {
        List<ClaimedDelivery> claimed = claim(10);
        assertThat(ids(claimed)).containsExactly(id);
        return claimed.get(0);
    }

    private void limits(int concurrency, boolean strict) {
        get(queue.admin().limit(new QueueLimits(concurrency, strict)));
    }

    /** Whatever a test does: when all pauses are over and all messages delivered, the queue needs nothing more. */
    @AfterEach
    void should_leave_nothing_behind() {
        get(queue.admin().limit(QueueLimits.DEFAULT));
        setClock(Math.max(now, START) + 30_000 * SECOND);
        for (int i = 0; i < 100 && get(queue.admin().stats()).stored() > 0; i++) {
            take(50);
        }
        get(queue.admin().cancelAll(any -> true, 1000));
        for (int i = 0; i < 10; i++) {
            claimed(1);
        }
        assertThat(claimed(1).limited()).isFalse();
        assertThat(config()).doesNotContainKey("needs");
        assertThat(redis.client().getKeys().countExists(keys().key("gates"), keys().key("opens"), keys().key("groups")))
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void should_give_nothing_of_a_paused_group_until_its_pause_ends(int concurrency) {
        limits(concurrency, true);
        scheduleMany(5, "g");
        scheduleMany(1, "h");
        assertThat(pause("g", 60)).isTrue();
        schedule("g9", "g");
        assertThat(take(10)).containsExactly("h000");
        assertThat(get(queue.admin().stats()))
                .extracting(QueueStats::overdue, QueueStats::parked)
                .containsExactly(0L, 6L);
        assertThat(state("g000")).isEqualTo(MessageState.PARKED);
        assertThat(get(queue.get("g000")).orElseThrow().pausedUntilMicros()).isEqualTo(START + 60 * SECOND);
        assertThat(get(queue.group("g").info())).isEqualTo(new GroupInfo("g", 6, 6, START + 60 * SECOND));
        assertThat(claimed(10).nextDueMicros()).isEqualTo(60 * SECOND);
        setClock(now + 60 * SECOND - 1);
        assertThat(take(10)).isEmpty();
        setClock(now + 1);
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            all.addAll(take(10));
        }
        assertThat(all).containsExactly("g000", "g001", "g002", "g003", "g004", "g9");
        assertThat(get(queue.group("g").info())).isEqualTo(new GroupInfo("g", 0, 0, 0));
    }

    @ParameterizedTest
    @CsvSource({"1, true", "1, false", "3, true", "0, true"})
    void should_pause_a_group_with_the_end_of_a_delivery(int concurrency, boolean strict) {
        limits(concurrency, strict);
        scheduleMany(4, "g");
        scheduleMany(1, "h");
        List<ClaimedDelivery> claimed = claim(10);
        ClaimedDelivery first = claimed.stream()
                .filter(each -> each.id().equals("g000"))
                .findFirst()
                .orElseThrow();
        twice = true;
        assertThat(get(first.settle(new Settlement.PauseGroup(RETRY, Duration.ofSeconds(30)))))
                .isEqualTo(SettleResult.DONE);
        twice = false;
        claimed.stream().filter(each -> each != first).forEach(each -> get(each.settle(Settlement.ACKNOWLEDGE)));
        int left = 5 - claimed.size() + 1;
        assertThat(take(10)).isEmpty();
        assertThat(get(queue.admin().stats()).overdue()).isZero();
        assertThat(claimed(10).nextDueMicros()).isEqualTo(30 * SECOND);
        setClock(now + 30 * SECOND - 1);
        assertThat(take(10)).isEmpty();
        setClock(now + 1);
        List<String> all = new ArrayList<>();
        for (int i = 0; i < left; i++) {
            all.addAll(take(10));
        }
        assertThat(all).hasSize(left).contains("g000");
        if (strict && concurrency == 1) {
            assertThat(all.get(0)).isEqualTo("g000");
        }
    }

    @Test
    void should_pause_a_group_however_the_delivery_ends_but_not_if_it_is_stale() {
        List<Settlement> ends = List.of(
                Settlement.ACKNOWLEDGE,
                new Settlement.Acknowledge(HOUR),
                new Settlement.DeadLetter(bytes("why")),
                new Settlement.Drop(Duration.ZERO),
                Settlement.RELEASE,
                RETRY);
        for (int i = 0; i < ends.size(); i++) {
            String group = "end" + i;
            scheduleMany(1, group);
            get(claimOnly(group + "000").settle(new Settlement.PauseGroup(ends.get(i), Duration.ofSeconds(30))));
            assertThat(pausedSeconds(group)).as(ends.get(i).word()).isEqualTo(30);
        }
        scheduleMany(1, "stale");
        ClaimedDelivery stale = claimOnly("stale000");
        get(queue.cancel("stale000"));
        assertThat(get(stale.settle(new Settlement.PauseGroup(RETRY, Duration.ofSeconds(30)))))
                .isEqualTo(SettleResult.STALE_GONE);
        assertThat(pausedSeconds("stale")).isZero();
        schedule("free", (String) null);
        ClaimedDelivery free = claimOnly("free");
        assertThatThrownBy(() -> free.settle(new Settlement.PauseGroup(RETRY, Duration.ofSeconds(30))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("message 'free'")
                .hasMessageContaining("has no group to be paused");
        get(free.settle(Settlement.ACKNOWLEDGE));
        assertThatThrownBy(() -> queue.deadLetters().group("g").pause(seconds(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("have no groups to be paused");
    }

    @Test
    void should_never_shorten_a_pause_and_end_it_at_once_when_resumed() {
        scheduleMany(3, "g");
        assertThat(get(queue.group("g").resume())).as("it is not paused").isFalse();
        assertThat(config()).as("nothing was stored for that").containsEntry("needs", "groups=0.1");
        assertThat(pause("g", 60)).isTrue();
        assertThat(pause("g", 10)).isFalse();
        assertThat(pausedSeconds("g")).isEqualTo(60);
        assertThat(get(queue.group("g").pause(DueTime.at(Instant.EPOCH)))).isFalse();
        assertThat(pause("g", 100)).isFalse();
        assertThat(pausedSeconds("g")).isEqualTo(100);
        twice = true;
        assertThat(get(queue.group("g").resume())).isTrue();
        twice = false;
        assertThat(state("g000")).isEqualTo(MessageState.DELAYED);
        assertThat(take(10)).containsExactly("g000");
        assertThat(take(10)).containsExactly("g001");
        assertThat(get(queue.group("g").pause(MessageGroup.UNTIL_RESUMED))).isTrue();
        assertThat(get(queue.group("g").info()).pausedUntilMicros()).isEqualTo(DueTime.MAX_MICROS);
        setClock(now + 100 * 86_400 * SECOND);
        assertThat(take(10)).isEmpty();
        assertThat(get(queue.group("g").resume())).isTrue();
        assertThat(take(10)).containsExactly("g002");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void should_give_a_failed_message_at_once_when_its_group_is_resumed(boolean strict) {
        limits(1, strict);
        scheduleMany(3, "g");
        get(claimOnly("g000").settle(new Settlement.PauseGroup(RETRY, Duration.ofSeconds(600))));
        setClock(now + 10 * SECOND);
        assertThat(claimed(5).messages()).isEmpty();
        assertThat(get(queue.admin().check()).restored()).isZero();
        assertThat(claimed(5).messages()).isEmpty();
        get(queue.group("g").resume());
        assertThat(claimed(0).nextDueMicros()).isZero();
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.addAll(take(10));
        }
        assertThat(all)
                .containsExactlyElementsOf(strict ? List.of("g000", "g001", "g002") : List.of("g001", "g002", "g000"));
    }

    @Test
    void should_wake_an_idle_consumer_for_the_end_of_a_pause_and_when_a_group_is_resumed() {
        scheduleMany(2, "g");
        pause("g", 600);
        ClaimReply idle = claimed(1);
        assertThat(idle.messages()).isEmpty();
        assertThat(idle.nextDueMicros()).isEqualTo(600 * SECOND);
        setClock(now + SECOND);
        get(queue.group("g").resume());
        assertThat(claimed(1).messages()).hasSize(1);
    }

    @Test
    void history_9_should_last_no_longer_than_was_meant_after_the_clock_was_set_back() {
        for (int i = 0; i < 20; i++) {
            scheduleMany(2, "g" + i);
            pause("g" + i, 60);
        }
        scheduleMany(2, "failed");
        get(claimOnly("failed000").settle(new Settlement.PauseGroup(RETRY, Duration.ofSeconds(60))));
        assertThat(claimed(5).messages()).isEmpty();
        setClock(now - 3600 * SECOND);
        List<String> all = new ArrayList<>();
        long end = now + 62 * SECOND;
        while (now < end) {
            take(50).forEach(id -> {
                assertThat(now).as(id).isGreaterThanOrEqualTo(START - 3600 * SECOND);
                all.add(id);
            });
            setClock(now + SECOND);
        }
        assertThat(all).hasSize(40);
        assertThat(pausedSeconds("failed")).isZero();
        setClock(START);
        assertThat(take(5)).as("its retry was due by the other clock").containsExactly("failed000");
    }

    @Test
    void should_clamp_a_pause_that_another_client_made_by_a_clock_that_was_ahead() {
        scheduleMany(2, "g");
        setClock(now + 7200 * SECOND);
        pause("g", 60);
        setClock(now - 7200 * SECOND);
        try (DelayQueueClient other = openOther()) {
            // A client without a record of the time before the step.
            assertThat(get(other.queue(queue.name()).group("g").info()).messages())
                    .isEqualTo(2);
        }
        redis.client().getMap(keys().key("sessions"), StringCodec.INSTANCE).delete();
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            all.addAll(take(5));
            setClock(now + SECOND);
        }
        assertThat(all).containsExactly("g000", "g001");
    }

    private DelayQueueClient openOther() {
        return DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gates", "config"})
    void should_deliver_a_failed_message_whose_pause_was_lost_with_a_key(String lost) {
        scheduleMany(2, "g");
        pause("g", 1);
        setClock(now + SECOND);
        get(claimOnly("g000").settle(RETRY));
        get(queue.group("g").pause(MessageGroup.UNTIL_RESUMED));
        assertThat(claimed(5).messages()).isEmpty();
        redis.client().getKeys().delete(keys().key(lost));
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.addAll(take(5));
        }
        assertThat(all).containsExactly("g000", "g001");
        for (String key : redis.client().getKeys().getKeysByPattern(keys().key("*s"))) {
            assertThat(redis.client().getKeys().remainTimeToLive(key)).as(key).isPositive();
        }
        redis.client().getKeys().delete(keys().key("gates"), keys().key("opens"));
    }

    @Test
    void should_not_answer_now_for_ever_when_what_waited_for_the_end_of_a_pause_is_gone() {
        scheduleMany(3, "g");
        get(claimOnly("g000").settle(new Settlement.PauseGroup(RETRY, Duration.ofSeconds(60))));
        assertThat(claimed(1).nextDueMicros()).isEqualTo(60 * SECOND);
        get(queue.cancel("g001"));
        get(queue.cancel("g000"));
        assertThat(claimed(1).nextDueMicros()).isEqualTo(60 * SECOND);
        get(queue.cancel("g002"));
        setClock(now + 61 * SECOND);
        assertThat(claimed(1).nextDueMicros()).isEqualTo(-1);
        assertThat(claimed(0).nextDueMicros()).isEqualTo(-1);
    }

    @Test
    void should_work_with_a_rate_of_groups() {
        limit(rate(100, SECOND, 100), rate(1, 10 * SECOND, 1));
        scheduleMany(3, "g");
        assertThat(take(5)).containsExactly("g000");
        pause("g", 5);
        setClock(now + 5 * SECOND);
        assertThat(take(5)).as("its rate is used up").isEmpty();
        setClock(now + 5 * SECOND);
        get(claimOnly("g001").settle(new Settlement.PauseGroup(RETRY, Duration.ofSeconds(15))));
        setClock(now + 10 * SECOND);
        assertThat(take(5)).isEmpty();
        get(queue.group("g").resume());
        assertThat(take(5)).containsExactly("g001");
        pause("g", 60);
        setClock(now + 20 * SECOND);
        get(queue.group("g").resume());
        assertThat(take(5)).containsExactly("g002");
    }

    @Test
    void should_park_a_message_whose_lease_ends_during_the_pause_and_count_its_attempt() {
        scheduleMany(2, "g");
        assertThat(claimed(1, SECOND, ClaimRequest.NO_BATCH).messages()).hasSize(1);
        pause("g", 60);
        setClock(now + 10 * SECOND);
        assertThat(claimed(5).messages()).isEmpty();
        snapshot().assertOneStateAtATime(false);
        setClock(now + 50 * SECOND);
        assertThat(claimOnly("g000").attempt()).isEqualTo(2);
    }

    @Test
    void should_keep_a_pause_while_the_queue_has_messages_and_for_30_days_else() {
        pause("g", 86_400 * 365L);
        assertThat(config()).containsEntry("needs", "groups=0.1 limits=0.1");
        for (String key : List.of("gates", "config")) {
            assertThat(redis.client().getMap(keys().key(key)).remainTimeToLive())
                    .as(key)
                    .isPositive();
        }
        schedule("free", (String) null);
        schedule("g", "g");
        for (String key : List.of("gates", "config")) {
            assertThat(redis.client().getMap(keys().key(key)).remainTimeToLive())
                    .as(key)
                    .isNegative();
        }
        assertThat(take(5)).containsExactly("free");
        get(queue.cancel("g"));
        claimed(1);
        for (String key : List.of("gates", "config")) {
            assertThat(redis.client().getMap(keys().key(key)).remainTimeToLive())
                    .as(key)
                    .isPositive();
        }
        assertThat(pausedSeconds("g")).isEqualTo(86_400 * 365L);
        get(queue.group("g").resume());
    }

    /** Although the queue has another limit, and no message has a group. */
    @Test
    void should_keep_a_pause_of_a_group_without_messages_while_the_queue_has_others() {
        limit(rate(100, SECOND, 100), null);
        pause("g", 86_400 * 365L);
        assertThat(claimed(1).limited()).isTrue();
        try (DelayQueueClient other = openOther()) {
            // One that names no more keys than it must.
            get(other.queue(queue.name()).schedule(ScheduleRequest.of("free", bytes("free"), LONG_AGO)));
        }
        assertThat(redis.client().getMap(keys().key("gates")).remainTimeToLive())
                .isNegative();
        assertThat(take(5)).containsExactly("free");
        schedule("g", "g");
        assertThat(take(5)).isEmpty();
        get(queue.group("g").resume());
        assertThat(take(5)).containsExactly("g");
    }

    @Test
    void should_pause_and_resume_a_group_of_many_without_a_limit() {
        limits(0, true);
        scheduleMany(3000, "g");
        pause("g", 60);
        for (int i = 0; i < 10; i++) {
            assertThat(claimed(200).messages()).isEmpty();
        }
        assertThat(get(queue.admin().stats()))
                .extracting(QueueStats::overdue, QueueStats::parked)
                .containsExactly(0L, 3000L);
        get(queue.group("g").resume());
        int count = 0;
        for (int i = 0; i < 20; i++) {
            count += take(200).size();
        }
        assertThat(count).isEqualTo(3000);
    }

    @Test
    void should_pause_a_group_of_a_queue_with_partitions() {
        try (DelayQueueClient other = openOther()) {
            DelayQueue parts = other.queue(redis.uniqueQueue(), 3);
            for (String group : List.of("a", "b", "c", "d")) {
                get(parts.schedule(
                        ScheduleRequest.of(group, bytes(group), LONG_AGO).withGroup(group)));
            }
            assertThat(get(parts.group("b").pause(seconds(60)))).isTrue();
            assertThat(get(parts.admin().stats()).parked()).isOne();
            assertThat(get(parts.group("b").info()).pausedUntilMicros()).isPositive();
            assertThat(get(parts.group("a").info()).pausedUntilMicros()).isZero();
            assertThat(get(parts.group("b").resume())).isTrue();
            assertThat(get(parts.admin().stats()).parked()).isZero();
        }
    }
}
