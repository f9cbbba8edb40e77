// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Problem;
import io.github.redisdelay.history.HistoryChecker.Report;
import io.github.redisdelay.history.HistoryChecker.Rule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A good history passes, and each way in which one can be broken is caught. Times are microseconds, the lease is 100. */
class HistoryCheckerTest {

    private static final Duration LEASE = Duration.ofNanos(100_000);

    private final List<Event> events = new ArrayList<>();
    private final List<String> leftovers = new ArrayList<>();

    private void event(long micros, String source, What what, String claim, long due, String detail) {
        events.add(new Event(micros, source, what, "m", claim, due, 0, 0, "", detail));
    }

    private void scheduling(long at, long due) {
        event(at, "producer", What.SCHEDULING, "", due, "");
    }

    private void scheduled(long at, String outcome) {
        event(at, "producer", What.SCHEDULED, "", 0, outcome);
    }

    /** A message that is scheduled at 10 and due at 50. */
    private void confirmed() {
        scheduling(10, 50);
        scheduled(12, "SCHEDULED");
    }

    private void delivered(long claimed, String source, String claim, int attempt, String reason) {
        events.add(new Event(claimed + 1, source, What.DELIVERED, "m", claim, 50, claimed, attempt, reason, ""));
    }

    private void settling(long at, String source, String claim, String how) {
        event(at, source, What.SETTLING, claim, at + 20, how);
    }

    private void settled(long at, String source, String claim, String settlement) {
        event(at, source, What.SETTLED, claim, 0, settlement);
    }

    private void acknowledged(long at, String source, String claim) {
        settling(at, source, claim, "ACKNOWLEDGE");
        settled(at + 2, source, claim, "DONE");
    }

    private void killed(long at, String source) {
        events.add(new Event(at, "test", What.KILLED, source, "", 0, 0, 0, "", "SIGKILL"));
    }

    private void dead(long at, String source) {
        events.add(new Event(at, "test", What.DEAD, source, "", 0, 0, 0, "", ""));
    }

    private void fault(long begin, long end) {
        fault("cut", begin, end, "", "");
    }

    private void fault(String name, long begin, long end, String hit, String reason) {
        events.add(new Event(begin, "test", What.FAULT_BEGINS, hit, "", 0, 0, 0, reason, name));
        events.add(new Event(end, "test", What.FAULT_ENDS, "", "", 0, 0, 0, "", name));
    }

    private void failed(long at, String source, String claim, History.Failure failure) {
        events.add(new Event(at, source, What.FAILED, "m", claim, 0, 0, 0, failure.name(), "an error"));
    }

    private void cancelled(long at, String previous) {
        event(at - 2, "producer", What.CANCELLING, "", 0, "");
        event(at, "producer", What.CANCELLED, "", 0, previous);
    }

    private Report check() {
        return HistoryChecker.check(events, LEASE, leftovers);
    }

    private void assertClean() {
        assertThat(check().problems()).isEmpty();
    }

    private void assertCaught(Rule rule, String text) {
        List<Problem> problems = check().problems();
        assertThat(problems).extracting(Problem::rule).as(problems::toString).containsExactly(rule);
        assertThat(problems.get(0).text()).contains(text);
        assertThatThrownBy(() -> check().assertClean()).hasMessageContaining(text);
    }

    // ---- good ones

