// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.GroupChecker.Terms;
import io.github.redisdelay.history.GroupChecker.Verdict;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A good history of groups passes, and each way in which one can be broken is caught. Times are tenths of a second. */
class GroupCheckerTest {

    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final Terms STRICT = new Terms(1, true, 5, LONGEST);
    private static final Terms RELAXED = new Terms(1, false, 5, LONGEST);
    /** Without a slot no claim has room. */
    private static final Terms TWO = new Terms(2, true, 0, LONGEST);

    private static final long TENTH = 100_000;

    private final List<Event> events = new ArrayList<>();

    private void event(
            long at, String source, What what, String id, String claim, long due, String reason, String detail) {
        events.add(new Event(at * TENTH, source, what, id, claim, due * TENTH, 0, 0, reason, detail));
    }

    private void scheduled(long at, String id, long due) {
        scheduled(at, id, "g", due);
    }

    private void scheduled(long at, String id, String group, long due) {
        event(at, "p", What.SCHEDULING, id, "", due, group, "");
        event(at + 1, "p", What.SCHEDULED, id, "", due, "", "SCHEDULED");
    }

    /** A delivery whose claim is named after the message and the attempt. */
    private void delivered(long at, String source, String id, int attempt, long due) {
        String reason = attempt == 1 ? "NONE" : "LEASE_EXPIRED";
        events.add(new Event(
                at * TENTH + 10,
                source,
                What.DELIVERED,
                id,
                id + attempt,
                due * TENTH,
                at * TENTH,
                attempt,
                reason,
                ""));
    }

    private void settled(long at, String source, String id, int attempt, String how, String result) {
        event(at, source, What.SETTLING, id, id + attempt, at, "", how);
        event(at + 1, source, What.SETTLED, id, id + attempt, 0, "", result);
    }

    private void ended(long at, String id) {
        settled(at, "c", id, 1, "ACKNOWLEDGE", "DONE");
    }

    private void fault(long begin, long end, String reason) {
        event(begin, "test", What.FAULT_BEGINS, "", "", 0, reason, "fault");
        event(end, "test", What.FAULT_ENDS, "", "", 0, "", "fault");
    }

    private void killed(long at, String source) {
        event(at, "test", What.KILLED, source, "", 0, "", "SIGKILL");
    }

    private Verdict check(Terms terms) {
        return GroupChecker.check(events, LEASE, terms);
    }

    private void assertClean(Terms terms) {
        assertThat(check(terms).problems()).isEmpty();
    }

    private void assertCaught(Terms terms, Rule... rules) {
        assertThat(check(terms).problems()).extracting(Problem::rule).containsExactly(rules);
    }

