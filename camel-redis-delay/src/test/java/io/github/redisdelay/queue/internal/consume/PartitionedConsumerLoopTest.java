// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static io.github.redisdelay.queue.fake.FakeClaims.message;
import static io.github.redisdelay.queue.fake.FakeClaims.messages;
import static io.github.redisdelay.queue.fake.FakeClaims.reply;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.fake.FakeClaims;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeSettlements;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.fake.ManualExecutor;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.request.CallGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How the partitions of a queue share the room of a consumer, on a virtual clock. */
@Timeout(60)
class PartitionedConsumerLoopTest {

    private static final Duration ZERO = Duration.ZERO;
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final FakeTimers timers = new FakeTimers();
    private final List<FakeClaims> claims = new ArrayList<>();
    private final ManualExecutor executor = new ManualExecutor();
    private final List<Delivery> begun = new ArrayList<>();
    private final List<FakeSettlements> settlements = new ArrayList<>();
    private final List<String> failing = new ArrayList<>();
    private final List<Boolean> paused = new ArrayList<>();

    /** Leaves deliveries under way. */
    private final DeliveryHandler handler = new DeliveryHandler() {
        @Override
        public void handle(Delivery delivery) {
            begun.add(delivery);
        }

        @Override
        public void claimsFailing(Throwable error) {
            failing.add(error == null ? "works" : error.getMessage());
        }

        @Override
        public void paused(boolean now) {
            paused.add(now);
        }
    };

    private FakeSettlements settlementsOf() {
        FakeSettlements one = new FakeSettlements(timers);
        settlements.add(one);
        return one;
    }

    /** Those that went back, by id. */
    private List<String> released() {
        return settlements.stream()
                .flatMap(one -> one.settled.stream())
                .filter(settled -> settled.how() == Settlement.RELEASE)
                .map(FakeSettlements.Settled::id)
                .toList();
    }

    private ConsumerLoop running(int partitions, int concurrentConsumers) {
        List<PartitionState> all = IntStream.range(0, partitions)
                .mapToObj(i -> {
                    FakeClaims own = new FakeClaims(timers);
                    claims.add(own);
                    return new PartitionState(settlementsOf(), own, CallGate.OPEN, timers.nanoTime());
                })
                .toList();
        ConsumerLoop loop = new ConsumerLoop(
                all,
                ConsumerOptions.DEFAULTS
                        .withConcurrentConsumers(concurrentConsumers)
                        .withVisibilityTimeout(LEASE),
                new FakeHost(),
                timers,
                new Random(7),
                new LeaseExtender(timers),
                executor,
                handler);
        loop.start();
        return loop;
    }

    private int[] counts() {
        return claims.stream().mapToInt(FakeClaims::count).toArray();
    }

    /** How many messages the claims under way ask for. */
    private int asked() {
        return claims.stream()
                .filter(each -> each.count() > 0 && !each.last().answer().isDone())
                .mapToInt(each -> each.last().request().messages())
                .sum();
    }

    private void answerPaused(int partition) {
        claims.get(partition).answer(new ClaimReply(FakeClaims.TIME, -2, -2, 30_000_000, List.of(), List.of(), false));
    }

    @Test
    void should_tell_once_that_the_queue_is_paused_and_once_that_it_is_resumed() {
        ConsumerLoop loop = running(3, 3);
        answerNothing(0);
        assertThat(paused).isEmpty();
        answerPaused(1);
        answerPaused(2);
        assertThat(paused).containsExactly(true);
        loop.checkNow(1);
        answerNothing(1);
        assertThat(paused).as("while one is paused").containsExactly(true);
        loop.checkNow(2);
        answerNothing(2);
        assertThat(paused).containsExactly(true, false);
    }

    /** A full hand; more is due. */
    private void answerAll(int partition) {
        int wanted = claims.get(partition).last().request().messages();
        claims.get(partition).answer(reply(ZERO, null, messages(0, wanted)));
    }

    /** Nothing is there. */
    private void answerNothing(int partition) {
        claims.get(partition).answer(reply(null, null));
    }