    @Test
    void should_pass_a_message_that_was_delivered_once() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(70, "c1", "a");
        assertClean();
        assertThat(check().confirmed()).isEqualTo(1);
        assertThat(check().deliveries()).isEqualTo(1);
        assertThat(check().causes()).isEmpty();
    }

    @Test
    void should_pass_a_message_that_was_returned() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(62, "c1", "a", "RETRY");
        settled(64, "c1", "a", "DONE");
        delivered(85, "c2", "b", 2, "FAILED");
        acknowledged(90, "c2", "b");
        assertClean();
        assertThat(check().causes()).containsOnlyKeys("returned");
        assertThat(check().duplicates()).isZero();
    }

    @Test
    void should_pass_a_message_whose_consumer_was_killed_before_its_acknowledgement() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        killed(66, "c1");
        delivered(160, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertClean();
        assertThat(check().causes()).containsOnlyKeys("its consumer was killed");
        assertThat(check().duplicates()).isEqualTo(1);
    }

    @Test
    void should_pass_a_message_that_a_killed_consumer_may_have_finished() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        killed(66, "c1");
        assertClean();
    }

    @Test
    void should_pass_a_message_whose_lease_ended_in_a_fault() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        fault(70, 200);
        delivered(161, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        settling(210, "c1", "a", "ACKNOWLEDGE");
        settled(212, "c1", "a", "STALE_GONE");
        assertClean();
        assertThat(check().causes()).containsOnlyKeys("its lease expired in: cut");
    }

    /** A delivery to c1 whose lease ends, and one to c2. */
    private void lostLease() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        delivered(161, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        settling(210, "c1", "a", "ACKNOWLEDGE");
        settled(212, "c1", "a", "STALE_GONE");
    }

    @Test
    void should_name_the_fault_that_lasted_longest_of_several() {
        lostLease();
        fault("reset", 20, 20, "", "");
        fault("stalled", 70, 200, "c1,c2", "");
        fault("closed", 159, 159, "c1", "");
        assertClean();
        assertThat(check().causes()).containsOnlyKeys("its lease expired in: stalled");
    }

    @Test
    void should_pass_the_leases_of_those_whom_a_fault_hits() {
        lostLease();
        fault("cut", 70, 200, "c1", "");
        assertClean();
    }

    @Test
    void should_catch_a_lease_that_ended_while_a_fault_hit_others_only() {
        lostLease();
        fault("cut", 70, 200, "c2,c11", "");
        assertCaught(Rule.TWICE, "without a cause");
    }

    @Test
    void should_catch_a_lease_that_ended_in_a_fault_that_can_cost_none() {
        lostLease();
        fault("subscriptions lost", 70, 200, "", History.HARMLESS);
        assertCaught(Rule.TWICE, "without a cause");
    }

    @Test
    void should_catch_an_attempt_that_is_missing_in_a_fault_that_can_cost_none() {
        confirmed();
        fault("script flush", 40, 60, "", History.HARMLESS);
        delivered(160, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertCaught(Rule.ATTEMPTS, "1 attempts are missing");
    }

    /** Nobody knows who made the claim that is missing. */
    @Test
    void should_pass_an_attempt_that_was_lost_with_another_client() {
        confirmed();
        fault("cut", 40, 60, "c1", "");
        delivered(160, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertClean();
    }

    @Test
    void should_tell_faults_of_one_name_apart_by_who_saw_them() {
        lostLease();
        events.add(new Event(70, "c1", What.FAULT_BEGINS, "c1", "", 0, 0, 0, "", "cut"));
        fault("cut", 10, 20, "c2", "");
        assertClean(); // that of c1 goes on
    }

    @Test
    void should_pass_a_lease_that_began_with_the_first_copy_of_a_repeated_claim() {
        confirmed();
        fault(40, 70);
        delivered(80, "c1", "a", 1, "NONE"); // claimed for the first time at 51, and no answer
        delivered(152, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(160, "c2", "b");
        settling(158, "c1", "a", "ACKNOWLEDGE");
        settled(165, "c1", "a", "STALE_GONE");
        assertClean();
        assertThat(check().causes()).containsOnlyKeys("its lease expired in: cut");
    }

    @Test
    void should_catch_a_lease_that_is_too_short_even_for_a_repeated_claim() {
        confirmed();
        fault(40, 70);
        delivered(80, "c1", "a", 1, "NONE");
        delivered(149, "c2", "b", 2, "LEASE_EXPIRED"); // it was due at 50
        acknowledged(160, "c2", "b");
        assertCaught(Rule.TWICE, "without a cause");
    }

    @Test
    void should_catch_a_lease_that_is_too_short_where_nothing_made_a_claim_be_repeated() {
        confirmed();
        delivered(80, "c1", "a", 1, "NONE");
        fault(90, 140);
        delivered(152, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(160, "c2", "b");
        assertCaught(Rule.TWICE, "without a cause");
    }

    @Test
    void should_pass_an_attempt_that_a_killed_consumer_took() {
        confirmed();
        killed(60, "c1");
        delivered(160, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertClean();
    }

    /** It claims on until it is dead. */
    @Test
    void should_pass_an_attempt_that_a_consumer_took_as_it_died() {
        killed(5, "c1");
        confirmed();
        dead(60, "c1");
        delivered(160, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertClean();
    }

    @Test
    void should_catch_an_attempt_that_is_missing_after_a_consumer_was_dead() {
        killed(5, "c1");
        dead(9, "c1");
        confirmed();
        delivered(160, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertCaught(Rule.ATTEMPTS, "1 attempts are missing");
    }

    @Test
    void should_catch_an_attempt_that_is_missing_before_a_consumer_was_killed() {
        confirmed();
        delivered(160, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        killed(165, "c1");
        dead(180, "c1");
        assertCaught(Rule.ATTEMPTS, "1 attempts are missing");
    }

    @Test
    void should_pass_a_second_copy_after_an_ambiguous_answer() {
        scheduling(10, 50);
        event(20, "producer", What.UNKNOWN, "", 0, "no answer");
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(62, "c1", "a");
        scheduling(70, 71);
        scheduled(72, "SCHEDULED");
        delivered(73, "c1", "b", 1, "NONE");
        acknowledged(75, "c1", "b");
        assertClean();
        assertThat(check().causes()).containsOnlyKeys("scheduled again after an ambiguous answer");
    }

    /** It was read ahead: then its attempt does not count. */
    @Test
    void should_pass_a_second_copy_that_was_released_before_it_was_begun() {
        scheduling(10, 50);
        event(20, "producer", What.UNKNOWN, "", 0, "no answer");
        scheduled(25, "SCHEDULED");
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(62, "c1", "a");
        scheduling(70, 71);
        scheduled(72, "SCHEDULED");
        delivered(80, "c1", "b", 1, "RELEASED");
        acknowledged(85, "c1", "b");
        assertClean();
    }

    @Test
    void should_pass_a_second_copy_whose_first_claim_was_lost_in_a_fault() {
        scheduling(10, 50);
        event(20, "producer", What.UNKNOWN, "", 0, "no answer");
        scheduled(25, "SCHEDULED");
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(62, "c1", "a");
        scheduling(70, 71);
        scheduled(72, "SCHEDULED");
        delivered(180, "c1", "b", 2, "LEASE_EXPIRED");
        acknowledged(185, "c1", "b");
        assertCaught(Rule.ATTEMPTS, "1 attempts are missing");
        fault(75, 100);
        assertClean();
    }

    @Test
    void should_pass_what_was_cancelled_and_what_is_uncertain() {
        confirmed();
        cancelled(30, "DELAYED");
        assertClean();
        events.clear();
        scheduling(10, 50);
        assertClean();
        assertThat(check().uncertain()).isEqualTo(1);
        event(12, "producer", What.REFUSED, "", 0, "no room");
        assertClean();
        assertThat(check().uncertain()).isZero();
    }

    @Test
    void should_pass_calls_that_a_killed_client_had_made_without_an_answer() {
        confirmed();
        event(20, "producer", What.CANCELLING, "", 0, "");
        killed(21, "producer");
        assertClean();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        killed(66, "c1");
        assertClean();
    }

    @Test
    void should_pass_calls_that_were_under_way_when_their_client_was_closed() {
        confirmed();
        event(20, "producer", What.CANCELLING, "", 0, "");
        failed(22, "producer", "", History.Failure.CLOSED);
        assertClean();
        events.clear();
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        failed(66, "c1", "a", History.Failure.CLOSED);
        assertClean();
    }

    @Test
    void should_pass_an_acknowledgement_that_is_not_known_to_be_replicated() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        failed(66, "c1", "a", History.Failure.NOT_REPLICATED);
        assertClean();
    }

    // ---- broken ones

    @Test
    void should_catch_an_acknowledgement_that_got_no_answer() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        killed(70, "c2");
        assertCaught(Rule.UNANSWERED, "was to be finished, and its client never got an answer");
    }

    @Test
    void should_catch_an_acknowledgement_that_was_given_up() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        failed(66, "c1", "a", History.Failure.OTHER);
        assertCaught(Rule.UNANSWERED, "was to be finished, and its client gave it up");
    }

    @Test
    void should_catch_a_return_that_got_no_answer() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "RETRY");
        delivered(100, "c2", "b", 2, "FAILED");
        acknowledged(110, "c2", "b");
        assertCaught(Rule.UNANSWERED, "never got an answer");
    }

    @Test
    void should_catch_a_cancel_that_got_no_answer() {
        confirmed();
        event(20, "producer", What.CANCELLING, "", 0, "");
        assertCaught(Rule.UNANSWERED, "was to be cancelled, and its client never got an answer");
    }

    @Test
    void should_catch_a_message_that_was_lost_though_its_cancel_was_never_sent() {
        confirmed();
        event(20, "producer", What.CANCELLING, "", 0, "");
        failed(22, "producer", "", History.Failure.NOT_SENT);
        assertCaught(Rule.LOST, "never delivered");
    }

    @Test
    void should_catch_a_confirmed_message_that_never_came() {
        confirmed();
        assertCaught(Rule.LOST, "never delivered");
    }

    @Test
    void should_catch_a_message_that_was_found_there_and_never_came() {
        scheduling(10, 50);
        event(11, "producer", What.UNKNOWN, "", 0, "no answer");
        scheduling(20, 60);
        scheduled(22, "IGNORED");
        assertCaught(Rule.LOST, "never delivered");
    }

    @Test
    void should_catch_a_message_that_a_cancel_did_not_find() {
        confirmed();
        cancelled(30, "NONE");
        assertCaught(Rule.LOST, "never delivered");
    }

    @Test
    void should_catch_a_message_that_was_lost_with_its_consumer() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        killed(65, "c1");
        assertCaught(Rule.LOST, "no delivery of it was finished");
    }

    @Test
    void should_catch_a_message_whose_only_acknowledgement_came_too_late() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        settled(66, "c1", "a", "STALE_HELD");
        assertCaught(Rule.LOST, "no delivery of it was finished");
    }

    @Test
    void should_catch_a_second_copy_that_never_came() {
        scheduling(10, 50);
        event(20, "producer", What.UNKNOWN, "", 0, "no answer");
        scheduled(21, "SCHEDULED");
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(62, "c1", "a");
        scheduling(70, 71);
        scheduled(72, "SCHEDULED");
        assertCaught(Rule.LOST, "no delivery of it was finished");
    }

    @Test
    void should_catch_more_copies_than_schedules() {
        scheduling(10, 50);
        event(20, "producer", What.UNKNOWN, "", 0, "no answer");
        scheduling(30, 50);
        scheduled(32, "SCHEDULED");
        for (int i = 0; i < 2; i++) {
            delivered(60 + 10 * i, "c1", "claim" + i, 1, "NONE");
            acknowledged(62 + 10 * i, "c1", "claim" + i);
        }
        assertClean();
        for (int i = 2; i < 5; i++) {
            delivered(60 + 10 * i, "c1", "claim" + i, 1, "NONE");
            acknowledged(62 + 10 * i, "c1", "claim" + i);
        }
        assertCaught(Rule.TWICE, "was finished more often than it can have been stored");
    }

    @Test
    void should_catch_an_early_delivery() {
        confirmed();
        events.add(new Event(49, "c1", What.DELIVERED, "m", "a", 40, 48, 1, "NONE", ""));
        acknowledged(60, "c1", "a");
        assertCaught(Rule.EARLY, "2 µs before it was due");
    }

    @Test
    void should_catch_a_claim_before_the_due_time_of_the_server() {
        confirmed();
        events.add(new Event(61, "c1", What.DELIVERED, "m", "a", 65, 60, 1, "NONE", ""));
        acknowledged(70, "c1", "a");
        assertCaught(Rule.EARLY, "by the server's clock");
    }

    @Test
    void should_catch_a_return_that_came_too_soon() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        settling(62, "c1", "a", "RETRY");
        settled(64, "c1", "a", "DONE");
        delivered(81, "c2", "b", 2, "FAILED");
        acknowledged(90, "c2", "b");
        assertCaught(Rule.EARLY, "the delay of its return");
    }

    @Test
    void should_catch_a_delivery_after_its_acknowledgement() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(70, "c1", "a");
        killed(80, "c1");
        delivered(200, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(210, "c2", "b");
        assertCaught(Rule.TWICE, "although it had been finished");
    }

    @Test
    void should_catch_a_second_delivery_within_the_lease() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        killed(70, "c1");
        delivered(159, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertCaught(Rule.TWICE, "without a cause");
    }

    @Test
    void should_catch_a_lease_that_ended_though_nothing_happened_to_its_consumer() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        killed(61, "c3");
        fault(300, 400);
        delivered(161, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertCaught(Rule.TWICE, "without a cause");
    }

    @Test
    void should_catch_a_death_that_came_after_the_second_delivery() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        delivered(161, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(162, "c2", "b");
        killed(170, "c1");
        assertCaught(Rule.TWICE, "without a cause");
    }

    @Test
    void should_catch_one_claim_that_was_handed_out_twice() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(70, "c1", "a");
        assertCaught(Rule.TWICE, "twice by one claim");
    }

    @Test
    void should_catch_a_second_copy_without_an_ambiguous_answer() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(62, "c1", "a");
        delivered(73, "c1", "b", 1, "NONE");
        acknowledged(75, "c1", "b");
        assertThat(check().problems()).extracting(Problem::rule).containsExactly(Rule.TWICE, Rule.ATTEMPTS);
    }

    @Test
    void should_catch_an_attempt_that_nobody_made() {
        confirmed();
        delivered(60, "c1", "a", 2, "LEASE_EXPIRED");
        acknowledged(62, "c1", "a");
        assertCaught(Rule.ATTEMPTS, "1 attempts are missing");
    }

    @Test
    void should_catch_an_attempt_that_was_not_counted() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        killed(65, "c1");
        delivered(160, "c2", "b", 1, "LEASE_EXPIRED");
        acknowledged(170, "c2", "b");
        assertCaught(Rule.ATTEMPTS, "was not counted");
    }

    @Test
    void should_catch_an_acknowledgement_of_a_lost_lease_that_took_effect() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        fault(70, 200);
        delivered(161, "c2", "b", 2, "LEASE_EXPIRED");
        acknowledged(210, "c1", "a");
        settling(220, "c2", "b", "ACKNOWLEDGE");
        settled(221, "c2", "b", "STALE_GONE");
        assertCaught(Rule.FENCING, "had lost its lease");
    }

    @Test
    void should_catch_a_return_of_a_lost_lease_that_took_effect() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        fault(70, 200);
        delivered(261, "c2", "b", 2, "LEASE_EXPIRED");
        settling(265, "c1", "a", "RETRY");
        settled(266, "c1", "a", "DONE");
        acknowledged(270, "c2", "b");
        assertThat(check().problems()).extracting(Problem::rule).contains(Rule.FENCING);
    }

    @Test
    void should_catch_a_delivery_after_a_cancel() {
        confirmed();
        cancelled(30, "DELAYED");
        delivered(60, "c1", "a", 1, "NONE");
        settling(65, "c1", "a", "ACKNOWLEDGE");
        settled(66, "c1", "a", "STALE_GONE");
        assertCaught(Rule.CANCELLED, "after it had been cancelled");
    }

    @Test
    void should_catch_an_acknowledgement_after_a_cancel() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        cancelled(65, "LEASED");
        acknowledged(70, "c1", "a");
        assertCaught(Rule.CANCELLED, "finished after it had been cancelled");
    }

    @Test
    void should_catch_what_nobody_scheduled() {
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(70, "c1", "a");
        assertCaught(Rule.FROM_NOWHERE, "nothing can have stored it");
    }

    @Test
    void should_catch_what_had_been_refused() {
        scheduling(10, 50);
        event(12, "producer", What.REFUSED, "", 0, "no room");
        delivered(60, "c1", "a", 1, "NONE");
        acknowledged(70, "c1", "a");
        assertCaught(Rule.FROM_NOWHERE, "nothing can have stored it");
    }

    @Test
    void should_catch_another_body() {
        confirmed();
        delivered(60, "c1", "a", 1, "NONE");
        event(61, "c1", What.GARBLED, "a", 0, "");
        acknowledged(70, "c1", "a");
        assertCaught(Rule.GARBLED, "another body");
    }

    @Test
    void should_catch_leftovers() {
        leftovers.add("redis-delay:{q}:state");
        assertCaught(Rule.LEFTOVER, "redis-delay:{q}:state");
        assertThat(List.of("messages", "delayed", "delayed:3", "leased", "state", "dead:messages"))
                .allMatch(part -> HistoryChecker.isLeftover("redis-delay:{q}:" + part));
        assertThat(List.of("sessions", "config", "consumers", "waiters", "seen", "dead:sessions"))
                .noneMatch(part -> HistoryChecker.isLeftover("redis-delay:{q}:" + part));
    }

    // ---- Camel routes

    private void given(String detail, long due, long claimed, String claim, int attempt, String reason, String id) {
        events.add(new Event(claimed + 1, "c1", What.DELIVERED, id, claim, due, claimed, attempt, reason, detail));
    }

    private void routed(long claimed, String claim, int attempt, String reason) {
        given("live 0 q", 50, claimed, claim, attempt, reason, "m");
    }

    private void worked(long at, String claim, String how) {
        event(at, "c1", What.WORKED, claim, 0, how);
    }

    /** The message is given up at 60 and comes as a dead letter at 70. */
    private void buriedAndCame() {
        confirmed();
        routed(55, "a", 1, "NONE");
        worked(56, "a", "fails");
        settling(57, "c1", "a", "DEAD_LETTER");
        settled(61, "c1", "a", "DONE");
        given("dead 0 q", 60, 70, "b", 1, "NONE", "m@60");
    }

    private void letter(long at, What what, String detail) {
        events.add(new Event(at, "c1", what, "m@60", "b", 0, 0, 0, "", detail));
    }

    private Report checkWithDeadLetters() {
        return HistoryChecker.check(events, LEASE, leftovers, true);
    }

    private void assertCaughtWithDeadLetters(Rule rule, String text) {
        List<Problem> problems = checkWithDeadLetters().problems();
        assertThat(problems).extracting(Problem::rule).as(problems::toString).containsExactly(rule);
        assertThat(problems.get(0).text()).contains(text);
    }

    @Test
    void should_pass_a_message_whose_route_succeeded() {
        confirmed();
        routed(60, "a", 1, "NONE");
        worked(65, "a", "succeeds");
        acknowledged(70, "c1", "a");
        assertClean();
    }

    @Test
    void should_catch_an_acknowledgement_before_the_route_had_ended() {
        confirmed();
        routed(60, "a", 1, "NONE");
        acknowledged(70, "c1", "a");
        worked(75, "a", "succeeds");
        assertCaught(Rule.UNWORKED, "its route had not ended");
    }

    @Test
    void should_catch_an_acknowledgement_of_a_failed_route() {
        confirmed();
        routed(60, "a", 1, "NONE");
        worked(65, "a", "fails");
        acknowledged(70, "c1", "a");
        assertCaught(Rule.UNWORKED, "its route had failed");
    }

    @Test
    void should_pass_a_dead_letter_that_was_worked_on() {
        buriedAndCame();
        letter(75, What.WORKED, "succeeds");
        letter(76, What.SETTLING, "ACKNOWLEDGE");
        letter(78, What.SETTLED, "DONE");
        assertThat(checkWithDeadLetters().problems()).isEmpty();
    }

    @Test
    void should_pass_a_dead_letter_whose_first_delivery_a_killed_consumer_took() {
        confirmed();
        routed(55, "a", 1, "NONE");
        settling(57, "c1", "a", "DEAD_LETTER");
        settled(61, "c1", "a", "DONE");
        killed(80, "c2");
        given("dead 0 q", 60, 170, "b", 2, "LEASE_EXPIRED", "m@60");
        letter(175, What.WORKED, "succeeds");
        letter(176, What.SETTLING, "ACKNOWLEDGE");
        letter(178, What.SETTLED, "DONE");
        assertThat(checkWithDeadLetters().problems()).isEmpty();
    }

    @Test
    void should_catch_a_message_that_was_given_up_and_never_came_as_a_dead_letter() {
        confirmed();
        routed(55, "a", 1, "NONE");
        settling(57, "c1", "a", "DEAD_LETTER");
        settled(61, "c1", "a", "DONE");
        assertClean();
        assertThat(checkWithDeadLetters().problems())
                .extracting(Problem::rule)
                .as("no ending, and no dead letter")
                .containsExactly(Rule.LOST, Rule.LOST);
    }

    @Test
    void should_catch_a_dead_letter_that_was_not_finished() {
        buriedAndCame();
        assertCaughtWithDeadLetters(Rule.LOST, "no delivery of it was finished");
    }

    @Test
    void should_catch_a_dead_letter_of_a_message_that_was_not_given_up() {
        confirmed();
        routed(55, "a", 1, "NONE");
        worked(56, "a", "succeeds");
        acknowledged(57, "c1", "a");
        given("dead 0 q", 60, 70, "b", 1, "NONE", "m@60");
        letter(75, What.WORKED, "succeeds");
        letter(76, What.SETTLING, "ACKNOWLEDGE");
        letter(78, What.SETTLED, "DONE");
        assertCaughtWithDeadLetters(Rule.FROM_NOWHERE, "nobody can have given it up");
    }

    /** With a time to live of 30 after 50. */
    private void mortal() {
        event(10, "producer", What.SCHEDULING, "", 50, "30");
        event(12, "producer", What.SCHEDULED, "", 50, "SCHEDULED");
    }

    @Test
    void should_pass_a_message_that_was_dropped_after_its_time_to_live() {
        mortal();
        routed(81, "a", 1, "NONE");
        settling(82, "c1", "a", "DROP");
        settled(83, "c1", "a", "DONE");
        assertClean();
    }

    @Test
    void should_catch_a_message_that_was_dropped_before() {
        mortal();
        routed(80, "a", 1, "NONE");
        settling(82, "c1", "a", "DROP");
        settled(83, "c1", "a", "DONE");
        assertCaught(Rule.EXPIRY, "before its time to live was over");
    }

    @Test
    void should_pass_a_message_that_was_dropped_after_its_time_to_live_if_its_producer_was_killed_meanwhile() {
        event(10, "producer", What.SCHEDULING, "", 50, "30");
        killed(12, "producer");
        routed(81, "a", 1, "NONE");
        settling(82, "c1", "a", "DROP");
        settled(83, "c1", "a", "DONE");
        assertClean();
    }

    @Test
    void should_catch_a_message_that_was_dropped_before_if_its_producer_was_killed_meanwhile() {
        event(10, "producer", What.SCHEDULING, "", 50, "30");
        killed(12, "producer");
        routed(80, "a", 1, "NONE");
        settling(82, "c1", "a", "DROP");
        settled(83, "c1", "a", "DONE");
        assertCaught(Rule.EXPIRY, "before its time to live was over");
    }

    @Test
    void should_catch_work_on_a_message_after_its_time_to_live() {
        mortal();
        routed(81, "a", 1, "NONE");
        worked(82, "a", "succeeds");
        acknowledged(83, "c1", "a");
        assertCaught(Rule.EXPIRY, "after its time to live");
    }

    /** Another message, of priority 0, that was claimed at this time, and the usual one with priority 5, claimed at 80. */
    private void passedOver(long at) {
        confirmed();
        events.add(new Event(5, "producer", What.SCHEDULING, "n", "", 5, 0, 0, "", ""));
        events.add(new Event(6, "producer", What.SCHEDULED, "n", "", 5, 0, 0, "", "SCHEDULED"));
        given("live 0 q", 5, at, "x", 1, "NONE", "n");
        events.add(new Event(at + 2, "c1", What.WORKED, "n", "x", 0, 0, 0, "", "succeeds"));
        events.add(new Event(at + 3, "c1", What.SETTLING, "n", "x", 0, 0, 0, "", "ACKNOWLEDGE"));
        events.add(new Event(at + 4, "c1", What.SETTLED, "n", "x", 0, 0, 0, "", "DONE"));
        given("live 5 q", 50, 80, "a", 1, "NONE", "m");
        worked(82, "a", "succeeds");
        acknowledged(85, "c1", "a");
    }

    @Test
    void should_catch_a_claim_that_passed_over_a_higher_priority() {
        passedOver(60);
        assertCaught(Rule.PRIORITY, "passed over at 60 for one of priority 0");
    }

    @Test
    void should_pass_a_lower_priority_before_the_higher_one_was_due_or_after_it_or_in_a_fault() {
        passedOver(49);
        assertClean();
        events.clear();
        passedOver(81);
        assertClean();
        events.clear();
        passedOver(60);
        fault(30, 40);
        assertClean();
    }

    /** One of priority 0 that c2 claimed at 60, and one of priority 5, due at 50, that c1 got more than a second later. */
    private void late(long claimedBefore) {
        late(claimedBefore, 50);
    }

    private void late(long claimedBefore, long due) {
        confirmed();
        other("n", 0, "c2", due + 10);
        other("o", 9, "c1", claimedBefore);
        given("live 5 q", due, 1_000_080, "a", 1, "NONE", "m");
    }

    private void other(String id, int priority, String source, long claimed) {
        events.add(new Event(5, "producer", What.SCHEDULING, id, "", 5, 0, 0, "", ""));
        events.add(new Event(6, "producer", What.SCHEDULED, id, "", 5, 0, 0, "", "SCHEDULED"));
        events.add(new Event(
                claimed + 1, source, What.DELIVERED, id, id, 5, claimed, 1, "NONE", "live " + priority + " q"));
    }

    @Test
    void should_pass_a_priority_whose_claim_may_have_been_repeated_on_a_slow_machine() {
        late(55);
        assertThat(check().problems()).extracting(Problem::rule).doesNotContain(Rule.PRIORITY);
        events.clear();
        late(40);
        assertThat(check().problems()).extracting(Problem::rule).doesNotContain(Rule.PRIORITY);
        events.clear();
        late(40, 500_000); // its call was under way for half of the time before it was executed
        assertThat(check().problems()).extracting(Problem::rule).doesNotContain(Rule.PRIORITY);
    }

    @Test
    void should_catch_a_priority_that_was_passed_over_before_its_consumer_can_have_claimed_it() {
        late(60);
        assertThat(check().problems()).extracting(Problem::rule).contains(Rule.PRIORITY);
        events.clear();
        late(500_000);
        assertThat(check().problems()).extracting(Problem::rule).contains(Rule.PRIORITY);
    }

    // ---- files

    @Test
    void should_read_from_a_file_what_was_written_and_leave_out_a_torn_last_line(@TempDir Path directory)
            throws Exception {
        Path file = directory.resolve("p1.history");
        try (History history = History.appendingTo(file, "p1")) {
            history.scheduling("m", 1000);
            history.unknown("m", "no\tanswer\nat all");
        }
        try (History more = History.appendingTo(file, "p1")) {
            more.killed("c1", "SIGKILL");
        }
        Files.writeString(file, "12345\tp1\tSCHED", StandardOpenOption.APPEND);
        List<Event> read = History.read(file);
        assertThat(read).extracting(Event::what).containsExactly(What.SCHEDULING, What.UNKNOWN, What.KILLED);
        assertThat(read.get(0).due() - read.get(0).micros()).isEqualTo(1000);
        assertThat(read.get(1).detail()).isEqualTo("no answer at all");
        assertThat(read.get(2).id()).isEqualTo("c1");
        assertThat(read).extracting(Event::source).containsOnly("p1");
    }

    @Test
    void should_keep_the_same_in_memory_as_in_a_file(@TempDir Path directory) {
        long[] now = {100};
        History memory = new History("p1", () -> now[0]);
        memory.scheduling("m", 5);
        now[0] = 110;
        memory.faultBegins("cut");
        assertThat(memory.events())
                .containsExactly(
                        new Event(100, "p1", What.SCHEDULING, "m", "", 105, 0, 0, "", ""),
                        new Event(110, "p1", What.FAULT_BEGINS, "", "", 0, 0, 0, "", "cut"));
    }
}
