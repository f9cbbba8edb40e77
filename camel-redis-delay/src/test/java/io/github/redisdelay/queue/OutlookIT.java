// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.fake.FromNow;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScript;
import org.redisson.client.codec.StringCodec;

/** How many messages become due when. */
class OutlookIT extends RealQueueIT {

    private static final Duration MICRO = Duration.of(1, ChronoUnit.MICROS);

    private static long all(Outlook outlook) {
        return outlook.before()
                + outlook.after()
                + outlook.counts().stream().mapToLong(count -> count).sum();
    }

    @Test
    void should_count_each_message_once_at_the_bounds_of_steps() {
        for (int due = 0; due < 50; due++) {
            schedule("m" + due, new DueTime(false, due), due % 10);
        }
        schedule("last", new DueTime(false, DueTime.MAX_MICROS));
        Outlook outlook = get(queue.admin().outlook(Outlook.bounds(10, Duration.of(7, ChronoUnit.MICROS), 3)));
        assertThat(outlook.boundsMicros()).containsExactly(10L, 17L, 24L, 31L);
        assertThat(outlook.before()).isEqualTo(10);
        assertThat(outlook.counts()).containsExactly(7L, 7L, 7L);
        assertThat(outlook.after()).isEqualTo(20);
        assertThat(get(queue.admin().outlook(Outlook.bounds(1, MICRO, 240))).counts())
                .startsWith(1L, 1L, 1L)
                .endsWith(0L, 0L)
                .hasSize(240);
        Outlook ends = get(queue.admin().outlook(List.of(0L, 1L, DueTime.MAX_MICROS - 1, DueTime.MAX_MICROS)));
        assertThat(ends.before()).isZero();
        assertThat(ends.counts()).containsExactly(1L, 49L, 0L);
        assertThat(ends.after()).isEqualTo(1);
    }

    @Test
    void should_begin_now_by_the_servers_clock() {
        schedule("overdue", LONG_AGO);
        schedule("soon", DueTime.after(Duration.ofSeconds(90)), 9);
        schedule("later", IN_AN_HOUR);
        Outlook outlook = get(FromNow.outlook(queue.admin(), Duration.ofMinutes(1), 5));
        long begin = outlook.boundsMicros().get(0);
        assertThat(outlook.timeMicros()).isBetween(begin, begin + 60_000_000);
        assertThat(outlook.before()).isEqualTo(1);
        assertThat(outlook.counts()).containsExactly(0L, 1L, 0L, 0L, 0L);
        assertThat(outlook.after()).isEqualTo(1);
        assertThat(get(FromNow.outlook(queue.admin(), MICRO, 1)).counts()).containsExactly(0L);
    }

    @Test
    void should_count_what_waits_and_nothing_else() {
        scheduleMany(5, "m", LONG_AGO);
        claim(2);
        assertThat(all(get(FromNow.outlook(queue.admin(), MICRO, 1)))).isEqualTo(3);
        long before = get(queue.admin().stats()).timeMicros();
        claim(1).forEach(delivery -> get(delivery.settle(new Settlement.DeadLetter(bytes("why")))));
        DelayQueue dead = queue.deadLetters();
        long after = get(FromNow.outlook(dead.admin(), MICRO, 1)).timeMicros();
        assertThat(get(dead.admin().outlook(List.of(before, after + 1))).counts())
                .containsExactly(1L);
        assertThat(get(dead.admin().outlook(List.of(before - 1, before))).counts())
                .containsExactly(0L);
        claimDead(1);
        assertThat(all(get(FromNow.outlook(dead.admin(), MICRO, 1)))).isZero();
    }

