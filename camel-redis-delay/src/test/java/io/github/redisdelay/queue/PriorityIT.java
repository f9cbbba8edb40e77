// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.Test;

/** Among due messages the highest priority comes first, and queues without priorities do not notice. */
class PriorityIT extends RealQueueIT {

    private String prioritiesInUse() {
        return snapshot().keys().get("config").get("priorities");
    }

    @Test
    void should_give_the_highest_priority_first_and_within_one_the_earliest() {
        schedule("low early", new DueTime(false, 1));
        schedule("5 late", new DueTime(false, 4), 5);
        schedule("5 early", new DueTime(false, 2), 5);
        schedule("9", new DueTime(false, 5), 9);
        schedule("1", new DueTime(false, 3), 1);
        schedule("low late", new DueTime(false, 6));
        assertThat(ids(claim(10))).containsExactly("9", "5 early", "5 late", "1", "low early", "low late");
    }

    @Test
    void should_give_a_late_message_of_high_priority_before_a_backlog() {
        scheduleMany(1_000, "low", LONG_AGO);
        assertThat(claim(10)).hasSize(10);
        schedule("high", DueTime.now(), 1);
        assertThat(ids(claim(2)).get(0)).isEqualTo("high");
        assertThat(claim(10)).extracting(ClaimedDelivery::priority).containsOnly(0);
    }

    @Test
    void should_never_give_a_message_of_high_priority_before_it_is_due() {
        schedule("high", IN_AN_HOUR, 9);
        schedule("low", LONG_AGO);
        assertThat(ids(claim(10))).containsExactly("low");
    }

    @Test
    void should_give_ended_leases_of_high_priority_before_low_ones_whatever_their_times() {
        for (String id : List.of("low ended", "high ended")) {
            schedule(id, LONG_AGO, id.startsWith("high") ? 7 : 0);
            assertThat(ids(claim(1))).containsExactly(id);
            pass(Duration.ofMinutes(20)); // the low one's lease ends first
        }
        pass(Duration.ofHours(2));
        schedule("low waits", LONG_AGO);
        schedule("high waits", DueTime.now(), 7);
        schedule("higher waits", DueTime.now(), 8);
        // Only one may be an ended one: it is the important one, although the other ended earlier.
        assertThat(ids(claim(3, 1))).containsExactly("higher waits", "high ended", "high waits");
        assertThat(ids(claim(3, 1))).containsExactly("low waits", "low ended");
    }

    @Test
    void should_pay_no_more_when_priorities_are_not_used_any_more() {
        schedule("low", LONG_AGO);
        schedule("5", LONG_AGO, 5);
        schedule("9", LONG_AGO, 9);
        assertThat(prioritiesInUse()).isEqualTo("95");
        List<ClaimedDelivery> high = claim(1);
        assertThat(prioritiesInUse()).isEqualTo("5");
        assertThat(claim(1)).hasSize(1);
        assertThat(held("config")).isEmpty();
        // A message that comes back is looked at again.
        assertThat(get(high.get(0).settle(Settlement.RELEASE))).isEqualTo(SettleResult.DONE);
        assertThat(prioritiesInUse()).isEqualTo("9");
        assertThat(ids(claim(2))).containsExactly("9", "low");
        assertThat(held("config")).isEmpty();
    }

    @Test
    void should_stop_looking_for_a_priority_whose_last_message_was_cancelled() {
        schedule("5", IN_AN_HOUR, 5);
        get(queue.cancel("5"));
        assertThat(claim(1)).isEmpty();
        assertThat(held("config")).isEmpty();
    }

    @Test
    void should_keep_the_priority_however_the_message_comes_back() {
        schedule("a", LONG_AGO, 4);
        assertThat(get(claim(1).get(0).settle(new Settlement.Retry(Duration.ZERO, new byte[0]))))
                .isEqualTo(SettleResult.DONE);
        assertThat(held("delayed:4")).containsExactly("a");
        ClaimedDelivery second = claim(1).get(0);
        assertThat(second.priority()).isEqualTo(4);
        get(second.settle(Settlement.RELEASE));
        assertThat(held("delayed:4")).containsExactly("a");
        get(queue.reschedule("a", IN_AN_HOUR));
        get(queue.promote("a"));
        assertThat(held("delayed:4")).containsExactly("a");
        claim(1);
        pass(Duration.ofHours(2));
        ClaimedDelivery afterEnd = claim(1).get(0);
        assertThat(afterEnd.priority()).isEqualTo(4);
        assertThat(afterEnd.lostLeases()).isEqualTo(1);
        get(afterEnd.settle(new Settlement.DeadLetter(new byte[0])));
        assertThat(get(queue.redrive(held("dead:delayed").get(0), null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(held("delayed:4")).containsExactly("a");
        assertThat(claim(1).get(0).priority()).isEqualTo(4);
    }

    @Test
    void should_know_an_id_whatever_its_priority() {
        schedule("a", IN_AN_HOUR, 4);
        assertThatThrownBy(() -> schedule("a", IN_AN_HOUR, 9)).isInstanceOf(DuplicateMessageException.class);
        assertThat(get(queue.schedule(ScheduleRequest.of("a", bytes("new"), IN_AN_HOUR)
                                .withOnDuplicate(DuplicatePolicy.REPLACE)
                                .withPriority(9)))
                        .outcome())
                .isEqualTo(ScheduleOutcome.REPLACED);
        assertThat(held("delayed:4")).isEmpty();
        assertThat(held("delayed:9")).containsExactly("a");
        assertThat(get(queue.get("a")).orElseThrow().info().priority()).isEqualTo(9);
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.DELAYED);
        assertThat(held("delayed:9")).isEmpty();
        assertThat(held("messages")).isEmpty();
    }

    @Test
    void should_wake_a_consumer_for_a_near_message_of_any_priority() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, ConsumerOptions.DEFAULTS);
        schedule("far", DueTime.after(Duration.ofSeconds(50)), 9);
        schedule("near", DueTime.after(Duration.ofMillis(200)), 3);
        Delivery delivery = next(received);
        assertThat(delivery.id()).isEqualTo("near");
        assertThat(delivery.lateness()).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void should_wait_no_longer_than_until_the_first_message_of_any_priority() throws Exception {
        schedule("far", DueTime.after(Duration.ofSeconds(50)));
        schedule("near", DueTime.after(Duration.ofMillis(500)), 3);
        // Its first claim finds nothing and tells when to come again.
        Delivery delivery = next(consume(queue, ConsumerOptions.DEFAULTS));
        assertThat(delivery.id()).isEqualTo("near");
        assertThat(delivery.lateness()).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void should_refuse_priorities_that_there_are_not() {
        for (int priority : new int[] {-1, 10, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> message("a", LONG_AGO, priority))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("priority is " + priority + ": it must be from 0 to 9");
        }
    }
}
