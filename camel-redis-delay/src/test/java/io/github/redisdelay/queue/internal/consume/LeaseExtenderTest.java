// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.fake.FakeCaller;
import io.github.redisdelay.queue.fake.FakeClaims;
import io.github.redisdelay.queue.fake.FakeSettlements;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.command.SettleCommand;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.RequestBatcher;
import io.github.redisdelay.queue.internal.request.RequestKind;
import io.github.redisdelay.queue.internal.request.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** When leases are extended and when no more, on a virtual clock. */
class LeaseExtenderTest {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final FakeTimers timers = new FakeTimers();
    private final FakeSettlements queue = new FakeSettlements(timers);
    private final LeaseExtender extender = new LeaseExtender(timers);
    private final List<String> limits = new ArrayList<>();
    private final DeliveryHandler handler = new DeliveryHandler() {
        @Override
        public void handle(Delivery delivery) {}

        @Override
        public void extensionLimitReached(Delivery delivery, Duration age) {
            limits.add(delivery.id() + " after " + age.toSeconds() + " s");
            if (delivery.id().startsWith("bad")) {
                throw new IllegalStateException("listener");
            }
        }
    };

    private static ConsumerOptions options(Duration lease, Duration maximum) {
        return ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(10)
                .withVisibilityTimeout(lease)
                .withMaximumVisibilityExtension(maximum);
    }

    private static ConsumerOptions options(Duration maximum) {
        return options(LEASE, maximum);
    }

    private ClaimedDelivery begin(String id, ConsumerOptions options) {
        return begin(id, options, timers.nanoTime());
    }

    private ClaimedDelivery begin(String id, ConsumerOptions options, long claimSentNanos) {
        ClaimedDelivery delivery = new ClaimedDelivery(
                queue,
                FakeClaims.message(id),
                ClaimId.of(new byte[ClaimId.LENGTH]),
                FakeClaims.TIME,
                claimSentNanos,
                timers.nanoTime(),
                timers,
                (finished, worked) -> extender.remove(finished));
        delivery.begun(timers.nanoTime());
        extender.keep(delivery, options, new ConsumerReports("orders", handler));
        return delivery;
    }

    private List<String> extended() {
        return queue.extended.stream().map(FakeSettlements.Extended::id).toList();
    }

    private static Duration s(long seconds) {
        return Duration.ofSeconds(seconds);
    }

    @Test
    void should_extend_at_a_third_of_the_lease_by_its_whole_length() {
        begin("a", options(Duration.ofHours(1)));
        timers.advance(Duration.ofMillis(9_999));
        assertThat(queue.extended).isEmpty();
        timers.advance(Duration.ofMillis(1));
        assertThat(queue.extended).hasSize(1);
        assertThat(queue.extended.get(0).micros()).isEqualTo(30_000_000);
        timers.advance(s(30));
        assertThat(queue.extended).hasSize(4);
    }

    @Test
    void should_keep_one_that_comes_while_the_timer_is_dropped() {
        begin("a", options(Duration.ofHours(1))).settle(Settlement.ACKNOWLEDGE);
        List<ClaimedDelivery> came = new ArrayList<>();
        timers.onCancel = () -> came.add(begin("b", options(Duration.ofHours(1))));
        extender.trim();
        timers.onCancel = () -> {};
        assertThat(came).hasSize(1);
        timers.advance(s(10));
        assertThat(extended()).containsExactly("b");
    }

    @Test
    void should_count_from_when_the_claim_was_sent() {
        long sent = timers.nanoTime();
        timers.advance(s(8));
        begin("a", options(Duration.ofHours(1)), sent);
        timers.advance(s(2));
        assertThat(queue.extended).hasSize(1);
    }

    @Test
    void should_extend_at_once_what_waited_for_its_slot_for_longer_than_a_third() {
        long sent = timers.nanoTime();
        timers.advance(s(14));
        begin("a", options(Duration.ofHours(1)), sent);
        timers.advance(Duration.ZERO);
        assertThat(queue.extended).hasSize(1);
        timers.advance(Duration.ofMillis(9_999));
        assertThat(queue.extended).hasSize(1);
    }

    @Test
    void should_extend_those_that_are_due_within_a_twelfth_of_the_lease_together() {
        for (int i = 0; i < 10; i++) {
            begin("m" + i, options(Duration.ofHours(1)));
            timers.advance(Duration.ofMillis(250));
        }
        timers.advance(s(8));
        assertThat(queue.extended).hasSize(10);
        assertThat(queue.extended.stream()
                        .map(FakeSettlements.Extended::atNanos)
                        .distinct())
                .hasSize(1);
        timers.advance(s(3600 - 11));
        assertThat(queue.extended.stream()
                        .map(FakeSettlements.Extended::atNanos)
                        .distinct())
                .hasSizeLessThanOrEqualTo(360);
    }

