// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.GatedCaller;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.model.QueueSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.redisson.client.codec.ByteArrayCodec;

/** Dead letters are a queue of their own, and can go back to the queue that they come from. */
class DeadLettersIT extends RealQueueIT {

    @Test
    void should_wait_among_the_dead_letters_with_body_failure_and_priority() {
        String dead = bury("a", 6);
        assertThat(dead).matches("a@\\d{16}");
        StoredMessage stored = get(queue.deadLetters().get(dead)).orElseThrow();
        assertThat(text(stored.body())).isEqualTo("body of a");
        MessageInfo info = stored.info();
        assertThat(info.state()).isEqualTo(MessageState.DELAYED);
        assertThat(text(info.lastFailure())).isEqualTo("failure of a");
        assertThat(info.priority()).isEqualTo(6);
        assertThat(info.attempts()).isZero();
        assertThat(dead).endsWith("@" + info.dueMicros());
        assertThat(get(queue.get("a"))).isEmpty();
        assertThat(get(queue.admin().stats()).dead()).isEqualTo(1);
        assertThat(get(queue.deadLetters().admin().stats()).overdue()).isEqualTo(1);
    }

    @Test
    void should_tell_who_gave_it_up_under_which_id_it_is_kept() {
        schedule("a", LONG_AGO);
        schedule("b", LONG_AGO);
        List<ClaimedDelivery> held = claim(2);
        assertThat(held.get(0).deadLetterId()).isNull();
        assertThat(get(held.get(0).settle(new Settlement.DeadLetter(new byte[0]))))
                .isEqualTo(SettleResult.DONE);
        get(queue.cancel("b"));
        assertThat(get(held.get(1).settle(new Settlement.DeadLetter(new byte[0]))))
                .isEqualTo(SettleResult.STALE_GONE);
        assertThat(held("dead:messages"))
                .containsExactly(held.get(0).deadLetterId().toString());
        assertThat(held.get(1).deadLetterId()).isNull();
    }

