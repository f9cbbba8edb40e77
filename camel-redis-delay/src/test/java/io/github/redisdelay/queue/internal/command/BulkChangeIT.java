// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.RealQueueIT;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The changes of all waiting messages: in slices, in order, and not for ever. */
class BulkChangeIT extends RealQueueIT {

    @Test
    void should_promote_all_and_keep_their_order() {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            // Ids against the order of times, several with one time.
            String id = String.format("m%04d", (1_000 - i) / 5 * 5 + i % 5);
            expected.add(id);
        }
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        long future = get(queue.admin().stats()).timeMicros() + 3_600_000_000L;
        for (int i = 0; i < expected.size(); i++) {
            sent.add(queue.schedule(message(expected.get(i), new DueTime(false, future + i / 5), 0)));
        }
        sent.forEach(RealQueueIT::get);
        expected = browseAll();
        assertThat(get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(1_000);
        assertThat(browseAll()).isEqualTo(expected);
        assertThat(get(queue.admin().stats()).overdue()).isEqualTo(1_000);
        List<String> claimed = new ArrayList<>();
        while (claimed.size() < 1_000) {
            claimed.addAll(ids(claim(256)));
        }
        assertThat(claimed).isEqualTo(expected);
    }

    private List<String> browseAll() {
        List<String> ids = new ArrayList<>();
        String from = null;
        do {
            MessagePage page = get(queue.admin().list(MessageState.DELAYED, PageStart.next(from), 256));
            page.messages().forEach(message -> ids.add(message.id()));
            from = page.next();
        } while (from != null);
        return ids;
    }

    @Test
    void should_end_when_the_choice_is_cancelled_and_count_what_was_changed() {
        scheduleMany(600, "m", IN_AN_HOUR);
        AtomicInteger asked = new AtomicInteger();
        long cancelled = get(queue.admin()
                .cancelAll(
                        message -> {
                            if (asked.incrementAndGet() > 300) {
                                throw new CancellationException("stopped");
                            }
                            return true;
                        },
                        Long.MAX_VALUE));
        assertThat(cancelled).isEqualTo(256); // one page
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(600 - 256);
    }

    @Test
    void should_leave_what_is_due_already_as_it_is() {
        schedule("due", LONG_AGO);
        schedule("later", IN_AN_HOUR, 9);
        assertThat(get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(1);
        assertThat(get(queue.get("due")).orElseThrow().info().dueMicros()).isEqualTo(1);
        assertThat(held("state")).containsExactly("later");
        ChangeResult again = get(queue.promote("due"));
        assertThat(again.dueMicros()).isEqualTo(1);
        assertThat(get(queue.promote("none")).dueMicros()).isZero();
    }

    @Test
    void should_promote_only_those_that_are_meant_and_leave_what_is_delivered_alone() {
        schedule("leased", LONG_AGO);
        claim(1);
        schedule("yes", IN_AN_HOUR);
        schedule("no", IN_AN_HOUR);
        assertThat(get(queue.admin().promoteAll(message -> message.id().equals("yes"), Long.MAX_VALUE)))
                .isEqualTo(1);
        assertThat(get(queue.promote("leased")).previousState()).isEqualTo(MessageState.LEASED);
        assertThat(get(queue.admin().stats()).overdue()).isEqualTo(1);
        assertThat(get(queue.admin().stats()).leased()).isEqualTo(1);
    }

    @Test
    void should_deliver_each_message_once_where_consumers_claim_meanwhile() {
        int count = 5_000;
        Queue<String> received = new ConcurrentLinkedQueue<>();
        queue.consume(concurrent(4), executor, delivery -> {
            received.add(delivery.id());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        scheduleMany(count, "m", IN_AN_HOUR);
        assertThat(get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(count);
        Awaitility.await().untilAsserted(() -> assertThat(held("messages")).isEmpty());
        assertThat(received).hasSize(count).doesNotHaveDuplicates();
    }

    @Test
    void should_end_while_producers_schedule() throws Exception {
        int count = 2_000;
        scheduleMany(count, "m", IN_AN_HOUR);
        AtomicBoolean over = new AtomicBoolean();
        Future<?> producer = executor.submit(() -> {
            for (int i = 0; !over.get(); i++) {
                scheduleMany(50, "new" + i + "-", new DueTime(true, 7_200_000_000L));
            }
        });
        try {
            for (int i = 0; i < 4; i++) {
                long waiting = get(queue.admin().stats()).delayed();
                long changed = get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE));
                assertThat(changed).isBetween(i == 0 ? (long) count : 1L, waiting + 5_000);
            }
        } finally {
            over.set(true);
            producer.get(20, TimeUnit.SECONDS);
        }
        assertThat(get(queue.admin().cancelAll(message -> true, Long.MAX_VALUE)))
                .isGreaterThan(count);
    }

    @Test
    void should_reach_all_that_waited_while_others_schedule_earlier_ones() throws Exception {
        int count = 3_000;
        scheduleMany(count, "m", IN_AN_HOUR);
        AtomicBoolean over = new AtomicBoolean();
        Future<?> producer = executor.submit(() -> {
            for (int i = 0; !over.get(); i++) {
                scheduleMany(20, "new" + i + "-", new DueTime(true, 600_000_000L));
            }
        });
        try {
            assertThat(get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE)))
                    .isGreaterThanOrEqualTo(count);
        } finally {
            over.set(true);
            producer.get(20, TimeUnit.SECONDS);
        }
        long now = get(queue.admin().stats()).timeMicros();
        Map<String, Long> due = new HashMap<>();
        for (String from = ""; from != null; ) {
            MessagePage page =
                    get(queue.admin().list(MessageState.DELAYED, PageStart.next(from.isEmpty() ? null : from), 256));
            page.messages().forEach(message -> due.put(message.id(), message.dueMicros()));
            from = page.next();
        }
        assertThat(due.keySet().stream().filter(id -> id.startsWith("m")))
                .hasSize(count)
                .allSatisfy(id -> assertThat(due.get(id)).as(id).isLessThanOrEqualTo(now));
    }

