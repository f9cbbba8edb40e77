// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RScript;
import org.redisson.client.codec.ByteArrayCodec;

/** Changes of all messages of a group to one time, and which groups operators are shown. */
class GroupChangeIT extends RealQueueIT {

    private void schedule(String id, String group, DueTime due) {
        get(queue.schedule(ScheduleRequest.of(id, bytes(id), due).withGroup(group)));
    }

    private void scheduleGroup(int count, String group, DueTime due) {
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sent.add(queue.schedule(
                    ScheduleRequest.of(group + i, bytes("body"), due).withGroup(group)));
        }
        sent.forEach(RealQueueIT::get);
    }

    private List<MessageInfo> listed(MessageGroup group) {
        List<MessageInfo> all = new ArrayList<>();
        MessagePage page = get(group.list(null, 256));
        all.addAll(page.messages());
        while (page.next() != null) {
            page = get(group.list(page.next(), 256));
            all.addAll(page.messages());
        }
        return all;
    }

    private DueTime tomorrow() {
        return new DueTime(false, get(queue.admin().stats()).timeMicros() + DueTime.toMicros(Duration.ofDays(1)));
    }

    private void assertOneTime(MessageGroup group, DueTime time, List<String> order) {
        assertThat(get(group.rescheduleAll(time))).isEqualTo(order.size());
        assertThat(listed(group)).extracting(MessageInfo::id).isEqualTo(order);
        assertThat(listed(group))
                .extracting(MessageInfo::dueMicros)
                .isEqualTo(LongStream.range(0, order.size())
                        .mapToObj(i -> time.micros() + i)
                        .toList());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 600})
    void should_keep_the_order_of_a_group_that_is_given_one_time(int count) {
        // Ids are no order: the last one is due first.
        List<String> ids =
                IntStream.range(1000, 1000 + count).mapToObj(i -> "m" + i).toList();
        DueTime time = tomorrow();
        // By one reading of the clock: the calls may take long.
        ids.forEach(id ->
                schedule(id, "g", new DueTime(false, time.micros() - 1_000_000 * Long.parseLong(id.substring(1)))));
        List<String> order =
                new ArrayList<>(ids.stream().sorted(Comparator.reverseOrder()).toList());
        assertOneTime(queue.group("g"), time, order);
        // The second time to where they are, behind some that are due earlier.
        IntStream.range(100, 110).forEach(i -> schedule("m" + i, "g", DueTime.after(Duration.ofMinutes(i))));
        order.addAll(0, IntStream.range(100, 110).mapToObj(i -> "m" + i).toList());
        assertOneTime(queue.group("g"), time, order);
        assertOneTime(queue.group("g"), time, order);
    }

    @Test
    void should_keep_the_order_of_a_group_that_has_one_time_already() {
        DueTime time = tomorrow();
        List<String> ids = IntStream.range(1000, 1600).mapToObj(i -> "m" + i).toList();
        ids.forEach(id -> schedule(id, "g", time));
        assertOneTime(queue.group("g"), time, ids);
    }

    @Test
    void should_not_be_kept_from_the_others_by_an_id_that_no_call_can_name() {
        scheduleGroup(2, "g", IN_AN_HOUR);
        redis.client()
                .getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dd', -1, 1) .. '\\1gx') "
                                + "redis.call('ZADD', KEYS[3], 0, 'g\\0' .. '1' .. struct.pack('>d', 1) .. ARGV[1]) "
                                + "return redis.call('ZADD', KEYS[2], 1, ARGV[1])",
                        RScript.ReturnType.VALUE,
                        List.of(keys().key("messages"), keys().key("delayed"), keys().key("groups")),
                        new byte[] {1});
        MessageGroup group = queue.group("g");
        assertThat(listed(group)).hasSize(3);
        assertThat(get(group.rescheduleAll(tomorrow()))).isEqualTo(2);
        assertThat(get(group.promoteAll(false))).isEqualTo(2);
        assertThat(get(group.cancelAll(false, true))).isEqualTo(2);
        assertThat(listed(group)).extracting(MessageInfo::id).containsExactly("\1");
    }

    @Test
    void should_take_the_last_time_that_there_is() {
        scheduleGroup(3, "g", IN_AN_HOUR);
        DueTime last = new DueTime(false, DueTime.MAX_MICROS);
        assertThat(get(queue.group("g").rescheduleAll(last))).isEqualTo(3);
        assertThat(listed(queue.group("g"))).extracting(MessageInfo::dueMicros).containsOnly(DueTime.MAX_MICROS);
    }

    @Test
    void should_show_the_ten_groups_with_the_most_due_parked_messages_behind_a_noisy_one() {
        // The messages that have been due for the longest time are all of one group.
        scheduleGroup(400, "noisy", LONG_AGO);
        for (int i = 1; i <= 12; i++) {
            scheduleGroup(10 * i, "group " + i + " ", DueTime.now());
        }
        scheduleGroup(2_000, "later", IN_AN_HOUR);
        List<GroupInfo> groups = get(queue.admin().groups());
        assertThat(groups).hasSize(10);
        assertThat(groups.get(0)).isEqualTo(new GroupInfo("noisy", 399, 400, 0));
        assertThat(groups)
                .extracting(GroupInfo::name)
                .as("those with 80 and more of 1 167 due parked messages are in a sample of 256")
                .contains("group 8 ", "group 9 ", "group 10 ", "group 11 ", "group 12 ")
                .doesNotContain("later");
    }

    @Test
    void should_show_all_groups_with_few_due_parked_messages_in_their_order() {
        for (int i = 1; i <= 4; i++) {
            scheduleGroup(1 + i, "group " + i + " ", LONG_AGO);
        }
        assertThat(get(queue.admin().groups()))
                .containsExactly(
                        new GroupInfo("group 4 ", 4, 5, 0),
                        new GroupInfo("group 3 ", 3, 4, 0),
                        new GroupInfo("group 2 ", 2, 3, 0),
                        new GroupInfo("group 1 ", 1, 2, 0));
    }
}
