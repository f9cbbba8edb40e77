// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static io.github.redisdelay.queue.fake.FakeClaims.message;
import static io.github.redisdelay.queue.fake.FakeClaims.messages;
import static io.github.redisdelay.queue.fake.FakeClaims.reply;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.fake.FakeClaims;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeSettlements;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.fake.ManualExecutor;
import io.github.redisdelay.queue.fake.StatsBuilder;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.request.CallGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The times at which a consumer loop claims, begins and releases, on a virtual clock. */
@Timeout(60)
class ConsumerLoopTest {

    private static final Duration ZERO = Duration.ZERO;
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final byte[] NOTHING = {};

    private final FakeTimers timers = new FakeTimers();
    private final FakeSettlements queue = new FakeSettlements(timers);
    /** Runs when the lease extender looks at its clock. */
    private Runnable onLeaseClock = () -> {};

    private final LeaseExtender leases = new LeaseExtender(new Timers() {
        @Override
        public long nanoTime() {
            onLeaseClock.run();
            return timers.nanoTime();
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return timers.schedule(delayNanos, task);
        }
    });
    private final FakeClaims claims = new FakeClaims(timers);
    private final ManualExecutor executor = new ManualExecutor();
    private final Recorder handler = new Recorder();
    private final FakeHost host = new FakeHost();
    private final long start = timers.nanoTime();

    /** Notes what it is told; leaves deliveries under way. */
    private static final class Recorder implements DeliveryHandler {
        final List<Delivery> begun = new ArrayList<>();
        final List<String> overdue = new ArrayList<>();
        final List<String> failing = new ArrayList<>();
        final List<String> missing = new ArrayList<>();
        boolean acknowledgeAtOnce;
        RuntimeException failure;
        Error listenerFailure;
        Runnable whenBegun = () -> {};

        @Override
        public void handle(Delivery delivery) {
            begun.add(delivery);
            whenBegun.run();
            if (failure != null) {
                throw failure;
            }
            if (acknowledgeAtOnce) {
                delivery.settle(Settlement.ACKNOWLEDGE);
            }
        }

        @Override
        public void overdueWhileFull(Duration age, Delivery longestRunning) {
            overdue.add(age.toSeconds() + " s, " + longestRunning.id());
        }

        @Override
        public void claimsFailing(Throwable error) {
            failing.add(error == null ? "works" : error.getMessage());
            if (listenerFailure != null) {
                throw listenerFailure;
            }
        }

        @Override
        public void bodyMissing(String messageId) {
            missing.add(messageId);
            throw new IllegalStateException("listener");
        }

        List<String> ids() {
            return begun.stream().map(Delivery::id).toList();
        }
    }

    private ConsumerLoop loop(int concurrentConsumers, int maxMessagesPerPoll) {
        return loop(ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(concurrentConsumers)
                .withMaxMessagesPerPoll(maxMessagesPerPoll)
                .withVisibilityTimeout(LEASE));
    }

    private ConsumerLoop loop(ConsumerOptions options) {
        return new ConsumerLoop(
                List.of(new PartitionState(queue, claims, CallGate.OPEN, timers.nanoTime())),
                options,
                host,
                timers,
                new Random(7),
                leases,
                executor,
                handler);
    }

    private static QueueStats overdue(Duration oldest) {
        return new StatsBuilder()
                .timeMicros(FakeClaims.TIME)
                .delayed(1)
                .overdue(oldest.isZero() ? 0 : 1)
                .oldestOverdueMicros(oldest.toNanos() / 1000)
                .consumers(1)
                .stored(1)
                .build();
    }

    private ConsumerLoop running(int concurrentConsumers, int maxMessagesPerPoll) {
        ConsumerLoop loop = loop(concurrentConsumers, maxMessagesPerPoll);
        loop.start();
        return loop;
    }

    private Duration elapsed() {
        return Duration.ofNanos(timers.nanoTime() - start);
    }

    private static Duration ms(long millis) {
        return Duration.ofMillis(millis);
    }

    private static Duration s(long seconds) {
        return Duration.ofSeconds(seconds);
    }

    /** Advances until the next claim is sent and tells how long that took. */
    private Duration untilNextClaim() {
        int before = claims.count();
        long from = timers.nanoTime();
        while (claims.count() == before) {
            Duration next = timers.next();
            assertThat(next).as("a timer that leads to a claim").isNotNull();
            timers.advance(next);
        }
        return Duration.ofNanos(claims.last().atNanos() - from);
    }

    @Nested
    class Waking {

        @Test
        void should_claim_nothing_before_it_is_started() {
            loop(1, 100);
            timers.advance(s(100));
            assertThat(claims.count()).isZero();
            assertThat(timers.scheduled()).isZero();
        }

        @Test
        void should_claim_at_once_when_started() {
            running(4, 100);
            assertThat(claims.count()).isEqualTo(1);
            assertThat(claims.last().request().messages()).isEqualTo(4);
            assertThat(claims.last().request().expired()).isEqualTo(4);
            assertThat(claims.last().request().leaseMicros()).isEqualTo(30_000_000);
        }

        @Test
        void should_claim_exactly_when_the_answer_said_that_the_next_is_due() {
            running(1, 100);
            claims.answer(reply(Duration.ofNanos(1_234_567_000), null));
            assertThat(untilNextClaim()).isEqualTo(Duration.ofNanos(1_234_567_000));
        }