    @Test
    void should_cancel_what_waits_and_leave_what_is_delivered() {
        scheduleMany(300, "m", LONG_AGO);
        Set<String> leased = new HashSet<>(ids(claim(10)));
        scheduleMany(700, "n", IN_AN_HOUR);
        assertThat(get(queue.admin().cancelAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(990);
        assertThat(new HashSet<>(held("messages"))).isEqualTo(leased);
        assertThat(get(queue.admin().stats()).delayed()).isZero();
    }

    @Test
    void should_leave_alone_what_is_claimed_between_the_look_and_the_change() {
        bury("dead", 0);
        schedule("a", LONG_AGO);
        for (DelayQueue from : List.of(queue, queue.deadLetters())) {
            ClaimCalls claims = ClientAccess.consumers(client)
                    .newClaims(((RedisDelayQueue) from).partitions().get(0).address(), error -> {});
            ScriptExecutor real = new RedissonScriptExecutor(redis.client());
            ScriptExecutor claimsFirst = (script, keys, arguments, attempt) -> script == LuaScript.CHANGE
                    ? claims.claim(
                                    new ClaimRequest(
                                            FakeHost.randomClaimId(),
                                            60_000_000,
                                            1,
                                            0,
                                            false,
                                            1,
                                            ClaimRequest.NO_BATCH),
                                    new CompletableFuture<>())
                            .thenCompose(claimed -> real.call(script, keys, arguments, attempt))
                    : real.call(script, keys, arguments, attempt);
            try (DelayQueueClient other = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, claimsFirst)) {
                DelayQueue its = other.queue(queue.name());
                assertThat(get((from == queue ? its : its.deadLetters())
                                .admin()
                                .cancelAll(message -> true, Long.MAX_VALUE)))
                        .isZero();
            }
            claims.close();
            assertThat(get(from.admin().stats()).leased()).isEqualTo(1);
        }
        assertThat(held("messages")).containsExactly("a");
        assertThat(held("dead:messages")).hasSize(1);
    }

    @Test
    void should_not_be_kept_from_the_others_by_an_id_that_it_cannot_name() {
        schedule("a", IN_AN_HOUR);
        scheduleForeign(new byte[] {1}, DueTime.MAX_MICROS);
        scheduleForeign(new byte[] {'x', (byte) 0xff}, DueTime.MAX_MICROS);
        scheduleForeign(bytes("x".repeat(ScheduleRequest.MAX_ID_BYTES + 1)), DueTime.MAX_MICROS);
        schedule("z", new DueTime(false, DueTime.MAX_MICROS));
        assertThat(get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(2);
        assertThat(get(queue.admin().cancelAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(2);
        assertThat(held("messages")).hasSize(3);
    }

    @Test
    void should_fail_where_the_choice_fails() {
        schedule("a", IN_AN_HOUR);
        assertThatThrownBy(() -> get(queue.admin()
                        .cancelAll(
                                message -> {
                                    throw new IllegalStateException("no choice");
                                },
                                Long.MAX_VALUE)))
                .hasMessageContaining("no choice");
        assertThat(held("messages")).containsExactly("a");
    }
}
