// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.redisson.client.codec.StringCodec;

/** Rates of a queue and of its groups. */
class RatesIT extends ClockedQueueIT {

    /** At most the count and burst, less one, begin in any half-open window. */
    private static void assertWindows(List<Long> times, int count, long micros, int burst) {
        for (int i = 0; i + count + burst - 1 < times.size(); i++) {
            assertThat(times.get(i + count + burst - 1) - times.get(i))
                    .as("message " + i + " and the " + (count + burst - 1) + "th after it, of " + times)
                    .isGreaterThanOrEqualTo(micros);
        }
    }

    @Test
    void should_begin_no_more_in_any_window_than_the_rate_and_its_burst_allow() {
        long seed = RandomTests.seed("seed");
        Random random = new Random(seed);
        for (int round = 0; round < 20; round++) {
            twice = random.nextBoolean();
            boolean grouped = random.nextBoolean();
            int count = 1 + random.nextInt(7);
            long micros = count * 100L + random.nextInt(3_000_000);
            int burst = 1 + random.nextInt(5);
            Rate rate = rate(count, micros, burst);
            limit(grouped ? null : rate, grouped ? rate : null);
            scheduleMany(40, grouped ? "g" : "");
            List<Long> times = new ArrayList<>();
            while (times.size() < 40) {
                ClaimReply reply =
                        claimed(1 + random.nextInt(10), 1 + random.nextInt(1_000_000), ClaimRequest.NO_BATCH);
                for (ClaimReply.ClaimedMessage message : reply.messages()) {
                    times.add(now);
                    if (random.nextInt(5) > 0) {
                        get(queue.cancel(message.id()));
                    }
                }
                long next = Math.min(
                        reply.nextDueMicros() < 0 ? Long.MAX_VALUE : reply.nextDueMicros(),
                        reply.nextExpiryMicros() < 0 ? Long.MAX_VALUE : reply.nextExpiryMicros());
                if (reply.nextDueMicros() < 0 && reply.nextExpiryMicros() < 0) {
                    break;
                }
                long wait = random.nextInt(4) == 0 ? random.nextInt((int) micros + 1) : next;
                setClock(now + wait + (random.nextInt(8) == 0 ? 4 * micros : 0));
            }
            assertThat(times).as("seed " + seed).hasSizeGreaterThanOrEqualTo(40);
            assertWindows(times, count, micros, burst);
            for (int i = 0; i < 40; i++) {
                get(queue.cancel(String.format("%s%03d", grouped ? "g" : "", i)));
            }
            setClock(now + 3600 * SECOND);
        }
    }

    @Test
    void should_say_when_the_next_one_may_begin_and_give_it_then() {
        limit(rate(10, SECOND, 1), null);
        scheduleMany(3, "");
        ClaimReply first = claimed(5);
        assertThat(first.messages()).hasSize(1);
        assertThat(first.limited()).isTrue();
        assertThat(first.nextDueMicros()).isEqualTo(100_000);
        setClock(now + 99_999);
        assertThat(claimed(5).messages()).isEmpty();
        setClock(now + 1);
        assertThat(claimed(5).messages()).hasSize(1);
        assertThat(get(queue.admin().stats()))
                .extracting(QueueStats::overdue, QueueStats::parked, QueueStats::oldestOverdueMicros)
                .containsExactly(0L, 1L, 0L);
        setClock(now + 2 * SECOND);
        assertThat(get(queue.admin().stats()))
                .as("nobody claims")
                .extracting(QueueStats::overdue, QueueStats::parked)
                .containsExactly(1L, 0L);
    }

    @Test
    void should_let_a_burst_begin_at_once_after_a_rest() {
        limit(rate(1, SECOND, 4), null);
        scheduleMany(9, "");
        assertThat(claimed(9).messages()).hasSize(4);
        setClock(now + SECOND);
        assertThat(claimed(9).messages()).hasSize(1);
        setClock(now + 60 * SECOND);
        assertThat(claimed(9).messages()).hasSize(4);
    }

