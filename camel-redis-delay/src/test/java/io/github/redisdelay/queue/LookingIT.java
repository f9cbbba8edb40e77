// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.fake.FromNow;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.PageCursor;
import io.github.redisdelay.queue.model.QueueSnapshot;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Looking at messages: one by its id, many page by page, the figures. Nothing changes by it. */
class LookingIT extends RealQueueIT {

    private MessagePage delayed(String from, int limit) {
        return get(queue.admin().list(MessageState.DELAYED, PageStart.next(from), limit));
    }

    private static List<String> idsOf(MessagePage page) {
        return page.messages().stream().map(MessageInfo::id).toList();
    }

    @Test
    void should_tell_all_of_a_waiting_message() {
        ScheduleResult scheduled = schedule("a", IN_AN_HOUR, 2);
        StoredMessage stored = get(queue.get("a")).orElseThrow();
        assertThat(text(stored.body())).isEqualTo("body of a");
        assertThat(stored.scheduledMicros()).isEqualTo(scheduled.scheduledMicros());
        MessageInfo info = stored.info();
        assertThat(info.id()).isEqualTo("a");
        assertThat(info.state()).isEqualTo(MessageState.DELAYED);
        assertThat(info.dueMicros()).isEqualTo(scheduled.dueMicros());
        assertThat(info.leaseEndMicros()).isZero();
        assertThat(info.leaseOwner()).isEmpty();
        assertThat(info.attempts()).isZero();
        assertThat(info.redeliveryReason()).isEqualTo(RedeliveryReason.NONE);
        assertThat(info.priority()).isEqualTo(2);
        assertThat(info.lastFailure()).isEmpty();
        assertThat(get(queue.get("none"))).isEmpty();
    }

    @Test
    void should_tell_all_of_a_message_that_failed_and_is_delivered_again() {
        schedule("a", LONG_AGO, 2);
        get(claim(1).get(0).settle(new Settlement.Retry(Duration.ZERO, bytes("why"))));
        MessageInfo waiting = get(queue.get("a")).orElseThrow().info();
        assertThat(waiting.attempts()).isEqualTo(1);
        assertThat(waiting.redeliveryReason()).isEqualTo(RedeliveryReason.FAILED);
        assertThat(text(waiting.lastFailure())).isEqualTo("why");
        ClaimedDelivery delivery = claim(1).get(0);
        MessageInfo info = get(queue.get("a")).orElseThrow().info();
        assertThat(info.state()).isEqualTo(MessageState.LEASED);
        assertThat(info.attempts()).isEqualTo(2);
        assertThat(info.dueMicros()).isEqualTo(delivery.dueMicros());
        assertThat(info.leaseEndMicros()).isEqualTo(delivery.claimedMicros() + 3_600_000_000L);
        assertThat(info.priority()).isEqualTo(2);
        assertThat(get(queue.admin().list(MessageState.LEASED, PageStart.first(), 1))
                        .messages())
                .singleElement()
                .usingRecursiveComparison()
                .isEqualTo(info);
    }

    @Test
    void should_change_nothing() {
        for (int i = 0; i < 10; i++) {
            schedule("m" + i, i % 2 == 0 ? LONG_AGO : IN_AN_HOUR, i);
        }
        claim(2);
        bury("dead", 9);
        QueueSnapshot before = snapshot();
        for (DelayQueue each : List.of(queue, queue.deadLetters())) {
            get(each.admin().stats());
            get(FromNow.outlook(each.admin(), Duration.ofMinutes(1), 60));
            get(each.admin().list(MessageState.DELAYED, PageStart.first(), 256));
            get(each.admin().list(MessageState.LEASED, PageStart.first(), 256));
            get(each.admin().list(MessageState.DELAYED, PageStart.newest(), 256));
            before.messages().keySet().forEach(id -> get(each.get(id)));
        }
        assertThat(snapshot()).isEqualTo(before);
    }

