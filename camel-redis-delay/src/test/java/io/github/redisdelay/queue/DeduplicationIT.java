// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.exception.DuplicateMessageException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** An id that was finished stays a duplicate for as long as was asked for. */
class DeduplicationIT extends RealQueueIT {

    private void finish(String id, Duration remember) {
        schedule(id, LONG_AGO);
        assertThat(get(claim(1).get(0).settle(new Settlement.Acknowledge(remember))))
                .isEqualTo(SettleResult.DONE);
    }

    private ScheduleOutcome scheduleAgain(String id, DuplicatePolicy policy) {
        return get(queue.schedule(message(id, policy))).outcome();
    }

    @Test
    void should_be_a_duplicate_after_it_was_acknowledged() {
        finish("a", HOUR);
        assertThatThrownBy(() -> scheduleAgain("a", DuplicatePolicy.REJECT))
                .isInstanceOfSatisfying(DuplicateMessageException.class, e -> {
                    assertThat(e.getState()).isEqualTo(MessageState.FINISHED);
                    assertThat(e.getMessageId()).isEqualTo("a");
                })
                .hasMessageContaining("finished less than its deduplication period ago");
        assertThat(scheduleAgain("a", DuplicatePolicy.IGNORE)).isEqualTo(ScheduleOutcome.IGNORED);
        assertThat(held("messages")).isEmpty();
        assertThat(get(queue.get("a"))).isEmpty();
    }

    @Test
    void should_be_scheduled_anew_where_the_producer_replaces() {
        finish("a", HOUR);
        assertThat(scheduleAgain("a", DuplicatePolicy.REPLACE)).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(ids(claim(1))).containsExactly("a");
    }

    @Test
    void should_be_free_when_the_period_is_over() {
        finish("a", HOUR);
        pass(HOUR.minusMinutes(1));
        assertThat(scheduleAgain("a", DuplicatePolicy.IGNORE)).isEqualTo(ScheduleOutcome.IGNORED);
        pass(Duration.ofMinutes(2));
        assertThat(scheduleAgain("a", DuplicatePolicy.IGNORE)).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(held("seen")).isEmpty();
    }

    @Test
    void should_be_free_after_a_cancel() {
        finish("a", HOUR);
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.FINISHED);
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.NONE);
        assertThat(scheduleAgain("a", DuplicatePolicy.REJECT)).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.DELAYED);
        assertThat(scheduleAgain("a", DuplicatePolicy.REJECT)).isEqualTo(ScheduleOutcome.SCHEDULED);
    }

    @Test
    void should_remember_what_was_given_up_only_where_asked() {
        schedule("buried", LONG_AGO);
        get(claim(1).get(0).settle(new Settlement.DeadLetter(new byte[0], HOUR)));
        schedule("discarded", LONG_AGO);
        get(claim(1).get(0).settle(new Settlement.Drop(HOUR)));
        schedule("returned", LONG_AGO);
        get(claim(1).get(0).settle(new Settlement.Retry(HOUR, new byte[0])));
        schedule("failed", LONG_AGO);
        get(claim(1).get(0).settle(new Settlement.DeadLetter(new byte[0])));
        finish("plain", Duration.ZERO);
        assertThat(held("seen")).containsExactly("buried", "discarded");
        assertThat(scheduleAgain("plain", DuplicatePolicy.REJECT)).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(scheduleAgain("failed", DuplicatePolicy.REJECT)).isEqualTo(ScheduleOutcome.SCHEDULED);
    }

    @Test
    void should_not_take_an_old_id_for_a_duplicate_because_many_others_were_not_yet_forgotten() {
        for (int block = 0; block < 2; block++) {
            scheduleMany(200, "old" + block + "-", LONG_AGO);
            List<Submission<SettleResult>> done = claim(200).stream()
                    .map(delivery -> delivery.settle(new Settlement.Acknowledge(HOUR.plusMinutes(1))))
                    .toList();
            done.forEach(RealQueueIT::get);
        }
        pass(HOUR);
        assertThat(held("seen")).hasSize(400);
        pass(Duration.ofMinutes(2));
        // 100 of those that are over are dropped with each call, so this one is still there.
        String id = held("seen").get(399);
        assertThat(get(queue.cancel(id)).previousState()).isEqualTo(MessageState.NONE);
        id = held("seen").get(398);
        assertThat(scheduleAgain(id, DuplicatePolicy.REJECT)).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(held("seen")).hasSize(299);
        finish("more", HOUR);
        assertThat(held("seen")).hasSize(100);
        scheduleAgain("other", DuplicatePolicy.REJECT);
        assertThat(held("seen")).containsExactly("more");
    }

    @Test
    void should_deliver_an_id_once_however_many_producers_schedule_it() throws Exception {
        int count = 200;
        Queue<String> received = new ConcurrentLinkedQueue<>();
        queue.consume(concurrent(4), executor, delivery -> {
            received.add(delivery.id());
            delivery.settle(new Settlement.Acknowledge(HOUR));
        });
        List<Future<?>> producers = new ArrayList<>();
        for (int p = 0; p < 4; p++) {
            producers.add(executor.submit(() -> {
                for (int i = 0; i < count; i++) {
                    scheduleAgain("m" + i, DuplicatePolicy.IGNORE);
                }
            }));
        }
        for (Future<?> producer : producers) {
            producer.get(30, TimeUnit.SECONDS);
        }
        Awaitility.await().untilAsserted(() -> assertThat(held("messages")).isEmpty());
        assertThat(received).hasSize(count).doesNotHaveDuplicates();
    }
}