    @Test
    void history_8_should_count_a_delivery_that_comes_again_after_a_lost_lease() {
        limit(rate(1, SECOND, 1), null);
        scheduleMany(2, "");
        assertThat(claimed(1, 10, ClaimRequest.NO_BATCH).messages()).hasSize(1);
        setClock(now + 20);
        ClaimReply reply = claimed(5);
        assertThat(reply.messages()).as("its lease has ended").isEmpty();
        assertThat(reply.nextExpiryMicros()).isEqualTo(SECOND - 20);
        setClock(now + SECOND - 20);
        assertThat(claimed(5).messages()).hasSize(1);
        setClock(now + SECOND - 1);
        assertThat(claimed(5).messages()).isEmpty();
    }

    @Test
    void should_give_a_batch_of_as_many_as_may_begin() {
        limit(rate(1, SECOND, 3), null);
        scheduleMany(7, "");
        assertThat(claimed(5, 3600 * SECOND, 0).messages()).hasSize(3);
        setClock(now + SECOND);
        assertThat(claimed(5, 3600 * SECOND, 0).messages()).hasSize(1);
    }

    @Test
    void should_hold_back_one_group_and_deliver_the_others() {
        limit(null, rate(1, SECOND, 1));
        scheduleMany(3, "g");
        scheduleMany(1, "h");
        schedule("free", (String) null);
        assertThat(take(10)).containsExactlyInAnyOrder("g000", "h000", "free");
        assertThat(take(10)).isEmpty();
        assertThat(state("g001")).isEqualTo(MessageState.PARKED);
        assertThat(get(queue.admin().stats()))
                .extracting(QueueStats::overdue, QueueStats::parked)
                .containsExactly(0L, 2L);
        ClaimReply none = claimed(1);
        assertThat(none.nextDueMicros()).isEqualTo(SECOND);
        setClock(now + SECOND);
        assertThat(take(10)).containsExactly("g001");
        schedule("g9", "g");
        setClock(now + SECOND);
        assertThat(take(10)).as("the order stays").containsExactly("g002");
        setClock(now + SECOND);
        assertThat(take(10)).containsExactly("g9");
        assertThat(claimed(1).nextDueMicros()).as("nothing is left").isEqualTo(-1);
    }

    @Test
    void should_keep_the_place_of_a_failed_one_while_its_group_is_held_back() {
        limit(null, rate(1, 100 * SECOND, 1));
        scheduleMany(2, "g");
        ClaimedDelivery first = claim(1).get(0);
        get(first.settle(new Settlement.Retry(Duration.ofSeconds(5), bytes("failed"))));
        setClock(now + 10 * SECOND);
        assertThat(take(10)).isEmpty();
        assertThat(get(queue.admin().check()).restored()).isZero();
        setClock(now + 90 * SECOND);
        assertThat(take(10)).containsExactly("g000");
        setClock(now + 100 * SECOND);
        assertThat(take(10)).containsExactly("g001");
    }

    @Test
    void should_give_a_failed_one_that_is_held_back_another_due_time_or_end_it() {
        limit(null, rate(1, 100 * SECOND, 1));
        for (String what : List.of("promote", "reschedule", "cancel", "replace")) {
            schedule("a" + what, what);
            schedule("b" + what, what);
            get(claim(1).get(0).settle(new Settlement.Retry(Duration.ofSeconds(5), bytes("failed"))));
        }
        setClock(now + 10 * SECOND);
        assertThat(take(10)).isEmpty();
        get(queue.promote("apromote"));
        get(queue.reschedule("areschedule", DueTime.after(Duration.ofSeconds(1))));
        get(queue.cancel("acancel"));
        get(queue.schedule(ScheduleRequest.of("areplace", bytes("new"), LONG_AGO)
                .withGroup("replace")
                .withOnDuplicate(DuplicatePolicy.REPLACE)));
        snapshot().assertOneStateAtATime(false);
        setClock(now + 90 * SECOND);
        assertThat(take(10)).containsExactlyInAnyOrder("apromote", "breschedule", "bcancel", "areplace");
        setClock(now + 100 * SECOND);
        assertThat(take(10)).containsExactlyInAnyOrder("bpromote", "areschedule", "breplace");
        assertThat(get(queue.admin().stats()).stored()).isZero();
    }