    @Test
    void should_send_the_extensions_of_one_moment_in_two_calls_at_the_most() {
        FakeCaller redis = new FakeCaller();
        AtomicLong sequence = new AtomicLong();
        QueueAddress address = QueueAddress.of("redis-delay", "orders");
        RequestBatcher batcher = new RequestBatcher(
                address,
                RequestKind.DELIVERY,
                Durability.NONE,
                redis,
                null,
                new Backoff(timers, new Random(3)),
                List.of(new Session(new byte[17], sequence::incrementAndGet)),
                () -> {});
        DeliverySettler grouped = new DeliverySettler() {
            @Override
            public String name() {
                return queue.name();
            }

            @Override
            public Submission<SettleResult> settle(ClaimedDelivery delivery, Settlement how) {
                return send(SettleCommand.of(address, delivery, how));
            }

            @Override
            public Submission<SettleResult> extend(ClaimedDelivery delivery, long micros) {
                return send(SettleCommand.extension(address, delivery, micros));
            }

            private Submission<SettleResult> send(SettleCommand command) {
                batcher.submit(List.of(command), 0);
                return command.submission();
            }
        };
        List<ClaimedDelivery> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ClaimedDelivery delivery = new ClaimedDelivery(
                    grouped,
                    FakeClaims.message("m" + i),
                    ClaimId.of(new byte[ClaimId.LENGTH]),
                    FakeClaims.TIME,
                    timers.nanoTime(),
                    timers.nanoTime(),
                    timers,
                    (finished, worked) -> extender.remove(finished));
            delivery.begun(timers.nanoTime());
            extender.keep(delivery, options(Duration.ofHours(1)), new ConsumerReports("orders", handler));
            all.add(delivery);
        }
        timers.advance(s(10));
        assertThat(redis.count()).isEqualTo(1);
        assertThat(redis.last().arguments()).hasSize(4 + 5);

        // A delivery that finishes meanwhile is not extended any more: its waiting extension is dropped.
        String sent = redis.last().argument(4);
        all.stream()
                .filter(delivery -> !delivery.id().equals(sent))
                .limit(49)
                .forEach(delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        redis.answer(FakeCaller.reply(1, 0));
        assertThat(redis.last().script()).isEqualTo(LuaScript.SETTLE);
        assertThat(redis.last().arguments())
                .as("session, number, two bases and 50 extensions")
                .hasSize(4 + 5 * 50);
        redis.answer(FakeCaller.replyToAll(50, 1));
        assertThat(redis.last().script()).isEqualTo(LuaScript.ACKNOWLEDGE);
        assertThat(redis.count()).isEqualTo(3);
    }

    @Test
    void should_extend_leases_of_different_lengths_in_time() {
        begin("long", options(Duration.ofHours(1)));
        begin("short", options(Duration.ofMillis(300), Duration.ofHours(1)));
        timers.advance(Duration.ofMillis(100));
        assertThat(extended()).containsExactly("short");
        timers.advance(Duration.ofMillis(900));
        assertThat(extended()).hasSize(10).containsOnly("short");
        timers.advance(s(9));
        assertThat(extended()).contains("long");
    }

    @Test
    void should_not_extend_where_it_is_switched_off() {
        begin("a", options(Duration.ZERO));
        timers.advance(Duration.ofHours(1));
        assertThat(queue.extended).isEmpty();
        assertThat(timers.scheduled()).isZero();
        assertThat(extender.size()).isZero();
    }

    @Test
    void should_not_extend_for_longer_than_the_maximum_and_tell_so_once() {
        begin("a", options(s(65)));
        timers.advance(s(64));
        assertThat(limits).isEmpty();
        assertThat(queue.extended).hasSize(6);
        timers.advance(s(1));
        assertThat(limits).containsExactly("a after 65 s");
        timers.advance(Duration.ofHours(1));
        assertThat(queue.extended).hasSize(6);
        assertThat(limits).hasSize(1);
        assertThat(timers.waiting()).isZero();
        assertThat(extender.size()).isZero();
    }

    @Test
    void should_extend_for_ever_when_the_maximum_is_beyond_all_bounds() {
        begin("a", options(Duration.ofSeconds(Long.MAX_VALUE)));
        timers.advance(Duration.ofHours(10));
        assertThat(queue.extended).hasSize(3600);
        assertThat(limits).isEmpty();
    }

