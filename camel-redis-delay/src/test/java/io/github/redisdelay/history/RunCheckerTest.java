// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Rule;
import io.github.redisdelay.history.RunChecker.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A good history of runs passes, and each way in which one can be broken is caught. Times are tenths of a second. */
class RunCheckerTest {

    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final String SECONDS = "every 1s";
    private static final long TENTH = 100_000;

    private final List<Event> events = new ArrayList<>();

    private void event(
            long at, String source, What what, String id, String claim, long due, String reason, String detail) {
        long claimed = what == What.DECLARED ? at * TENTH : 0;
        events.add(new Event(at * TENTH, source, what, id, claim, due * TENTH, claimed, 0, reason, detail));
    }

    private void declared(long at, String call, String rule, String outcome, long due) {
        event(at - 1, "starter", What.DECLARING, "s", call, 0, "", rule);
        event(at, "starter", What.DECLARED, "s", call, due, "", outcome);
    }

    private void declaring(long at, String call) {
        event(at, "starter", What.DECLARING, "s", call, 0, "", SECONDS);
    }

    /** @param executed by the server's clock */
    private void declared(long executed, String call, String outcome, long due, long answered) {
        events.add(new Event(
                answered * TENTH, "starter", What.DECLARED, "s", call, due * TENTH, executed * TENTH, 0, "", outcome));
    }

    /** Each second from 10 on. */
    private void declared() {
        declared(1, "first", SECONDS, "SCHEDULED", 10);
    }

    private void delivered(long claimed, String source, String claim, long time) {
        delivered(claimed, source, claim, time, SECONDS);
    }

    private void delivered(long claimed, String source, String claim, long time, String rule) {
        String detail = "run " + time * TENTH + " " + rule;
        events.add(new Event(
                claimed * TENTH + 1,
                source,
                What.DELIVERED,
                "s",
                claim,
                time * TENTH,
                claimed * TENTH,
                1,
                "NONE",
                detail));
    }

    private void settling(long at, String source, String claim, String how) {
        event(at, source, What.SETTLING, "s", claim, at, "", how);
    }

    private void settled(long at, String source, String claim, String result) {
        event(at, source, What.SETTLED, "s", claim, 0, "", result);
    }

    private void ended(long at, String claim, String how) {
        settling(at, "c", claim, how);
        settled(at + 1, "c", claim, "DONE");
    }

    /** A run that is claimed in time and ends at once. */
    private void run(long time, String claim) {
        delivered(time, "c", claim, time);
        ended(time + 1, claim, "ACKNOWLEDGE");
    }

    private void killed(long at, String source) {
        event(at, "test", What.KILLED, source, "", 0, "", "SIGKILL");
    }

    private void fault(long begin, long end, String reason) {
        event(begin, "test", What.FAULT_BEGINS, "", "", 0, reason, "fault");
        event(end, "test", What.FAULT_ENDS, "", "", 0, "", "fault");
    }

    private Verdict check() {
        return RunChecker.check(events, LEASE);
    }

    private void assertClean() {
        check().report().assertClean();
    }

    private void assertCaught(Rule rule) {
        assertThat(check().report().problems()).extracting(Problem::rule).containsExactly(rule);
    }

    @Test
    void should_accept_a_run_at_each_time() {
        declared();
        run(10, "a");
        run(20, "b");
        run(30, "c");
        Verdict verdict = check();
        verdict.report().assertClean();
        assertThat(verdict.report().confirmed()).isEqualTo(3);
        assertThat(verdict.missed()).isZero();
        assertThat(verdict.latest()).isZero();
    }