        @Test
        void should_claim_a_message_due_in_3_s_at_3_s_after_one_due_in_50_s() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(null, null));
            loop.wakeUp(0, 50_000_000);
            loop.wakeUp(0, 3_000_000);
            assertThat(untilNextClaim()).isEqualTo(s(3));
        }

        @Test
        void should_not_let_a_later_wake_up_postpone_the_claim() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(s(3), null));
            loop.wakeUp(0, 50_000_000);
            assertThat(untilNextClaim()).isEqualTo(s(3));
        }

        @Test
        void should_remember_a_wake_up_that_comes_during_a_claim() {
            ConsumerLoop loop = running(1, 100);
            timers.advance(ms(5));
            loop.wakeUp(0, 0);
            assertThat(claims.count()).as("claims while one is under way").isEqualTo(1);
            claims.answer(reply(null, null));
            assertThat(claims.count()).as("the claim for the wake-up").isEqualTo(2);
        }

        @Test
        void should_ask_for_a_batch_that_is_not_complete_no_more_often_than_each_10_ms() {
            ConsumerLoop loop = loop(ConsumerOptions.DEFAULTS.withBatch(new ConsumerOptions.Batch(9, s(60))));
            loop.start();
            claims.answer(reply(s(1), null));
            for (int i = 0; i < 9; i++) {
                loop.wakeUp(0, 0);
                timers.advance(ms(1));
            }
            assertThat(claims.count()).isEqualTo(1);
            assertThat(untilNextClaim()).isEqualTo(ms(1));
            claims.answer(reply(s(1), null));
            timers.advance(ms(500));
            loop.wakeUp(0, 0);
            assertThat(claims.count()).as("at once, when it has rested").isEqualTo(3);
        }

        @Test
        void should_not_postpone_a_wake_up_by_an_answer_that_is_older() {
            ConsumerLoop loop = running(1, 100);
            timers.advance(ms(5));
            loop.wakeUp(0, 3_000_000);
            timers.advance(ms(5));
            claims.answer(reply(s(50), null));
            assertThat(untilNextClaim()).as("counted from the wake-up").isEqualTo(ms(2995));
        }

        @Test
        void should_remember_the_earliest_of_several_wake_ups_during_a_claim() {
            ConsumerLoop loop = running(1, 100);
            loop.wakeUp(0, 9_000_000);
            loop.wakeUp(0, 4_000_000);
            loop.wakeUp(0, 6_000_000);
            claims.answer(reply(s(50), null));
            assertThat(untilNextClaim()).isEqualTo(s(4));
        }

        @Test
        void should_forget_a_wake_up_that_was_before_the_claim_was_sent() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(s(10), null));
            loop.wakeUp(0, 1_000_000);
            timers.advance(s(1));
            assertThat(claims.count()).isEqualTo(2);
            claims.answer(reply(s(10), null));
            assertThat(untilNextClaim()).isEqualTo(s(10));
        }

        @Test
        void should_do_nothing_when_an_older_timer_fires() {
            timers.ignoreCancellation();
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(s(10), null));
            loop.wakeUp(0, 8_000_000);
            loop.wakeUp(0, 5_000_000);
            timers.advance(s(5));
            assertThat(claims.count()).isEqualTo(2);
            claims.answer(reply(s(20), null));
            long scheduled = timers.scheduled();
            timers.advance(s(10));
            assertThat(claims.count()).as("the timers of 8 s and 10 s fired").isEqualTo(2);
            assertThat(timers.scheduled()).as("timers set because of them").isEqualTo(scheduled);
            timers.advance(s(10));
            assertThat(claims.count()).isEqualTo(3);
        }

        @Test
        void should_keep_one_timer_however_often_it_is_woken() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(null, null));
            for (int i = 1000; i > 0; i--) {
                loop.wakeUp(0, i * 1000L);
                loop.wakeUp(0, 5_000_000);
                assertThat(timers.waiting()).isEqualTo(1);
            }
        }

        @Test
        void should_leave_the_safety_interval_armed_after_an_empty_answer() {
            running(1, 100);
            for (int i = 0; i < 200; i++) {
                claims.answer(reply(null, null));
                assertThat(untilNextClaim()).isBetween(s(27), s(30));
            }
        }

        @Test
        void should_not_wait_longer_than_the_safety_interval_for_a_message_that_is_far_away() {
            running(1, 100);
            claims.answer(
                    new ClaimReply(FakeClaims.TIME, DueTime.MAX_MICROS, -1, 30_000_000, List.of(), List.of(), false));
            assertThat(untilNextClaim()).isBetween(s(27), s(30));
        }

        @Test
        void should_claim_when_a_lease_ends() {
            running(1, 100);
            claims.answer(reply(s(20), s(7)));
            assertThat(untilNextClaim()).isEqualTo(s(7));
        }

        @Test
        void should_claim_about_as_often_as_the_safety_interval_says_while_nothing_happens() {
            claims.answerEmpty = true;
            running(10, 100);
            timers.advance(Duration.ofHours(1));
            assertThat(claims.count()).isBetween(3600 / 30, 3600 / 27 + 2);
            assertThat(timers.scheduled()).as("timers").isLessThanOrEqualTo(claims.count() + 2L);
            assertThat(host.statsAsked).isEmpty();
        }

        @Test
        void should_make_one_pass_when_wake_ups_may_have_been_missed() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(s(20), s(20)));
            loop.checkNow(0);
            assertThat(claims.count()).isEqualTo(2);
            assertThat(claims.last().request().expired()).isEqualTo(1);
            claims.answer(reply(s(20), s(20)));
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_make_a_pass_after_the_claim_under_way_when_wake_ups_were_missed_meanwhile() {
            ConsumerLoop loop = running(1, 100);
            loop.checkNow(0);
            claims.answer(reply(s(20), s(20)));
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_claim_once_for_many_wake_ups_during_one_claim() {
            ConsumerLoop loop = running(1, 100);
            for (int i = 0; i < 1000; i++) {
                loop.wakeUp(0, 0);
            }
            claims.answer(reply(null, null));
            claims.answer(reply(null, null));
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_wait_for_what_remains_when_the_machine_slept() {
            running(1, 100);
            claims.answer(reply(s(10), null));
            timers.jump(s(3600));
            timers.advance(ZERO);
            assertThat(claims.count()).isEqualTo(2);
        }
    }

    @Nested
    class Room {

        @Test
        void should_claim_again_at_once_after_a_full_hand_with_room_left() {
            handler.acknowledgeAtOnce = true;
            running(2, 100);
            claims.answer(reply(ZERO, null, messages(0, 2)));
            assertThat(claims.count()).isEqualTo(2);
            assertThat(elapsed()).isEqualTo(ZERO);
        }

        @Test
        void should_not_claim_while_full_and_claim_as_soon_as_a_slot_is_free() {
            running(2, 100);
            claims.answer(reply(ZERO, null, messages(0, 2)));
            timers.advance(s(5));
            assertThat(claims.count()).as("claims while full").isEqualTo(1);
            handler.begun.get(1).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).as("claims after a slot was free").isEqualTo(2);
            assertThat(claims.last().request().messages()).isEqualTo(1);
            assertThat(claims.last().atNanos() - start).isEqualTo(s(5).toNanos());
        }

        @Test
        void should_not_claim_for_a_free_slot_when_nothing_is_due() {
            running(1, 100);
            claims.answer(reply(s(8), null, message("a")));
            timers.advance(s(2));
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(1);
            assertThat(untilNextClaim()).isEqualTo(s(6));
        }

        @Test
        void should_never_ask_for_more_than_the_maximum_per_poll() {
            handler.acknowledgeAtOnce = true;
            running(200, 50);
            claims.answer(reply(ZERO, ZERO, messages(0, 50)));
            for (int i = 1; i < 10; i++) {
                assertThat(claims.last().request().messages()).isEqualTo(50);
                assertThat(claims.last().request().expired()).isEqualTo(50);
                claims.answer(reply(ZERO, ZERO, messages(50 * i, 50 * i + 50)));
            }
        }

        @Test
        void should_not_read_ahead_for_a_slow_consumer() {
            running(3, 100);
            claims.answer(reply(ZERO, null, messages(0, 3)));
            for (int i = 0; i < 20; i++) {
                timers.advance(ms(300));
                handler.begun.get(i).settle(Settlement.ACKNOWLEDGE);
                assertThat(claims.last().request().messages())
                        .as("the slot that is free and no more")
                        .isEqualTo(1);
                claims.answer(reply(ZERO, null, messages(3 + i, 4 + i)));
            }
        }

        @Test
        void should_not_read_ahead_when_all_slots_of_a_slow_consumer_are_free_at_the_same_moment() {
            executor.hold();
            handler.acknowledgeAtOnce = true;
            running(5, 100);
            for (int i = 0; i < 10; i++) {
                claims.answer(reply(s(20), null, messages(5 * i, 5 * i + 5)));
                timers.advance(s(1));
                executor.runAll();
                timers.advance(s(19));
                assertThat(claims.last().request().messages()).isEqualTo(5);
            }
        }

        @Test
        void should_read_ahead_about_as_much_as_was_finished_in_the_last_tenth_of_a_second() {
            running(1, 100);
            claims.answer(reply(ZERO, null, message("m0")));
            for (int i = 0; i < 100; i++) {
                timers.advance(ms(1));
                handler.begun.get(i).settle(Settlement.ACKNOWLEDGE);
                if (!claims.last().answer().isDone()) {
                    // 100 were finished in 100 ms, but no more than 5 are begun within 5 ms.
                    assertThat(claims.last().request().messages()).isBetween(1, 6);
                    int wanted = claims.last().request().messages();
                    claims.answer(reply(ZERO, null, messages(0, wanted)));
                }
            }
            assertThat(claims.count()).as("claims for 100 messages").isLessThan(60);
        }

        @Test
        void should_read_nothing_ahead_whose_turn_would_not_come_soon() {
            running(1, 100);
            claims.answer(reply(ZERO, null, message("m0")));
            for (int i = 0; i < 100; i++) {
                timers.advance(ms(6));
                handler.begun.get(i).settle(Settlement.ACKNOWLEDGE);
                assertThat(claims.last().request().messages()).isEqualTo(1);
                claims.answer(reply(ZERO, null, message("m" + i)));
            }
        }

        @Test
        void should_read_ahead_up_to_the_maximum_for_a_fast_consumer() {
            becomeFast(running(1, 40), 40);
            assertThat(claims.last().request().messages()).isEqualTo(40);
            assertThat(claims.last().request().expired())
                    .as("expired leases, one slot is free")
                    .isEqualTo(1);
            hangingWithReadAhead();
            assertThat(claims.last().request().messages()).isEqualTo(40);
            assertThat(claims.last().request().expired())
                    .as("expired leases while no slot is free")
                    .isZero();
        }

        @ParameterizedTest
        @CsvSource({"1, true, 1", "2, true, 2", "2, false, 1"})
        void should_claim_the_next_ones_while_it_hands_over_several(int messages, boolean prefetches, int claimed) {
            host.prefetches = prefetches;
            running(3, 100);
            List<Integer> claimsThen = new ArrayList<>();
            handler.whenBegun = () -> claimsThen.add(claims.count());
            claims.answer(reply(ZERO, null, messages(0, messages)));
            assertThat(claimsThen).hasSize(messages).containsOnly(claimed);
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_need_few_claims_for_a_fast_consumer() {
            handler.acknowledgeAtOnce = true;
            running(1, 100);
            int done = 0;
            while (done < 10_000) {
                int wanted = claims.last().request().messages();
                claims.answer(reply(ZERO, null, messages(done, done + wanted)));
                done += wanted;
                timers.advance(ms(1));
            }
            assertThat(claims.count()).isLessThan(400);
        }

        /** Finishes messages at once until a claim asks for this many. */
        private void becomeFast(ConsumerLoop loop, int wanted) {
            handler.acknowledgeAtOnce = true;
            while (claims.last().request().messages() < wanted) {
                claims.answer(
                        reply(s(20), null, messages(0, claims.last().request().messages())));
                loop.wakeUp(0, 0);
            }
            handler.acknowledgeAtOnce = false;
            handler.begun.clear();
        }

        /** A consumer that worked fast, has 40 in its hand and then hangs with the first of them. */
        private ConsumerLoop hangingWithReadAhead() {
            ConsumerLoop loop = running(1, 40);
            becomeFast(loop, 40);
            handler.acknowledgeAtOnce = true;
            for (int i = 0; i < 3; i++) {
                claims.answer(reply(s(20), null, messages(0, 40)));
                loop.wakeUp(0, 0);
            }
            handler.acknowledgeAtOnce = false;
            handler.begun.clear();
            claims.answer(reply(ZERO, null, messages(1000, 1040)));
            claims.answer(reply(ZERO, null, messages(1040, 1080)));
            return loop;
        }

        @Test
        void should_release_after_250_milliseconds_what_was_read_ahead() {
            hangingWithReadAhead();
            assertThat(handler.ids()).containsExactly("m1000");
            timers.advance(ms(249));
            assertThat(queue.ids(Settlement.Release.class)).isEmpty();
            timers.advance(ms(1));
            assertThat(queue.ids(Settlement.Release.class))
                    .hasSize(79)
                    .startsWith("m1001")
                    .endsWith("m1079");
            int claimed = claims.count();
            timers.advance(s(5));
            assertThat(claims.count()).as("claims while it hangs").isEqualTo(claimed);
        }

        @Test
        void should_give_back_before_the_lease_is_used_up_when_the_lease_is_short() {
            ConsumerLoop loop =
                    loop(ConsumerOptions.DEFAULTS.withMaxMessagesPerPoll(10).withVisibilityTimeout(ms(300)));
            loop.resume();
            becomeFast(loop, 10);
            claims.answer(reply(ZERO, null, messages(1000, 1010)));
            timers.advance(ms(100));
            assertThat(queue.ids(Settlement.Release.class)).hasSize(9);
        }

        @Test
        void should_begin_what_was_read_ahead_in_order_when_slots_are_free() {
            hangingWithReadAhead();
            for (int i = 0; i < 20; i++) {
                timers.advance(ms(10));
                handler.begun.get(i).settle(Settlement.ACKNOWLEDGE);
            }
            assertThat(handler.ids()).startsWith("m1000", "m1001", "m1002").contains("m1020");
            assertThat(queue.ids(Settlement.Release.class)).isEmpty();
        }

        @Test
        void should_claim_again_when_half_of_the_read_ahead_is_used_up_not_for_each_message() {
            hangingWithReadAhead();
            int claimed = claims.count();
            int i = 0;
            while (claims.count() == claimed) {
                handler.begun.get(i++).settle(Settlement.ACKNOWLEDGE);
            }
            assertThat(i).isBetween(39, 41);
            assertThat(claims.last().request().expired()).isZero();
        }

        @Test
        void should_never_begin_a_message_with_less_than_half_of_its_lease_left() {
            running(1, 100);
            timers.advance(s(16));
            claims.answer(reply(null, null, message("late")));
            assertThat(handler.begun).isEmpty();
            assertThat(queue.ids(Settlement.Release.class)).containsExactly("late");
        }

        @Test
        void should_begin_a_message_with_half_of_its_lease_left() {
            running(1, 100);
            timers.advance(s(15));
            claims.answer(reply(null, null, message("a")));
            assertThat(handler.ids()).containsExactly("a");
        }

        @Test
        void should_claim_an_ended_lease_with_due_messages_ten_times_a_second_while_no_slot_is_free() {
            hangingWithReadAhead();
            claimAfterHalf();
            assertThat(claims.last().request().expired()).as("none has expired").isZero();
            StringBuilder expired = new StringBuilder();
            for (int i = 0; i < 30; i++) {
                claims.answer(reply(ZERO, ZERO, messages(2000, 2040)));
                timers.advance(ms(10)); // it is still fast
                claimAfterHalf();
                assertThat(claims.last().request().messages()).isEqualTo(40);
                expired.append(claims.last().request().expired());
            }
            assertThat(expired.toString()).matches("0*(10{9}){2}10*");
        }

        /** Finishes one message after the other until there is another claim. */
        private void claimAfterHalf() {
            int claimed = claims.count();
            for (int i = 0; i < 100 && claims.count() == claimed; i++) {
                handler.begun.get(handler.begun.size() - 1).settle(Settlement.ACKNOWLEDGE);
            }
            assertThat(claims.count()).isEqualTo(claimed + 1);
        }

        @Test
        void should_claim_for_ended_leases_alone_only_into_free_slots() {
            ConsumerLoop loop = hangingWithReadAhead();
            int claimed = claims.count();
            for (int i = 0; claims.count() == claimed; i++) {
                handler.begun.get(i).settle(Settlement.ACKNOWLEDGE);
            }
            assertThat(claims.last().request().expired()).isZero();
            // A lease has expired and was not asked for: no claim until a slot is free. Others are told to come for it.
            claims.answer(reply(s(20), ZERO));
            int before = claims.count();
            timers.advance(ms(200)); // less than what was read ahead waits
            assertThat(claims.count()).isEqualTo(before);
            int begun = 0;
            while (claims.last().request().expired() == 0) {
                if (!claims.last().answer().isDone()) {
                    assertThat(loop.underWay()).as("slots in use").isEqualTo(1);
                    claims.answer(reply(s(20), ZERO));
                }
                List<Delivery> all = List.copyOf(handler.begun);
                for (Delivery delivery : all.subList(begun, all.size())) {
                    delivery.settle(Settlement.ACKNOWLEDGE);
                }
                begun = all.size();
            }
            assertThat(claims.last().request().expired()).isEqualTo(1);
            assertThat(loop.underWay()).isZero();
            assertThat(claims.left).isEqualTo(1);
        }

        @Test
        void should_count_the_time_between_claims_from_when_the_answer_came() {
            running(1, 100);
            timers.advance(ms(400));
            claims.answer(reply(s(2), null));
            assertThat(untilNextClaim()).isEqualTo(s(2));
        }
    }

    @Nested
    class Suspicious {

        @Test
        void should_begin_a_message_that_lost_two_leases_alone() {
            running(3, 100);
            claims.answer(reply(ZERO, null, message("poison", 2), message("a"), message("b")));
            assertThat(handler.ids()).containsExactly("poison");
            timers.advance(ms(500));
            assertThat(claims.count()).isEqualTo(1);
            assertThat(queue.ids(Settlement.Release.class))
                    .as("would be lost with it")
                    .containsExactly("a", "b");
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_let_those_under_way_finish_before_it_begins_one_alone() {
            running(3, 100);
            claims.answer(reply(ZERO, null, message("a"), message("poison", 2), message("b")));
            assertThat(handler.ids()).containsExactly("a");
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(handler.ids()).containsExactly("a", "poison");
            assertThat(queue.ids(Settlement.Release.class))
                    .as("would be lost with it")
                    .containsExactly("b");
            handler.begun.get(1).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_begin_one_that_lost_a_single_lease_together_with_others() {
            running(3, 100);
            claims.answer(reply(null, null, message("a", 1), message("b", 1), message("c")));
            assertThat(handler.ids()).containsExactly("a", "b", "c");
        }

        @Test
        void should_give_back_after_one_second_those_that_wait_behind_it() {
            running(4, 100);
            claims.answer(reply(s(20), null, message("a"), message("poison", 2), message("b"), message("c")));
            timers.advance(ms(1001));
            assertThat(queue.ids(Settlement.Release.class)).containsExactly("b", "c");
        }

        @Test
        void should_give_it_back_in_time_when_there_is_no_slot_for_it() {
            running(1, 100);
            claims.answer(reply(s(20), null, message("a"), message("poison", 2)));
            timers.advance(s(15));
            assertThat(queue.ids(Settlement.Release.class)).containsExactly("poison");
            assertThat(handler.ids()).containsExactly("a");
        }

        @Test
        void should_begin_it_after_a_quarter_of_the_lease_beside_what_hangs_and_let_nothing_join() {
            running(3, 100);
            claims.answer(reply(ZERO, null, message("hangs"), message("poison", 2)));
            timers.advance(ms(7_499));
            assertThat(handler.ids()).containsExactly("hangs");
            timers.advance(ms(1));
            assertThat(handler.ids()).containsExactly("hangs", "poison");
            timers.advance(s(5));
            assertThat(claims.count()).as("claims while it is under way").isEqualTo(1);
            handler.begun.get(1).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).as("claims after it").isEqualTo(2);
            claims.answer(reply(null, null, message("next")));
            assertThat(handler.ids()).containsExactly("hangs", "poison", "next");
        }

        @Test
        void should_be_alone_for_one_lease_at_the_most() {
            running(3, 100);
            claims.answer(reply(ZERO, null, message("hangs", 2)));
            timers.advance(ms(29_999));
            assertThat(claims.count()).isEqualTo(1);
            timers.advance(ms(1));
            assertThat(claims.count()).isEqualTo(2);
            assertThat(claims.last().request().messages()).isEqualTo(2);
            claims.answer(reply(null, null, message("a"), message("b")));
            assertThat(handler.ids()).containsExactly("hangs", "a", "b");
        }

        @Test
        void should_not_be_alone_any_more_when_its_lease_is_lost() {
            running(3, 100);
            queue.extensions = SettleResult.STALE_HELD;
            claims.answer(reply(ZERO, null, message("hangs", 2)));
            timers.advance(ms(9_999));
            assertThat(claims.count()).isEqualTo(1);
            timers.advance(ms(1)); // the first extension
            assertThat(handler.begun.get(0).isLeaseLost()).isTrue();
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_claim_nothing_while_one_is_alone_and_all_again_afterwards() {
            running(5, 100);
            claims.answer(reply(ZERO, null, message("poison", 2)));
            timers.advance(s(5));
            assertThat(claims.count()).isEqualTo(1);
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(2);
            assertThat(claims.last().request().messages()).isGreaterThanOrEqualTo(5);
        }
    }

    @Nested
    class Errors {

        private void assertBackoff(Duration wait, int failures) {
            long base = Math.min(2_000, 50L << (failures - 1));
            assertThat(wait).isBetween(ms(base * 3 / 4), ms(base * 5 / 4));
        }

        @Test
        void should_try_again_with_back_off_when_claims_are_refused() {
            running(1, 100);
            for (int i = 1; i <= 40; i++) {
                claims.refuse("NOPERM no");
                assertBackoff(untilNextClaim(), Math.min(i, 7));
            }
            assertThat(handler.failing).containsExactly("NOPERM no");
        }

        @Test
        void should_begin_with_a_short_back_off_after_a_claim_that_worked() {
            running(1, 100);
            for (int i = 1; i <= 10; i++) {
                claims.refuse("NOPERM no");
                untilNextClaim();
            }
            claims.answer(reply(null, null));
            untilNextClaim();
            claims.refuse("NOPERM no");
            assertBackoff(untilNextClaim(), 1);
            assertThat(handler.failing).containsExactly("NOPERM no", "works", "NOPERM no");
        }

        @Test
        void should_keep_to_the_back_off_when_it_is_woken_all_the_time() {
            ConsumerLoop loop = running(1, 100);
            for (int i = 1; i <= 10; i++) {
                claims.refuse("NOPERM no");
                untilNextClaim();
            }
            claims.refuse("NOPERM no");
            int before = claims.count();
            for (int i = 0; i < 100; i++) {
                loop.wakeUp(0, 0);
                timers.advance(ms(10));
                if (!claims.last().answer().isDone()) {
                    claims.refuse("NOPERM no");
                }
            }
            assertThat(claims.count() - before).as("claims in 1 s").isLessThanOrEqualTo(1);
        }

        @Test
        void should_try_again_when_a_claim_throws() {
            claims.failure = new IllegalStateException("no connection");
            running(1, 100);
            for (int i = 1; i <= 20; i++) {
                assertBackoff(untilNextClaim(), Math.min(i, 7));
            }
            claims.failure = null;
            untilNextClaim();
            claims.answer(reply(null, null, message("a")));
            assertThat(handler.ids()).containsExactly("a");
            assertThat(handler.failing).containsExactly("no connection", "works");
        }

        @Test
        void should_try_again_when_the_listener_fails_with_an_error() {
            handler.listenerFailure = new NoClassDefFoundError("gone");
            running(1, 100);
            claims.refuse("NOPERM no");
            assertBackoff(untilNextClaim(), 1);
            claims.answer(reply(s(1), null));
            assertThat(untilNextClaim()).isEqualTo(s(1));
        }

        @Test
        void should_tell_once_that_claims_fail_and_for_how_long() {
            ConsumerLoop loop = running(1, 100);
            assertThat(loop.failingFor()).isEqualTo(ZERO);
            for (int i = 0; i < 5; i++) {
                loop.attemptFailed(0, new IllegalStateException("attempt " + i));
                timers.advance(s(2));
            }
            assertThat(handler.failing).containsExactly("attempt 0");
            assertThat(loop.failingFor()).isEqualTo(s(10));
            assertThat(loop.lastError()).hasMessage("attempt 4");
            claims.answer(reply(null, null));
            assertThat(loop.failingFor()).isEqualTo(ZERO);
            assertThat(loop.lastError()).isNull();
            assertThat(handler.failing).containsExactly("attempt 0", "works");
        }

        @Test
        void should_return_a_message_whose_handler_throws_and_go_on() {
            handler.failure = new IllegalStateException("handler");
            running(1, 100);
            claims.answer(reply(ZERO, null, message("a")));
            assertThat(queue.settled).hasSize(1);
            assertThat(queue.settled.get(0).how())
                    .isInstanceOfSatisfying(Settlement.Retry.class, retry -> assertThat(retry.delay())
                            .isEqualTo(s(1)));
            assertThat(claims.count()).isEqualTo(2);
            handler.failure = null;
            claims.answer(reply(null, null, message("b")));
            assertThat(handler.ids()).containsExactly("a", "b");
        }

        @Test
        void should_tell_of_dropped_messages_and_go_on_though_the_listener_throws() {
            running(1, 100);
            claims.answer(new ClaimReply(
                    FakeClaims.TIME, -1, -1, 30_000_000, List.of(message("a")), List.of("lost1", "lost2"), false));
            assertThat(handler.missing).containsExactly("lost1", "lost2");
            assertThat(handler.ids()).containsExactly("a");
        }

        @Test
        void should_release_what_the_executor_rejects_and_try_again_with_back_off() {
            executor.reject(true);
            ConsumerLoop loop = running(1, 100);
            for (int i = 1; i <= 20; i++) {
                claims.answer(reply(s(20), null, message("a")));
                // A message that is released becomes due at once, and the queue tells everybody.
                loop.wakeUp(0, 0);
                assertThat(queue.ids(Settlement.Release.class)).hasSize(i);
                assertBackoff(untilNextClaim(), Math.min(i, 7));
            }
            assertThat(loop.underWay()).isZero();
            executor.reject(false);
            claims.answer(reply(ZERO, null, message("a")));
            assertThat(handler.ids()).containsExactly("a");
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).as("claims at once again").isEqualTo(22);
        }

        @Test
        void should_release_all_of_a_claim_for_which_the_executor_has_no_thread() {
            executor.fail(new OutOfMemoryError("unable to create native thread"));
            ConsumerLoop loop = running(2, 100);
            claims.answer(reply(s(20), null, message("a"), message("b")));
            loop.wakeUp(0, 0);
            assertThat(queue.ids(Settlement.Release.class)).containsExactly("a", "b");
            assertThat(loop.underWay()).isZero();
            executor.reject(false);
            untilNextClaim();
            claims.answer(reply(ZERO, null, message("a")));
            assertThat(handler.ids()).containsExactly("a");
        }

        @Test
        void should_go_on_when_the_figures_cannot_be_read() {
            running(1, 100);
            claims.answer(reply(ZERO, null, message("a")));
            timers.advance(s(10));
            assertThat(host.statsAsked).hasSize(1);
            host.statsAsked.get(0).completeExceptionally(new IllegalStateException("no answer"));
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(2);
        }
    }

    @Nested
    class Overdue {

        @Test
        void should_report_once_that_a_message_is_overdue_while_the_consumer_is_full() {
            running(2, 100);
            claims.answer(reply(ZERO, null, message("first"), message("second")));
            timers.advance(ms(9_999));
            assertThat(host.statsAsked).isEmpty();
            timers.advance(ms(1));
            assertThat(host.statsAsked).hasSize(1);
            host.statsAsked.get(0).complete(overdue(s(11)));
            assertThat(handler.overdue).containsExactly("11 s, first");
            timers.advance(Duration.ofHours(1));
            assertThat(host.statsAsked).hasSize(1);
            assertThat(handler.overdue).hasSize(1);
        }

        @Test
        void should_not_report_what_waits_for_its_batch() {
            loop(ConsumerOptions.DEFAULTS.withBatch(new ConsumerOptions.Batch(1, s(30))))
                    .start();
            claims.answer(reply(ZERO, null, message("first")));
            timers.advance(s(39));
            assertThat(host.statsAsked).isEmpty();
            timers.advance(s(1));
            host.statsAsked.get(0).complete(overdue(s(39)));
            assertThat(handler.overdue).isEmpty();
            timers.advance(s(1));
            host.statsAsked.get(1).complete(overdue(s(40)));
            assertThat(handler.overdue).containsExactly("40 s, first");
        }

        @Test
        void should_report_again_after_it_was_not_full_in_between() {
            running(1, 100);
            for (int i = 1; i <= 3; i++) {
                claims.answer(reply(ZERO, null, message("m" + i)));
                timers.advance(s(10));
                host.statsAsked.get(i - 1).complete(overdue(s(10)));
                handler.begun.get(i - 1).settle(Settlement.ACKNOWLEDGE);
            }
            assertThat(handler.overdue).containsExactly("10 s, m1", "10 s, m2", "10 s, m3");
        }

        @Test
        void should_not_report_when_others_took_what_was_due() {
            running(1, 100);
            claims.answer(reply(ZERO, null, message("a")));
            timers.advance(s(10));
            host.statsAsked.get(0).complete(overdue(ZERO));
            assertThat(handler.overdue).isEmpty();
        }

        @Test
        void should_still_report_what_becomes_overdue_after_a_look_that_found_nothing() {
            ConsumerLoop loop = running(1, 100);
            // Nothing else is there when the handler begins to hang.
            claims.answer(reply(null, null, message("hangs")));
            timers.advance(s(45));
            assertThat(host.statsAsked).hasSize(1);
            host.statsAsked.get(0).complete(overdue(ZERO));
            loop.wakeUp(0, 0);
            timers.advance(s(45));
            assertThat(host.statsAsked).hasSize(2);
            host.statsAsked.get(1).complete(overdue(s(40)));
            assertThat(handler.overdue).containsExactly("40 s, hangs");
        }

        @Test
        void should_still_report_after_the_figures_could_not_be_read() {
            running(1, 100);
            claims.answer(reply(ZERO, null, message("hangs")));
            timers.advance(s(10));
            host.statsAsked.get(0).completeExceptionally(new IllegalStateException("no answer"));
            timers.advance(s(45));
            assertThat(host.statsAsked).hasSize(2);
            host.statsAsked.get(1).complete(overdue(s(55)));
            assertThat(handler.overdue).containsExactly("55 s, hangs");
        }

        @Test
        void should_look_every_ten_seconds_while_full_and_nothing_is_overdue() {
            running(1, 100);
            claims.answer(reply(null, null, message("hangs")));
            for (int i = 0; i < 3600; i++) {
                timers.advance(s(1));
                host.statsAsked.forEach(look -> look.complete(overdue(ZERO)));
            }
            assertThat(host.statsAsked.size()).isLessThanOrEqualTo(3600 / 10);
            assertThat(claims.count()).isEqualTo(1);
            assertThat(handler.overdue).isEmpty();
        }
    }

    @Nested
    class Lifecycle {

        @Test
        void should_release_what_was_not_begun_and_claim_nothing_when_suspended() {
            ConsumerLoop loop = new Room().hangingWithReadAhead();
            int claimed = claims.count();
            loop.suspend();
            assertThat(queue.ids(Settlement.Release.class)).hasSize(79);
            loop.wakeUp(0, 0);
            loop.checkNow(0);
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            timers.advance(Duration.ofHours(1));
            assertThat(claims.count()).isEqualTo(claimed);
            assertThat(timers.waiting()).isZero();
            loop.resume();
            assertThat(claims.count()).isEqualTo(claimed + 1);
        }

        @Test
        void should_not_be_started_when_it_was_suspended_before() {
            ConsumerLoop loop = loop(1, 100);
            loop.suspend();
            loop.start();
            timers.advance(s(100));
            assertThat(claims.count()).isZero();
            loop.resume();
            assertThat(claims.count()).isEqualTo(1);
        }

        @Test
        void should_make_a_pass_when_it_is_started_after_it_was_resumed() {
            ConsumerLoop loop = loop(1, 100);
            loop.suspend();
            loop.resume();
            assertThat(claims.count()).isEqualTo(1);
            // The subscription stands only now: what came in between was not heard of.
            loop.start();
            claims.answer(reply(null, null));
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_not_be_started_when_it_was_stopped_before() {
            ConsumerLoop loop = loop(1, 100);
            loop.stop(true);
            loop.start();
            timers.advance(s(100));
            assertThat(claims.count()).isZero();
        }

        @Test
        void should_release_an_answer_that_arrives_while_suspended() {
            ConsumerLoop loop = running(2, 100);
            loop.suspend();
            claims.answer(reply(ZERO, null, message("a"), message("b")));
            assertThat(queue.ids(Settlement.Release.class)).containsExactly("a", "b");
            assertThat(handler.begun).isEmpty();
            assertThat(claims.count()).isEqualTo(1);
            assertThat(timers.waiting()).isZero();
        }

        @Test
        void should_use_the_answer_of_a_claim_that_was_sent_before_a_short_suspension() {
            ConsumerLoop loop = running(2, 100);
            loop.suspend();
            loop.resume();
            assertThat(claims.count()).as("one claim at a time").isEqualTo(1);
            claims.answer(reply(null, null, message("a")));
            assertThat(handler.ids()).containsExactly("a");
        }

        @Test
        void should_release_an_answer_that_arrives_after_it_was_stopped() {
            ConsumerLoop loop = running(2, 100);
            loop.stop(true);
            claims.answer(reply(ZERO, null, message("a")));
            assertThat(queue.ids(Settlement.Release.class)).containsExactly("a");
            assertThat(handler.begun).isEmpty();
        }

        @Test
        void should_leave_no_timer_and_close_its_claims_once_when_stopped() {
            ConsumerLoop loop = running(2, 100);
            claims.answer(reply(s(5), null));
            loop.stop(true);
            loop.stop(false);
            assertThat(timers.waiting()).isZero();
            assertThat(claims.closed).isEqualTo(1);
            assertThat(host.stopped).isEqualTo(1);
        }

        @Test
        void should_leave_before_it_gives_its_session_back_when_stopped_as_a_claim_is_answered() {
            claims.answerEmpty = true;
            List<Integer> closedAsItLeft = new ArrayList<>();
            claims.onLeave = () -> closedAsItLeft.add(claims.closed);
            AtomicReference<ConsumerLoop> loop = new AtomicReference<>();
            CallGate gate = new CallGate() {
                @Override
                public CompletableFuture<Void> turn() {
                    return null;
                }

                @Override
                public <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> call) {
                    CompletableFuture<T> answered = call.get();
                    loop.get().stop(false);
                    return answered;
                }
            };
            loop.set(new ConsumerLoop(
                    List.of(new PartitionState(queue, claims, gate, timers.nanoTime())),
                    ConsumerOptions.DEFAULTS.withMaxMessagesPerPoll(1).withVisibilityTimeout(LEASE),
                    host,
                    timers,
                    new Random(7),
                    leases,
                    executor,
                    handler));
            loop.get().start();
            assertThat(closedAsItLeft).containsExactly(0);
            assertThat(claims.closed).isOne();
        }

        @Test
        void should_do_nothing_any_more_after_it_was_stopped() {
            timers.ignoreCancellation();
            ConsumerLoop loop = running(2, 100);
            claims.answer(reply(s(5), null));
            loop.stop(true);
            loop.resume();
            loop.suspend();
            loop.resume();
            loop.wakeUp(0, 0);
            loop.checkNow(0);
            timers.advance(s(100));
            assertThat(claims.count()).isEqualTo(1);
            assertThat(timers.waiting()).isZero();
        }

        @Test
        void should_not_try_again_when_a_claim_is_refused_after_it_was_stopped() {
            ConsumerLoop loop = running(2, 100);
            loop.stop(true);
            claims.refuse("NOPERM no");
            timers.advance(s(100));
            assertThat(claims.count()).isEqualTo(1);
            assertThat(handler.failing).isEmpty();
        }

        @Test
        void should_let_work_under_way_finish_with_its_lease_extended_after_it_was_stopped() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(null, null, message("a")));
            loop.stop(true);
            timers.advance(s(10));
            assertThat(queue.extended).hasSize(1);
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(queue.ids(Settlement.Acknowledge.class)).containsExactly("a");
            timers.advance(s(100));
            assertThat(queue.extended).hasSize(1);
        }

        @Test
        void should_end_the_extension_of_leases_when_stopped_by_force() {
            ConsumerLoop loop = running(2, 100);
            claims.answer(reply(null, null, message("a"), message("b")));
            loop.stop(false);
            timers.advance(s(100));
            assertThat(queue.extended).isEmpty();
            assertThat(leases.size()).isZero();
            assertThat(loop.underWay()).isEqualTo(2);
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(queue.ids(Settlement.Acknowledge.class)).containsExactly("a");
        }

        @Test
        void should_end_the_extension_of_leases_when_a_stop_without_force_is_followed_by_one_with() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(reply(null, null, message("a")));
            loop.stop(true);
            loop.stop(false);
            timers.advance(s(100));
            assertThat(queue.extended).isEmpty();
        }

        @Test
        void should_not_extend_a_lease_that_is_begun_at_the_moment_of_a_stop_by_force() {
            ConsumerLoop loop = running(1, 100);
            boolean[] done = new boolean[1];
            onLeaseClock = () -> {
                if (!done[0]) {
                    done[0] = true;
                    loop.stop(false);
                }
            };
            claims.answer(reply(null, null, message("a")));
            timers.advance(s(100));
            assertThat(queue.extended).isEmpty();
        }

        @Test
        void should_occupy_its_slot_until_a_delivery_is_finished_not_until_the_handler_returns() {
            ConsumerLoop loop = running(2, 100);
            claims.answer(reply(ZERO, null, messages(0, 2)));
            assertThat(loop.underWay()).isEqualTo(2);
            handler.begun.get(0).settle(new Settlement.Retry(s(1), NOTHING));
            assertThat(loop.underWay()).isEqualTo(1);
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(loop.underWay()).as("finished once").isEqualTo(1);
            handler.begun.get(1).superseded();
            assertThat(loop.underWay()).isZero();
            assertThat(queue.settled).hasSize(1);
        }

        @Test
        void should_count_what_waits_for_a_thread_as_under_way() {
            executor.hold();
            ConsumerLoop loop = running(2, 100);
            claims.answer(reply(ZERO, null, messages(0, 2)));
            timers.advance(s(5));
            assertThat(executor.waiting()).isEqualTo(2);
            assertThat(loop.underWay()).isEqualTo(2);
            assertThat(claims.count()).isEqualTo(1);
            executor.runAll();
            assertThat(handler.ids()).containsExactly("m0", "m1");
        }
    }

    @Nested
    class Fleet {

        /** @param again when it is to come, null: when it wants to */
        private ClaimReply told(Duration again, Duration due, Duration end, ClaimReply.ClaimedMessage... messages) {
            ClaimReply reply = reply(due, end, messages);
            return new ClaimReply(
                    reply.timeMicros(),
                    reply.nextDueMicros(),
                    reply.nextExpiryMicros(),
                    again == null ? -1 : again.toNanos() / 1_000,
                    reply.messages(),
                    List.of(),
                    false);
        }

        @Test
        void should_sleep_until_its_turn_while_others_come() {
            running(1, 100);
            claims.answer(told(s(77), s(1), s(2)));
            assertThat(untilNextClaim()).isEqualTo(s(77));
        }

        @Test
        void should_ask_for_turns_about_two_seconds_apart() {
            running(1, 100);
            for (int i = 0; i < 50; i++) {
                assertThat(claims.last().request().safetyMicros()).isBetween(1_805_000L, 1_900_000L);
                claims.answer(told(s(1), s(1), null));
                untilNextClaim();
            }
        }

        @Test
        void should_come_by_the_next_event_or_at_its_turn() {
            running(1, 100);
            claims.answer(told(s(3), s(5), s(3)));
            assertThat(untilNextClaim()).isEqualTo(s(3));
            claims.answer(told(s(5), s(5), s(300)));
            assertThat(untilNextClaim()).isEqualTo(s(5));
            claims.answer(told(s(77), s(200), s(300)));
            assertThat(untilNextClaim()).isEqualTo(s(77));
            claims.answer(told(s(77), s(1), null));
            assertThat(untilNextClaim()).isEqualTo(s(77));
            claims.answer(told(s(77), null, null));
            assertThat(untilNextClaim()).isEqualTo(s(77));
        }

        @Test
        void should_come_as_soon_as_it_has_room_when_nobody_counts_on_it() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(told(null, s(500), null, message("a")));
            timers.advance(s(3));
            assertThat(claims.count()).isEqualTo(1);
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(2);
            loop.suspend();
            claims.answer(told(null, s(500), null));
            assertThat(claims.left).as("it was not among the idle consumers").isZero();
        }

        @Test
        void should_come_when_it_is_called_whatever_it_was_told() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(told(s(77), s(1), null));
            loop.wakeUp(0, 2_000_000);
            assertThat(untilNextClaim()).isEqualTo(s(2));
            claims.answer(told(s(10), s(10), null));
            loop.wakeUp(0, 10_000_000);
            assertThat(untilNextClaim()).isEqualTo(s(10));
        }

        @Test
        void should_come_when_it_was_called_while_its_claim_was_under_way() {
            ConsumerLoop loop = running(1, 100);
            loop.wakeUp(0, 2_000_000);
            timers.advance(ms(500));
            claims.answer(told(s(77), s(1), null));
            assertThat(untilNextClaim()).isEqualTo(ms(1_500));
        }

        @Test
        void should_leave_when_it_is_full_and_cannot_come_as_it_has_promised() {
            running(1, 100);
            claims.answer(told(s(1), s(1), null, message("a")));
            timers.advance(ms(1_004));
            assertThat(claims.left).isZero();
            timers.advance(ms(1));
            assertThat(claims.left).isEqualTo(1);
            timers.advance(s(60));
            assertThat(claims.left).as("once").isEqualTo(1);
            assertThat(claims.count()).isEqualTo(1);
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(2);
        }

        @Test
        void should_come_and_not_leave_when_a_slot_is_free_just_in_time() {
            running(1, 100);
            claims.answer(told(s(1), s(1), null, message("a")));
            timers.advance(ms(1_004));
            handler.begun.get(0).settle(Settlement.ACKNOWLEDGE);
            assertThat(claims.count()).isEqualTo(2);
            assertThat(claims.left).isZero();
        }

        @Test
        void should_leave_when_it_is_called_while_full() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(told(s(77), s(1), null, message("a")));
            timers.advance(s(10));
            assertThat(claims.left).as("nobody counts on it").isZero();
            loop.wakeUp(0, 2_000_000);
            timers.advance(ms(2_004));
            assertThat(claims.left).isZero();
            timers.advance(ms(1));
            assertThat(claims.left).isEqualTo(1);
            loop.wakeUp(0, 0);
            timers.advance(s(10));
            assertThat(claims.left)
                    .as("it is not among the idle consumers any more")
                    .isEqualTo(1);
        }

        @Test
        void should_leave_when_suspended_or_stopped_and_only_once() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(told(s(77), s(1), null));
            loop.suspend();
            assertThat(claims.left).isEqualTo(1);
            loop.suspend();
            loop.stop(true);
            assertThat(claims.left).isEqualTo(1);
            assertThat(claims.closed).isEqualTo(1);
        }

        @Test
        void should_leave_before_its_claims_are_closed_when_stopped() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(told(s(1), s(1), null));
            claims.onLeave = () -> assertThat(claims.closed).isZero();
            loop.stop(true);
            assertThat(claims.left).isEqualTo(1);
        }

        @Test
        void should_leave_only_after_the_answer_when_stopped_while_a_claim_is_under_way() {
            ConsumerLoop loop = running(1, 100);
            loop.stop(true);
            assertThat(claims.left).isZero();
            claims.answer(told(s(1), s(1), null));
            assertThat(claims.left).isEqualTo(1);
        }

        @Test
        void should_come_back_when_resumed() {
            ConsumerLoop loop = running(1, 100);
            claims.answer(told(s(77), s(1), null));
            loop.suspend();
            loop.resume();
            assertThat(claims.count()).isEqualTo(2);
            claims.answer(told(s(77), s(1), null));
            loop.suspend();
            assertThat(claims.left).isEqualTo(2);
        }

        @Test
        void should_tell_that_it_is_quick_while_its_work_is_so_on_average() {
            running(1, 100);
            List<Boolean> told = new ArrayList<>();
            int[] took = {5, 5, 5, 50, 5, 5, 5, 5, 5, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
            for (int i = 0; i < took.length; i++) {
                claims.answer(told(null, null, null, message("m" + i)));
                timers.advance(ms(took[i]));
                handler.begun.get(i).settle(Settlement.ACKNOWLEDGE);
                told.add(claims.last().request().quick());
            }
            assertThat(told.subList(0, 3)).containsOnly(true);
            // The claim after the long one may have been sent while that was under way.
            assertThat(told.subList(4, 10)).containsOnly(false);
            assertThat(told.get(took.length - 1)).isTrue();
        }

        @Test
        void should_read_nothing_ahead_that_is_not_begun_within_five_milliseconds() {
            for (int millis : new int[] {1, 2, 5, 6, 20}) {
                claims.sent.clear();
                handler.begun.clear();
                ConsumerLoop loop = running(2, 100);
                claims.answer(told(ZERO, ZERO, null, messages(0, 2)));
                for (int i = 0; i < 200; i++) {
                    timers.advance(Duration.ofNanos(ms(millis).toNanos() / 2));
                    handler.begun.get(i).settle(Settlement.ACKNOWLEDGE);
                    if (!claims.last().answer().isDone()) {
                        int wanted = claims.last().request().messages();
                        claims.answer(told(ZERO, ZERO, null, messages(0, wanted)));
                    }
                }
                int most = claims.sent.stream()
                        .mapToInt(sent -> sent.request().messages())
                        .max()
                        .orElseThrow();
                assertThat(most).as("asked for with work of %d ms", millis).isLessThanOrEqualTo(2 + 2 * (5 / millis));
                if (millis == 1) {
                    assertThat(most).isGreaterThan(2);
                }
                loop.stop(true);
            }
        }
    }

    @Test
    void should_not_be_busy_while_a_hundred_wait_in_a_full_consumer() {
        running(1, 100);
        claims.answer(reply(ZERO, ZERO, message("hangs")));
        timers.advance(Duration.ofHours(1));
        assertThat(claims.count()).isEqualTo(1);
        assertThat(timers.scheduled())
                .as("timers: extensions of the lease and one for the warning")
                .isLessThanOrEqualTo(3600 / 10 + 5);
    }

    @Test
    void should_claim_no_more_than_once_per_event_with_work_going_on_in_one_slot_of_two() {
        // The lease of the message under way is extended; the look at its old end is answered with the new one.
        running(2, 100);
        claims.answer(reply(null, s(30), message("long")));
        for (int i = 0; i < 3600; i++) {
            timers.advance(s(1));
            if (!claims.last().answer().isDone()) {
                claims.answer(reply(null, s(20)));
            }
        }
        assertThat(claims.count()).isLessThanOrEqualTo(3600 / 20 + 2);
    }

    @Test
    void should_begin_messages_one_after_the_other_where_the_executor_runs_them_at_once() {
        List<Long> depths = new ArrayList<>();
        handler.acknowledgeAtOnce = true;
        handler.whenBegun = () -> depths.add(StackWalker.getInstance().walk(Stream::count));
        ConsumerLoop loop = new ConsumerLoop(
                List.of(new PartitionState(queue, claims, CallGate.OPEN, timers.nanoTime())),
                ConsumerOptions.DEFAULTS
                        .withConcurrentConsumers(2)
                        .withMaxMessagesPerPoll(256)
                        .withVisibilityTimeout(LEASE),
                host,
                timers,
                new Random(7),
                leases,
                Runnable::run,
                handler);
        loop.start();
        claims.answer(reply(null, null, messages(0, 200)));
        assertThat(handler.ids()).hasSize(200).doesNotHaveDuplicates();
        assertThat(depths).as("none is begun within another one's end").containsOnly(depths.get(0));
        assertThat(loop.underWay()).isZero();
    }
}