    @Test
    void should_go_on_with_the_others_when_a_listener_fails() {
        begin("bad1", options(s(15)));
        begin("bad2", options(s(15)));
        begin("good", options(Duration.ofHours(1)));
        timers.advance(s(16));
        assertThat(limits).hasSize(2);
        timers.advance(s(84));
        assertThat(extended().stream().filter("good"::equals)).hasSize(10);
    }

    @Test
    void should_stop_when_the_delivery_is_finished_and_need_no_timer_then() {
        ClaimedDelivery a = begin("a", options(Duration.ofHours(1)));
        timers.advance(s(10));
        a.settle(Settlement.ACKNOWLEDGE);
        assertThat(extender.size()).isZero();
        extender.trim();
        assertThat(timers.waiting()).isZero();
        timers.advance(Duration.ofHours(1));
        assertThat(queue.extended).hasSize(1);
    }

    @Test
    void should_stop_for_each_way_in_which_a_delivery_ends() {
        begin("a", options(Duration.ofHours(1))).settle(Settlement.ACKNOWLEDGE);
        begin("b", options(Duration.ofHours(1))).settle(new Settlement.Retry(s(1), new byte[0]));
        begin("c", options(Duration.ofHours(1))).settle(Settlement.RELEASE);
        begin("d", options(Duration.ofHours(1))).settle(new Settlement.DeadLetter(new byte[0]));
        begin("e", options(Duration.ofHours(1))).settle(new Settlement.Drop(Duration.ZERO));
        begin("f", options(Duration.ofHours(1))).superseded();
        assertThat(extender.size()).isZero();
        timers.advance(s(100));
        assertThat(queue.extended).isEmpty();
        assertThat(timers.waiting()).as("the timer ends by itself").isZero();
    }

    @Test
    void should_keep_the_timer_when_trimmed_while_leases_are_kept() {
        begin("a", options(Duration.ofHours(1)));
        extender.trim();
        timers.advance(s(10));
        assertThat(queue.extended).hasSize(1);
    }

    @Test
    void should_keep_leases_that_begin_after_it_was_trimmed() {
        begin("a", options(Duration.ofHours(1))).settle(Settlement.ACKNOWLEDGE);
        extender.trim();
        begin("b", options(Duration.ofHours(1)));
        timers.advance(s(10));
        assertThat(extended()).containsExactly("b");
    }

    @Test
    void should_note_a_lost_lease_and_extend_it_no_more() {
        for (SettleResult stale : List.of(SettleResult.STALE_GONE, SettleResult.STALE_HELD)) {
            queue.extensions = stale;
            queue.extended.clear();
            ClaimedDelivery a = begin("a", options(Duration.ofHours(1)));
            assertThat(a.isLeaseLost()).isFalse();
            timers.advance(s(10));
            assertThat(a.isLeaseLost()).isTrue();
            timers.advance(s(100));
            assertThat(queue.extended).hasSize(1);
            assertThat(extender.size()).isZero();
        }
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_not_pile_up_extensions_while_redis_does_not_answer() {
        queue.extensions = null;
        ClaimedDelivery a = begin("a", options(Duration.ofHours(1)));
        timers.advance(s(600));
        assertThat(queue.extended).hasSize(1);
        queue.extended.get(0).submission().succeed(SettleResult.DONE);
        timers.advance(s(10));
        assertThat(queue.extended).hasSize(2);
        assertThat(a.isLeaseLost()).isFalse();
        a.settle(Settlement.ACKNOWLEDGE);
        assertThat(queue.extended.get(1).submission().result()).isCancelled();
    }

    @Test
    void should_go_on_when_an_extension_fails() {
        queue.extensions = null;
        ClaimedDelivery a = begin("a", options(Duration.ofHours(1)));
        timers.advance(s(10));
        queue.extended.get(0).submission().fail(new DelayQueueException("refused"));
        timers.advance(s(10));
        assertThat(queue.extended).hasSize(2);
        assertThat(a.isLeaseLost()).isFalse();
    }

    @Test
    void should_wake_seldom_however_many_leases_are_kept() {
        List<ClaimedDelivery> all = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            all.add(begin("m" + i, options(Duration.ofHours(2))));
            timers.advance(Duration.ofMillis(7));
        }
        timers.advance(Duration.ofHours(1));
        assertThat(timers.waiting()).isEqualTo(1);
        assertThat(timers.scheduled()).as("timers in an hour").isLessThan(2_000);
        all.forEach(delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        timers.advance(s(30));
        assertThat(timers.waiting()).isZero();
    }
}