    @Test
    void should_count_what_was_missed_while_the_run_before_went_on() {
        declared();
        delivered(10, "c", "a", 10);
        ended(38, "a", "ACKNOWLEDGE");
        delivered(42, "c", "b", 40);
        Verdict verdict = check();
        verdict.report().assertClean();
        assertThat(verdict.missed()).isEqualTo(2);
        assertThat(verdict.latest()).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void should_catch_a_time_that_was_passed_over() {
        declared();
        run(10, "a");
        run(30, "b");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_catch_a_time_of_no_rule() {
        declared();
        run(10, "a");
        run(25, "b");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_catch_a_first_run_that_nobody_has_declared() {
        run(10, "a");
        assertThat(check().report().problems())
                .extracting(Problem::rule)
                .containsExactlyInAnyOrder(Rule.FROM_NOWHERE, Rule.LOST);
    }

    @Test
    void should_catch_a_time_that_comes_again_after_its_end() {
        declared();
        run(10, "a");
        delivered(15, "c", "b", 10);
        assertCaught(Rule.TWICE);
    }

    @Test
    void should_catch_an_earlier_time_that_comes_again() {
        declared();
        run(10, "a");
        run(20, "b");
        delivered(25, "c", "c", 10);
        assertCaught(Rule.TWICE);
    }

    @Test
    void should_catch_a_run_that_follows_one_that_nobody_ended() {
        declared();
        delivered(10, "c", "a", 10);
        killed(11, "c");
        delivered(41, "d", "b", 20);
        assertCaught(Rule.LOST);
    }

    @Test
    void should_catch_a_delivery_beside_a_valid_lease() {
        declared();
        delivered(10, "c", "a", 10);
        killed(11, "c");
        delivered(30, "d", "b", 10);
        assertCaught(Rule.TWICE);
    }

    @Test
    void should_accept_a_run_again_a_lease_after_a_death_only() {
        declared();
        delivered(10, "c", "a", 10);
        delivered(41, "d", "b", 10);
        assertCaught(Rule.TWICE);
        killed(11, "c");
        assertClean();
        assertThat(check().report().duplicates()).isEqualTo(1);
    }

    @Test
    void should_accept_an_end_that_may_have_been_executed_before_the_death() {
        declared();
        delivered(10, "c", "a", 10);
        settling(12, "c", "a", "ACKNOWLEDGE");
        killed(12, "c");
        run(20, "b");
        assertClean();
        assertThat(check().report().uncertain()).isEqualTo(1);
    }

    @Test
    void should_catch_an_end_without_an_answer_of_a_client_that_lives() {
        declared();
        delivered(10, "c", "a", 10);
        settling(12, "c", "a", "ACKNOWLEDGE");
        assertCaught(Rule.UNANSWERED);
    }

    @Test
    void should_catch_an_end_that_takes_effect_under_the_lease_of_another() {
        declared();
        delivered(10, "c", "a", 10);
        fault(11, 40, "");
        delivered(41, "d", "b", 10);
        ended(42, "a", "ACKNOWLEDGE");
        assertCaught(Rule.FENCING);
    }

    @Test
    void should_catch_a_run_before_its_time() {
        declared();
        run(10, "a");
        delivered(19, "c", "b", 20);
        assertCaught(Rule.EARLY);
    }

    @Test
    void should_accept_a_retry_and_a_run_that_is_given_up() {
        declared();
        delivered(10, "c", "a", 10);
        ended(11, "a", "RETRY");
        delivered(14, "c", "b", 10);
        ended(15, "b", "RETRY"); // until after the next time
        run(20, "c");
        assertClean();
    }

    @Test
    void should_want_the_time_of_the_rule_that_was_stored_while_a_run_went_on() {
        declared();
        delivered(10, "c", "a", 10);
        declared(12, "second", "every 5s", "REPLACED", 62);
        ended(14, "a", "ACKNOWLEDGE");
        delivered(62, "c", "b", 62, "every 5s");
        assertClean();
        events.remove(events.size() - 1);
        delivered(20, "c", "b", 20, "every 5s");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_accept_the_grid_of_a_run_whose_rule_went_and_came_back_meanwhile() {
        declared();
        delivered(10, "c", "a", 10);
        declared(12, "second", "every 5s", "REPLACED", 62);
        declared(15, "third", SECONDS, "REPLACED", 24);
        ended(33, "a", "ACKNOWLEDGE"); // later than that time
        delivered(40, "c", "b", 40);
        assertClean();
        events.remove(events.size() - 1);
        delivered(60, "c", "b", 60);
        assertCaught(Rule.LOST);
    }

    @Test
    void should_accept_the_grid_of_a_rule_that_was_stored_before_a_retry() {
        declared();
        delivered(10, "c", "a", 10);
        ended(11, "a", "RETRY");
        declared(13, "second", "every 5s", "REPLACED", 62);
        delivered(15, "c", "b", 10, "every 5s");
        ended(16, "b", "ACKNOWLEDGE");
        delivered(62, "c", "c", 62, "every 5s");
        assertClean();
        events.remove(events.size() - 1);
        ended(70, "b", "ACKNOWLEDGE"); // later than that time
        delivered(112, "c", "c", 112, "every 5s");
        assertClean();
        events.remove(events.size() - 1);
        delivered(115, "c", "c", 115, "every 5s");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_want_the_time_of_the_rule_that_was_stored_while_a_run_was_due() {
        declared();
        run(10, "a");
        declared(23, "second", "every 5s", "REPLACED", 72);
        delivered(25, "c", "b", 20, "every 5s");
        ended(26, "b", "ACKNOWLEDGE");
        delivered(72, "c", "c", 72, "every 5s");
        assertClean();
        ended(80, "c", "ACKNOWLEDGE");
        delivered(122, "c", "d", 122, "every 5s");
        assertClean();
        events.remove(events.size() - 1);
        delivered(127, "c", "d", 127, "every 5s");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_want_the_grid_of_that_rule_after_a_late_end() {
        declared();
        run(10, "a");
        declared(23, "second", "every 5s", "REPLACED", 72);
        delivered(25, "c", "b", 20, "every 5s");
        ended(80, "b", "ACKNOWLEDGE"); // later than that time
        delivered(122, "c", "c", 122, "every 5s");
        assertClean();
        events.remove(events.size() - 1);
        delivered(130, "c", "c", 130, "every 5s");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_accept_the_last_of_several_rules_that_were_stored_while_a_run_was_due() {
        declared();
        run(10, "a");
        declared(22, "second", "every 5s", "REPLACED", 71);
        declared(24, "third", "every 3s", "REPLACED", 53);
        delivered(25, "c", "b", 20, "every 3s");
        ended(26, "b", "ACKNOWLEDGE");
        delivered(53, "c", "c", 53, "every 3s");
        assertClean();
        events.remove(events.size() - 1);
        delivered(71, "c", "c", 71, "every 3s"); // that of the rule before
        assertCaught(Rule.LOST);
    }

    @Test
    void should_accept_a_rule_that_was_stored_while_a_run_was_due_that_was_moved_then() {
        declared();
        run(10, "a");
        declared(23, "second", "every 5s", "REPLACED", 72);
        event(24, "c", What.MOVING, "s", "move", 0, "", "");
        event(25, "c", What.MOVED, "s", "move", 30, "", "DELAYED");
        delivered(30, "c", "b", 30, "every 5s");
        ended(31, "b", "ACKNOWLEDGE");
        delivered(72, "c", "c", 72, "every 5s");
        assertClean();
    }

    @Test
    void should_accept_a_rule_that_was_stored_before_the_claim_and_answered_after_it() {
        declared();
        run(10, "a");
        event(21, "starter", What.DECLARING, "s", "second", 0, "", "every 5s");
        delivered(25, "c", "b", 20, "every 5s");
        declared(22, "second", "REPLACED", 72, 26);
        ended(27, "b", "ACKNOWLEDGE");
        delivered(72, "c", "c", 72, "every 5s");
        assertClean();
    }

    @Test
    void should_want_no_other_time_when_the_same_rule_was_stored_while_a_run_was_due() {
        declared();
        run(10, "a");
        declared(23, "second", SECONDS, "IGNORED", 20);
        delivered(25, "c", "b", 20);
        ended(26, "b", "ACKNOWLEDGE");
        delivered(30, "c", "c", 30);
        assertClean();
        events.remove(events.size() - 1);
        delivered(33, "c", "c", 33);
        assertCaught(Rule.LOST);
    }

    @Test
    void should_accept_what_is_pulled_back_after_the_retry_of_a_run() {
        declared();
        run(10, "a");
        step(15, 6_000);
        server(16, 6_016, "b", 20, 20);
        ended(17, "b", "ACKNOWLEDGE");
        server(24, 6_024, "c", 6_020, 6_020);
        ended(25, "c", "RETRY");
        step(45, -6_000);
        server(60, 60, "d", 59, 6_020);
        ended(61, "d", "ACKNOWLEDGE");
        declared(65, "pull", SECONDS, "REPLACED", 70);
        server(70, 70, "e", 70, 70);
        assertClean();
    }

    @Test
    void should_catch_a_rule_that_was_replaced_before() {
        declared();
        run(10, "a");
        declared(13, "second", "every 5s", "REPLACED", 63);
        delivered(63, "c", "b", 63, SECONDS);
        assertCaught(Rule.FROM_NOWHERE);
    }

    @Test
    void should_catch_a_declaration_of_the_same_rule_that_moves_a_time() {
        declared();
        run(10, "a");
        declared(15, "second", SECONDS, "REPLACED", 25);
        run(25, "b");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_catch_one_that_was_sent_before_the_run_was_claimed() {
        declared();
        declaring(9, "second");
        run(10, "a");
        declared(15, "second", "REPLACED", 25, 16);
        run(25, "b");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_catch_one_whose_answer_came_after_the_next_claim() {
        declared();
        run(10, "a");
        declaring(13, "second");
        declared(15, "second", "REPLACED", 25, 27);
        run(25, "b");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_catch_one_before_the_clock_steps_back() {
        declared();
        run(10, "a");
        declaring(13, "second");
        declared(15, "second", "REPLACED", 25, 16);
        step(17, -6_000);
        step(20, 6_000);
        run(25, "b");
        assertCaught(Rule.LOST);
    }

    @Test
    void should_catch_one_after_the_clock_was_stepped_back_and_before_that_run() {
        declared();
        step(5, 6_000);
        step(8, -6_000);
        run(10, "a");
        declaring(13, "second");
        declared(15, "second", "REPLACED", 25, 16);
        run(25, "b");
        assertCaught(Rule.LOST);
    }

    /** It was sent while a run went on, and executed after the end of the next one. */
    @Test
    void should_accept_what_is_pulled_back_by_a_declaration_that_was_under_way_for_a_run() {
        declared();
        step(5, 6_000);
        server(16, 6_016, "a", 10, 10);
        ended(17, "a", "ACKNOWLEDGE");
        server(20, 6_020, "b", 6_020, 6_020);
        ended(22, "b", "ACKNOWLEDGE");
        declaring(24, "pull");
        server(31, 6_031, "c", 6_030, 6_030);
        ended(32, "c", "ACKNOWLEDGE");
        step(33, -6_000);
        declared(35, "pull", "REPLACED", 43, 36);
        assertClean();
        server(43, 43, "d", 43, 43);
        assertClean();
    }

    /** It moved the run that came next, and not the one before, which had been claimed with the clock ahead, too. */
    @Test
    void should_accept_what_is_pulled_back_by_a_declaration_that_was_executed_after_the_next_run() {
        declared();
        server(10, 10, "a", 10, 10);
        ended(11, "a", "ACKNOWLEDGE");
        step(12, 6_000);
        declaring(13, "pull");
        server(14, 6_014, "b", 20, 20);
        ended(15, "b", "ACKNOWLEDGE");
        step(16, -6_000);
        declared(17, "pull", "REPLACED", 27, 18);
        server(27, 27, "c", 27, 27);
        assertClean();
    }

    /** A step is written down before it is done: long before, if the machine stands still. */
    @Test
    void should_accept_what_is_pulled_back_after_a_step_that_came_late() {
        declared();
        step(5, 6_000);
        server(16, 6_016, "a", 10, 10);
        ended(17, "a", "ACKNOWLEDGE");
        step(18, -6_000);
        server(30, 6_030, "b", 6_020, 6_020);
        ended(31, "b", "ACKNOWLEDGE");
        declaring(32, "pull");
        declared(33, "pull", "REPLACED", 42, 34);
        server(42, 42, "c", 42, 42);
        assertClean();
    }

    @Test
    void should_accept_a_time_that_was_moved() {
        declared();
        run(10, "a");
        event(13, "c", What.MOVING, "s", "move", 0, "", "");
        event(14, "c", What.MOVED, "s", "move", 17, "", "DELAYED");
        run(17, "b");
        run(27, "c");
        assertClean();
    }

    @Test
    void should_catch_a_run_after_a_cancel() {
        declared();
        run(10, "a");
        event(15, "starter", What.CANCELLED, "s", "", 0, "", "DELAYED");
        run(20, "b");
        assertCaught(Rule.CANCELLED);
        declared(17, "second", SECONDS, "SCHEDULED", 20);
        assertClean();
    }

    @Test
    void should_accept_again_only_what_a_failover_can_have_lost() {
        declared();
        run(10, "a");
        run(20, "b");
        fault(19, 26, History.LOSES);
        delivered(27, "c", "c", 20);
        assertClean();
        assertThat(check().report().causes()).containsKey("lost with the server");
        events.remove(events.size() - 1);
        delivered(27, "c", "c", 10);
        assertCaught(Rule.TWICE);
    }

    /** The clock steps forward by ten minutes: what was missed is one run. It steps back, and a declaration pulls back. */
    @Test
    void should_follow_the_steps_of_the_servers_clock() {
        declared();
        run(10, "a");
        step(15, 6_000);
        server(16, 6_016, "b", 20, 20);
        ended(17, "b", "ACKNOWLEDGE");
        server(24, 6_024, "c", 6_020, 6_020);
        ended(25, "c", "ACKNOWLEDGE");
        step(45, -6_000);
        declared(50, "pull", SECONDS, "REPLACED", 60);
        server(60, 60, "d", 60, 60);
        assertClean();
        assertThat(check().missed()).isEqualTo(599);
    }

    private void step(long at, long by) {
        event(at, "test", What.CLOCK_STEPS, "", "", by, "", "");
    }

    private void server(long at, long claimed, String claim, long due, long time) {
        String detail = "run " + time * TENTH + " " + SECONDS;
        events.add(new Event(
                at * TENTH + 1, "c", What.DELIVERED, "s", claim, due * TENTH, claimed * TENTH, 1, "NONE", detail));
    }
}