    /** Two of a group, one after the other. */
    private void two() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 11);
        delivered(10, "c", "a", 1, 10);
        ended(12, "a");
    }

    @Test
    void should_accept_one_after_the_other() {
        two();
        delivered(14, "c", "b", 1, 11);
        assertClean(STRICT);
        assertThat(check(STRICT).groups()).isOne();
        assertThat(check(STRICT).claims()).isEqualTo(2);
        assertThat(check(STRICT).longest()).isEqualTo(Duration.ofMillis(100));
    }

    @Test
    void should_catch_one_that_begins_while_another_one_is_worked_on() {
        two();
        delivered(11, "d", "b", 1, 11);
        assertCaught(STRICT, Rule.OVERLAP);
        assertClean(TWO);
    }

    @Test
    void should_catch_more_than_the_limit() {
        two();
        scheduled(3, "x", 10);
        delivered(11, "c", "b", 1, 11);
        delivered(11, "d", "x", 1, 10);
        assertCaught(TWO, Rule.OVERLAP, Rule.OVERLAP);
    }

    @Test
    void should_not_mind_other_groups() {
        two();
        scheduled(3, "x", "h", 11);
        delivered(11, "c", "x", 1, 11);
        delivered(14, "c", "b", 1, 11);
        assertClean(STRICT);
    }

    private Verdict checkQueue(int limit) {
        return GroupChecker.checkQueue(events, LEASE, limit, 12, LONGEST);
    }

    private void assertCaughtInQueue(int limit, Rule... rules) {
        assertThat(checkQueue(limit).problems()).extracting(Problem::rule).containsExactly(rules);
    }

    @Test
    void should_catch_more_of_a_queue_than_it_has_places_whatever_their_groups() {
        scheduled(1, "a", 10);
        scheduled(2, "b", "h", 11);
        scheduled(3, "x", "", 12);
        delivered(10, "c", "a", 1, 10);
        delivered(11, "d", "b", 1, 11);
        delivered(12, "e", "x", 1, 12);
        assertCaughtInQueue(2, Rule.OVERLAP);
        assertCaughtInQueue(3);
        assertClean(STRICT);
    }

    @Test
    void should_let_others_have_the_place_of_a_retry_in_a_queue_but_not_that_of_a_dead_consumer() {
        scheduled(1, "b", 9);
        scheduled(2, "a", 10);
        delivered(10, "c", "a", 1, 10);
        settled(12, "c", "a", 1, "RETRY", "DONE");
        delivered(13, "d", "b", 1, 9);
        assertCaughtInQueue(1);
        events.removeIf(event -> event.what() == What.SETTLING || event.what() == What.SETTLED);
        killed(11, "c");
        assertCaughtInQueue(1, Rule.OVERLAP);
    }

    @Test
    void should_catch_a_place_that_nobody_takes() {
        two();
        scheduled(3, "x", 11);
        delivered(11, "d", "x", 1, 11);
        settled(70, "d", "x", 1, "ACKNOWLEDGE", "DONE");
        delivered(72, "d", "b", 1, 11);
        assertCaughtInQueue(2, Rule.STANDSTILL);
        assertCaughtInQueue(1, Rule.OVERLAP);
        assertThat(checkQueue(2).longest()).isEqualTo(Duration.ofMillis(5_900));
    }

    @Test
    void should_count_no_place_of_a_message_that_is_retried() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 11);
        scheduled(3, "x", 12);
        delivered(10, "c", "a", 1, 10);
        settled(12, "c", "a", 1, "RETRY", "DONE");
        delivered(20, "d", "x", 1, 12);
        delivered(25, "d", "b", 1, 11);
        assertCaughtInQueue(2, Rule.STANDSTILL);
    }

    /** It keeps its place although its lease is over: nobody has claimed it. */
    @Test
    void should_catch_one_that_begins_while_nobody_has_ended_the_one_before() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 11);
        delivered(10, "c", "a", 1, 10);
        killed(11, "c");
        delivered(60, "d", "b", 1, 11);
        assertCaught(STRICT, Rule.OVERLAP);
    }

    @Test
    void should_let_others_pass_a_retry_only_if_told_so() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 11);
        delivered(10, "c", "a", 1, 10);
        settled(12, "c", "a", 1, "RETRY", "DONE");
        delivered(14, "c", "b", 1, 11);
        assertCaught(STRICT, Rule.OVERLAP);
        assertClean(RELAXED);
    }

    @Test
    void should_catch_a_retry_that_begins_beside_another_one() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 11);
        delivered(10, "c", "a", 1, 10);
        settled(12, "c", "a", 1, "RETRY", "DONE");
        delivered(14, "c", "b", 1, 11);
        delivered(20, "d", "a", 2, 12);
        assertCaught(RELAXED, Rule.OVERLAP);
    }

    @Test
    void should_catch_one_that_begins_although_the_end_before_it_was_stale() {
        two();
        events.removeIf(event -> event.what() == What.SETTLED);
        event(13, "c", What.SETTLED, "a", "a1", 0, "", "STALE_HELD");
        delivered(14, "c", "b", 1, 11);
        assertCaught(STRICT, Rule.OVERLAP);
    }

    @Test
    void should_accept_an_end_whose_answer_is_missing() {
        two();
        events.removeIf(event -> event.what() == What.SETTLED);
        killed(12, "c");
        delivered(14, "d", "b", 1, 11);
        assertClean(STRICT);
    }

    @Test
    void should_accept_a_place_that_was_freed_by_a_cancel_or_a_new_due_time() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 11);
        delivered(10, "c", "a", 1, 10);
        int before = events.size();
        event(11, "p", What.CANCELLING, "a", "", 0, "", "");
        event(12, "p", What.CANCELLED, "a", "", 0, "", "LEASED");
        delivered(13, "d", "b", 1, 11);
        assertClean(STRICT);
        events.subList(before, events.size()).clear();
        event(11, "p", What.MOVING, "a", "move", 0, "", "");
        event(12, "p", What.MOVED, "a", "move", 0, "", "LEASED");
        delivered(13, "d", "b", 1, 11);
        assertCaught(STRICT, Rule.OVERLAP);
    }

    @Test
    void should_catch_a_later_one_that_begins_first() {
        scheduled(1, "b", 11);
        scheduled(2, "a", 10);
        delivered(12, "c", "b", 1, 11);
        ended(13, "b");
        delivered(15, "c", "a", 1, 10);
        assertCaught(STRICT, Rule.ORDER);
        assertClean(TWO);
    }

    @Test
    void should_catch_one_that_begins_before_an_earlier_id_that_is_due_at_the_same_time() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 10);
        delivered(12, "c", "a", 1, 10);
        ended(13, "a");
        delivered(15, "c", "b", 1, 10);
        assertClean(STRICT);
        events.removeIf(event -> event.micros() >= 12 * TENTH);
        delivered(12, "c", "b", 1, 10);
        ended(13, "b");
        delivered(15, "c", "a", 1, 10);
        assertCaught(STRICT, Rule.ORDER);
        assertClean(TWO);
    }

    @Test
    void should_accept_a_later_one_that_begins_before_the_earlier_one_is_there() {
        scheduled(1, "b", 11);
        scheduled(12, "a", 10);
        delivered(12, "c", "b", 1, 11);
        ended(13, "b");
        delivered(15, "c", "a", 1, 10);
        assertClean(STRICT);
    }

    @Test
    void should_take_the_order_of_the_time_to_which_one_was_moved() {
        scheduled(1, "a", 10);
        scheduled(2, "b", 11);
        event(5, "p", What.MOVING, "a", "move", 0, "", "");
        event(6, "p", What.MOVED, "a", "move", 20, "", "DELAYED");
        delivered(11, "c", "b", 1, 11);
        ended(12, "b");
        delivered(20, "c", "a", 1, 20);
        assertClean(STRICT);
        scheduled(7, "x", 25);
        delivered(21, "c", "x", 1, 25);
        events.removeIf(event -> event.what() == What.DELIVERED && event.id().equals("a"));
        delivered(26, "c", "a", 1, 20);
        assertCaught(STRICT, Rule.OVERLAP, Rule.ORDER);
    }

    /** By the server's clock the first one is due earlier, although the second one was due when that was scheduled. */
    @Test
    void should_take_the_order_of_the_servers_clock() {
        scheduled(1, "a", 20);
        event(5, "test", What.CLOCK_STEPS, "", "", 6_000, "", "");
        event(6, "p", What.SCHEDULING, "b", "", 6, "g", "");
        event(7, "p", What.SCHEDULED, "b", "", 6_006, "", "SCHEDULED");
        fault(5, 8, "");
        events.add(new Event(801_000, "c", What.DELIVERED, "b", "b1", 600_600_000, 600_800_000, 1, "NONE", ""));
        assertCaught(STRICT, Rule.ORDER);
    }

    @Test
    void should_catch_a_claim_with_room_that_leaves_a_group_behind() {
        scheduled(1, "a", 10);
        scheduled(2, "x", "h", 11);
        delivered(12, "c", "x", 1, 11);
        delivered(13, "c", "a", 1, 10);
        assertCaught(STRICT, Rule.STANDSTILL);
    }

    @Test
    void should_catch_a_group_that_has_less_under_way_than_it_may() {
        two();
        events.removeIf(event -> event.id().equals("a") && event.micros() >= 12 * TENTH);
        delivered(14, "c", "b", 1, 11);
        scheduled(2, "x", "h", 12);
        delivered(12, "c", "x", 1, 12);
        assertCaught(new Terms(2, true, 5, LONGEST), Rule.STANDSTILL);
    }

    @Test
    void should_ask_no_claim_that_may_have_had_no_room() {
        Terms few = new Terms(1, true, 1, LONGEST); // it is taken by what was claimed
        scheduled(1, "a", 10);
        scheduled(2, "x", "h", 11);
        delivered(12, "c", "x", 1, 11);
        delivered(13, "c", "a", 1, 10);
        assertClean(few);
        assertThat(check(few).claims()).isZero();
    }

    @Test
    void should_ask_no_claim_for_what_is_not_due_by_a_clock_that_was_set_back() {
        scheduled(1, "a", 12);
        event(11, "test", What.CLOCK_STEPS, "", "", -6_000, "", "");
        event(12, "p", What.SCHEDULING, "x", "", 13, "h", "");
        event(13, "p", What.SCHEDULED, "x", "", 13 - 6_000, "", "SCHEDULED");
        long claimed = (14 - 6_000) * TENTH;
        events.add(new Event(14 * TENTH + 10, "c", What.DELIVERED, "x", "x1", claimed - TENTH, claimed, 1, "NONE", ""));
        assertThat(check(STRICT).claims()).isOne();
        assertClean(STRICT);
    }

    @Test
    void should_ask_no_claim_that_gave_a_message_alone() {
        scheduled(1, "a", 10);
        scheduled(2, "x", "h", 11);
        delivered(12, "c", "x", 3, 11);
        delivered(13, "c", "a", 1, 10);
        assertThat(check(STRICT).claims()).isOne();
    }

    @Test
    void should_ask_no_claim_that_ended_before_a_message_that_is_given_alone() {
        scheduled(1, "a", 10);
        scheduled(2, "x", "h", 11);
        scheduled(3, "y", "i", 11);
        delivered(12, "c", "y", 1, 11);
        delivered(13, "c", "x", 3, 11);
        delivered(14, "c", "a", 1, 10);
        assertClean(STRICT);
    }

    @Test
    void should_ask_no_claim_around_a_death() {
        scheduled(1, "a", 10);
        scheduled(2, "x", "h", 11);
        killed(11, "d");
        delivered(12, "c", "x", 1, 11);
        delivered(13, "c", "a", 1, 10);
        assertClean(STRICT);
        assertThat(check(STRICT).claims()).isZero();
    }

    @Test
    void should_catch_a_group_that_stands_still() {
        two();
        delivered(70, "c", "b", 1, 11);
        assertCaught(STRICT, Rule.STANDSTILL);
        assertThat(check(STRICT).longest()).isEqualTo(Duration.ofMillis(5_700));
    }

    @Test
    void should_catch_a_group_that_stands_still_behind_a_lease_that_is_over() {
        scheduled(1, "a", 10);
        delivered(10, "c", "a", 1, 10);
        killed(11, "c");
        delivered(90, "d", "a", 2, 10);
        assertClean(STRICT);
        delivered(92, "d", "a", 2, 10);
        events.remove(events.size() - 2);
        assertCaught(STRICT, Rule.STANDSTILL);
    }

    @Test
    void should_wait_until_a_fault_is_over() {
        two();
        fault(20, 60, "");
        delivered(130, "c", "b", 1, 11);
        assertClean(STRICT);
        assertThat(check(STRICT).longest()).isEqualTo(Duration.ofSeconds(4));
    }

    @Test
    void should_excuse_only_what_a_failover_can_have_lost() {
        two();
        scheduled(3, "x", 13);
        fault(12, 14, History.LOSES);
        delivered(15, "c", "b", 1, 11);
        delivered(16, "c", "a", 2, 10);
        assertClean(STRICT);
        ended(60, "b");
        settled(60, "c", "a", 2, "ACKNOWLEDGE", "DONE");
        scheduled(50, "y", 70);
        delivered(75, "c", "y", 1, 70);
        delivered(76, "c", "x", 1, 13);
        assertCaught(STRICT, Rule.OVERLAP, Rule.ORDER);
    }
}
