// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.ConsumerHeartbeat;
import io.github.redisdelay.queue.internal.consume.RedisClaimCalls;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.Session;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.test.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** The rule of idle consumers on a real Redis: who is expected when, who is called for an event, and who is not. */
class WaitersIT extends RealQueueIT {

    private static final long HELP = 10_000;
    private static final long SAFETY = 30_000_000;
    private static final long LONG_SAFETY = Duration.ofHours(5).toMillis() * 1_000;

    private final AtomicLong sequences = new AtomicLong(1_000_000);
    private final Map<String, Waiter> waiters = new LinkedHashMap<>();

    /** A consumer that claims when the test says so. */
    private final class Waiter {
        final String member;
        final RedisClaimCalls claims;
        final List<String> heard = new CopyOnWriteArrayList<>();
        private final RTopic topic;

        Waiter(String name, QueueKeys keys, boolean listens) {
            String channel = "test:" + queue.name() + ":" + name;
            member = name + " " + channel;
            topic = redis.client().getTopic(channel, ByteArrayCodec.INSTANCE);
            if (listens) {
                topic.addListener(byte[].class, (at, message) -> heard.add(text(message)));
            }
            claims = new RedisClaimCalls(
                    new Session(bytes(name), sequences::incrementAndGet),
                    bytes(member),
                    new QueueAddress(queue.name(), "", keys),
                    new PatientCaller(redis.client()),
                    ClientAccess.timers(client),
                    new Random(1),
                    error -> {},
                    () -> {});
            if (listens) {
                // A session's first call calls its consumer, to find out whether that is allowed.
                claim(0, false, SAFETY);
                assertThat(heard()).containsExactly("1 " + SAFETY + " " + keys.base());
                heard.clear();
            }
        }

        ClaimReply claim(int messages, boolean quick, long safety) {
            return get(claims.claim(
                    new ClaimRequest(
                            FakeHost.randomClaimId(),
                            3_600_000_000L,
                            messages,
                            messages,
                            quick,
                            safety,
                            ClaimRequest.NO_BATCH),
                    new CompletableFuture<>()));
        }

        ClaimReply claim(int messages, boolean quick) {
            return claim(messages, quick, LONG_SAFETY);
        }

        ClaimReply claimBatch(int messages, Duration timeout) {
            return get(claims.claim(
                    new ClaimRequest(
                            FakeHost.randomClaimId(), 3_600_000_000L, messages, 1, false, LONG_SAFETY, micros(timeout)),
                    new CompletableFuture<>()));
        }

        /** Looks for one message, finds none and waits. */
        ClaimReply look() {
            ClaimReply reply = claim(1, false);
            assertThat(reply.messages()).isEmpty();
            return reply;
        }

        Long promise() {
            return idle().get(member);
        }

        /** The wake-ups for an event that it has heard, once all that was published before has arrived. */
        List<String> heard() {
            String mark = "mark " + System.nanoTime();
            topic.publish(bytes(mark));
            await().until(() -> heard.contains(mark));
            // The preflight of a session's first call in a new hour calls its own consumer.
            String preflight = "1 " + LONG_SAFETY + " " + keys().base();
            return heard.stream()
                    .filter(what -> !what.startsWith("mark") && !what.equals(preflight))
                    .toList();
        }
    }

    private Waiter waiter(String name) {
        return waiters.computeIfAbsent(name, n -> new Waiter(n, keys(), true));
    }

    /** One whose client has died. */
    private Waiter dead(String name) {
        return waiters.computeIfAbsent(name, n -> new Waiter(n, keys(), false));
    }

    private List<Waiter> waiting(int count) {
        return Stream.iterate(0, i -> i + 1)
                .limit(count)
                .map(i -> waiter("w" + i))
                .toList();
    }

    @AfterEach
    void leave() {
        waiters.values().forEach(each -> each.topic.removeAllListeners());
    }

    private Map<String, Long> idle(QueueKeys keys) {
        Map<String, Long> idle = new LinkedHashMap<>();
        set(keys).entryRange(0, -1).forEach(e -> idle.put(text(e.getValue()), (long) (double) e.getScore()));
        return idle;
    }

    private Map<String, Long> idle() {
        return idle(keys());
    }

    private RScoredSortedSet<byte[]> set(QueueKeys keys) {
        return redis.client().getScoredSortedSet(keys.key("waiters"), ByteArrayCodec.INSTANCE);
    }