    @Test
    void should_be_delivered_to_a_consumer_of_dead_letters_until_it_acknowledges_them() throws Exception {
        String dead = bury("a", 3);
        BlockingQueue<Delivery> received = consume(queue.deadLetters(), ConsumerOptions.DEFAULTS);
        Delivery first = next(received);
        assertThat(first.id()).isEqualTo(dead);
        assertThat(text(first.body())).isEqualTo("body of a");
        assertThat(text(first.lastFailure())).isEqualTo("failure of a");
        assertThat(first.attempt()).isEqualTo(1);
        assertThatThrownBy(() -> first.settle(new Settlement.DeadLetter(new byte[0])))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is a dead letter");
        assertThatThrownBy(() -> first.settle(new Settlement.Drop(Duration.ZERO)))
                .isInstanceOf(IllegalStateException.class);
        assertThat(get(first.settle(new Settlement.Retry(Duration.ZERO, first.lastFailure()))))
                .isEqualTo(SettleResult.DONE);
        Delivery second = next(received);
        assertThat(second.id()).isEqualTo(dead);
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(second.redeliveryReason()).isEqualTo(RedeliveryReason.FAILED);
        assertThat(second.priority()).isEqualTo(3);
        assertThat(text(second.lastFailure())).isEqualTo("failure of a");
        assertThat(get(second.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        QueueSnapshot left = snapshot();
        for (String part : List.of("messages", "delayed", "leased", "state")) {
            assertThat(left.keys().get("dead:" + part)).as("dead:" + part).isEmpty();
            assertThat(left.keys().get(part)).as(part).isEmpty();
        }
        assertThat(received).isEmpty();
    }

    @Test
    void should_wait_in_one_set_whatever_the_priority_also_when_returned() {
        String dead = bury("a", 9);
        get(claimDead(1).get(0).settle(new Settlement.Retry(Duration.ZERO, new byte[0])));
        assertThat(held("dead:delayed")).containsExactly(dead);
        get(claimDead(1).get(0).settle(Settlement.RELEASE));
        get(queue.deadLetters().reschedule(dead, DueTime.now()));
        assertThat(held("dead:delayed")).containsExactly(dead);
        assertThat(held("dead:config")).isEmpty();
        assertThat(get(queue.redrive(dead, null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(held("delayed:9")).containsExactly("a");
    }

    @Test
    void should_wake_a_consumer_of_dead_letters_at_once() throws Exception {
        BlockingQueue<Delivery> received = consume(queue.deadLetters(), ConsumerOptions.DEFAULTS);
        try (DelayQueueReceiver receiver = queue.deadLetters().receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            assertThat(receiver.receive(Duration.ZERO)).isNull();
            giveUp("a", 0);
            Delivery delivery = next(received);
            assertThat(delivery.id()).startsWith("a@");
            assertThat(delivery.lateness()).isLessThan(Duration.ofSeconds(5));
        }
    }

    @Test
    void should_come_back_to_the_dead_letters_where_their_consumer_died() {
        String dead = bury("a", 0);
        assertThat(claimDead(1)).hasSize(1);
        pass(Duration.ofHours(2));
        assertThat(claim(10)).isEmpty();
        ClaimedDelivery again = claimDead(1).get(0);
        assertThat(again.id()).isEqualTo(dead);
        assertThat(again.redeliveryReason()).isEqualTo(RedeliveryReason.LEASE_EXPIRED);
    }

    @Test
    void should_redrive_after_what_was_asked_for_before_about_the_same_message() {
        String dead = bury("a", 0);
        GatedCaller gate = new GatedCaller(redis.client());
        gate.hold(LuaScript.SCHEDULE);
        try (DelayQueueClient other = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, gate)) {
            DelayQueue sameQueue = other.queue(queue.name());
            Submission<ScheduleResult> scheduled = sameQueue.schedule(message("a", IN_AN_HOUR, 0));
            Submission<RedriveOutcome> redriven = sameQueue.redrive(dead, null);
            List<Submission<RedriveOutcome>> others = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                others.add(sameQueue.redrive("none" + i + "@1", null)); // so many are worth a call of their own
            }
            assertThat(get(others.get(0))).isEqualTo(RedriveOutcome.NONE);
            assertThat(redriven.result()).as("while the schedule is under way").isNotDone();
            gate.open();
            assertThat(get(scheduled).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
            assertThat(get(redriven)).isEqualTo(RedriveOutcome.DUPLICATE);
        }
    }

    @Test
    void should_begin_anew_when_redriven() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, ConsumerOptions.DEFAULTS);
        schedule("a", LONG_AGO, 7);
        Delivery first = next(received);
        get(first.settle(new Settlement.Retry(Duration.ZERO, bytes("once"))));
        get(next(received).settle(new Settlement.DeadLetter(bytes("twice"))));
        String dead = held("dead:delayed").get(0);
        assertThat(get(queue.redrive(dead, null))).isEqualTo(RedriveOutcome.REDRIVEN);
        Delivery again = next(received);
        assertThat(again.id()).isEqualTo("a");
        assertThat(text(again.body())).isEqualTo("body of a");
        assertThat(again.attempt()).isEqualTo(1);
        assertThat(again.redeliveryReason()).isEqualTo(RedeliveryReason.NONE);
        assertThat(again.lastFailure()).isEmpty();
        assertThat(again.priority()).isEqualTo(7);
        assertThat(again.scheduledMicros()).isEqualTo(again.dueMicros()).isGreaterThan(first.claimedMicros());
        assertThat(again.firstDueMicros()).isEqualTo(again.dueMicros());
        assertThat(again.lateness()).isLessThan(Duration.ofSeconds(5));
        assertThat(get(queue.redrive(dead, null))).isEqualTo(RedriveOutcome.NONE);
    }

    @Test
    void should_stay_dead_where_the_id_is_in_use_or_a_consumer_has_it() {
        String first = bury("a", 0);
        String second = bury("a", 0);
        assertThat(second).isNotEqualTo(first);
        assertThat(get(queue.redrive(first, null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(get(queue.redrive(second, null))).isEqualTo(RedriveOutcome.DUPLICATE);
        ClaimedDelivery delivery = claim(1).get(0);
        assertThat(get(queue.redrive(second, null))).isEqualTo(RedriveOutcome.DUPLICATE);
        get(delivery.settle(new Settlement.Acknowledge(HOUR)));
        ClaimedDelivery dead = claimDead(1).get(0);
        assertThat(get(queue.redrive(second, null))).isEqualTo(RedriveOutcome.LEASED);
        get(dead.settle(Settlement.RELEASE));
        // It is asked for by name: that its id was finished lately does not matter.
        assertThat(get(queue.redrive(second, null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(get(queue.redrive("none@5", null))).isEqualTo(RedriveOutcome.NONE);
        assertThat(get(queue.redrive("a", null))).isEqualTo(RedriveOutcome.NONE);
    }

    @Test
    void should_find_the_id_again_whatever_it_looks_like() {
        String longest = "ü".repeat(ScheduleRequest.MAX_ID_BYTES / 2);
        for (String id : List.of("a@5", "@", "@@7", "a@", "5", "%d+$", longest)) {
            String dead = bury(id, 0);
            assertThat(get(queue.deadLetters().get(dead))).isPresent();
            assertThat(get(queue.redrive(dead, null))).isEqualTo(RedriveOutcome.REDRIVEN);
            assertThat(held("messages")).hasSize(1);
            assertThat(get(queue.cancel(id)).previousState()).as(id).isEqualTo(MessageState.DELAYED);
        }
    }

    @Test
    void should_redrive_and_purge_those_that_are_meant() {
        for (int i = 0; i < 6; i++) {
            bury("m" + i, 0);
        }
        assertThat(get(queue.admin()
                        .redriveAll(message -> text(message.lastFailure()).endsWith("m1"), Long.MAX_VALUE)))
                .isEqualTo(1);
        assertThat(held("messages")).containsExactly("m1");
        assertThat(get(queue.deadLetters()
                        .admin()
                        .cancelAll(message -> message.id().compareTo("m4") < 0, Long.MAX_VALUE)))
                .isEqualTo(3);
        assertThat(get(queue.admin().redriveAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(2);
        assertThat(held("messages")).containsExactly("m1", "m4", "m5");
        assertThat(held("dead:messages")).isEmpty();
        assertThat(held("dead:state")).isEmpty();
    }

    @Test
    void should_end_each_in_exactly_one_of_redriven_and_purged() throws Exception {
        int count = 600;
        scheduleMany(count, "m", LONG_AGO);
        for (int i = 0; i < 3; i++) {
            claim(200).stream()
                    .map(d -> d.settle(new Settlement.DeadLetter(new byte[0])))
                    .toList()
                    .forEach(RealQueueIT::get);
        }
        List<String> dead = held("dead:delayed");
        assertThat(dead).hasSize(count);
        Map<String, String> ends = new ConcurrentHashMap<>();
        List<Future<?>> workers = new ArrayList<>();
        for (int w = 0; w < 4; w++) {
            boolean redrives = w % 2 == 0;
            workers.add(executor.submit(() -> {
                try (DelayQueueClient own = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
                    DelayQueue main = own.queue(queue.name());
                    DelayQueue itsDead = main.deadLetters();
                    for (String id : dead) {
                        boolean did = redrives
                                ? get(main.redrive(id, null)) == RedriveOutcome.REDRIVEN
                                : get(itsDead.cancel(id)).previousState() == MessageState.DELAYED;
                        if (did) {
                            String other = ends.put(id, redrives ? "redriven" : "purged");
                            assertThat(other).as("what else became of " + id).isNull();
                        }
                    }
                }
            }));
        }
        workers.add(executor.submit(() -> get(queue.admin().redriveAll(message -> false, Long.MAX_VALUE))));
        for (Future<?> worker : workers) {
            worker.get(60, TimeUnit.SECONDS);
        }
        assertThat(ends).hasSize(count);
        QueueSnapshot left = snapshot();
        left.assertOneStateAtATime(false);
        assertThat(left.keys().get("dead:messages")).isEmpty();
        assertThat(left.messages().keySet())
                .isEqualTo(ends.entrySet().stream()
                        .filter(end -> end.getValue().equals("redriven"))
                        .map(end -> end.getKey().substring(0, end.getKey().indexOf('@')))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void should_act_on_all_once_when_all_are_redriven_and_purged_at_a_time() throws Exception {
        int count = 600;
        scheduleMany(count, "m", LONG_AGO);
        for (int i = 0; i < 3; i++) {
            claim(200).stream()
                    .map(d -> d.settle(new Settlement.DeadLetter(new byte[0])))
                    .toList()
                    .forEach(RealQueueIT::get);
        }
        Future<Long> redriven = executor.submit(() -> get(queue.admin().redriveAll(message -> true, Long.MAX_VALUE)));
        Future<Long> purged =
                executor.submit(() -> get(queue.deadLetters().admin().cancelAll(message -> true, Long.MAX_VALUE)));
        assertThat(redriven.get(30, TimeUnit.SECONDS) + purged.get(30, TimeUnit.SECONDS))
                .isEqualTo(count);
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(redriven.get());
        assertThat(get(queue.admin().stats()).dead()).isZero();
    }

    @Test
    void should_be_dropped_when_too_old_the_oldest_first_unless_a_consumer_has_them() {
        bury("held", 0);
        assertThat(claimDead(1)).hasSize(1);
        pass(Duration.ofMinutes(20));
        bury("old", 0);
        pass(Duration.ofMinutes(20));
        bury("older than some", 0);
        pass(Duration.ofMinutes(10));
        bury("new", 0);
        assertThat(get(queue.admin().trimDeadLetters(Duration.ofMinutes(31), 0)))
                .isZero();
        assertThat(get(queue.admin().trimDeadLetters(Duration.ofMinutes(29), 0)))
                .isEqualTo(1);
        assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 2))).isZero();
        assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 1))).isEqualTo(1);
        assertThat(held("dead:delayed")).hasSize(1).allMatch(id -> id.startsWith("new@"));
        assertThat(held("dead:leased")).hasSize(1).allMatch(id -> id.startsWith("held@"));
        assertThat(held("dead:messages")).hasSize(2);
        assertThat(held("dead:state")).hasSize(2);
        assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 0))).isZero();
    }

    @Test
    void should_be_dropped_in_slices_until_there_are_no_more_than_allowed() {
        scheduleMany(512, "m", LONG_AGO);
        for (int i = 0; i < 2; i++) {
            claim(256).stream()
                    .map(d -> d.settle(new Settlement.DeadLetter(new byte[0])))
                    .toList()
                    .forEach(RealQueueIT::get);
        }
        assertThat(get(queue.admin().trimDeadLetters(HOUR, 7))).isEqualTo(505);
        assertThat(get(queue.admin().stats()).dead()).isEqualTo(7);
        assertThat(get(queue.admin().trimDeadLetters(Duration.ofNanos(1), 7))).isEqualTo(7);
        assertThat(get(queue.admin().stats()).dead()).isZero();
        assertThat(held("dead:messages")).isEmpty();
    }

    /** Another client has written them. */
    @Test
    void should_be_dropped_behind_a_page_of_ids_that_this_client_refuses() {
        bury("old", 0);
        bury("new", 0);
        String refused = "x".repeat(ScheduleRequest.MAX_DEAD_LETTER_ID_BYTES);
        for (int i = 0; i < QueueAdmin.MAX_PAGE; i++) {
            byte[] id = bytes(refused + i);
            redis.client()
                    .getMap(keys().key("dead:messages"), ByteArrayCodec.INSTANCE)
                    .fastPut(id, new byte[16]);
            redis.client()
                    .getScoredSortedSet(keys().key("dead:delayed"), ByteArrayCodec.INSTANCE)
                    .add(1_000 + i, id);
        }
        assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 1))).isEqualTo(1);
        assertThat(held("dead:delayed")).hasSize(QueueAdmin.MAX_PAGE + 1).anyMatch(id -> id.startsWith("new@"));
        pass(Duration.ofMinutes(20));
        assertThat(get(queue.admin().trimDeadLetters(Duration.ofMinutes(10), 0)))
                .isEqualTo(1);
    }