    @Test
    void should_count_what_others_have_written() {
        scheduleForeign(new byte[] {1}, 5);
        redis.client()
                .getScript(StringCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "return redis.call('ZADD', KEYS[1], '-inf', 'a', 'inf', 'b', '5.5', 'c', '-7', 'd')",
                        RScript.ReturnType.VALUE,
                        List.of(keys().key("delayed")));
        Outlook outlook = get(queue.admin().outlook(List.of(0L, 5L, 6L)));
        assertThat(outlook.before()).isEqualTo(2);
        assertThat(outlook.counts()).containsExactly(0L, 2L);
        assertThat(outlook.after()).isEqualTo(1);
        assertThat(ids(PageStart.first())).hasSize(5).startsWith("a", "d").endsWith("c", "b");
        assertThat(ids(PageStart.newest())).hasSize(5).startsWith("b", "c").endsWith("d", "a");
        assertThat(ids(PageStart.at(6))).containsExactly("b");
    }

    private List<String> ids(PageStart start) {
        return get(queue.admin().list(MessageState.DELAYED, start, 10)).messages().stream()
                .map(MessageInfo::id)
                .toList();
    }

    private record Step(long from, long micros, long count) {}

    /** The fullest step is split until it is a second. An hour that is full, but evenly so, is looked into in vain. */
    @Test
    void should_lead_to_the_densest_second_of_a_day_in_few_looks() {
        long day = 1_900_000_000_000_000L;
        for (int second = 0; second < 3600; second += 45) {
            schedule("m" + second, new DueTime(false, day + second * 1_000_000L));
        }
        long storm = day + 40_271_000_000L;
        for (int i = 0; i < 30; i++) {
            schedule("s" + i, new DueTime(false, storm + i * 20_000));
        }
        PriorityQueue<Step> steps =
                new PriorityQueue<>(Comparator.comparing(Step::count).reversed());
        steps.add(new Step(day, Duration.ofDays(1).toSeconds() * 1_000_000, 110));
        int looks = 0;
        while (steps.peek().micros() > 1_000_000) {
            Step fullest = steps.remove();
            int parts = fullest.micros() > 3_600_000_000L ? 24 : 60;
            long micros = fullest.micros() / parts;
            Outlook outlook = get(queue.admin()
                    .outlook(Outlook.bounds(fullest.from(), Duration.of(micros, ChronoUnit.MICROS), parts)));
            for (int i = 0; i < parts; i++) {
                steps.add(new Step(
                        outlook.boundsMicros().get(i), micros, outlook.counts().get(i)));
            }
            looks++;
        }
        assertThat(steps.peek()).isEqualTo(new Step(storm, 1_000_000, 30));
        assertThat(looks).as("the day, both hours, a minute").isEqualTo(4);
    }

    @Test
    void should_refuse_steps_that_there_cannot_be() {
        for (int steps : new int[] {0, -1, 241}) {
            assertThatThrownBy(() -> queue.admin().outlook(Outlook.bounds(1, MICRO, steps)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("steps is " + steps + ": it must be from 1 to 240");
        }
        for (Duration step : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
            for (long from : new long[] {0, 1}) {
                assertThatThrownBy(() -> queue.admin().outlook(Outlook.bounds(from, step, 1)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(step.toString());
            }
        }
        for (long from : new long[] {-1, DueTime.MAX_MICROS, DueTime.MAX_MICROS - 239, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> Outlook.bounds(from, MICRO, 240))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("from " + from + " microseconds");
        }
        assertThat(Outlook.bounds(DueTime.MAX_MICROS - 240, MICRO, 240)).endsWith(DueTime.MAX_MICROS);
        Duration tooLong = Duration.of(DueTime.MAX_MICROS, ChronoUnit.MICROS);
        assertThatThrownBy(() -> get(FromNow.outlook(queue.admin(), tooLong, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(tooLong.toString());
        List<List<Long>> wrong = new ArrayList<>(List.of(
                List.of(),
                List.of(1L),
                List.of(1L, 1L),
                List.of(2L, 1L),
                List.of(-1L, 1L),
                List.of(1L, DueTime.MAX_MICROS + 1)));
        wrong.add(LongStream.range(0, 242).boxed().toList());
        for (List<Long> bounds : wrong) {
            assertThatThrownBy(() -> queue.admin().outlook(bounds))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("bound");
        }
    }
}