    @Test
    void history_9_should_stand_no_longer_than_the_rate_says_after_the_clock_was_set_back() {
        limit(rate(1, SECOND, 1), rate(1, 2 * SECOND, 1));
        scheduleMany(3, "");
        scheduleMany(3, "g");
        assertThat(claimed(1).messages()).hasSize(1);
        setClock(now + SECOND);
        assertThat(claimed(1).messages()).hasSize(1);
        setClock(now - 3600 * SECOND);
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < 20 && times.size() < 4; i++) {
            take(1).forEach(id -> times.add(now));
            setClock(now + SECOND);
        }
        assertThat(times).hasSize(4);
        assertThat(now).isLessThan(START - 3600 * SECOND + 12 * SECOND);
    }

    @Test
    void should_have_nobody_come_for_a_gate_behind_which_nothing_waits() {
        limit(null, rate(1, SECOND, 1));
        scheduleMany(2, "g");
        assertThat(take(1)).hasSize(1);
        get(queue.cancel("g001"));
        setClock(now + 2 * SECOND);
        assertThat(claimed(1).nextDueMicros()).isEqualTo(-1);
        assertThat(redis.client().getKeys().countExists(keys().key("opens"))).isZero();
    }

    @Test
    void should_give_a_failed_one_that_is_held_back_at_once_when_the_rate_was_raised_or_removed() {
        for (Rate after : Arrays.asList(rate(1, SECOND, 1), null)) {
            limit(null, rate(1, 3600 * SECOND, 1));
            scheduleMany(2, "g");
            get(claim(1).get(0).settle(new Settlement.Retry(Duration.ofSeconds(5), bytes("failed"))));
            setClock(now + 10 * SECOND);
            assertThat(take(10)).isEmpty();
            limit(null, after);
            assertThat(take(10)).as("its gate counts from now on").hasSize(after == null ? 1 : 0);
            setClock(now + SECOND);
            assertThat(take(10)).containsExactly(after == null ? "g001" : "g000");
            setClock(now + SECOND);
            take(10);
            setClock(now + SECOND);
        }
    }

    @Test
    void should_open_all_gates_after_the_clock_was_set_back_while_the_rate_of_the_queue_is_used_up() {
        limit(rate(100, SECOND, 1), rate(1, 10 * SECOND, 1));
        int groups = 40;
        for (int i = 0; i < groups; i++) {
            scheduleMany(2, "g" + i);
        }
        assertThat(takeUntil(now + SECOND)).isEqualTo(groups);
        setClock(now - 3600 * SECOND);
        assertThat(takeUntil(now + 11 * SECOND)).isEqualTo(groups);
    }

    /** Comes when the replies say so, and returns how many messages it took. */
    private int takeUntil(long end) {
        int count = 0;
        while (now < end) {
            count += take(1).size();
            setClock(Math.min(end, now + Math.max(1, Math.min(claimed(0).nextDueMicros() & Long.MAX_VALUE, SECOND))));
        }
        return count;
    }

    @Test
    void should_use_a_rate_that_was_raised_or_removed_at_once() {
        limit(rate(1, 3600 * SECOND, 1), rate(1, 3600 * SECOND, 1));
        scheduleMany(5, "g");
        assertThat(take(5)).hasSize(1);
        assertThat(limit(rate(100, SECOND, 1), rate(100, SECOND, 1)))
                .isEqualTo(new QueueLimits(1, true, rate(1, 3600 * SECOND, 1), rate(1, 3600 * SECOND, 1), 0));
        assertThat(claimed(1).nextDueMicros()).isEqualTo(10_000);
        setClock(now + 10_000);
        assertThat(take(5)).hasSize(1);
        assertThat(limit(null, null).rate()).isEqualTo(rate(100, SECOND, 1));
        assertThat(take(5)).hasSize(1);
        setClock(now + 10_000);
        claimed(1); // forgets when the last delivery began, and those of groups
        assertThat(config()).containsOnlyKeys("needs").containsEntry("needs", "groups=0.1");
        assertThat(claimed(1).limited()).isFalse();
    }

    @Test
    void should_note_what_a_client_must_know_as_long_as_there_is_a_limit() {
        limit(rate(1, SECOND, 1), null);
        assertThat(config()).containsEntry("needs", "limits=0.1");
        schedule("g", "g");
        assertThat(config().get("needs")).contains("limits=0.1", "groups=0.1");
        assertThat(take(1)).hasSize(1);
        claim(1);
        assertThat(config()).as("the queue is empty").containsEntry("needs", "limits=0.1");
        assertThat(redis.client().getMap(keys().key("config")).remainTimeToLive())
                .isPositive();
        schedule("h", (String) null);
        assertThat(redis.client().getMap(keys().key("config")).remainTimeToLive())
                .isNegative();
        limit(null, null);
        setClock(now + SECOND); // until then, a rate that is set again counts what has begun
        claim(1);
        assertThat(config()).doesNotContainKeys("needs", "next");
    }

    @Test
    void should_give_nothing_and_count_nothing_while_the_queue_is_paused() {
        limit(rate(1, SECOND, 2), rate(1, SECOND, 1));
        scheduleMany(3, "g");
        get(queue.admin().pause());
        assertThat(claimed(5).messages()).isEmpty();
        get(queue.admin().resume());
        assertThat(take(5)).hasSize(1);
        setClock(now + SECOND);
        get(queue.admin().pause());
        assertThat(claimed(5).isPaused()).isTrue();
        setClock(now + SECOND);
        get(queue.admin().resume());
        assertThat(take(5)).hasSize(1);
    }

    @Test
    void should_count_what_has_begun_when_a_rate_is_removed_and_set_again() {
        limit(rate(1, SECOND, 1), null);
        scheduleMany(3, "");
        assertThat(take(1)).hasSize(1);
        limit(null, null);
        assertThat(claimed(0).limited()).isTrue();
        limit(rate(1, SECOND, 1), null);
        assertThat(take(1)).isEmpty();
        limit(null, null);
        assertThat(take(1)).as("no rate").hasSize(1);
        setClock(now + SECOND);
        assertThat(claimed(0).nextDueMicros()).isZero();
        assertThat(claimed(0).limited()).isFalse();
    }

    @Test
    void should_write_nothing_about_the_rate_in_a_claim_that_gives_nothing() {
        limit(rate(1, SECOND, 1), null);
        scheduleMany(2, "");
        assertThat(take(1)).hasSize(1);
        String next = config().get("next");
        redis.client().getMap(keys().key("config"), StringCodec.INSTANCE).put("next", next + ".0");
        assertThat(claimed(1).messages()).isEmpty();
        assertThat(config()).containsEntry("next", next + ".0");
        setClock(now - 60 * SECOND);
        assertThat(claimed(1).messages()).isEmpty();
        assertThat(config()).containsEntry("next", String.valueOf(now + SECOND));
    }

    @Test
    void should_refuse_a_rate_of_a_queue_with_partitions_but_not_of_its_groups() {
        try (DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
            DelayQueue parts = other.queue(redis.uniqueQueue(), 3);
            QueueLimits whole = new QueueLimits(1, true, rate(1, SECOND, 1), null, 0);
            assertThatThrownBy(() -> parts.admin().limit(whole))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("rate is 1/1s: a queue with partitions has limits of its groups only");
            QueueLimits groups = new QueueLimits(1, true, null, rate(1, 3600 * SECOND, 1), 0);
            assertThat(get(parts.admin().limit(groups))).isEqualTo(QueueLimits.DEFAULT);
            assertThat(get(parts.admin().limit(groups))).isEqualTo(groups);
        }
    }

    @Test
    void should_keep_the_rate_where_another_client_does_not_know_limits() {
        limit(rate(1, SECOND, 1), null);
        redis.client().getMap(keys().key("config"), StringCodec.INSTANCE).put("needs", "limits=0.2");
        assertThatThrownBy(() -> schedule("a", (String) null))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("limits");
    }

    @Test
    void should_show_a_rate_as_it_is_written() {
        assertThat(rate(100, SECOND, 1)).hasToString("100/1s");
        assertThat(rate(3, SECOND, 5)).hasToString("3/1s:5");
        assertThat(rate(1000, 60 * SECOND, 1)).hasToString("1000/1m");
        assertThat(rate(1, 7 * SECOND, 1)).hasToString("1/7000ms");
        assertThat(new Rate(1_234_567, 1)).hasToString("1000/1234567ms");
    }
}
