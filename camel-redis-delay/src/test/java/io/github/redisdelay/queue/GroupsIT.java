// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.model.QueueSnapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RKeys;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/**
 * Messages with a group, and the histories that break an order where it is kept without care. Who has the places is looked at before
 * the next claim, as a claim mends.
 */
class GroupsIT extends RealQueueIT {

    private static final Settlement RETRY_LATER = new Settlement.Retry(Duration.ofMinutes(30), bytes("failed"));

    static DueTime at(long micros) {
        return new DueTime(false, micros);
    }

    static ScheduleRequest grouped(String id, String group, DueTime due) {
        return ScheduleRequest.of(id, bytes("body of " + id), due).withGroup(group);
    }

    private ScheduleResult schedule(String id, String group, DueTime due) {
        return get(queue.schedule(grouped(id, group, due)));
    }

    /** Messages 1 to a number of group g, due one after the other. */
    private void scheduleGroup(int count) {
        for (int i = 1; i <= count; i++) {
            schedule("m" + i, "g", at(i));
        }
    }

    private void limit(int concurrency, boolean strict) {
        get(queue.admin().limit(new QueueLimits(concurrency, strict)));
    }

    private ClaimedDelivery claimOnly(String id) {
        return claimOnly(id, 10);
    }

    private ClaimedDelivery claimOnly(String id, int messages) {
        List<ClaimedDelivery> claimed = claim(messages);
        assertThat(ids(claimed)).containsExactly(id);
        return claimed.get(0);
    }

    private static SettleResult acknowledge(Delivery delivery) {
        return get(delivery.settle(Settlement.ACKNOWLEDGE));
    }

    private MessageState state(String id) {
        return get(queue.get(id)).map(found -> found.info().state()).orElse(MessageState.NONE);
    }