    @Test
    void should_refuse_what_has_no_sense_for_dead_letters() {
        DelayQueue dead = queue.deadLetters();
        assertThatThrownBy(dead::deadLetters).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> dead.redrive("a@1", null)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> dead.admin().redriveAll(message -> true, Long.MAX_VALUE))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> dead.admin().trimDeadLetters(HOUR, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> queue.admin().trimDeadLetters(HOUR.negated(), 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queue.admin().trimDeadLetters(HOUR, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    private List<String> lettersOf(String id) {
        return get(queue.admin().deadLettersOf(id)).stream()
                .map(DeadLetterId::toString)
                .toList();
    }

    @Test
    void should_be_found_by_the_id_of_the_message_the_newest_first() {
        String first = bury("a", 0);
        String second = bury("a", 3);
        String other = bury("a@5", 0);
        bury("a@", 0);
        bury("a5", 0);
        bury("b", 0);
        assertThat(lettersOf("a")).containsExactly(second, first);
        assertThat(lettersOf("a@5")).containsExactly(other);
        assertThat(lettersOf(first)).containsExactly(first);
        assertThat(lettersOf(other)).containsExactly(other);
        for (String none :
                List.of("A", "a@6", "a@" + Long.MAX_VALUE, "nobody", first.substring(0, first.length() - 1))) {
            assertThat(lettersOf(none)).as(none).isEmpty();
        }
        assertThatThrownBy(() -> queue.deadLetters().admin().deadLettersOf("a"))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void should_not_be_found_any_more_when_they_are_gone() {
        String redriven = bury("a", 0);
        String purged = bury("a", 0);
        String acknowledged = bury("a", 0);
        String held = bury("a", 0);
        assertThat(lettersOf("a")).containsExactly(held, acknowledged, purged, redriven);
        get(queue.redrive(redriven, null));
        get(queue.deadLetters().cancel(purged));
        assertThat(lettersOf("a")).containsExactly(held, acknowledged);
        List<ClaimedDelivery> deliveries = claimDead(2);
        assertThat(lettersOf("a")).as("while consumers have them").containsExactly(held, acknowledged);
        get(deliveries.get(0).settle(Settlement.ACKNOWLEDGE));
        get(deliveries.get(1).settle(new Settlement.Retry(Duration.ZERO, new byte[0])));
        assertThat(lettersOf("a")).containsExactly(held);
        assertThat(get(queue.admin().trimDeadLetters(Duration.ofNanos(1), 0))).isOne();
        assertThat(lettersOf("a")).isEmpty();
        assertThat(held("dead:index")).isEmpty();
    }

    @Test
    void should_be_told_of_where_a_message_is_changed_that_has_died() {
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.NONE);
        bury("a", 0);
        String newest = bury("a", 0);
        for (ChangeResult result :
                List.of(get(queue.cancel("a")), get(queue.promote("a")), get(queue.reschedule("a", IN_AN_HOUR)))) {
            assertThat(result.previousState()).isEqualTo(MessageState.DEAD);
            assertThat(result.deadLetterId()).hasToString(newest);
            assertThat(result.deadLetters()).isEqualTo(2);
            assertThat(result.dueMicros()).isZero();
        }
        assertThat(held("dead:messages")).hasSize(2);
        schedule("a", IN_AN_HOUR);
        assertThat(get(queue.cancel("a")))
                .as("one that lives is meant first")
                .isEqualTo(new ChangeResult("a", MessageState.DELAYED, 0));
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.DEAD);
    }

    /** A script that fails after its first write would leave the messages behind it unchanged, at each repeat. */
    @Test
    void should_not_stumble_over_what_no_script_has_put_into_the_index() {
        redis.client()
                .getScript(org.redisson.client.codec.StringCodec.INSTANCE)
                .eval(
                        org.redisson.api.RScript.Mode.READ_WRITE,
                        "for _, digits in ipairs({ 'x', '', '1e9', string.rep('9', 400) }) do "
                                + "redis.call('HSET', KEYS[1], 'a@' .. digits, 'x') "
                                + "redis.call('ZADD', KEYS[2], 0, 'a\\0' .. digits) end return 1",
                        org.redisson.api.RScript.ReturnType.VALUE,
                        List.of(keys().dead().key("messages"), keys().dead().key("index")));
        assertThat(lettersOf("a")).isEmpty();
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.NONE);
        String own = bury("a", 0);
        assertThat(get(queue.cancel("a")).deadLetterId()).hasToString(own);
    }

    @Test
    void should_be_counted_up_to_a_hundred() {
        for (int i = 0; i < 3; i++) {
            scheduleMany(1, "m", LONG_AGO);
            get(claim(1).get(0).settle(new Settlement.DeadLetter(new byte[0])));
        }
        redis.client()
                .getScript(org.redisson.client.codec.StringCodec.INSTANCE)
                .eval(
                        org.redisson.api.RScript.Mode.READ_WRITE,
                        "for i = 1, 150 do local at = 1500000000000000 + i "
                                + "redis.call('HSET', KEYS[1], 'm0@' .. string.format('%.0f', at), 'x') "
                                + "redis.call('ZADD', KEYS[2], 0, 'm0\\0' .. string.format('%.0f', at)) end return 1",
                        org.redisson.api.RScript.ReturnType.VALUE,
                        List.of(keys().dead().key("messages"), keys().dead().key("index")));
        assertThat(lettersOf("m0")).hasSize(100).isSortedAccordingTo(java.util.Comparator.reverseOrder());
        assertThat(get(queue.cancel("m0")).deadLetters()).isEqualTo(100);
    }
}