    @Test
    void should_share_its_room_between_those_who_claim_at_the_same_time() {
        running(3, 10);
        assertThat(claims.stream().map(each -> each.last().request().messages()).toList())
                .containsExactly(4, 3, 3);
        assertThat(claims.stream().map(each -> each.last().request().expired()).toList())
                .containsExactly(4, 3, 3);
    }

    @Test
    void should_claim_from_one_after_the_other_with_a_single_slot() {
        running(3, 1);
        assertThat(counts()).containsExactly(1, 0, 0);
        answerNothing(0);
        assertThat(counts()).containsExactly(1, 1, 0);
        answerNothing(1);
        assertThat(counts()).containsExactly(1, 1, 1);
        answerNothing(2);
        assertThat(counts()).containsExactly(1, 1, 1);
    }

    @Test
    void should_give_the_room_that_one_does_not_need_to_another() {
        running(3, 9);
        answerAll(0);
        assertThat(asked()).as("what the others may still bring").isEqualTo(6);
        answerNothing(1);
        assertThat(claims.get(0).last().request().messages())
                .as("the first one again, which has more")
                .isEqualTo(3);
        answerNothing(2);
        assertThat(asked()).isEqualTo(3);
        answerAll(0);
        assertThat(claims.get(0).last().request().messages()).isEqualTo(3);
        answerAll(0);
        assertThat(begun).hasSize(9);
        assertThat(asked()).isZero();
    }

    @Test
    void should_not_claim_a_handful_while_claims_are_under_way() {
        running(3, 60);
        answerAll(0);
        assertThat(begun).hasSize(20);
        for (int i = 0; i < 9; i++) {
            timers.advance(Duration.ofMillis(7));
            begun.remove(0).settle(Settlement.ACKNOWLEDGE);
        }
        assertThat(counts()).as("nine slots, and two claims under way").containsExactly(1, 1, 1);
        begun.remove(0).settle(Settlement.ACKNOWLEDGE);
        assertThat(counts()).as("half of a share").containsExactly(2, 1, 1);
        assertThat(claims.get(0).last().request().messages()).isEqualTo(10);
        answerNothing(0);
        answerNothing(1);
        answerNothing(2);
        assertThat(asked()).isZero();
    }

    @Test
    void should_claim_for_a_single_slot_when_no_claim_is_under_way() {
        running(3, 60);
        answerAll(0);
        answerAll(1);
        answerAll(2);
        assertThat(begun).hasSize(60);
        timers.advance(Duration.ofMillis(7));
        begun.remove(0).settle(Settlement.ACKNOWLEDGE);
        assertThat(asked()).isEqualTo(1);
    }

    @Test
    void should_never_ask_for_more_than_there_is_room_for() {
        Random random = new Random(42);
        running(5, 8);
        int most = 0;
        for (int step = 0; step < 20_000; step++) {
            List<FakeClaims> open = claims.stream()
                    .filter(each -> each.count() > 0 && !each.last().answer().isDone())
                    .toList();
            int what = random.nextInt(3);
            if (what == 0 && !begun.isEmpty()) {
                timers.advance(Duration.ofMillis(6)); // slow enough that nothing is read ahead
                begun.remove(random.nextInt(begun.size())).settle(Settlement.ACKNOWLEDGE);
            } else if (!open.isEmpty()) {
                FakeClaims one = open.get(random.nextInt(open.size()));
                int given = random.nextInt(one.last().request().messages() + 1);
                one.answer(reply(random.nextBoolean() ? ZERO : null, null, messages(0, given)));
            } else {
                timers.advance(Duration.ofSeconds(30));
            }
            assertThat(begun.size() + asked()).isLessThanOrEqualTo(8);
            most = Math.max(most, begun.size());
        }
        assertThat(most).isEqualTo(8);
    }

    @Test
    void should_let_none_starve_however_much_another_has() {
        running(3, 2);
        answerAll(0);
        answerAll(1);
        int[] given = {1, 1, 0};
        for (int round = 0; round < 30; round++) {
            timers.advance(Duration.ofMillis(20));
            begun.remove(0).settle(Settlement.ACKNOWLEDGE);
            for (int i = 0; i < 3; i++) {
                if (!claims.get(i).last().answer().isDone()) {
                    given[i] += claims.get(i).last().request().messages();
                    answerAll(i);
                }
            }
        }
        assertThat(Arrays.stream(given).min().orElseThrow()).isGreaterThanOrEqualTo(9);
        assertThat(begun).hasSize(2);
    }

