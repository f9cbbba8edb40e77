// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.command.RepairScan;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The findings of a check after keys were evicted or deleted, and the data that it leaves alone. */
class CheckIT extends RealQueueIT {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.CheckIT");

    private void delete(String... parts) {
        for (String part : parts) {
            redis.client().getKeys().delete(keys().key(part));
        }
    }

    private void lose(String part, String id) {
        assertThat(redis.client()
                        .getScoredSortedSet(keys().key(part), StringCodec.INSTANCE)
                        .remove(id))
                .as("'" + id + "' was in " + part)
                .isTrue();
    }

    private void inGroup(String group, String id) {
        get(queue.schedule(message(id, LONG_AGO, 0).withGroup(group)));
    }

    /** Its check has done a slice, or two. */
    private DelayQueueClient clientWhoseThirdCallFails() {
        ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        AtomicInteger calls = new AtomicInteger();
        return ClientAccess.create(
                redis.client(),
                ClientOptions.DEFAULTS,
                (script, keys, arguments, attempt) -> calls.incrementAndGet() == 3
                        ? CompletableFuture.failedFuture(new IllegalStateException("no line"))
                        : real.call(script, keys, arguments, attempt));
    }

    private MessageInfo info(String id) {
        return get(queue.get(id)).orElseThrow().info();
    }

