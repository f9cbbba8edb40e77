// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.history.RateChecker.Verdict;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueLimits.Rate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A good history of rates passes, and each way in which one can be broken is caught. Times are tenths of a second. */
class RateCheckerTest {

    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final QueueLimits ONE = limits(rate(2, 1), null);
    private static final QueueLimits BURST = limits(rate(2, 3), null);
    private static final QueueLimits OF_GROUPS = limits(null, rate(2, 1));

    private static final long TENTH = 100_000;

    private final List<Event> events = new ArrayList<>();

    private static QueueLimits limits(Rate rate, Rate groupRate) {
        return new QueueLimits(1, true, rate, groupRate, 0);
    }

    /** So many in a second. */
    private static Rate rate(int count, int burst) {
        return Rate.of(count, Duration.ofSeconds(1), burst);
    }

    private void event(
            long at, String source, What what, String id, String claim, long due, String reason, String detail) {
        events.add(new Event(at * TENTH, source, what, id, claim, due * TENTH, 0, 0, reason, detail));
    }

    private void scheduled(String id, String group) {
        event(1, "p", What.SCHEDULING, id, "", 2, group, "");
        event(2, "p", What.SCHEDULED, id, "", 2, "", "SCHEDULED");
    }

    /** A delivery of one that was due half a second before. */
    private void delivered(long at, String source, String id) {
        delivered(at, at, at - 5, source, id, id + at, 1);
    }

    private void delivered(long at, long claimed, long due, String source, String id, String claim, int attempt) {
        String reason = attempt == 1 ? "NONE" : "LEASE_EXPIRED";
        events.add(new Event(
                at * TENTH + 10, source, What.DELIVERED, id, claim, due * TENTH, claimed * TENTH, attempt, reason, ""));
    }

    private void settled(long at, String id, String claim, String how, String result) {
        event(at, "c", What.SETTLING, id, claim, at, "", how);
        event(at, "c", What.SETTLED, id, claim, 0, "", result);
    }

    private void step(long at, long by) {
        event(at, "test", What.CLOCK_STEPS, "", "", by, "", "");
    }

    private Verdict check(QueueLimits limits) {
        return RateChecker.check(events, limits, LEASE, LONGEST);
    }

    private void assertClean(QueueLimits limits) {
        assertThat(check(limits).problems()).isEmpty();
    }

    private void assertCaught(QueueLimits limits, Rule... rules) {
        assertThat(check(limits).problems()).extracting(Problem::rule).containsExactly(rules);
    }

    /** One each half of a second, up to a time. */
    private void steady(long end) {
        for (long at = 10; at <= end; at += 5) {
            delivered(at, "c", "m" + at);
        }
    }

    @Test
    void should_accept_as_many_as_the_rate_allows() {
        steady(100);
        assertClean(ONE);
        assertThat(check(ONE).deliveries()).isEqualTo(19);
        assertThat(check(ONE).exact()).isEqualTo(19);
    }

    @Test
    void should_catch_one_that_is_too_many() {
        steady(100);
        delivered(52, "c", "x");
        assertCaught(ONE, Rule.RATE);
        assertThat(check(ONE).problems().get(0).text())
                .startsWith("2 deliveries of the queue began within 200000 us from 5000000 on, at a rate of 2/1s:");
        assertClean(limits(rate(2, 2), null));
    }

    @Test
    void should_count_half_open_windows() {
        delivered(10, "c", "a");
        delivered(15, "c", "b");
        assertClean(ONE);
        Event last = events.remove(1);
        events.add(new Event(
                last.micros() - 1,
                last.source(),
                last.what(),
                last.id(),
                last.claim(),
                last.due(),
                last.claimed() - 1,
                1,
                last.reason(),
                ""));
        assertCaught(ONE, Rule.RATE);
    }

    /** No two are closer to each other than the burst allows, nor three. */
    @Test
    void should_catch_one_that_is_too_many_in_a_long_window_only() {
        steady(60);
        delivered(31, "c", "x");
        delivered(51, "c", "y");
        assertClean(BURST);
        delivered(56, "c", "z");
        assertCaught(BURST, Rule.RATE);
    }

    @Test
    void should_accept_a_burst_after_a_rest_and_catch_a_larger_one() {
        steady(20);
        for (String id : List.of("x", "y", "z")) {
            delivered(40, "c", id);
        }
        delivered(45, "c", "next");
        assertClean(BURST);
        assertCaught(ONE, Rule.RATE);
        delivered(41, "c", "more");
        assertCaught(BURST, Rule.RATE);
    }

    @Test
    void should_count_over_all_consumers() {
        delivered(10, "c", "a");
        delivered(20, "c", "b");
        delivered(15, "d", "x");
        assertClean(ONE);
        delivered(22, "d", "y");
        assertCaught(ONE, Rule.RATE);
    }

    @Test
    void should_count_each_group_by_itself() {
        List.of("a", "b").forEach(id -> scheduled(id, "g"));
        scheduled("x", "h");
        scheduled("free", "");
        List.of("a", "x", "free").forEach(id -> delivered(10, "c", id));
        delivered(15, "c", "b");
        delivered(10, "c", "of nobody");
        assertClean(OF_GROUPS);
        scheduled("y", "h");
        delivered(14, "d", "y");
        assertCaught(OF_GROUPS, Rule.RATE);
        assertThat(check(OF_GROUPS).problems().get(0).text()).startsWith("2 deliveries of h began within 400000 us");
    }