    @Test
    void should_leave_no_slot_idle_while_another_partition_has_something() {
        ConsumerLoop loop = running(3, 4);
        for (int i = 0; i < 3; i++) {
            answerNothing(i);
        }
        loop.wakeUp(2, 0);
        assertThat(counts()).containsExactly(1, 1, 2);
        assertThat(claims.get(2).last().request().messages()).isEqualTo(4);
        answerAll(2);
        assertThat(begun).hasSize(4);
    }

    @Test
    void should_wait_no_longer_than_a_second_for_a_node_that_is_away() {
        ConsumerLoop loop = running(2, 1);
        assertThat(counts()).containsExactly(1, 0);
        timers.advance(Duration.ofNanos(PartitionState.ANSWER_NANOS - 1));
        assertThat(counts()).containsExactly(1, 0);
        timers.advance(Duration.ofNanos(1));
        assertThat(counts()).as("the other one is claimed from").containsExactly(1, 1);
        claims.get(1).answer(reply(ZERO, null, message("b")));
        assertThat(begun).extracting(Delivery::id).containsExactly("b");
        // Then the answer comes all the same, and is one too many: it goes back when nobody is free in time.
        claims.get(0).answer(reply(null, null, message("a")));
        assertThat(begun).hasSize(1);
        timers.advance(Duration.ofSeconds(1));
        assertThat(begun).hasSize(1);
        assertThat(loop.underWay()).isEqualTo(1);
    }

    @Test
    void should_give_up_the_room_of_a_claim_that_failed_at_once() {
        ConsumerLoop loop = running(2, 1);
        loop.attemptFailed(0, new IllegalStateException("no connection"));
        assertThat(counts()).containsExactly(1, 1);
        assertThat(failing).containsExactly("no connection");
        assertThat(loop.lastError()).hasMessage("no connection");
        loop.attemptFailed(1, new IllegalStateException("no connection either"));
        answerNothing(1);
        assertThat(loop.lastError()).as("one still fails").isNotNull();
        answerNothing(0);
        assertThat(loop.lastError()).isNull();
        assertThat(failing).as("told once, not for each partition").containsExactly("no connection", "works");
    }

    @Test
    void should_begin_what_killed_its_consumers_alone_in_all_partitions() {
        ConsumerLoop loop = running(2, 4);
        claims.get(0).answer(reply(null, null, message("poison", 2)));
        assertThat(begun).extracting(Delivery::id).containsExactly("poison");
        answerNothing(1);
        loop.wakeUp(1, 0);
        assertThat(counts()).as("no claim beside it").containsExactly(1, 1);
        begun.remove(0).settle(Settlement.ACKNOWLEDGE);
        assertThat(counts()).containsExactly(1, 2);
    }

    @Test
    void should_release_and_leave_everywhere_when_it_stops() {
        ConsumerLoop loop = running(3, 3);
        for (int i = 0; i < 3; i++) {
            answerNothing(i);
        }
        loop.stop(false);
        for (FakeClaims each : claims) {
            assertThat(each.left).isEqualTo(1);
            assertThat(each.closed).isEqualTo(1);
        }
    }

    @Test
    void should_hear_wake_ups_of_one_partition_only() {
        ConsumerLoop loop = running(2, 1);
        answerNothing(0);
        answerNothing(1);
        loop.wakeUp(1, 5_000_000);
        timers.advance(Duration.ofSeconds(5));
        assertThat(counts()).containsExactly(1, 2);
    }

    @Test
    void should_hold_nothing_of_other_partitions_beside_what_is_begun_alone() {
        running(2, 4);
        claims.get(0).answer(reply(null, null, message("poison", 2)));
        claims.get(1).answer(reply(null, null, message("n1", 0), message("n2", 0)));
        assertThat(begun).extracting(Delivery::id).containsExactly("poison");
        assertThat(released()).containsExactlyInAnyOrder("n1", "n2");
    }
}