    private List<String> members(String key) {
        return redis.client().<byte[]>getScoredSortedSet(keys().key(key), ByteArrayCodec.INSTANCE).readAll().stream()
                .map(bytes -> new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1))
                .toList();
    }

    private void delete(String key) {
        redis.client().getKeys().delete(keys().key(key));
    }

    private void removeByHand(String id) {
        redis.client().getMap(keys().key("messages"), StringCodec.INSTANCE).remove(id);
        redis.client().getMap(keys().key("state"), StringCodec.INSTANCE).remove(id);
        for (String set : List.of("delayed", "leased", "parked")) {
            redis.client()
                    .getScoredSortedSet(keys().key(set), StringCodec.INSTANCE)
                    .remove(id);
        }
    }

    /** Delivers all that is there: no lease expires, and only what was retried waits. */
    private List<String> drain() {
        List<String> all = new ArrayList<>();
        pass(Duration.ofMinutes(59));
        for (List<ClaimedDelivery> some = claim(10); !some.isEmpty(); some = claim(10)) {
            some.forEach(delivery -> {
                all.add(delivery.id());
                acknowledge(delivery);
            });
        }
        return all;
    }

    /** Whatever a test does: an empty queue has no place taken. */
    @AfterEach
    void should_leave_nothing_behind() {
        pass(Duration.ofDays(3));
        drain();
        claim(1);
        if (redis.client().getMap(keys().key("messages")).isEmpty()) {
            RKeys all = redis.client().getKeys();
            assertThat(all.countExists(keys().key("groups"), keys().key("parked"), keys().key("state")))
                    .isZero();
        }
    }

    @Test
    void should_deliver_one_of_a_group_at_a_time_in_the_order_of_their_due_times() {
        for (int i : new int[] {3, 1, 5, 2, 4}) {
            schedule("m" + i, "g", at(i));
        }
        schedule("other", "h", at(9));
        schedule("free", LONG_AGO);
        List<ClaimedDelivery> first = claim(10);
        assertThat(ids(first)).containsExactlyInAnyOrder("m1", "other", "free");
        assertThat(claim(10)).isEmpty();
        assertThat(state("m2")).isEqualTo(MessageState.PARKED);
        assertThat(get(queue.get("m2")).orElseThrow().info().group()).isEqualTo("g");
        first.forEach(GroupsIT::acknowledge);
        for (int i = 2; i <= 5; i++) {
            ClaimedDelivery next = claimOnly("m" + i);
            assertThat(claim(10)).isEmpty();
            acknowledge(next);
        }
    }

    @Test
    void should_give_the_place_to_the_next_one_when_a_delivery_ends() {
        scheduleGroup(4);
        assertThat(acknowledge(claimOnly("m1"))).isEqualTo(SettleResult.DONE);
        get(claimOnly("m2").settle(new Settlement.DeadLetter(bytes("why"))));
        get(claimOnly("m3").settle(new Settlement.Drop(Duration.ZERO)));
        assertThat(claimOnly("m4").group()).isEqualTo("g");
    }

    @Test
    void should_keep_the_place_of_a_failed_one_unless_retries_let_others_pass() {
        scheduleGroup(3);
        get(claimOnly("m1").settle(RETRY_LATER));
        assertThat(claim(10)).as("strict").isEmpty();
        pass(Duration.ofMinutes(31));
        ClaimedDelivery again = claimOnly("m1");
        assertThat(again.attempt()).isEqualTo(2);
        limit(1, false);
        get(again.settle(RETRY_LATER));
        acknowledge(claimOnly("m2"));
        acknowledge(claimOnly("m3"));
        pass(Duration.ofMinutes(31));
        acknowledge(claimOnly("m1"));
    }

    @Test
    void should_take_an_earlier_one_before_one_that_was_never_begun() {
        schedule("late", "g", at(100));
        schedule("early", "g", at(50));
        ClaimedDelivery first = claimOnly("early");
        schedule("earliest", "g", at(1));
        get(first.settle(Settlement.RELEASE));
        acknowledge(claimOnly("earliest"));
        acknowledge(claimOnly("early"));
        acknowledge(claimOnly("late"));
    }

    // The fourteen histories. Others: 9 in GroupPauseIT, 8 and 9 of rates in RatesIT, 10 in QueueConcurrencyIT.
    // 14 is in WaitersIT.

    @Test
    void history_1_should_go_on_when_the_message_that_got_the_place_is_cancelled() {
        scheduleGroup(4);
        acknowledge(claimOnly("m1"));
        get(queue.cancel("m2"));
        assertThat(members("delayed")).containsExactly("m3");
        claimOnly("m3");
    }

    @Test
    void history_2_should_free_the_place_of_a_message_that_moves_to_another_group() {
        scheduleGroup(2);
        get(claimOnly("m1").settle(RETRY_LATER));
        get(queue.schedule(
                grouped("m1", "h", DueTime.after(Duration.ofDays(2))).withOnDuplicate(DuplicatePolicy.REPLACE)));
        assertThat(members("delayed")).containsExactly("m2", "m1");
        claimOnly("m2");
        assertThat(get(queue.group("h").info()).messages()).isOne();
    }

    @Test
    void history_3_should_fill_all_places_that_became_free_at_once() {
        limit(3, true);
        scheduleGroup(12);
        assertThat(claim(10)).hasSize(3);
        List.of("m1", "m2", "m3").forEach(this::removeByHand);
        assertThat(ids(claim(10))).containsExactly("m4", "m5", "m6");
    }

    @Test
    void history_3_should_use_a_limit_that_was_raised_or_lowered_at_once() {
        scheduleGroup(12);
        ClaimedDelivery first = claimOnly("m1");
        assertThat(get(queue.admin().limit(new QueueLimits(3, true)))).isEqualTo(QueueLimits.DEFAULT);
        assertThat(members("delayed")).containsExactly("m2", "m3");
        List<ClaimedDelivery> more = claim(10);
        assertThat(ids(more)).containsExactly("m2", "m3");
        assertThat(get(queue.admin().limit(new QueueLimits(2, false)))).isEqualTo(new QueueLimits(3, true));
        acknowledge(first);
        assertThat(claim(10)).isEmpty();
        more.forEach(GroupsIT::acknowledge);
        assertThat(ids(claim(10))).containsExactly("m4", "m5");
        limit(0, true);
        assertThat(claim(10)).hasSize(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\0bbbbbbbbb", "a\n", "\u0085", ""})
    void history_4_should_refuse_a_group_with_control_characters(String group) {
        assertThatThrownBy(() -> grouped("id", group, LONG_AGO)).isInstanceOf(IllegalArgumentException.class);
        Object[] call = {
            bytes("session"),
            bytes("1"),
            bytes("base"),
            bytes("id"),
            bytes("after reject group=" + bytes(group).length),
            bytes("0"),
            bytes(""),
            bytes(group + "body")
        };
        if (!group.equals("\u0085")) { // two bytes, of which none is a control character
            assertThatThrownBy(() -> new PatientCaller(redis.client())
                            .call(LuaScript.SCHEDULE, keys().of(LuaScript.SCHEDULE), call, 1)
                            .join())
                    .hasMessageContaining("REDISDELAY argument: ");
        }
    }

    @Test
    void history_5_should_have_one_limit_for_all_clients() {
        limit(1, true);
        scheduleGroup(6);
        try (DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
            assertThat(get(other.queue(queue.name()).admin().limit(new QueueLimits(4, true))))
                    .isEqualTo(new QueueLimits(1, true));
            assertThat(members("delayed")).containsExactly("m1", "m2", "m3", "m4");
            assertThat(ids(claim(10)))
                    .as("a consumer of the client with the limit 1")
                    .containsExactly("m1", "m2", "m3", "m4");
        }
    }

    @Test
    void history_6_should_not_let_a_noisy_group_cost_others_a_claim() {
        List<Submission<ScheduleResult>> noisy = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            noisy.add(queue.schedule(grouped("n" + i, "noisy", LONG_AGO)));
        }
        noisy.forEach(RealQueueIT::get);
        for (int i = 0; i < 9; i++) {
            schedule("o" + i, "o" + i, at(2));
        }
        assertThat(claim(10)).as("one of the noisy group and all others").hasSize(10);
        assertThat(get(queue.admin().stats()).parked()).isEqualTo(2_999);
        assertThat(get(queue.admin().stats()).overdue()).isZero();
        assertThat(get(queue.admin().groups())).containsExactly(new GroupInfo("noisy", 2_999, 3_000, 0));
        assertThat(get(queue.group("noisy").cancelAll(false, true))).isEqualTo(3_000);
    }

    @Test
    void history_7_should_serve_others_only_while_the_limit_of_a_group_is_below_the_slots() {
        limit(5, true);
        scheduleGroup(12);
        schedule("other", "h", at(99));
        List<ClaimedDelivery> slots = claim(5);
        assertThat(slots).hasSize(5).allSatisfy(each -> assertThat(each.group()).isEqualTo("g"));
        slots.forEach(GroupsIT::acknowledge);
        limit(4, true);
        assertThat(ids(claim(5))).containsExactly("m6", "m7", "m8", "m9", "other");
    }

    @Test
    void history_8_should_give_expired_leases_no_more_places_than_there_are() {
        limit(3, true);
        scheduleGroup(5);
        assertThat(claim(10)).hasSize(3);
        limit(1, true);
        pass(Duration.ofMinutes(61));
        List<ClaimedDelivery> again = claim(10);
        assertThat(again).hasSize(1);
        acknowledge(again.get(0));
        assertThat(claim(10)).hasSize(1);
    }

    @Test
    void history_11_should_refuse_an_acknowledgement_that_frees_no_place() {
        scheduleGroup(2);
        ClaimedDelivery first = claimOnly("m1");
        Object[] call = {
            bytes("session"), bytes("1"), bytes("m1"), first.claimId().bytes()
        };
        assertThatThrownBy(() -> new PatientCaller(redis.client())
                        .call(LuaScript.ACKNOWLEDGE, keys().of(LuaScript.ACKNOWLEDGE), call, 1)
                        .join())
                .hasMessageContaining("REDISDELAY argument: delivery 1 has a group");
        acknowledge(first);
        claimOnly("m2");
    }

    /** What a promise allows: it is repeated, in the order of the group. The consumer of the lost claim ends nothing. */
    @Test
    void history_13_should_repeat_what_a_failover_lost_and_no_more() {
        scheduleGroup(3);
        ClaimedDelivery first = claimOnly("m1");
        Map<String, byte[]> replica = new HashMap<>();
        for (String key : QueueSnapshot.allKeys(keys())) {
            byte[] dump = redis.client().getBucket(key).dump();
            if (dump != null) {
                replica.put(key, dump);
            }
        }
        assertThat(acknowledge(first)).isEqualTo(SettleResult.DONE);
        ClaimedDelivery second = claimOnly("m2");
        redis.client().getKeys().delete(QueueSnapshot.allKeys(keys()));
        replica.forEach((key, dump) -> redis.client().getBucket(key).restore(dump));

        assertThat(acknowledge(second)).isEqualTo(SettleResult.STALE_HELD);
        assertThat(claim(10)).as("its place is taken by m1").isEmpty();
        pass(Duration.ofMinutes(61));
        ClaimedDelivery again = claimOnly("m1");
        assertThat(again.attempt()).isEqualTo(2);
        acknowledge(again);
        assertThat(drain()).containsExactly("m2", "m3");
    }

    @Test
    void should_tell_a_late_acknowledgement_that_a_message_with_a_group_has_taken_its_place() {
        schedule("m1", LONG_AGO);
        ClaimedDelivery old = claimOnly("m1");
        get(queue.schedule(grouped("m1", "g", LONG_AGO).withOnDuplicate(DuplicatePolicy.REPLACE)));
        ClaimedDelivery other = claimOnly("m1");
        assertThat(acknowledge(old)).isEqualTo(SettleResult.STALE_HELD);
        assertThat(acknowledge(other)).isEqualTo(SettleResult.DONE);
    }

    @Test
    void history_12_should_know_parked_messages_in_a_check() {
        scheduleGroup(5);
        QueueSnapshots before = read();
        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(5, 0, 0, 0));
        assertThat(read()).isEqualTo(before);
        for (String lost : List.of("groups", "parked", "delayed", "config")) {
            delete(lost);
            get(queue.admin().check());
            assertThat(read()).as(lost).isEqualTo(before);
        }
    }

    @Test
    void history_12_should_know_a_parked_message_whose_body_was_lost_when_its_id_is_used_again() {
        scheduleGroup(3);
        redis.client().getMap(keys().key("messages"), StringCodec.INSTANCE).remove("m2");
        assertThat(schedule("m2", "h", at(9)).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(read())
                .extracting(QueueSnapshots::delayed, QueueSnapshots::parked)
                .containsExactly(List.of("m1", "m2"), List.of("m3"));
    }

    private record QueueSnapshots(List<String> delayed, List<String> parked, List<String> groups) {}

    private QueueSnapshots read() {
        return new QueueSnapshots(members("delayed"), members("parked"), members("groups"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"groups", "parked", "state", "config"})
    void should_go_on_without_a_check_when_a_key_was_evicted(String key) {
        scheduleGroup(6);
        claimOnly("m1");
        delete(key);
        pass(Duration.ofMinutes(61));
        List<String> all = drain();
        assertThat(all).containsExactlyInAnyOrder("m1", "m2", "m3", "m4", "m5", "m6");
        // Nothing else says which had a place.
        assertThat(key.equals("groups") ? all.subList(2, 6) : all).isSorted();
    }

    @Test
    void should_leave_alone_a_message_of_another_group_that_has_the_id_of_one_whose_entry_was_left_behind() {
        limit(0, true);
        schedule("m1", "g", IN_AN_HOUR);
        removeByHand("m1");
        schedule("m1", "other", IN_AN_HOUR);
        assertThat(get(queue.group("g").cancelAll(true, true))).isZero();
        assertThat(get(queue.group("g").promoteAll(true))).isZero();
        assertThat(state("m1")).isEqualTo(MessageState.DELAYED);
    }

    @Test
    void should_cancel_a_message_with_its_entry_though_the_configuration_was_lost() {
        limit(0, true);
        schedule("m1", "g", IN_AN_HOUR);
        schedule("m2", "g", IN_AN_HOUR);
        delete("config");
        get(queue.cancel("m1"));
        assertThat(get(queue.group("g").info()).messages()).isOne();
    }

    /** Without both keys nobody sees that it was parked, and its old entry must not become a second one beside its lease. */
    @Test
    void should_lease_an_id_once_that_was_used_again_while_the_index_and_the_configuration_were_lost() {
        scheduleGroup(3);
        delete("groups");
        delete("config");
        get(queue.cancel("m2"));
        get(queue.schedule(ScheduleRequest.of("m2", bytes("another"), LONG_AGO)));
        ClaimedDelivery held = claim(10).stream()
                .filter(each -> each.id().equals("m2"))
                .findFirst()
                .orElseThrow();
        schedule("x", "h", at(5));
        assertThat(ids(claim(10))).contains("x").doesNotContain("m2");
        assertThat(state("m2")).isEqualTo(MessageState.LEASED);
        assertThat(acknowledge(held)).isEqualTo(SettleResult.DONE);
        assertThat(state("m2")).isEqualTo(MessageState.NONE);
    }

    @Test
    void should_go_on_behind_messages_whose_bodies_were_evicted() {
        scheduleGroup(3);
        delete("messages");
        delete("state");
        schedule("new", "g", at(9));
        for (int dropped = 0; dropped < 3 && claim(1).isEmpty(); dropped++) {
            assertThat(get(queue.get("new"))).isPresent();
        }
        claim(1);
        assertThat(state("new")).isEqualTo(MessageState.LEASED);
    }

    @Test
    void should_forget_in_a_check_a_message_that_was_removed_by_hand() {
        limit(3, true);
        scheduleGroup(2);
        removeByHand("m1");
        get(queue.admin().check());
        assertThat(get(queue.group("g").info()).messages()).isEqualTo(1);
    }

    @Test
    void should_leave_alone_a_message_of_another_group_that_has_the_id_of_one_that_was_removed_by_hand() {
        scheduleGroup(2);
        removeByHand("m2");
        schedule("m2", "other", at(3));
        List<ClaimedDelivery> both = claim(10);
        assertThat(ids(both)).containsExactly("m1", "m2");
        acknowledge(both.get(0));
        assertThat(claim(10)).isEmpty();
        assertThat(acknowledge(both.get(1))).isEqualTo(SettleResult.DONE);
    }

    @Test
    void should_refuse_a_priority_with_a_group() {
        assertThatThrownBy(() -> message("id", LONG_AGO, 5).withGroup("g"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("group");
        assertThatThrownBy(() -> grouped("id", "g", LONG_AGO).withPriority(5))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void should_need_a_client_that_knows_groups_as_long_as_messages_are_there() {
        scheduleGroup(1);
        var config = redis.client().<String, String>getMap(keys().key("config"), StringCodec.INSTANCE);
        assertThat(config.readAllMap()).containsEntry("needs", "groups=0.1");
        config.put("needs", "groups=0.9");
        assertThatThrownBy(() -> get(queue.get("m1")))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("'groups' (since version 0.9)");
        config.put("needs", "groups=0.1");
        assertThat(drain()).containsExactly("m1");
        claim(1);
        assertThat(config.readAllMap()).doesNotContainKey("needs");
    }

    @Test
    void should_list_count_and_change_a_group() {
        for (int i = 0; i < 300; i++) {
            schedule("m" + i, "g", DueTime.after(Duration.ofMinutes(90).plusMillis(i)));
        }
        schedule("other", "h", LONG_AGO);
        get(queue.schedule(grouped("s", "g", IN_AN_HOUR).recurring(Schedule.every(HOUR), 0)));
        MessageGroup group = queue.group("g");
        assertThat(get(group.info()).messages()).isEqualTo(301);
        MessagePage page = get(group.list(null, 256));
        assertThat(page.messages()).hasSize(256).allSatisfy(info -> {
            assertThat(info.group()).isEqualTo("g");
            assertThat(info.state()).isEqualTo(MessageState.DELAYED);
        });
        assertThat(get(group.list(page.next(), 256)).messages()).hasSize(45);
        assertThat(get(group.promoteAll(true))).isEqualTo(301);
        acknowledge(claimOnly("other", 1));
        ClaimedDelivery first = claimOnly("s", 1);
        assertThat(first.group()).isEqualTo("g");
        assertThat(get(group.rescheduleAll(DueTime.after(Duration.ofMinutes(5)))))
                .isEqualTo(300);
        assertThat(get(queue.admin().list(MessageState.PARKED, PageStart.first(), 10))
                        .messages())
                .hasSize(10);
        assertThat(get(group.cancelAll(false, false))).isEqualTo(300);
        acknowledge(first);
        assertThat(get(group.cancelAll(true, true))).isOne();
        assertThat(get(group.info())).isEqualTo(new GroupInfo("g", 0, 0, 0));
    }

    /** All ids of a group, in the order of its list. */
    private List<String> listed(MessageGroup group) {
        List<String> all = new ArrayList<>();
        String next = null;
        do {
            MessagePage page = get(group.list(next, 256));
            page.messages().forEach(info -> all.add(info.id()));
            next = page.next();
        } while (next != null);
        return all;
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 99, 180})
    void should_keep_the_order_of_a_group_that_is_changed_page_by_page(int minutes) {
        List<String> ids = IntStream.range(1000, 1600).mapToObj(i -> "m" + i).toList();
        // Ids are no order: the last one is due first.
        ids.forEach(id ->
                schedule(id, "g", DueTime.after(Duration.ofHours(2).minusSeconds(Integer.parseInt(id.substring(1))))));
        MessageGroup group = queue.group("g");
        List<String> before = listed(group);
        assertThat(before).hasSize(600).isSortedAccordingTo(Comparator.reverseOrder());
        assertThat(get(group.rescheduleAll(DueTime.after(Duration.ofMinutes(minutes)))))
                .isEqualTo(600);
        assertThat(listed(group)).isEqualTo(before);
        assertThat(get(group.promoteAll(false))).isEqualTo(600);
        assertThat(get(group.promoteAll(false))).isZero();
        assertThat(listed(group)).isEqualTo(before);
        limit(1000, false);
        assertThat(get(group.rescheduleAll(DueTime.at(java.time.Instant.parse("2200-01-01T00:00:00Z")))))
                .isEqualTo(600);
        assertThat(get(group.info())).isEqualTo(new GroupInfo("g", 0, 600, 0));
        assertThatThrownBy(() -> get(group.rescheduleAll(DueTime.after(Duration.ofDays(365 * 280)))))
                .hasMessageContaining("out of range");
        limit(3, true);
        get(queue.schedule(grouped("s", "g", IN_AN_HOUR).recurring(Schedule.every(HOUR), 0)));
        assertThat(get(group.cancelAll(false, true))).isEqualTo(600);
        assertThat(listed(group)).containsExactly("s");
        assertThat(get(group.cancelAll(true, true))).isOne();
    }

    /** Counted in commands: how long they take says nothing on a busy machine. */
    @Test
    void should_cost_what_the_size_of_the_group_costs_and_not_that_of_the_queue() {
        Map<String, Long> alone = commandsOfOperations();
        List<Submission<ScheduleResult>> others = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            DueTime due = DueTime.after(Duration.ofMinutes(i));
            others.add(queue.schedule(ScheduleRequest.of("a" + i, bytes("x"), due)));
            others.add(queue.schedule(grouped("b" + i, "f" + i % 10, due)));
            others.add(queue.schedule(grouped("c" + i, "h", due)));
        }
        others.forEach(RealQueueIT::get);
        commandsOfOperations()
                .forEach((operation, commands) ->
                        assertThat(commands).as(operation).isLessThanOrEqualTo(alone.get(operation) * 3 / 2));
        assertThat(get(queue.admin().cancelAll(any -> true, Long.MAX_VALUE))).isEqualTo(6_000);
    }

    private Map<String, Long> commandsOfOperations() {
        for (int i = 0; i < 20; i++) {
            schedule("m" + i, "g", DueTime.after(Duration.ofHours(10).plusMillis(i)));
        }
        MessageGroup group = queue.group("g");
        Map<String, Long> commands = new HashMap<>();
        commands.put(
                "list",
                commands(() -> assertThat(get(group.list(null, 256)).messages()).hasSize(20)));
        commands.put(
                "count", commands(() -> assertThat(get(group.info()).messages()).isEqualTo(20)));
        commands.put("reschedule", commands(() -> assertThat(get(group.rescheduleAll(IN_AN_HOUR)))
                .isEqualTo(20)));
        commands.put("promote", commands(() -> assertThat(get(group.promoteAll(false)))
                .isEqualTo(20)));
        commands.put("cancel", commands(() -> assertThat(get(group.cancelAll(false, true)))
                .isEqualTo(20)));
        return commands;
    }

    /** How many commands Redis executes, in scripts, too. */
    private static long commands(Runnable operation) {
        long before = commands();
        operation.run();
        return commands() - before;
    }

    private static long commands() {
        return commandStats("cmdstat_(?!ping)\\S+?:calls=(\\d+)");
    }

    @Test
    void should_take_one_of_a_group_into_a_batch() {
        limit(2, true);
        scheduleGroup(4);
        schedule("free", LONG_AGO);
        var request = new io.github.redisdelay.queue.internal.format.ClaimRequest(
                io.github.redisdelay.queue.fake.FakeHost.randomClaimId(), 3_600_000_000L, 10, 10, false, 1, 0);
        var reply = get(claims.claim(request, new java.util.concurrent.CompletableFuture<>()));
        assertThat(reply.messages()).extracting(m -> m.id()).containsExactly("free", "m1");
        assertThat(reply.nextDueMicros()).isZero();
    }

    @Test
    void should_put_a_group_into_one_partition() {
        DelayQueue parts = client.queue(redis.uniqueQueue(), 4);
        for (int i = 0; i < 20; i++) {
            get(parts.schedule(grouped("m" + i, "g", at(i))));
        }
        MessageGroup group = parts.group("g");
        assertThat(get(group.info()).messages()).isEqualTo(20);
        assertThat(get(group.queue().cancel("m7")).previousState()).isEqualTo(MessageState.DELAYED);
        assertThat(get(group.queue().get("m8"))).isPresent();
        assertThat(get(parts.admin().limit(new QueueLimits(5, true)))).isEqualTo(QueueLimits.DEFAULT);
        assertThat(((RedisDelayQueue) group.queue()).partitions()).hasSize(1);
        assertThat(get(group.cancelAll(false, true))).isEqualTo(19);
    }

    @Test
    void should_let_the_group_of_a_recurring_schedule_go_on_after_a_run() {
        get(queue.schedule(grouped("s", "g", IN_AN_HOUR).recurring(Schedule.every(HOUR), 0)));
        pass(Duration.ofMinutes(121));
        schedule("m", "g", DueTime.now());
        ClaimedDelivery run = claimOnly("s");
        assertThat(run.rule()).isNotNull();
        assertThat(run.group()).isEqualTo("g");
        acknowledge(run);
        acknowledge(claimOnly("m"));
        assertThat(get(queue.get("s")).orElseThrow().info().group()).isEqualTo("g");
        get(queue.cancel("s"));
    }

    @Test
    void should_keep_the_group_of_a_run_that_goes_on_when_its_schedule_is_declared_without_it() {
        get(queue.schedule(grouped("s", "g", IN_AN_HOUR).recurring(Schedule.every(HOUR), 0)));
        pass(Duration.ofMinutes(121));
        ClaimedDelivery run = claimOnly("s");
        get(queue.schedule(message("s", IN_AN_HOUR, 9).recurring(Schedule.every(Duration.ofMinutes(20)), 0)));
        acknowledge(run);
        MessageInfo next = get(queue.get("s")).orElseThrow().info();
        assertThat(next.group()).isEqualTo("g");
        assertThat(next.priority()).isZero();
        assertThat(held("delayed")).containsExactly("s");
        assertThat(held("delayed:9")).isEmpty();
        get(queue.cancel("s"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void should_keep_a_tried_run_that_waits_for_the_end_of_a_pause_when_it_is_declared_again(boolean failed) {
        ScheduleRequest declared = grouped("s", "g", IN_AN_HOUR).recurring(Schedule.every(HOUR), 0);
        get(queue.schedule(declared));
        pass(Duration.ofMinutes(61));
        ClaimedDelivery run = claimOnly("s");
        Duration passes = failed ? Duration.ofMinutes(1) : Duration.ofMinutes(61);
        if (failed) {
            get(run.settle(new Settlement.Retry(passes, bytes("failed"))));
        }
        get(queue.group("g").pause(MessageGroup.UNTIL_RESUMED));
        pass(passes);
        assertThat(claim(10)).isEmpty();
        assertThat(get(queue.schedule(declared)).outcome()).isEqualTo(ScheduleOutcome.IGNORED);
        get(queue.group("g").resume());
        ClaimedDelivery again = claimOnly("s");
        assertThat(again.attempt()).isEqualTo(2);
        assertThat(text(again.lastFailure())).isEqualTo(failed ? "failed" : "");
        assertThat(again.runMicros()).isEqualTo(run.runMicros() - passes.toNanos() / 1000);
        acknowledge(again);
        get(queue.cancel("s"));
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void should_keep_a_run_that_is_overdue_or_was_tried_when_its_group_changes(boolean tried, boolean sameRule) {
        get(queue.schedule(grouped("s", "g", IN_AN_HOUR).recurring(Schedule.every(HOUR), 0)));
        pass(Duration.ofMinutes(61));
        long nominal = get(queue.get("s")).orElseThrow().info().dueMicros();
        if (tried) {
            get(claimOnly("s").settle(new Settlement.Retry(Duration.ofMinutes(10), bytes("failed"))));
        }
        Duration rule = sameRule ? HOUR : Duration.ofMinutes(20);
        ScheduleRequest moved = grouped("s", "h", IN_AN_HOUR).recurring(Schedule.every(rule), 0);
        assertThat(get(queue.schedule(moved)).outcome())
                .isEqualTo(sameRule ? ScheduleOutcome.IGNORED : ScheduleOutcome.REPLACED);
        pass(Duration.ofMinutes(10));
        ClaimedDelivery run = claimOnly("s");
        assertThat(run.attempt()).isEqualTo(tried ? 2 : 1);
        assertThat(text(run.lastFailure())).isEqualTo(tried ? "failed" : "");
        assertThat(run.runMicros()).isEqualTo(nominal - 600_000_000);
        assertThat(run.rule()).isEqualTo(Schedule.every(rule).encode());
        assertThat(run.group()).isEqualTo("g");
        acknowledge(run);
        get(queue.schedule(moved));
        assertThat(get(queue.get("s")).orElseThrow().info().group()).isEqualTo("h");
        get(queue.cancel("s"));
    }

    @Test
    void should_redrive_a_dead_letter_into_its_group() {
        scheduleGroup(2);
        get(claimOnly("m1").settle(new Settlement.DeadLetter(bytes("why"))));
        ClaimedDelivery second = claimOnly("m2");
        MessageInfo dead = get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 1))
                .messages()
                .get(0);
        assertThat(dead.group()).isEqualTo("g");
        get(queue.redrive(dead.id(), null));
        assertThat(claim(10)).isEmpty();
        acknowledge(second);
        assertThat(text(claimOnly("m1").body())).isEqualTo("body of m1");
    }

    @Test
    void should_bring_a_group_of_thousands_into_line_with_a_limit() {
        limit(0, true);
        List<Submission<ScheduleResult>> all = new ArrayList<>();
        for (int i = 0; i < 9_000; i++) {
            all.add(queue.schedule(grouped("m" + i, "g", at(i))));
        }
        all.forEach(each -> get(each));
        limit(1, true);
        assertThat(redis.client().<String, String>getMap(keys().key("config"), StringCodec.INSTANCE))
                .doesNotContainKey("groupLimit");
        assertThat(members("parked")).hasSize(8_999);
        acknowledge(claimOnly("m0"));
        get(queue.group("g").pause(DueTime.after(Duration.ofHours(1))));
        assertThat(claim(10)).isEmpty();
        get(queue.group("g").resume());
        limit(0, true);
        assertThat(members("parked")).isEmpty();
        get(queue.group("g").pause(DueTime.after(Duration.ofHours(1))));
        assertThat(claim(10)).isEmpty();
        assertThat(get(queue.group("g").cancelAll(false, true))).isEqualTo(8_999);
    }

    @Test
    void should_keep_the_place_of_a_failed_one_that_was_due_at_the_epoch() {
        for (String id : List.of("m1", "m2")) {
            schedule(id, "g", DueTime.at(Instant.EPOCH));
        }
        get(claimOnly("m1").settle(RETRY_LATER));
        assertThat(claim(10)).isEmpty();
        pass(Duration.ofMinutes(31));
        acknowledge(claimOnly("m1"));
        acknowledge(claimOnly("m2"));
    }

    @Test
    void should_give_the_places_of_those_that_retry_late_to_all_that_are_due() {
        limit(20, false);
        scheduleGroup(60);
        List<ClaimedDelivery> failed = claim(20);
        failed.stream().map(delivery -> delivery.settle(RETRY_LATER)).toList().forEach(each -> get(each));
        assertThat(ids(claim(20)))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(21, 40).mapToObj(i -> "m" + i).toList());
    }

    @Test
    void should_count_as_long_as_a_walk_that_began_after_a_change_of_the_limit_has_not_ended() {
        limit(3, true);
        scheduleGroup(5);
        forgetWalk(1);
        var config = redis.client().<String, String>getMap(keys().key("config"), StringCodec.INSTANCE);
        assertThat(config.get("groupLimit")).startsWith("1 limit-strict changed ");
        claimOnly("m1");
        // The walk of a client that began before.
        config.put("groupLimit", "1 limit-strict changed " + Long.MAX_VALUE);
        get(queue.admin().check());
        assertThat(config.get("groupLimit")).startsWith("1 limit-strict changed ");
        config.put("groupLimit", "1 limit-strict changed 1");
        get(queue.admin().check());
        assertThat(config).doesNotContainKey("groupLimit");
    }

    @Test
    void should_give_no_more_than_the_limit_where_hundreds_are_leased_and_others_are_scheduled_before_them() {
        limit(300, true);
        scheduleAll(300, 1_000);
        assertThat(claim(256)).hasSize(256);
        assertThat(claim(43)).hasSize(43);
        scheduleAll(256, 0);
        limit(10, true);
        assertThat(claim(256)).isEmpty();
        assertThat(members("delayed")).isEmpty();
    }

    @Test
    void should_count_deliveries_behind_hundreds_that_were_scheduled_before_them() {
        limit(600, true);
        scheduleAll(256, 1_000);
        assertThat(claim(256)).hasSize(256);
        scheduleAll(300, 0);
        forgetWalk(256);
        assertThat(claim(10)).isEmpty();
        get(queue.admin().limit(new QueueLimits(256, true)));
        assertThat(redis.client()
                        .<String, String>getMap(keys().key("config"), StringCodec.INSTANCE)
                        .get("groupLimit"))
                .isEqualTo("256 limit-strict");
    }

    @Test
    void should_count_all_that_have_begun_while_several_that_failed_come_up() {
        limit(4, true);
        scheduleGroup(4);
        List<ClaimedDelivery> begun = claim(4);
        begun.subList(1, 4)
                .forEach(delivery -> get(delivery.settle(new Settlement.Retry(Duration.ZERO, bytes("failed")))));
        forgetWalk(2);
        assertThat(claim(10)).hasSize(1);
        assertThat(claim(10)).isEmpty();
        acknowledge(begun.get(0));
    }

    /** A client that has changed the limit, and died before it walked over the groups. */
    private void forgetWalk(int limit) {
        Object[] change = {
            bytes("other client"), bytes("1"), bytes(keys().base()), bytes(""), bytes("limit-strict"), bytes("" + limit)
        };
        new PatientCaller(redis.client())
                .call(LuaScript.CHANGE, keys().of(LuaScript.CHANGE), change, 1)
                .join();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void should_give_one_of_a_group_at_a_time_after_its_place_was_evicted_and_another_message_has_taken_it(int due) {
        for (int size : new int[] {1, 10}) {
            scheduleGroup(2);
            delete("groups");
            schedule("m3", "g", at(due));
            List<ClaimedDelivery> given = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                given.addAll(claim(size));
            }
            assertThat(given).hasSize(1);
            acknowledge(given.get(0));
            assertThat(drain()).hasSize(2);
        }
    }

    private void scheduleAll(int count, int from) {
        IntStream.range(0, count)
                .mapToObj(i -> queue.schedule(grouped("m" + from + " " + i, "g", at(from + i))))
                .toList()
                .forEach(each -> get(each));
    }
}