    @Test
    void should_count_one_that_comes_again_after_a_lost_lease() {
        steady(20);
        delivered(22, 22, 5, "c", "m15", "again", 2);
        assertCaught(ONE, Rule.RATE);
    }

    @Test
    void should_count_a_repeated_claim_once() {
        steady(20);
        delivered(22, 22, 15, "c", "m20", "m2020", 1);
        assertClean(ONE);
        assertThat(check(ONE).deliveries()).isEqualTo(3);
    }

    /** Its answer tells the time of the repeat, and it may have been executed as long before as its consumer knows. */
    @Test
    void should_not_count_a_claim_in_a_window_in_which_it_may_not_have_been() {
        delivered(5, "d", "x");
        steady(30);
        events.remove(1); // at 10
        delivered(32, 32, 5, "d", "late", "late", 1);
        assertClean(ONE);
        assertThat(check(ONE).exact()).isEqualTo(5);
        delivered(32, 32, 27, "e", "y", "y", 1);
        assertCaught(ONE, Rule.RATE);
    }

    /** From 10 to 32 one of them is more than may begin, whenever it did. */
    @Test
    void should_count_a_claim_in_a_window_that_has_all_the_time_in_which_it_may_have_been() {
        delivered(10, "d", "x");
        steady(30);
        events.remove(1);
        assertClean(ONE);
        delivered(32, 32, 5, "d", "late", "late", 1);
        assertCaught(ONE, Rule.RATE);
    }

    @Test
    void should_begin_a_new_count_where_the_clock_steps_forward_but_not_where_it_steps_back() {
        steady(20);
        step(21, 6_000);
        delivered(22, 6_022, 6_010, "c", "x", "x", 1);
        delivered(27, 6_027, 6_010, "c", "y", "y", 1);
        assertClean(ONE);
        step(40, -6_000);
        delivered(41, 41, 35, "c", "z", "z", 1);
        assertClean(ONE);
        delivered(42, 42, 35, "c", "more", "more", 1);
        assertCaught(ONE, Rule.RATE);
        events.remove(events.size() - 1);
        delivered(39, 6_039, 6_030, "c", "before", "before", 1);
        assertCaught(ONE, Rule.RATE);
    }

    /** One at 10 and one that is claimed 7.5 s after the rate lets it begin. */
    private void twoWithAGap() {
        scheduled("b", "");
        delivered(10, "c", "a");
        delivered(90, 90, 2, "c", "b", "b", 1);
    }

    @Test
    void should_catch_a_message_that_nothing_holds_back() {
        twoWithAGap();
        assertCaught(ONE, Rule.STANDSTILL);
        assertThat(check(ONE).longest()).isEqualTo(Duration.ofMillis(7_500));
        assertCaught(OF_GROUPS, Rule.STANDSTILL);
        assertClean(limits(Rate.of(1, Duration.ofSeconds(4), 1), null));
    }

    @Test
    void should_ask_no_message_that_was_changed_or_waited_for_a_fault_or_for_the_clock() {
        twoWithAGap();
        List<Event> before = List.copyOf(events);
        event(8, "p", What.CANCELLING, "b", "", 0, "", "");
        assertClean(ONE);
        events.remove(events.size() - 1);
        event(3, "p", What.SCHEDULING, "b", "", 2, "", "");
        assertClean(ONE);
        events.remove(events.size() - 1);
        event(20, "test", What.FAULT_BEGINS, "", "", 0, "", "fault");
        event(30, "test", What.FAULT_ENDS, "", "", 0, "", "fault");
        assertClean(ONE);
        events.clear();
        events.addAll(before);
        step(50, 6_000);
        step(80, -6_000);
        assertClean(ONE);
    }

    @Test
    void should_ask_a_message_when_the_one_before_it_of_its_group_was_ended() {
        List.of("a", "b").forEach(id -> scheduled(id, "g"));
        delivered(10, "c", "a");
        settled(12, "a", "a10", "RETRY", "DONE");
        delivered(90, 90, 2, "c", "b", "b", 1);
        assertClean(OF_GROUPS);
        settled(50, "a", "a10", "ACKNOWLEDGE", "STALE_HELD");
        assertClean(OF_GROUPS);
        settled(50, "a", "a10", "ACKNOWLEDGE", "DONE");
        assertThat(check(OF_GROUPS).longest()).isEqualTo(Duration.ofSeconds(4));
        events.subList(events.size() - 4, events.size()).clear();
        settled(30, "a", "a10", "ACKNOWLEDGE", "DONE");
        assertCaught(OF_GROUPS, Rule.STANDSTILL);
    }

    @Test
    void should_tell_how_much_of_the_rate_was_reached_while_messages_were_ready() {
        for (long at = 10; at <= 100; at += 10) {
            scheduled("m" + at, "");
            delivered(at, at, 2, "c", "m" + at, "m" + at, 1);
        }
        assertThat(check(ONE).reached()).isCloseTo(0.5, within(0.001));
        assertThat(check(limits(rate(1, 1), null)).reached()).isCloseTo(1, within(0.001));
        assertThat(check(OF_GROUPS).reached()).isOne();
    }
}