    @Test
    void should_page_in_the_order_of_due_times_whatever_the_priorities() {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            String id = "m" + (char) ('A' + i);
            schedule(id, new DueTime(false, 10 + i / 4), i % 10);
            expected.add(id);
        }
        for (int limit : new int[] {1, 3, 7, 39, 40, 41, 256}) {
            List<String> seen = new ArrayList<>();
            String from = null;
            do {
                MessagePage page = delayed(from, limit);
                assertThat(page.messages().size()).isLessThanOrEqualTo(limit);
                seen.addAll(idsOf(page));
                from = page.next();
            } while (from != null);
            assertThat(seen).as("pages of " + limit).isEqualTo(expected);
            assertThat(all(MessageState.DELAYED, PageStart.newest(), limit))
                    .as("newest first, pages of " + limit)
                    .isEqualTo(reversed(expected));
        }
        for (int i = 0; i <= 40; i += 4) {
            assertThat(all(MessageState.DELAYED, PageStart.at(10 + i / 4), 3))
                    .as("from " + (10 + i / 4))
                    .isEqualTo(expected.subList(i, 40));
        }
        assertThat(all(MessageState.DELAYED, PageStart.at(0), 256)).isEqualTo(expected);
        assertThat(all(MessageState.DELAYED, PageStart.at(DueTime.MAX_MICROS), 256))
                .isEmpty();
    }

    /** All pages from a place on. */
    private List<String> all(MessageState state, PageStart start, int limit) {
        List<String> seen = new ArrayList<>();
        for (PageStart from = start; from != null; ) {
            MessagePage page = get(queue.admin().list(state, from, limit));
            seen.addAll(idsOf(page));
            from = page.next() == null ? null : PageStart.next(page.next());
        }
        return seen;
    }

    private static <T> List<T> reversed(List<T> list) {
        List<T> reversed = new ArrayList<>(list);
        Collections.reverse(reversed);
        return reversed;
    }

    @Test
    void should_page_leased_messages_by_the_ends_of_their_leases() {
        for (String id : List.of("c", "b", "a")) {
            schedule(id, LONG_AGO);
            claim(1);
        }
        assertThat(all(MessageState.LEASED, PageStart.first(), 2)).containsExactly("c", "b", "a");
        assertThat(all(MessageState.LEASED, PageStart.newest(), 2)).containsExactly("a", "b", "c");
        long end = get(queue.get("b")).orElseThrow().info().leaseEndMicros();
        assertThat(all(MessageState.LEASED, PageStart.at(end), 1)).containsExactly("b", "a");
        assertThat(all(MessageState.LEASED, PageStart.at(end + 1), 1)).containsExactly("a");
    }

    @Test
    void should_page_dead_letters_the_last_one_given_up_first() {
        List<String> letters = List.of(bury("b", 0), bury("c", 0), bury("a", 0));
        MessagePage newest = get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.newest(), 2));
        assertThat(idsOf(newest)).containsExactly(letters.get(2), letters.get(1));
        bury("d", 0);
        assertThat(idsOf(get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.next(newest.next()), 2))))
                .containsExactly(letters.get(0));
        assertThatThrownBy(() -> queue.admin().list(MessageState.DELAYED, PageStart.next(newest.next()), 2))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void should_refuse_a_time_to_begin_at_that_no_message_can_have() {
        for (long micros : new long[] {-1, Long.MIN_VALUE, DueTime.MAX_MICROS + 1}) {
            assertThatThrownBy(() -> PageStart.at(micros))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(String.valueOf(micros));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void should_show_each_message_once_that_stays_while_others_come_and_go(boolean newest) {
        Random random = new Random(7);
        Set<String> staying = new HashSet<>();
        List<String> leaving = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            String id = "m" + random.nextInt(1_000_000);
            if (get(queue.schedule(ScheduleRequest.of(id, bytes("x"), new DueTime(false, random.nextInt(50)))
                                    .withOnDuplicate(DuplicatePolicy.IGNORE)
                                    .withPriority(random.nextInt(3))))
                            .outcome()
                    == ScheduleOutcome.SCHEDULED) {
                if (i % 3 == 0) {
                    leaving.add(id);
                } else {
                    staying.add(id);
                }
            }
        }
        List<String> seen = new ArrayList<>();
        PageStart from = newest ? PageStart.newest() : PageStart.first();
        int came = 0;
        do {
            MessagePage page = get(queue.admin().list(MessageState.DELAYED, from, 1 + random.nextInt(30)));
            seen.addAll(idsOf(page));
            from = page.next() == null ? null : PageStart.next(page.next());
            // Before, at and behind the cursor; also the very message that the cursor names.
            if (!leaving.isEmpty()) {
                get(queue.cancel(leaving.remove(random.nextInt(leaving.size()))));
            }
            String last = page.messages().isEmpty()
                    ? ""
                    : idsOf(page).get(page.messages().size() - 1);
            if (leaving.remove(last)) {
                get(queue.cancel(last));
            }
            schedule("new" + came++, new DueTime(false, random.nextInt(50)));
        } while (from != null);
        assertThat(seen).doesNotHaveDuplicates().containsAll(staying);
    }

    @Test
    void should_go_on_behind_a_message_that_is_gone() {
        for (String id : List.of("a", "b", "c", "d")) {
            schedule(id, LONG_AGO);
        }
        MessagePage first = delayed(null, 2);
        assertThat(idsOf(first)).containsExactly("a", "b");
        get(queue.cancel("b"));
        get(queue.cancel("a"));
        assertThat(idsOf(delayed(first.next(), 2))).containsExactly("c", "d");
        MessagePage last = get(queue.admin().list(MessageState.DELAYED, PageStart.newest(), 1));
        assertThat(idsOf(last)).containsExactly("d");
        get(queue.cancel("d"));
        assertThat(idsOf(delayed(last.next(), 2))).containsExactly("c");
        get(queue.admin().cancelAll(message -> true, Long.MAX_VALUE));
        MessagePage none = delayed(first.next(), 2);
        assertThat(none.messages()).isEmpty();
        assertThat(none.next()).isNull();
    }

    @Test
    void should_page_through_100_000_messages_of_one_due_time_in_bounded_time() {
        for (int i = 0; i < 10; i++) {
            scheduleMany(10_000, "m" + i + "-", LONG_AGO);
        }
        Set<String> seen = new HashSet<>();
        List<Long> micros = new ArrayList<>();
        String from = null;
        do {
            long before = scriptMicros();
            MessagePage page = delayed(from, 256);
            micros.add(scriptMicros() - before);
            seen.addAll(idsOf(page));
            from = page.next();
        } while (from != null);
        assertThat(seen).hasSize(100_000);
        // A look at each message before the page would make it many times as long.
        List<Long> first = micros.subList(0, 21);
        List<Long> last = micros.subList(micros.size() - 22, micros.size() - 1); // the last one is no whole page
        assertThat(median(last)).as("Redis time of a late page, in us").isLessThan(3 * median(first));
    }

    private static long median(List<Long> numbers) {
        return numbers.stream().sorted().toList().get(numbers.size() / 2);
    }

    /** How long Redis has executed the scripts of clients, in microseconds. */
    private static long scriptMicros() {
        return commandStats("cmdstat_evalsha(?:_ro)?:calls=\\d+,usec=(\\d+)");
    }

    @Test
    void should_page_on_over_ids_that_are_no_text() {
        byte[][] foreign = {{1}, {'x', (byte) 0x80}, {'x', (byte) 0xff, (byte) 0xfe}, {(byte) 0xc3}, {0, 'y'}};
        for (byte[] id : foreign) {
            scheduleForeign(id, 1);
        }
        schedule("xa", LONG_AGO);
        schedule("xü", LONG_AGO);
        List<String> seen = new ArrayList<>();
        String from = null;
        do {
            MessagePage page = delayed(from, 1);
            seen.addAll(idsOf(page));
            from = page.next();
            assertThat(seen).as("ids, in the order of their bytes").hasSizeLessThanOrEqualTo(7);
        } while (from != null);
        assertThat(seen).hasSize(7).contains("xa", "xü");
        assertThat(all(MessageState.DELAYED, PageStart.newest(), 1)).isEqualTo(reversed(seen));
        assertThat(get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE)))
                .isZero(); // and ends
    }

    @Test
    void should_name_who_holds_a_message_and_until_when() throws Exception {
        queue.consume(named("first"), executor, delivery -> {});
        schedule("a", LONG_AGO);
        Awaitility.await().untilAsserted(() -> assertThat(held("leased")).containsExactly("a"));
        BlockingQueue<Delivery> second = consume(queue, named("second ü"));
        schedule("b", LONG_AGO);
        Delivery delivery = next(second);
        assertThat(delivery.id()).isEqualTo("b");
        Awaitility.await().untilAsserted(() -> {
            List<MessageInfo> leased = get(queue.admin().list(MessageState.LEASED, PageStart.first(), 10))
                    .messages();
            assertThat(leased).extracting(MessageInfo::leaseOwner).containsExactly("first", "second ü");
            assertThat(leased).extracting(MessageInfo::id).containsExactly("a", "b");
            assertThat(leased.get(1).leaseEndMicros()).isGreaterThan(delivery.claimedMicros());
        });
        assertThat(get(queue.get("a")).orElseThrow().info().leaseOwner()).isEqualTo("first");
    }

    @Test
    void should_tell_the_figures_over_all_priorities() {
        schedule("low", IN_AN_HOUR);
        schedule("high", DueTime.after(HOUR.dividedBy(2)), 9);
        QueueStats before = get(queue.admin().stats());
        assertThat(before.delayed()).isEqualTo(2);
        assertThat(before.overdue()).isZero();
        assertThat(before.oldestOverdueMicros()).isZero();
        assertThat(before.nextDueMicros()).isBetween(1_790_000_000L, 1_800_000_000L);
        assertThat(before.paused()).isFalse();
        pass(Duration.ofMinutes(40));
        QueueStats after = get(queue.admin().stats());
        assertThat(after.overdue()).isEqualTo(1);
        assertThat(after.oldestOverdueMicros()).isBetween(600_000_000L, 620_000_000L);
        assertThat(after.nextDueMicros()).isBetween(1_190_000_000L, 1_200_000_000L);
        claim(1);
        assertThat(get(queue.admin().stats()).leased()).isEqualTo(1);
        get(queue.cancel("low"));
        QueueStats last = get(queue.admin().stats());
        assertThat(last.delayed()).isZero();
        assertThat(last.nextDueMicros()).isEqualTo(-1);
        assertThat(last.dead()).isZero();
    }

    @Test
    void should_refuse_pages_that_there_cannot_be() {
        for (int limit : new int[] {0, -1, 257}) {
            assertThatThrownBy(() -> delayed(null, limit))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("limit is " + limit + ": it must be from 1 to 256");
        }
        for (MessageState state : List.of(MessageState.NONE, MessageState.FINISHED)) {
            assertThatThrownBy(() -> queue.admin().list(state, PageStart.first(), 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(state.name());
        }
        for (String cursor : List.of(
                "",
                ":",
                "x",
                "1",
                "-1:YQ",
                "x:YQ",
                "1:YQ",
                "d:YQ",
                "n1:YQ",
                "dnn1:YQ",
                "d-1:YQ",
                "dx:YQ",
                "d9007199254740992:YQ",
                "d1.5:YQ",
                "d1:Y Q",
                "d1:ü",
                "d1:?")) {
            assertThatThrownBy(() -> delayed(cursor, 1))
                    .as(cursor)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("cursor '" + cursor + "' is none that this list has answered");
        }
    }

    @Test
    void should_refuse_a_cursor_of_another_list() {
        String delayed = PageCursor.text('d', false, 5, new byte[] {1});
        for (char other : new char[] {'l', 'D', 'L'}) {
            assertThatThrownBy(() -> PageCursor.parse(other, delayed))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is none that this list has answered");
        }
    }

    @Test
    void should_write_cursors_as_plain_text() {
        PageCursor cursor = PageCursor.parse(
                'd', PageCursor.text('d', false, DueTime.MAX_MICROS, new byte[] {0, -1, -2, '\n', ':'}));
        assertThat(cursor.score()).isEqualTo(String.valueOf(DueTime.MAX_MICROS));
        assertThat(cursor.id()).containsExactly(0, -1, -2, '\n', ':');
        assertThat(PageCursor.text('l', false, 5, "order/1 ü".getBytes(StandardCharsets.UTF_8)))
                .matches("l5:[-_0-9A-Za-z]+");
    }
}
