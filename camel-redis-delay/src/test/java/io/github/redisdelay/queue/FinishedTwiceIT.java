// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A second call to finish a delivery gets what the first call has left. */
class FinishedTwiceIT extends RealQueueIT {

    private static final List<Function<Delivery, Submission<SettleResult>>> CALLS = List.of(
            delivery -> delivery.settle(Settlement.ACKNOWLEDGE),
            delivery -> delivery.settle(new Settlement.Retry(HOUR, bytes("failure"))),
            delivery -> delivery.settle(Settlement.RELEASE),
            delivery -> delivery.settle(new Settlement.DeadLetter(bytes("failure"))),
            delivery -> delivery.settle(new Settlement.Drop(Duration.ZERO)));

    private void assertAfter(
            SettleResult first, SettleResult second, Function<Delivery, Submission<SettleResult>> call) {
        schedule("order", LONG_AGO);
        for (ClaimedDelivery delivery : claim(1)) {
            assertAfter(delivery, first, second, call);
        }
    }

    private void assertAfter(
            Delivery delivery,
            SettleResult first,
            SettleResult second,
            Function<Delivery, Submission<SettleResult>> call) {
        assertThat(get(call.apply(delivery))).isEqualTo(first);
        long delayed = get(queue.admin().stats()).delayed();
        for (Function<Delivery, Submission<SettleResult>> later : CALLS) {
            assertThat(get(later.apply(delivery))).isEqualTo(second);
            assertThat(get(later.apply(delivery).outcome())).isEqualTo(second);
        }
        QueueStats stats = get(queue.admin().stats());
        assertThat(stats.delayed()).isEqualTo(delayed);
        assertThat(stats.leased()).isZero();
    }

    @Test
    void a_returned_message_is_held() {
        assertAfter(SettleResult.DONE, SettleResult.STALE_HELD, CALLS.get(1));
    }

    @Test
    void a_released_message_is_held() {
        assertAfter(SettleResult.DONE, SettleResult.STALE_HELD, CALLS.get(2));
    }

    @Test
    void an_acknowledged_message_is_gone() {
        assertAfter(SettleResult.DONE, SettleResult.STALE_GONE, CALLS.get(0));
    }

    @Test
    void a_buried_message_is_gone() {
        assertAfter(SettleResult.DONE, SettleResult.STALE_GONE, CALLS.get(3));
        assertThat(get(queue.admin().stats()).dead()).isOne();
    }

    @Test
    void a_discarded_message_is_gone() {
        assertAfter(SettleResult.DONE, SettleResult.STALE_GONE, CALLS.get(4));
    }

    @Test
    void what_the_first_call_has_found_is_still_so() {
        schedule("order", LONG_AGO);
        Delivery delivery = claim(1).get(0);
        get(queue.cancel("order"));
        assertAfter(delivery, SettleResult.STALE_GONE, SettleResult.STALE_GONE, CALLS.get(1));
    }

    @Test
    void a_superseded_message_is_held() {
        schedule("order", LONG_AGO);
        Delivery delivery = claim(1).get(0);
        delivery.superseded();
        assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.STALE_HELD);
    }

    /** Eviction may take the messages and the leases, and leave the records: they must not be about a new message. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void a_new_message_is_not_finished_by_the_delivery_of_one_that_was_evicted(int together) {
        schedule("first", IN_AN_HOUR); // the session's first call in an hour goes another way
        schedule("order", LONG_AGO);
        Delivery delivery = claim(1).get(0);
        redis.client().getKeys().delete(keys().key("messages"), keys().key("leased"), keys().key("delayed"));

        List<Submission<ScheduleResult>> sent = queue.together(() -> IntStream.range(0, together)
                .mapToObj(i -> queue.schedule(message(i == 0 ? "order" : "other" + i, IN_AN_HOUR, i == 2 ? 5 : 0)))
                .toList());
        sent.forEach(RealQueueIT::get);

        assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.STALE_HELD);
        assertThat(get(queue.get("order")))
                .hasValueSatisfying(order -> assertThat(order.info().attempts()).isZero());
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(together);
    }

    @Test
    void a_call_that_failed_fails_later_ones() {
        schedule("order", LONG_AGO);
        Delivery delivery = claim(1).get(0);
        client.close();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> get(delivery.settle(Settlement.ACKNOWLEDGE)))
                    .hasMessageContaining("closed");
        }
    }

    @Test
    void should_say_that_it_was_replaced_also_when_what_has_replaced_it_is_finished() {
        get(queue.schedule(message("a", DuplicatePolicy.REPLACE)));
        ClaimedDelivery replaced = claim(1).get(0);
        assertThat(get(replaced.isReplaced())).isFalse();
        get(queue.schedule(message("a", DuplicatePolicy.REPLACE)));
        assertThat(get(replaced.isReplaced())).isTrue();
        assertThat(get(claim(1).get(0).settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        assertThat(get(replaced.isReplaced())).isTrue();
    }
}