    @Test
    void should_find_nothing_where_nothing_is_amiss() {
        bury("dead", 5);
        schedule("leased", LONG_AGO, 9);
        claim(1);
        schedule("waits", IN_AN_HOUR);
        schedule("due", LONG_AGO, 9);
        QueueSnapshot before = snapshot();

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(3, 0, 0, 0));
        assertThat(get(queue.deadLetters().admin().check())).isEqualTo(new CheckResult(1, 0, 0, 0));
        assertThat(snapshot()).isEqualTo(before);
        assertThat(get(client.queue(redis.uniqueQueue()).admin().check())).isEqualTo(new CheckResult(0, 0, 0, 0));
    }

    @Test
    void should_repair_the_index_of_dead_letters() {
        String kept = bury("a", 0);
        bury("gone", 0);
        delete("dead:index");
        assertThat(get(queue.admin().deadLettersOf("a"))).isEmpty();
        assertThat(get(queue.deadLetters().admin().check())).isEqualTo(new CheckResult(2, 0, 0, 0));
        assertThat(get(queue.admin().deadLettersOf("a")))
                .extracting(DeadLetterId::toString)
                .containsExactly(kept);
        assertThat(held("dead:index")).hasSize(2);

        redis.client()
                .getMap(keys().dead().key("messages"), StringCodec.INSTANCE)
                .keySet()
                .removeIf(id -> ((String) id).startsWith("gone@"));
        redis.client()
                .getScoredSortedSet(keys().dead().key("index"), StringCodec.INSTANCE)
                .addAll(IntStream.range(0, 600).boxed().collect(Collectors.toMap(i -> "foreign" + i, i -> 0.0)));
        assertThat(get(queue.admin().deadLettersOf("gone")))
                .as("without a body")
                .isEmpty();
        get(queue.deadLetters().admin().check());
        assertThat(held("dead:index")).hasSize(1);
        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(0, 0, 0, 0));
        assertThat(held("index")).isEmpty();
    }

    /** A cursor is of one server: after a failover, say, another one would go on with it anywhere, and pass messages over. */
    @Test
    void should_begin_with_patience_and_fail_rather_than_go_on_elsewhere() throws Exception {
        for (int i = 0; i < 2_000; i++) {
            schedule("m" + i, IN_AN_HOUR);
        }
        ScriptExecutor calls = new RedissonScriptExecutor(redis.client());
        for (boolean begin : new boolean[] {true, false}) {
            AtomicBoolean failed = new AtomicBoolean();
            try (DelayQueueClient away = ClientAccess.create(
                    redis.client(),
                    ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(20)),
                    (script, keys, arguments, attempt) -> {
                        boolean first = script == LuaScript.REPAIR && RepairScan.isBegin((byte[]) arguments[1]);
                        return script == LuaScript.REPAIR && first == begin && failed.compareAndSet(false, true)
                                ? CompletableFuture.failedFuture(new RedisException("LOADING Redis is loading"))
                                : calls.call(script, keys, arguments, attempt);
                    })) {
                CompletableFuture<CheckResult> checked =
                        away.queue(queue.name()).admin().check();
                if (begin) {
                    assertThat(get(checked)).isEqualTo(new CheckResult(2_000, 0, 0, 0));
                } else {
                    assertThatThrownBy(() -> checked.get(20, TimeUnit.SECONDS))
                            .hasMessageContaining("LOADING Redis is loading");
                }
                assertThat(failed).isTrue();
            }
        }
    }

    @Test
    void should_wait_while_redis_is_away() throws Exception {
        schedule("a", IN_AN_HOUR);
        ScriptExecutor calls = new RedissonScriptExecutor(redis.client());
        AtomicBoolean away = new AtomicBoolean(true);
        try (DelayQueueClient cut = ClientAccess.create(
                redis.client(),
                ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(20)),
                (script, keys, arguments, attempt) -> script != LuaScript.PARTITIONS && away.compareAndSet(true, false)
                        ? CompletableFuture.failedFuture(new RedisConnectionException("no connection"))
                        : calls.call(script, keys, arguments, attempt))) {
            assertThat(get(cut.queue(queue.name()).admin().check())).isEqualTo(new CheckResult(1, 0, 0, 0));
        }
        assertThat(away).isFalse();
    }

    @Test
    void should_fail_rather_than_count_too_few_when_an_answer_is_lost() throws Exception {
        schedule("a", IN_AN_HOUR);
        schedule("b", IN_AN_HOUR);
        delete("delayed");
        ScriptExecutor calls = new RedissonScriptExecutor(redis.client());
        AtomicBoolean lost = new AtomicBoolean();
        try (DelayQueueClient cut =
                ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, (script, keys, arguments, attempt) -> {
                    CompletableFuture<Object> answer = calls.call(script, keys, arguments, attempt);
                    return script == LuaScript.REPAIR && lost.compareAndSet(false, true)
                            ? answer.thenApply(executed -> {
                                throw new RedisConnectionException("the connection was cut");
                            })
                            : answer;
                })) {
            assertThatThrownBy(() -> get(cut.queue(queue.name()).admin().check()))
                    .hasMessageContaining("was cut");
        }
        assertThat(lost).isTrue();
        assertThat(get(queue.admin().check())).as("they wait again").isEqualTo(new CheckResult(2, 0, 0, 0));
    }

    @Test
    void should_deliver_each_message_once_whose_set_was_deleted() throws Exception {
        schedule("a", IN_AN_HOUR);
        schedule("b", IN_AN_HOUR, 7);
        schedule("c", LONG_AGO);
        long due = info("a").dueMicros();
        delete("delayed", "delayed:7");

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(3, 3, 0, 0));

        snapshot().assertOneStateAtATime(false);
        // The due times stand with the bodies, the priority is lost.
        assertThat(get(queue.admin().stats()).overdue()).isOne();
        assertThat(info("a").dueMicros()).isEqualTo(due);
        pass(HOUR);
        assertThat(get(queue.admin().stats()).overdue()).isEqualTo(3);
        assertThat(info("b").priority()).isZero();
        assertThat(info("b").attempts()).isZero();
        BlockingQueue<Delivery> received = consume(queue, concurrent(3));
        Set<String> ids = new TreeSet<>();
        for (int i = 0; i < 3; i++) {
            Delivery delivery = next(received);
            ids.add(delivery.id());
            assertThat(text(delivery.body())).isEqualTo("body of " + delivery.id());
            assertThat(delivery.attempt()).isEqualTo(1);
            assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        }
        assertThat(ids).containsExactly("a", "b", "c");
        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(0, 0, 0, 0));
        assertThat(held("messages")).isEmpty();
    }

    @Test
    void should_keep_what_the_state_record_knows() {
        schedule("returned", LONG_AGO, 5);
        get(claim(1).get(0).settle(new Settlement.Retry(HOUR, bytes("failure"))));
        schedule("moved", LONG_AGO);
        get(queue.reschedule("moved", IN_AN_HOUR));
        MessageInfo returned = info("returned");
        MessageInfo moved = info("moved");
        delete("delayed", "delayed:5", "config");

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(2, 2, 0, 0));

        // Not before it is due, and not as if it were new.
        assertThat(info("returned")).usingRecursiveComparison().isEqualTo(returned);
        assertThat(info("moved")).usingRecursiveComparison().isEqualTo(moved);
        assertThat(held("delayed:5")).containsExactly("returned");
        snapshot().assertOneStateAtATime(false);
    }

    @Test
    void should_deliver_again_what_lost_its_lease_and_not_let_the_old_delivery_finish_it() {
        schedule("a", LONG_AGO);
        ClaimedDelivery old = claim(1).get(0);
        delete("leased");

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(1, 1, 0, 0));

        assertThat(get(old.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.STALE_HELD);
        ClaimedDelivery again = claim(1).get(0);
        assertThat(again.attempt()).isEqualTo(2);
        assertThat(again.redeliveryReason()).isEqualTo(RedeliveryReason.LEASE_EXPIRED);
        assertThat(again.dueMicros()).isEqualTo(1);
        assertThat(get(old.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.STALE_HELD);
        assertThat(get(again.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
    }

    @Test
    void should_wake_a_consumer_that_sleeps() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, concurrent(1));
        schedule("first", LONG_AGO);
        get(next(received).settle(Settlement.ACKNOWLEDGE));
        scheduleForeign(bytes("a"), 1);
        delete("delayed");
        get(queue.admin().check());
        // Long before its safety interval is over.
        assertThat(next(received).id()).isEqualTo("a");
    }

    @Test
    void should_be_suggested_by_the_figures() {
        schedule("a", IN_AN_HOUR);
        schedule("b", LONG_AGO, 9);
        schedule("c", LONG_AGO, 9);
        claim(1);
        assertThat(get(queue.admin().stats()).stored()).isEqualTo(3);
        lose("delayed", "a");
        QueueStats stats = get(queue.admin().stats());
        assertThat(stats.stored() - stats.delayed() - stats.leased()).isEqualTo(1);
        get(queue.admin().check());
        delete("messages");
        assertThat(get(queue.admin().stats()).stored()).isZero();
    }

    @Test
    void should_make_claims_look_again_where_the_priorities_were_lost() throws Exception {
        schedule("a", LONG_AGO, 9);
        schedule("b", LONG_AGO, 2);
        delete("config");
        assertThat(claim(2)).isEmpty();
        BlockingQueue<Delivery> received = consume(queue, concurrent(1));

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(2, 0, 0, 0));

        assertThat(next(received).id()).isEqualTo("a");
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(1);
    }

    /** The new message must be due by its own time, wherever its id was before, and not be given while it is leased. */
    @Test
    void should_take_out_of_the_lost_priorities_what_was_scheduled_again_elsewhere() {
        List<Submission<?>> sent = new ArrayList<>();
        // Enough for several slices.
        for (int i = 0; i < 600; i++) {
            sent.add(queue.schedule(message("again" + i, LONG_AGO, i % 2 == 0 ? 5 : 7)));
        }
        sent.forEach(RealQueueIT::get);
        schedule("leased", LONG_AGO, 5);
        schedule("once", LONG_AGO, 5);
        delete("config");
        schedule("leased", LONG_AGO);
        assertThat(ids(claim(1))).containsExactly("leased");
        sent.clear();
        for (int i = 0; i < 600; i++) {
            sent.add(queue.schedule(
                    message("again" + i, IN_AN_HOUR, List.of(0, 3, 9).get(i % 3))));
        }
        sent.forEach(RealQueueIT::get);

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(602, 0, 0, 0));

        snapshot().assertOneStateAtATime(false);
        assertThat(get(queue.admin().stats()).overdue()).isOne();
        assertThat(ids(claim(10))).containsExactly("once");
        pass(HOUR);
        assertThat(ids(claim(256, 0))).hasSize(256);
    }

    /** Before a check, too, claims look at a lost priority again: from the next message on that is scheduled with it. */
    @Test
    void should_give_nothing_before_its_time_where_a_lost_priority_is_used_again() {
        schedule("a", LONG_AGO, 5);
        schedule("cancelled", LONG_AGO, 5);
        schedule("leased", LONG_AGO, 5);
        delete("config");
        schedule("leased", LONG_AGO);
        ClaimedDelivery leased = claim(1).get(0);
        schedule("a", IN_AN_HOUR);
        get(queue.cancel("cancelled"));
        schedule("cancelled", IN_AN_HOUR, 3);
        get(queue.reschedule("cancelled", DueTime.after(HOUR.plus(HOUR))));
        schedule("b", LONG_AGO, 5);

        assertThat(ids(claim(10))).containsExactly("b");
        assertThat(get(leased.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        pass(HOUR);
        assertThat(ids(claim(10, 0))).containsExactly("a");
        assertThat(info("cancelled").dueMicros()).isGreaterThan(info("a").dueMicros());
        pass(HOUR);
        assertThat(ids(claim(10, 0))).containsExactly("cancelled");
        snapshot().assertOneStateAtATime(false);
    }

    /** Without groups in the configuration a schedule does not find what is parked, and stores it beside that. */
    @ParameterizedTest
    @CsvSource({"0, true, true", "5, true, true", "5, true, false", "0, false, true", "5, false, true"})
    void should_give_at_its_new_time_what_was_parked_when_groups_were_lost(
            int priority, boolean checks, boolean firstIsThere) {
        inGroup("g", "a");
        inGroup("g", "b");
        delete("config", "groups");
        schedule("b", IN_AN_HOUR, priority);
        if (!firstIsThere) {
            claim(1).forEach(each -> get(each.settle(Settlement.ACKNOWLEDGE)));
        }
        if (checks) {
            get(queue.admin().check());
            snapshot().assertOneStateAtATime(false);
        } else {
            inGroup("h", "of another group");
        }

        List<ClaimedDelivery> due = claim(10);
        assertThat(ids(due)).doesNotContain("b").hasSize(checks ? firstIsThere ? 1 : 0 : 2);
        due.forEach(each -> get(each.settle(Settlement.ACKNOWLEDGE)));
        assertThat(claim(10)).isEmpty();
        pass(HOUR);
        assertThat(ids(claim(10))).containsExactly("b");
    }

    /** It is parked behind the first one of its group, and still in the set of the priority that it had. */
    @Test
    void should_keep_the_order_of_a_group_where_a_lost_priority_is_used_again() {
        schedule("b", LONG_AGO, 5);
        delete("config");
        inGroup("g", "a");
        inGroup("g", "b");
        schedule("c", LONG_AGO, 5);

        List<ClaimedDelivery> first = claim(10);
        assertThat(ids(first)).containsExactlyInAnyOrder("a", "c");
        assertThat(claim(10)).isEmpty();
        first.forEach(each -> get(each.settle(Settlement.ACKNOWLEDGE)));
        assertThat(ids(claim(10))).containsExactly("b");
        snapshot().assertOneStateAtATime(false);
    }

    /** What it takes out of one set is in another one to which claims look from then on. */
    @Test
    void should_hide_nothing_if_it_is_broken_off_behind_its_first_slice() {
        List<Submission<?>> sent = new ArrayList<>();
        for (int priority : List.of(3, 7)) {
            for (int i = 0; i < 600; i++) {
                sent.add(queue.schedule(message("m" + i, priority == 3 ? LONG_AGO : IN_AN_HOUR, priority)));
            }
            sent.forEach(RealQueueIT::get);
            delete("config");
        }
        schedule("other", IN_AN_HOUR, 3);
        try (DelayQueueClient other = clientWhoseThirdCallFails()) {
            assertThatThrownBy(() -> get(other.queue(queue.name()).admin().check()))
                    .hasMessageContaining("no line");
        }

        assertThat(held("delayed:3").size() + held("delayed:7").size())
                .as("some were taken out")
                .isBetween(602, 1_200);
        assertThat(claim(256)).isEmpty();
        pass(HOUR);
        assertThat(IntStream.range(0, 4).mapToObj(i -> claim(256, 0)).mapToInt(List::size))
                .containsExactly(256, 256, 89, 0);
    }

    @Test
    void should_not_end_a_pause() {
        schedule("a", LONG_AGO);
        get(queue.admin().pause());
        lose("delayed", "a");
        assertThat(get(queue.admin().check()).restored()).isEqualTo(1);
        assertThat(claim(1)).isEmpty();
        get(queue.admin().resume());
        assertThat(ids(claim(1))).containsExactly("a");
    }

    @Test
    void should_check_dead_letters_by_themselves() {
        String letter = bury("a", 9);
        delete("dead:delayed");

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(0, 0, 0, 0));
        assertThat(get(queue.deadLetters().admin().check())).isEqualTo(new CheckResult(1, 1, 0, 0));

        StoredMessage found = get(queue.deadLetters().get(letter)).orElseThrow();
        assertThat(text(found.info().lastFailure())).isEqualTo("failure of a");
        // Since when it is one.
        assertThat(letter).endsWith("@" + found.info().dueMicros());
        assertThat(get(queue.redrive(letter, null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(info("a").priority()).isEqualTo(9);
    }

    @Test
    void should_count_the_ids_that_have_lost_their_message() {
        scheduleMany(300, "m", IN_AN_HOUR);
        schedule("leased", LONG_AGO);
        claim(1);
        delete("messages");
        schedule("new", IN_AN_HOUR);
        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(1, 0, 301, 0));
        // They are dropped when they are claimed, as ever.
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(301);
    }

    @Test
    void should_drop_records_of_which_a_new_message_would_inherit_the_attempts() {
        for (String id : List.of("lost", "waits")) {
            schedule(id, LONG_AGO);
            get(claim(1).get(0).settle(new Settlement.Retry(HOUR, bytes("failure"))));
        }
        schedule("leased", LONG_AGO);
        claim(1);
        lose("delayed", "lost");
        redis.client().getMap(keys().key("messages"), StringCodec.INSTANCE).remove("lost");

        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(2, 0, 0, 1));

        assertThat(held("state")).containsExactly("leased", "waits");
        schedule("lost", LONG_AGO);
        assertThat(claim(1).get(0).attempt()).isEqualTo(1);
    }

    @Test
    void should_go_in_slices_that_are_bounded_in_messages_and_bytes() {
        scheduleMany(3_000, "m", IN_AN_HOUR);
        List<Submission<ScheduleResult>> large = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            large.add(queue.schedule(ScheduleRequest.of("large" + i, new byte[200_000], IN_AN_HOUR)));
        }
        large.forEach(RealQueueIT::get);
        delete("delayed");
        ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        List<Integer> found = new ArrayList<>();
        try (DelayQueueClient other = ClientAccess.create(
                redis.client(), ClientOptions.DEFAULTS, (script, keys, arguments, attempt) -> real.call(
                                script, keys, arguments, attempt)
                        .thenApply(reply -> {
                            found.add(((List<?>) reply).size() - 2);
                            return reply;
                        }))) {
            assertThat(get(other.queue(queue.name()).admin().check())).isEqualTo(new CheckResult(3_040, 3_040, 0, 0));
        }
        assertThat(found).allMatch(size -> size < 400);
        assertThat(found.size()).isBetween(10, 200);
        snapshot().assertOneStateAtATime(false);
    }

    @Test
    void should_fail_where_a_slice_fails_and_find_the_rest_when_asked_again() {
        scheduleMany(1_000, "m", IN_AN_HOUR);
        delete("delayed");
        try (DelayQueueClient other = clientWhoseThirdCallFails()) {
            DelayQueue its = other.queue(queue.name());
            assertThatThrownBy(() -> get(its.admin().check()))
                    .isInstanceOf(DelayQueueException.class)
                    .hasMessageContaining("queue '" + queue.name() + "'")
                    .hasMessageContaining("no line");
            long done = get(queue.admin().stats()).delayed();
            assertThat(done).isBetween(1L, 999L);
            assertThat(get(its.admin().check())).isEqualTo(new CheckResult(1_000, 1_000 - done, 0, 0));
        }
    }

    @Test
    void should_leave_alone_what_is_delivered_and_finished_meanwhile() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        // As many are in the queue at a time, also where the machine is slow.
        Semaphore room = new Semaphore(1_000);
        Map<String, Integer> deliveries = new ConcurrentHashMap<>();
        queue.consume(concurrent(8), executor, delivery -> {
            int number = deliveries.merge(delivery.id(), 1, Integer::sum);
            if (number == 1 && delivery.id().hashCode() % 5 == 0) {
                delivery.settle(new Settlement.Retry(Duration.ofMillis(20), new byte[0]));
            } else {
                delivery.settle(Settlement.ACKNOWLEDGE).result().thenRun(room::release);
            }
        });
        Future<Integer> producer = executor.submit(() -> {
            int batch = 0;
            for (; !over.get(); batch++) {
                room.acquire(100);
                scheduleMany(100, "m" + batch + "-", new DueTime(true, 50_000 * (batch % 3)));
            }
            return batch * 100;
        });
        try {
            for (int i = 0; i < 50; i++) {
                assertThat(get(queue.admin().check()).restored()).isZero();
            }
        } finally {
            over.set(true);
        }
        int scheduled = producer.get();
        await().untilAsserted(() -> assertThat(held("messages")).isEmpty());
        assertThat(deliveries).hasSize(scheduled);
        assertThat(deliveries)
                .allSatisfy((id, number) ->
                        assertThat(number).as("deliveries of " + id).isEqualTo(id.hashCode() % 5 == 0 ? 2 : 1));
    }

    @Test
    void should_deliver_each_body_that_is_left_once_after_any_damage() {
        long first = RandomTests.seed("seed");
        LOG.info("seeds from {}", first);
        int rounds = RandomTests.amount("check.rounds", 4, 12);
        for (long seed = first; seed < first + rounds; seed++) {
            queue = client.queue(redis.uniqueQueue());
            try {
                damageAndRepair(new Random(seed));
            } catch (Throwable e) {
                throw new AssertionError("with -Dseed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private void damageAndRepair(Random random) {
        ClaimCalls claims = ClientAccess.consumers(client)
                .newClaims(((RedisDelayQueue) queue).partitions().get(0).address(), error -> {});
        // In all states: some returned, some rescheduled, some leased for ever, some new.
        List<Submission<?>> sent = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            DueTime due = random.nextBoolean() ? LONG_AGO : new DueTime(true, random.nextInt(1_000_000));
            sent.add(queue.schedule(message("m" + i, due, random.nextInt(3) == 0 ? 1 + random.nextInt(9) : 0)));
        }
        sent.forEach(RealQueueIT::get);
        List<ClaimedDelivery> held = claim(queue, claims, 100, 0);
        for (ClaimedDelivery delivery : held) {
            switch (random.nextInt(4)) {
                case 0 ->
                    get(delivery.settle(new Settlement.Retry(Duration.ofMillis(random.nextInt(500)), bytes("f"))));
                case 1 -> get(delivery.settle(Settlement.RELEASE));
                case 2 -> get(delivery.settle(new Settlement.DeadLetter(bytes("f"))));
                default -> {}
            }
        }
        for (int i = 0; i < 50; i++) {
            get(queue.reschedule("m" + random.nextInt(400), new DueTime(true, random.nextInt(1_000_000))));
        }
        List<String> parts =
                new ArrayList<>(List.of("delayed", "state", "config", "sessions", "waiters", "dead:delayed"));
        for (int priority = 1; priority <= 9; priority++) {
            parts.add("delayed:" + priority);
        }
        parts.removeIf(part -> random.nextInt(3) == 0);
        // Leases would last for an hour.
        parts.add("leased");
        delete(parts.toArray(String[]::new));
        for (String part : List.of("delayed", "delayed:3", "messages", "state", "dead:state")) {
            List<String> ids = held(part);
            for (int i = 0; i < 20 && !ids.isEmpty(); i++) {
                String id = ids.get(random.nextInt(ids.size()));
                if (part.startsWith("delayed")) {
                    redis.client()
                            .getScoredSortedSet(keys().key(part), StringCodec.INSTANCE)
                            .remove(id);
                } else {
                    redis.client()
                            .getMap(keys().key(part), StringCodec.INSTANCE)
                            .remove(id);
                }
            }
        }
        // Some come again, with another priority: if the configuration was lost, they are still in the set of the old
        // one.
        for (int i = 0; i < 50; i++) {
            get(queue.schedule(message("m" + random.nextInt(400), new DueTime(true, 1_000_000), random.nextInt(10))
                    .withOnDuplicate(DuplicatePolicy.IGNORE)));
        }
        Set<String> left = new TreeSet<>(held("messages"));
        Set<String> lettersLeft = new TreeSet<>(held("dead:messages"));

        CheckResult found = get(queue.admin().check());
        get(queue.deadLetters().admin().check());
        assertThat(found.messages()).isEqualTo(left.size());
        QueueSnapshot repaired = snapshot();
        repaired.assertOneStateAtATime(true);
        long ids = get(queue.admin().stats()).delayed()
                + get(queue.admin().stats()).leased();
        assertThat(found.bodiesMissing()).isEqualTo(ids - left.size());

        assertThat(drain(queue)).containsExactlyInAnyOrderElementsOf(left);
        assertThat(drain(queue.deadLetters())).containsExactlyInAnyOrderElementsOf(lettersLeft);
        await().untilAsserted(() -> {
            for (String part : List.of("messages", "delayed", "leased", "state", "config")) {
                assertThat(held(part)).as(part).isEmpty();
                assertThat(held("dead:" + part)).as("dead:" + part).isEmpty();
            }
        });
        claims.close();
    }

    /** Consumes until nothing is left; answers what came, as often as it came. */
    private Queue<String> drain(DelayQueue from) {
        Queue<String> received = new ConcurrentLinkedQueue<>();
        DelayQueueConsumer consumer = from.consume(concurrent(8), executor, delivery -> {
            received.add(delivery.id());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        await().until(() -> {
            QueueStats stats = get(from.admin().stats());
            return stats.delayed() + stats.leased() == 0;
        });
        consumer.stop(false);
        return received;
    }
}
