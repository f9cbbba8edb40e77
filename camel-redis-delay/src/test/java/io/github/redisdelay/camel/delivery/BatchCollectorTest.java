// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.fake.RecordingDelivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.fake.FakeTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BatchCollectorTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(6);

    private final FakeTimers timers = new FakeTimers();
    private final List<List<String>> begun = new ArrayList<>();
    private final List<Boolean> claiming = new ArrayList<>();
    private final AtomicInteger hanging = new AtomicInteger();
    private Executor executor = Runnable::run;
    private BatchCollector collector = collector(3, 1);

    private BatchCollector collector(int batchSize, int exchanges) {
        return new BatchCollector(
                new ConsumerSettings.Batches(batchSize, TIMEOUT),
                PATIENCE,
                exchanges,
                timers,
                task -> executor.execute(task),
                batch -> begun.add(
                        batch.stream().map(message -> message.delivery().id()).toList()),
                () -> claiming.add(this.collector.wantsMore()),
                hanging::incrementAndGet);
    }

    private RecordingDelivery add(String id, int attempt) {
        return add(id, attempt, 0);
    }

    private RecordingDelivery add(String id, int attempt, int lostLeases) {
        RecordingDelivery delivery = new RecordingDelivery(attempt);
        delivery.id = id;
        delivery.lostLeases = lostLeases;
        collector.add(new DeliveryCompletion(delivery, null, null, "route", () -> {}, null));
        return delivery;
    }

    private List<RecordingDelivery> add(String... ids) {
        List<RecordingDelivery> added = new ArrayList<>();
        for (String id : ids) {
            added.add(add(id, 1));
        }
        return added;
    }

    private static void assertReleased(List<RecordingDelivery> deliveries) {
        assertThat(deliveries).allSatisfy(delivery -> assertThat(delivery.calls).containsExactly("release"));
    }

    @Test
    void should_begin_a_full_batch_at_once() {
        add("a", "b");
        assertThat(begun).isEmpty();
        add("c", 1);
        assertThat(begun).containsExactly(List.of("a", "b", "c"));
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_have_the_order_in_which_they_were_claimed() {
        add("c", "a", "b");
        assertThat(begun).containsExactly(List.of("a", "b", "c"));
    }

    @Test
    void should_begin_what_there_is_when_the_first_has_waited_for_the_timeout() {
        add("a", 1);
        timers.advance(TIMEOUT.minusNanos(1));
        add("b", 1);
        assertThat(begun).isEmpty();
        timers.advance(Duration.ofNanos(1));
        assertThat(begun).containsExactly(List.of("a", "b"));
        collector.finished();
        add("c", 1);
        timers.advance(TIMEOUT.minusNanos(1));
        assertThat(begun).hasSize(1);
        timers.advance(Duration.ofNanos(1));
        assertThat(begun).hasSize(2);
    }

    @Test
    void should_begin_alone_what_is_delivered_again() {
        add("a", 1);
        add("poison", 2);
        assertThat(begun).containsExactly(List.of("poison"));
        add("b", "c", "d");
        collector.finished();
        assertThat(begun).containsExactly(List.of("poison"), List.of("a", "b", "c"));
    }

    @Test
    void should_keep_nothing_beside_one_that_may_have_killed_its_last_consumer() {
        add("poison", 2, 1);
        RecordingDelivery neighbour = add("neighbour", 2, 1);
        RecordingDelivery failed = add("failed", 2, 0);
        assertThat(begun).containsExactly(List.of("poison"));
        assertReleased(List.of(neighbour));
        assertThat(failed.calls).isEmpty();
        assertThat(collector.wantsMore()).isFalse();
        collector.finished();
        assertThat(begun).containsExactly(List.of("poison"), List.of("failed"));
    }

    @Test
    void should_tell_once_when_no_exchange_becomes_free_for_long() {
        add("a", "b", "c");
        add("d", 1);
        timers.advance(PATIENCE);
        assertThat(collector.wantsMore()).isFalse();
        timers.advance(DeliveryHandler.STANDSTILL.minusNanos(1));
        assertThat(hanging).hasValue(0);
        timers.advance(Duration.ofNanos(1));
        assertThat(hanging).hasValue(1);
        timers.advance(DeliveryHandler.STANDSTILL.multipliedBy(3));
        assertThat(hanging).hasValue(1);
        collector.finished();
        assertThat(collector.wantsMore()).isTrue();
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_have_no_more_batches_under_way_than_exchanges() {
        collector = collector(2, 2);
        add("a", "b", "c", "d", "e", "f");
        assertThat(begun).containsExactly(List.of("a", "b"), List.of("c", "d"));
        collector.finished();
        assertThat(begun).hasSize(3).last().isEqualTo(List.of("e", "f"));
    }

    @Test
    void should_take_what_has_waited_longest_first() {
        add("a", "b", "c");
        add("d", "e", "f");
        timers.advance(Duration.ofSeconds(1));
        add("poison", 2);
        collector.finished();
        assertThat(begun).last().isEqualTo(List.of("d", "e", "f"));
        collector.finished();
        assertThat(begun).last().isEqualTo(List.of("poison"));
    }

    @Test
    void should_begin_what_is_over_its_timeout_as_soon_as_an_exchange_is_free() {
        add("a", "b", "c");
        add("d", 1);
        timers.advance(TIMEOUT);
        assertThat(begun).hasSize(1);
        collector.finished();
        assertThat(begun).last().isEqualTo(List.of("d"));
    }

    @Test
    void should_give_back_what_no_exchange_is_free_for_and_claim_nothing_until_one_is() {
        add("a", "b", "c");
        List<RecordingDelivery> waiting = new ArrayList<>(add("d", "e"));
        waiting.add(add("poison", 2));
        timers.advance(PATIENCE.minusNanos(1));
        assertThat(collector.waiting()).isEqualTo(3);
        timers.advance(Duration.ofNanos(1));
        assertReleased(waiting);
        assertThat(collector.waiting()).isZero();
        assertThat(claiming).containsExactly(false);
        collector.finished();
        assertThat(claiming).containsExactly(false, true);
        add("g", "h", "i");
        assertThat(begun).containsExactly(List.of("a", "b", "c"), List.of("g", "h", "i"));
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_release_at_once_what_was_not_begun_when_it_is_suspended() {
        List<RecordingDelivery> first = add("a", "b");
        collector.suspend();
        assertReleased(first);
        assertReleased(add("c", "d", "e"));
        assertThat(begun).isEmpty();
        assertThat(timers.waiting()).isZero();
        collector.resume();
        add("f", "g", "h");
        assertThat(begun).containsExactly(List.of("f", "g", "h"));
    }

    @Test
    void should_claim_again_after_a_suspension_that_came_while_it_was_full() {
        add("a", "b", "c");
        add("d", 1);
        timers.advance(PATIENCE);
        collector.suspend();
        assertThat(collector.wantsMore()).isTrue();
        collector.finished();
        collector.resume();
        add("e", "f", "g");
        assertThat(begun).hasSize(2);
        assertThat(claiming).containsExactly(false, true);
    }

    @Test
    void should_release_what_the_executor_does_not_take() {
        executor = task -> {
            throw new RejectedExecutionException("stopped");
        };
        assertReleased(add("a", "b", "c"));
        assertThat(claiming).as("nothing is claimed for a second").containsExactly(false);
        timers.advance(Duration.ofSeconds(1));
        assertThat(claiming).containsExactly(false, true);
        executor = Runnable::run;
        add("d", "e", "f");
        assertThat(begun).containsExactly(List.of("d", "e", "f"));
    }

    @Test
    void should_release_any_number_that_the_executor_does_not_take() {
        add("a", 2);
        List<RecordingDelivery> waiting = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            waiting.add(add("m" + i, 2));
        }
        executor = task -> {
            throw new RejectedExecutionException("full");
        };
        collector.finished();
        assertReleased(waiting);
        assertThat(collector.waiting()).isZero();
    }
}