    private void put(Waiter waiter, long promise) {
        set(keys()).add(promise, bytes(waiter.member));
    }

    private long now() {
        return get(queue.admin().stats()).timeMicros();
    }

    private static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }

    private String call(long wait) {
        return "1 " + wait + " " + keys().base();
    }

    // The promises of consumers.

    @Test
    void should_expect_one_that_is_alone_by_the_next_event() {
        ScheduleResult result = schedule("a", IN_AN_HOUR);
        ClaimReply reply = waiter("w").look();
        assertThat(reply.againMicros()).isEqualTo(reply.nextDueMicros());
        assertThat(idle()).isEqualTo(Map.of(waiter("w").member, result.dueMicros()));
    }

    @Test
    void should_give_turns_that_follow_each_other_at_the_safety_interval() {
        schedule("a", IN_AN_HOUR);
        long last = 0;
        for (Waiter each : waiting(5)) {
            ClaimReply reply = each.claim(1, false, SAFETY);
            assertThat(each.promise())
                    .isEqualTo(reply.timeMicros() + reply.againMicros())
                    .isEqualTo((last == 0 ? reply.timeMicros() : last) + SAFETY);
            last = each.promise();
        }
    }

    @Test
    void should_give_the_first_turn_that_nobody_has() {
        long now = now();
        for (int i = 1; i <= 20; i++) {
            if (i != 5) {
                set(keys()).add(now + i * SAFETY, bytes("x" + i + " nowhere"));
                set(keys()).add(now + i * SAFETY + 1_000, bytes("y" + i + " nowhere"));
            }
        }
        waiter("w").claim(1, false, SAFETY);
        assertThat(waiter("w").promise()).isEqualTo(now + 5 * SAFETY + 1_000);
        waiter("v").claim(1, false, SAFETY);
        assertThat(waiter("v").promise()).isEqualTo(now + 21 * SAFETY + 1_000);
    }

    @Test
    void should_give_the_turn_behind_the_last_to_all_others() {
        long now = now();
        for (int i = 1; i <= 24; i++) {
            set(keys()).add(now + i * SAFETY, bytes("x" + i + " nowhere"));
        }
        for (Waiter each : waiting(3)) {
            each.claim(1, false, SAFETY);
            assertThat(each.promise()).isEqualTo(now + 25 * SAFETY);
        }
    }

    @Test
    void should_expect_one_by_the_event_and_no_other() {
        long due = schedule("a", IN_AN_HOUR).dueMicros();
        List<Waiter> all = waiting(4);
        all.forEach(Waiter::look);
        assertThat(all.get(0).promise()).isEqualTo(due);
        assertThat(all.subList(1, 4))
                .allSatisfy(each -> assertThat(each.promise()).isGreaterThan(due));
        assertThat(all).allSatisfy(each -> assertThat(each.heard()).isEmpty());
    }

    @Test
    void should_expect_the_same_one_again_when_all_claim_again() {
        long due = schedule("a", IN_AN_HOUR).dueMicros();
        List<Waiter> all = waiting(3);
        all.forEach(Waiter::look);
        all.get(1).look();
        all.get(0).look();
        all.get(2).look();
        assertThat(all.get(0).promise()).isEqualTo(due);
        assertThat(all.subList(1, 3))
                .allSatisfy(each -> assertThat(each.promise()).isGreaterThan(due));
    }

    @Test
    void should_count_the_end_of_a_lease_as_an_event() {
        schedule("a", LONG_AGO);
        assertThat(claim(1)).hasSize(1);
        ClaimReply reply = waiter("w").look();
        assertThat(reply.againMicros()).isEqualTo(reply.nextExpiryMicros());
        assertThat(waiter("w").promise()).isEqualTo(reply.timeMicros() + reply.nextExpiryMicros());
    }

    // The consumers that are called for an event that is earlier than those they know.

    @Test
    void should_call_the_one_who_would_come_next_and_nobody_else() {
        List<Waiter> all = waiting(5);
        all.forEach(Waiter::look);
        long now = now();
        // Not in the order of their names.
        put(all.get(3), now + micros(Duration.ofHours(2)));
        put(all.get(1), now + micros(Duration.ofHours(3)));
        ScheduleResult result = schedule("a", IN_AN_HOUR);
        assertThat(all.get(3).heard()).containsExactly(call(result.dueMicros() - result.scheduledMicros()));
        assertThat(all.get(3).promise()).isEqualTo(result.dueMicros());
        for (int other : new int[] {0, 1, 2, 4}) {
            assertThat(all.get(other).heard()).isEmpty();
        }
    }

    @Test
    void should_call_nobody_for_a_later_event_or_one_that_is_covered() {
        schedule("a", IN_AN_HOUR);
        List<Waiter> all = waiting(3);
        all.forEach(Waiter::look);
        schedule("b", DueTime.after(HOUR.plusMillis(1)));
        put(all.get(0), now() + 60_000_000);
        // Earlier than the first one, but one comes before anyway.
        schedule("c", DueTime.after(HOUR.minusMinutes(1)));
        assertThat(all).allSatisfy(each -> assertThat(each.heard()).isEmpty());
    }

    @Test
    void should_call_for_what_is_overdue_with_no_wait() {
        List<Waiter> all = waiting(2);
        all.forEach(Waiter::look);
        schedule("a", LONG_AGO);
        assertThat(all.get(0).heard()).containsExactly(call(0));
        assertThat(all.get(1).heard()).isEmpty();
    }

    /** History 14 of groups: an end with a parked successor costs one wake-up, others none, however many wait. */
    @Test
    void history_14_should_call_one_for_the_next_of_a_group_and_nobody_where_none_is_parked() {
        for (String id : List.of("a", "b", "c")) {
            get(queue.schedule(message(id, LONG_AGO, 0).withGroup("g")));
        }
        get(queue.schedule(message("other", LONG_AGO, 0).withGroup("h")));
        List<ClaimedDelivery> held = claim(10);
        assertThat(ids(held)).containsExactly("a", "other");
        List<Waiter> all = waiting(5);
        all.forEach(Waiter::look);
        get(held.get(1).settle(Settlement.ACKNOWLEDGE));
        assertThat(all).allSatisfy(each -> assertThat(each.heard()).isEmpty());
        get(held.get(0).settle(Settlement.ACKNOWLEDGE));
        assertThat(all)
                .filteredOn(each -> each.heard().equals(List.of(call(0))))
                .hasSize(1);
        assertThat(all).filteredOn(each -> each.heard().isEmpty()).hasSize(4);
    }

    private enum Earlier {
        RESCHEDULED,
        PROMOTED,
        RETURNED,
        RELEASED,
        REDRIVEN
    }

    @ParameterizedTest
    @EnumSource(Earlier.class)
    void should_call_for_whatever_makes_something_due(Earlier what) {
        String dead = what == Earlier.REDRIVEN ? bury("dead", 0) : null;
        schedule("held", LONG_AGO);
        ClaimedDelivery held = claim(1).get(0);
        schedule("a", IN_AN_HOUR);
        List<Waiter> all = waiting(3);
        all.forEach(Waiter::look);
        switch (what) {
            case RESCHEDULED -> get(queue.reschedule("a", DueTime.after(Duration.ofMinutes(1))));
            case PROMOTED -> get(queue.promote("a"));
            case RETURNED -> get(held.settle(new Settlement.Retry(Duration.ofMinutes(1), new byte[0])));
            case RELEASED -> get(held.settle(Settlement.RELEASE));
            default -> get(queue.redrive(dead, null));
        }
        long wait = what == Earlier.RESCHEDULED || what == Earlier.RETURNED ? 60_000_000 : 0;
        assertThat(all.get(0).heard()).containsExactly(call(wait));
        assertThat(all.get(1).heard()).isEmpty();
        assertThat(all.get(2).heard()).isEmpty();
    }

    @Test
    void should_call_another_when_what_is_due_waits_though_one_had_promised() {
        schedule("a", LONG_AGO);
        List<Waiter> all = waiting(3);
        // One that has died, and two that sleep.
        long now = now();
        put(all.get(0), now - 1_000_000);
        put(all.get(1), now + LONG_SAFETY);
        put(all.get(2), now + LONG_SAFETY + 1);
        schedule("b", IN_AN_HOUR);
        assertThat(all.get(0).heard()).isEmpty();
        assertThat(all.get(1).heard()).containsExactly(call(0));
        assertThat(all.get(2).heard()).isEmpty();
    }

    @Test
    void should_leave_no_gap_between_turns_when_consumers_leave_before_theirs() {
        List<Waiter> all = waiting(8);
        all.forEach(each -> each.claim(1, false, SAFETY));
        // Six are woken, one after the other, and have full hands.
        for (int i = 0; i < 6; i++) {
            schedule("now-" + i, LONG_AGO);
            Waiter first = all.stream()
                    .filter(each -> each.promise() != null)
                    .min(Comparator.comparing(Waiter::promise))
                    .orElseThrow();
            assertThat(first.claim(1, false, SAFETY).messages()).hasSize(1);
        }
        // If the first of those that are left has died, the second one comes after two safety intervals.
        List<Long> left = idle().values().stream().sorted().toList();
        assertThat(left).hasSize(2);
        long now = now();
        assertThat(left.get(0)).isLessThanOrEqualTo(now + SAFETY * 21 / 20);
        assertThat(left.get(1)).isLessThanOrEqualTo(now + 2 * SAFETY * 21 / 20);
    }

    // The promises after a claim that gives something.

    @Test
    void should_let_one_with_full_hands_leave_and_call_another() {
        List<Waiter> all = waiting(4);
        all.forEach(Waiter::look);
        schedule("a", LONG_AGO);
        long due = schedule("b", IN_AN_HOUR).dueMicros();
        long far = now() + LONG_SAFETY;
        all.forEach(each -> put(each, far));
        put(all.get(2), far - 1);
        List<Integer> before = all.stream().map(each -> each.heard().size()).toList();
        ClaimReply reply = all.get(0).claim(1, false);
        assertThat(reply.messages()).hasSize(1);
        assertThat(reply.againMicros()).isEqualTo(-1);
        assertThat(all.get(0).promise()).isNull();
        assertThat(all.get(1).promise()).isEqualTo(far);
        assertThat(all.get(1).heard()).hasSize(before.get(1));
        assertThat(all.get(2).promise()).isEqualTo(due);
        assertThat(all.get(2).heard()).hasSize(before.get(2) + 1);
        assertThat(all.get(3).promise()).isEqualTo(far);
    }

    @Test
    void should_let_one_leave_that_waited_for_a_single_message_though_nobody_else_could_come() {
        schedule("a", LONG_AGO);
        ClaimReply reply = waiter("w").claim(1, false);
        assertThat(reply.messages()).hasSize(1);
        assertThat(reply.againMicros()).isEqualTo(-1);
        assertThat(idle()).isEmpty();
    }

    @Test
    void should_keep_one_that_has_room_for_more_or_is_quick() {
        List<Waiter> all = waiting(3);
        all.forEach(Waiter::look);
        for (boolean quick : new boolean[] {false, true}) {
            schedule("a-" + quick, LONG_AGO);
            ClaimReply reply = all.get(0).claim(quick ? 1 : 2, quick);
            assertThat(reply.messages()).hasSize(1);
            assertThat(reply.againMicros()).isNotNegative();
            assertThat(all.get(0).promise()).isNotNull();
        }
    }

    @Test
    void should_let_a_quick_one_go_on_itself_and_wake_nobody() {
        List<Waiter> all = waiting(4);
        all.forEach(Waiter::look);
        long due = now() + micros(HOUR);
        long far = now() + LONG_SAFETY;
        schedule("a", LONG_AGO);
        schedule("b", new DueTime(false, due));
        all.forEach(each -> put(each, far));
        int before = all.stream().mapToInt(each -> each.heard().size()).sum();
        ClaimReply reply = all.get(0).claim(1, true);
        assertThat(reply.messages()).hasSize(1);
        assertThat(reply.againMicros()).isEqualTo(due - reply.timeMicros());
        assertThat(all.get(0).promise()).isEqualTo(due);
        assertThat(all.stream().mapToInt(each -> each.heard().size()).sum()).isEqualTo(before);
    }

    @Test
    void should_let_those_come_who_have_waited_after_one_was_given_work_that_is_not_quick() {
        List<Waiter> all = waiting(4);
        all.forEach(Waiter::look);
        long due = now() + micros(HOUR);
        schedule("a", LONG_AGO);
        schedule("b", new DueTime(false, due));
        long far = now() + LONG_SAFETY;
        for (int i = 0; i < 4; i++) {
            put(all.get(i), far + i);
        }
        List<Integer> before = all.stream().map(each -> each.heard().size()).toList();
        ClaimReply reply = all.get(0).claim(2, false);
        assertThat(reply.messages()).hasSize(1);
        assertThat(all.get(0).promise()).isGreaterThan(due);
        assertThat(all.get(1).promise()).isEqualTo(due);
        assertThat(all.get(2).promise()).isEqualTo(far + 2);
        assertThat(all.get(3).promise()).isEqualTo(far + 3);
        assertThat(all.get(1).heard()).hasSize(before.get(1) + 1);
        assertThat(all.get(2).heard()).hasSize(before.get(2));
        assertThat(all.get(3).heard()).hasSize(before.get(3));
    }

    @Test
    void should_call_one_more_for_what_is_left_of_a_backlog() {
        List<Waiter> all = waiting(4);
        all.forEach(Waiter::look);
        for (int i = 0; i < 5; i++) {
            schedule("m" + i, LONG_AGO);
        }
        long far = now() + LONG_SAFETY;
        for (int i = 0; i < 4; i++) {
            put(all.get(i), far + i);
        }
        List<Integer> before = all.stream().map(each -> each.heard().size()).toList();
        ClaimReply reply = all.get(0).claim(2, true);
        assertThat(reply.againMicros()).isZero();
        assertThat(all.get(0).promise()).isEqualTo(reply.timeMicros());
        assertThat(all.get(1).promise()).isEqualTo(reply.timeMicros() + HELP);
        assertThat(all.get(1).heard()).hasSize(before.get(1) + 1).endsWith(call(HELP));
        assertThat(all.get(2).heard()).hasSize(before.get(2));
        assertThat(all.get(3).heard()).hasSize(before.get(3));
    }

    // Batches.

    @Test
    void should_call_one_that_waits_for_a_batch_for_each_message_that_may_complete_it() {
        Waiter waiter = waiter("w");
        long due = schedule("a", DueTime.now()).dueMicros();
        ClaimReply reply = waiter.claimBatch(3, HOUR);
        assertThat(reply.messages()).isEmpty();
        // Whoever schedules until then counts on the one that has promised to come for the first message.
        long covered = due + 25_001 - reply.timeMicros();
        assertThat(reply.againMicros()).isEqualTo(covered > 0 ? covered : due + micros(HOUR) - reply.timeMicros());
        pass(Duration.ofMillis(26));
        reply = waiter.claimBatch(3, HOUR);
        assertThat(reply.messages()).isEmpty();
        assertThat(reply.againMicros()).isGreaterThan(micros(HOUR) - 20_000_000);
        schedule("b", DueTime.now());
        assertThat(waiter.heard()).containsExactly(call(0));
        waiter.claimBatch(3, HOUR);
        schedule("c", DueTime.now());
        assertThat(waiter.heard()).hasSize(2).endsWith(call(0));
        assertThat(waiter.claimBatch(3, HOUR).messages()).hasSize(3);
    }

    @Test
    void should_expect_one_when_a_batch_will_be_complete_and_call_nobody_for_what_it_leaves() {
        schedule("a", LONG_AGO);
        long third = schedule("c", IN_AN_HOUR).dueMicros();
        schedule("b", DueTime.after(Duration.ofMinutes(1)));
        List<Waiter> all = waiting(2);
        all.get(1).claimBatch(3, Duration.ofDays(100_000));
        ClaimReply reply = all.get(0).claimBatch(3, Duration.ofDays(100_000));
        assertThat(all.get(1).promise()).isEqualTo(third);
        assertThat(all.get(0).promise()).isGreaterThan(third);
        assertThat(reply.messages()).isEmpty();
        assertThat(all).allSatisfy(each -> assertThat(each.heard()).isEmpty());
        assertThat(waiter("plain").claim(1, false).messages())
                .as("it is left to others")
                .hasSize(1);
    }

    // Leaving.

    @Test
    void should_leave_by_a_claim_of_nothing_and_have_another_called() {
        long due = schedule("a", IN_AN_HOUR).dueMicros();
        List<Waiter> all = waiting(3);
        all.forEach(Waiter::look);
        ClaimReply reply = all.get(0).claim(0, false);
        assertThat(reply.againMicros()).isEqualTo(-1);
        assertThat(all.get(0).promise()).isNull();
        assertThat(all.get(1).promise()).isEqualTo(due);
        assertThat(all.get(1).heard()).hasSize(1);
        // It gets the turn that the one before it had.
        assertThat(all.get(2).promise()).isEqualTo(due + LONG_SAFETY);
        assertThat(all.get(2).heard()).hasSize(1);
        assertThat(all.get(0).heard()).isEmpty();
    }

    @Test
    void should_call_nobody_when_one_leaves_that_nobody_counted_on() {
        schedule("a", IN_AN_HOUR);
        List<Waiter> all = waiting(3);
        all.forEach(Waiter::look);
        all.get(2).claim(0, false);
        assertThat(all.get(2).promise()).isNull();
        assertThat(all).allSatisfy(each -> assertThat(each.heard()).isEmpty());
    }

    @Test
    void should_give_nothing_to_one_that_leaves() {
        schedule("a", LONG_AGO);
        assertThat(waiter("w").claim(0, false).messages()).isEmpty();
        assertThat(held("delayed")).containsExactly("a");
        assertThat(idle()).isEmpty();
    }

    @Test
    void should_call_somebody_for_what_is_overdue_whatever_is_scheduled_next() {
        schedule("a", LONG_AGO);
        put(waiter("w"), now() + LONG_SAFETY);
        schedule("b", IN_AN_HOUR);
        assertThat(waiter("w").heard()).hasSize(1);
        assertThat(waiter("w").promise()).isLessThanOrEqualTo(now());
    }

    // Those who do not come.

    @Test
    void should_ignore_those_who_are_overdue_and_drop_them_with_the_next_claim() {
        List<Waiter> all = waiting(4);
        all.forEach(Waiter::look);
        long now = now();
        put(all.get(0), now - 60_000_000);
        put(all.get(1), now - 1_000_000);
        schedule("a", IN_AN_HOUR);
        assertThat(all.get(0).heard()).isEmpty();
        assertThat(all.get(1).heard()).isEmpty();
        assertThat(all.get(2).heard()).hasSize(1);
        assertThat(all.get(3).heard()).isEmpty();
        all.get(3).look();
        assertThat(idle()).containsOnlyKeys(all.get(2).member, all.get(3).member);
    }

    @Test
    void should_call_another_where_nobody_hears() {
        long far = now() + LONG_SAFETY;
        List<Waiter> dead =
                Stream.of("d1", "d2", "d3", "d4", "d5").map(this::dead).toList();
        for (int i = 0; i < 5; i++) {
            put(dead.get(i), far + i);
        }
        List<Waiter> alive = waiting(3);
        put(alive.get(0), far + 10);
        Waiter between = dead("d6");
        put(between, far + 11);
        put(alive.get(1), far + 12);
        put(alive.get(2), far + 13);
        ScheduleResult result = schedule("a", IN_AN_HOUR);
        long wait = result.dueMicros() - result.scheduledMicros();
        assertThat(alive.get(0).heard()).containsExactly(call(wait));
        assertThat(alive.get(1).heard()).isEmpty();
        assertThat(alive.get(2).heard()).isEmpty();
        // The promises of the dead do not count, neither now nor for the next event.
        assertThat(dead).allSatisfy(each -> assertThat(each.promise()).isZero());
        assertThat(between.promise()).isEqualTo(far + 11);
        alive.get(2).look();
        assertThat(idle()).hasSize(4);
    }

    @Test
    void should_call_in_the_end_also_behind_very_many_dead() {
        long far = now() + LONG_SAFETY;
        for (int i = 0; i < 200; i++) {
            set(keys()).add(far + i, bytes("x" + i + " nowhere"));
        }
        put(waiter("w"), far + 1_000);
        int calls = 0;
        while (waiter("w").heard().isEmpty()) {
            schedule("a" + calls, DueTime.after(HOUR.minusMinutes(calls)));
            calls++;
        }
        assertThat(calls).isEqualTo(4);
    }

    @Test
    void should_trust_a_name_whose_receivers_cannot_be_counted() {
        long far = now() + LONG_SAFETY;
        Waiter first = dead("~c1");
        Waiter second = dead("~c2");
        put(first, far);
        put(second, far + 1);
        put(waiter("w"), far + 2);
        long due = schedule("a", IN_AN_HOUR).dueMicros();
        assertThat(first.promise()).isEqualTo(due);
        assertThat(second.promise()).isEqualTo(far + 1);
        assertThat(waiter("w").heard()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"nospace", "", " ", " channel", "name ", "\0\u00ff\n x", "a b c d"})
    void should_stand_members_that_no_client_has_written(String garbage) {
        RScoredSortedSet<byte[]> idle = set(keys());
        byte[] bytes = garbage.getBytes(StandardCharsets.ISO_8859_1);
        idle.add(now() + LONG_SAFETY, bytes);
        put(waiter("w"), now() + 2 * LONG_SAFETY);
        schedule("a", IN_AN_HOUR);
        assertThat(waiter("w").heard()).hasSize(1);
        assertThat(idle.getScore(bytes)).as("its promise").isIn(null, 0.0);
        waiter("w").look();
        assertThat(idle()).hasSize(1);
    }

    // Pauses, dead letters, and what may go wrong.

    @Test
    void should_call_nobody_while_paused_and_one_when_resumed() {
        List<Waiter> all = waiting(3);
        all.forEach(Waiter::look);
        get(queue.admin().pause());
        schedule("a", LONG_AGO);
        ClaimReply reply = all.get(2).look();
        assertThat(reply.againMicros()).isPositive();
        assertThat(all).allSatisfy(each -> assertThat(each.heard()).isEmpty());
        get(queue.admin().resume());
        assertThat(all.get(0).heard()).containsExactly(call(0));
        assertThat(all.get(1).heard()).isEmpty();
        assertThat(all.get(2).heard()).isEmpty();
    }

    @Test
    void should_have_a_room_of_their_own_for_consumers_of_dead_letters() {
        waiter("w").look();
        Waiter ofDead = new Waiter("d", keys().dead(), true);
        waiters.put("d", ofDead);
        ofDead.look();
        int before = waiter("w").heard().size();
        giveUp("a", 0);
        assertThat(ofDead.heard()).containsExactly("1 0 " + keys().dead().base());
        int called = waiter("w").heard().size() - before;
        assertThat(called).as("calls when it was scheduled").isEqualTo(1);
        assertThat(idle(keys().dead())).containsOnlyKeys(ofDead.member);
        put(waiter("w"), now() + LONG_SAFETY); // else it may have been taken to be dead, as it does not come
        assertThat(ofDead.claim(1, false).messages()).hasSize(1);
        assertThat(idle(keys().dead())).isEmpty();
        assertThat(idle()).containsOnlyKeys(waiter("w").member);
    }

    @Test
    void should_bury_nothing_where_the_room_of_the_dead_letters_is_none() {
        schedule("a", LONG_AGO);
        ClaimedDelivery held = claim(1).get(0);
        redis.client().getBucket(keys().dead().key("waiters")).set("x");
        assertThatThrownBy(() -> get(held.settle(new Settlement.DeadLetter(new byte[0]))))
                .hasMessageContaining("WRONGTYPE");
        redis.client().getKeys().delete(keys().dead().key("waiters"));
        assertThat(held("leased")).containsExactly("a");
        assertThat(held("dead:messages")).isEmpty();
    }

    @Test
    void should_change_nothing_in_the_room_when_a_claim_is_repeated() {
        schedule("a", LONG_AGO);
        schedule("b", IN_AN_HOUR);
        List<Waiter> all = waiting(3);
        all.forEach(each -> put(each, now() + LONG_SAFETY));
        ScriptExecutor caller = new PatientCaller(redis.client());
        Object[] arguments = {
            bytes("session"),
            bytes("7"),
            FakeHost.randomClaimId().bytes(),
            bytes("3600000000"),
            bytes("1"),
            bytes("1"),
            bytes("100000"),
            bytes(keys().base()),
            bytes(all.get(0).member),
            bytes("0"),
            bytes(String.valueOf(SAFETY))
        };
        List<Object> keys = keys().of(LuaScript.CLAIM);
        ClaimReply first = ClaimReply.parse((List<?>) get(caller.call(LuaScript.CLAIM, keys, arguments, 1)));
        assertThat(first.againMicros()).isEqualTo(-1);
        Map<String, Long> idle = idle();
        List<List<String>> heard = all.stream().map(Waiter::heard).toList();
        ClaimReply again = ClaimReply.parse((List<?>) get(caller.call(LuaScript.CLAIM, keys, arguments, 1)));
        assertThat(again.messages()).extracting(ClaimReply.ClaimedMessage::id).containsExactly("a");
        assertThat(again.againMicros())
                .as("told to one whose promise may be gone")
                .isEqualTo(-1);
        assertThat(idle()).isEqualTo(idle);
        assertThat(all.stream().map(Waiter::heard).toList()).isEqualTo(heard);
        // One that left is told that it has left, however often it asks.
        arguments[1] = bytes("8");
        arguments[4] = bytes("0");
        for (int i = 0; i < 2; i++) {
            assertThat(ClaimReply.parse((List<?>) get(caller.call(LuaScript.CLAIM, keys, arguments, 1)))
                            .againMicros())
                    .isEqualTo(-1);
        }
    }

    @Test
    void should_expire_when_nobody_has_waited_for_two_days() {
        waiter("w").look();
        assertThat(set(keys()).remainTimeToLive())
                .isBetween(Duration.ofHours(47).toMillis(), Duration.ofHours(48).toMillis());
    }

    @Test
    void should_be_kept_also_when_the_memory_is_full_and_stay_as_it_is_where_a_schedule_is_refused() throws Exception {
        try (RedisServer server = RedisServer.dedicated("maxmemory-policy noeviction")) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(2);
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient other = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                RedisDelayQueue full = (RedisDelayQueue) other.queue("full");
                get(full.schedule(ScheduleRequest.of("a", new byte[1], DueTime.after(HOUR))));
                ClaimCalls first = ClientAccess.consumers(other)
                        .newClaims(full.partitions().get(0).address(), error -> {});
                ClaimCalls second = ClientAccess.consumers(other)
                        .newClaims(full.partitions().get(0).address(), error -> {});
                redisson.getRedisNodes(RedisNodes.SINGLE).getInstance().setConfig("maxmemory", "1");
                List<Long> expected = new ArrayList<>();
                for (ClaimCalls claims : List.of(first, second)) {
                    expected.add(get(claims.claim(
                                    new ClaimRequest(
                                            FakeHost.randomClaimId(),
                                            1,
                                            1,
                                            1,
                                            false,
                                            LONG_SAFETY,
                                            ClaimRequest.NO_BATCH),
                                    new CompletableFuture<>()))
                            .againMicros());
                }
                assertThat(expected.get(0)).isPositive().isLessThan(expected.get(1));
                QueueSnapshot before = QueueSnapshot.read(
                        redisson, full.partitions().get(0).address().keys());
                assertThat(before.keys().get("waiters")).hasSize(2);
                assertThatThrownBy(() -> get(full.schedule(ScheduleRequest.of("b", new byte[1], DueTime.now()))))
                        .hasMessageContaining("no memory left");
                assertThat(QueueSnapshot.read(
                                redisson, full.partitions().get(0).address().keys()))
                        .isEqualTo(before);
                first.leave(FakeHost.randomClaimId()).run();
                await().until(() -> QueueSnapshot.read(
                                        redisson,
                                        full.partitions().get(0).address().keys())
                                .keys()
                                .get("waiters")
                                .size()
                        == 1);
            } finally {
                redisson.shutdown();
            }
        }
    }

    // Clients.

    @Test
    void should_have_a_channel_for_each_client_and_a_name_for_each_of_its_consumers() {
        try (DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
            queue.consume(concurrent(1), executor, delivery -> {});
            queue.consume(concurrent(1), executor, delivery -> {});
            other.queue(queue.name()).consume(concurrent(1), executor, delivery -> {});
            await().until(() -> idle().size() == 3);
            assertThat(idle().keySet().stream()
                            .filter(m -> m.endsWith(" "
                                    + ClientAccess.consumers(client).wakeups().name())))
                    .hasSize(2)
                    .allMatch(
                            m -> m.matches("c\\d+-" + ConsumerHeartbeat.VERSION + " redis-delay:wakeup:[0-9a-f]{32}"));
            assertThat(idle().keySet().stream()
                            .filter(m -> m.endsWith(" "
                                    + ClientAccess.consumers(other).wakeups().name())))
                    .hasSize(1);
        }
        await().until(() -> idle().size() == 2);
    }

    @Test
    void should_leave_when_a_receiver_waits_no_longer() throws Exception {
        try (DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            assertThat(receiver.receive(Duration.ZERO)).isNull();
            await().until(() -> idle().isEmpty()); // it leaves by a call of its own, for which nobody waits
            assertThat(receiver.receive(Duration.ofMillis(50))).isNull();
            await().until(() -> idle().isEmpty());
            schedule("a", DueTime.now());
            receiver.receive(Duration.ofSeconds(10)).settle(Settlement.ACKNOWLEDGE);
            await().until(() -> idle().isEmpty());
        }
    }

    @Test
    void should_leave_when_a_consumer_is_suspended_or_stopped_and_come_back_when_it_is_resumed() {
        DelayQueueConsumer consumer = queue.consume(concurrent(1), executor, delivery -> {});
        await().until(() -> idle().size() == 1);
        consumer.suspend();
        await().until(() -> idle().isEmpty());
        consumer.resume();
        await().until(() -> idle().size() == 1);
        consumer.stop(true);
        await().until(() -> idle().isEmpty());
    }
}
