// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RBucket;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/**
 * A recurring schedule is a message that is never finished: the histories that break it where it is built without care, and what
 * else its runs go through.
 */
class RecurringIT extends RealQueueIT {

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final Schedule QUARTERS = Schedule.every(Duration.ofMinutes(15));
    private static final Schedule HOURS = Schedule.every(HOUR);
    private static final Schedule YEARLY = Schedule.cron("0 2 1 1 *", BERLIN);
    private static final long QUARTER = 900_000_000L;

    private ScheduleResult declare(DelayQueue to, Schedule rule, String body, long declared) {
        DueTime first = rule.isGrid() ? new DueTime(true, rule.next(0, 0)) : DueTime.now();
        return get(to.schedule(ScheduleRequest.of("s", bytes(body), first).recurring(rule, declared)));
    }

    private ScheduleResult declare(Schedule rule) {
        return declare(queue, rule, "body", 0);
    }

    /** Lets time pass until the next run, and claims it. */
    private ClaimedDelivery run(Duration passes) {
        pass(passes);
        List<ClaimedDelivery> claimed = claim(5);
        assertThat(ids(claimed)).containsExactly("s");
        return claimed.get(0);
    }

    private MessageInfo info() {
        return get(queue.get("s")).orElseThrow().info();
    }

    private List<MessageInfo> letters() {
        return get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 10))
                .messages();
    }

    private SettleResult end(ClaimedDelivery run, Settlement how) {
        return get(run.settle(how));
    }

    @Test
    void should_run_again_and_again_on_its_grid() {
        ScheduleResult declared = declare(QUARTERS);
        assertThat(declared.outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(info().rule()).isEqualTo(QUARTERS.encode());
        for (int i = 0; i < 3; i++) {
            ClaimedDelivery run = run(Duration.ofMinutes(20));
            assertThat(text(run.body())).isEqualTo("body");
            assertThat(run.rule()).isEqualTo(QUARTERS.encode());
            assertThat(run.attempt()).isEqualTo(1);
            assertThat(end(run, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.DONE);
            assertThat(end(run, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.STALE_HELD);
            assertThat((info().dueMicros() - run.firstDueMicros()) % QUARTER).isZero();
            assertThat(info().dueMicros() - run.claimedMicros()).isBetween(1L, QUARTER);
            assertThat(info().attempts()).isZero();
            assertThat(claim(5)).isEmpty();
        }
        assertThat(letters()).isEmpty();
    }

    @Test
    void should_take_the_new_rule_that_was_stored_while_a_run_of_the_old_one_went_on() {
        declare(YEARLY);
        ClaimedDelivery run = run(Duration.ofDays(400));
        ScheduleResult replaced = declare(queue, QUARTERS, "new body", 0);
        assertThat(replaced.outcome()).isEqualTo(ScheduleOutcome.REPLACED);
        assertThat(end(run, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.DONE);
        assertThat(info().dueMicros()).isEqualTo(replaced.dueMicros());
        ClaimedDelivery next = run(Duration.ofMinutes(15).plusSeconds(1));
        assertThat(next.rule()).isEqualTo(QUARTERS.encode());
        assertThat(text(next.body())).isEqualTo("new body");
        end(next, Settlement.ACKNOWLEDGE);
        assertThat((info().dueMicros() - next.firstDueMicros()) % QUARTER).isZero();
    }

    @Test
    void should_not_begin_a_cron_rule_before_its_due_time() {
        long from = get(queue.admin().stats()).timeMicros() + DueTime.toMicros(Duration.ofSeconds(50));
        ScheduleRequest request = ScheduleRequest.of("s", bytes("x"), DueTime.after(Duration.ofSeconds(50)));
        ScheduleResult declared = get(queue.schedule(request.recurring(Schedule.cron("* * * * * *", BERLIN), 0)));
        assertThat(declared.dueMicros() - from).isBetween(-5_000_000L, DueTime.toMicros(Duration.ofSeconds(20)));
    }

    @ParameterizedTest
    @ValueSource(longs = {-5_000, 0, 5_000})
    void should_be_due_strictly_later_whatever_the_clock_of_the_client_says(long ahead) {
        try (DelayQueueClient other = ClientAccess.create(
                new PatientCaller(redis.client()),
                ClientOptions.DEFAULTS,
                ClientAccess.timers(client),
                new SecureRandom(),
                () -> System.currentTimeMillis() + ahead,
                redis.client())) {
            DelayQueue there = other.queue(queue.name());
            ScheduleResult declared = declare(there, Schedule.cron("* * * * * *", BERLIN), "x", 0);
            assertThat(declared.dueMicros() - declared.scheduledMicros()).isBetween(1L, 1_000_000L);
            for (int i = 0; i < 3; i++) {
                ClaimedDelivery run = run(Duration.ofSeconds(1));
                end(run, Settlement.ACKNOWLEDGE);
                assertThat(info().dueMicros())
                        .isGreaterThan(run.claimedMicros())
                        .isGreaterThan(run.firstDueMicros());
                // Nothing is there before its time; but the next second may have begun.
                for (ClaimedDelivery next : claim(1)) {
                    assertThat(next.claimedMicros()).isGreaterThanOrEqualTo(next.firstDueMicros());
                    end(next, Settlement.ACKNOWLEDGE);
                }
                ScheduleResult again = declare(there, Schedule.cron("* * * * * *", BERLIN), "x", 0);
                assertThat(again.outcome()).isEqualTo(ScheduleOutcome.IGNORED);
            }
        }
    }

    @Test
    void should_go_on_from_now_after_a_promotion() {
        declare(YEARLY);
        long yearly = info().dueMicros();
        get(queue.promote("s"));
        end(run(Duration.ZERO), Settlement.ACKNOWLEDGE);
        assertThat(info().dueMicros()).isEqualTo(yearly);
        declare(QUARTERS);
        get(queue.promote("s"));
        ClaimedDelivery promoted = run(Duration.ZERO);
        end(promoted, Settlement.ACKNOWLEDGE);
        assertThat(info().dueMicros()).isEqualTo(promoted.firstDueMicros() + QUARTER);
        get(queue.reschedule("s", DueTime.after(Duration.ofMinutes(1))));
        end(run(Duration.ofMinutes(2)), Settlement.ACKNOWLEDGE);
        assertThat(info().dueMicros() - promoted.claimedMicros()).isBetween(0L, QUARTER);
    }

    @Test
    void should_change_no_time_by_another_body_or_the_same_rule() {
        declare(HOURS);
        for (int i = 0; i < 4; i++) {
            pass(Duration.ofMinutes(14));
            long due = info().dueMicros();
            ScheduleResult again = declare(queue, HOURS, "trace " + i, 0);
            assertThat(again.outcome()).isEqualTo(ScheduleOutcome.IGNORED);
            assertThat(again.dueMicros()).isEqualTo(due);
        }
        ClaimedDelivery run = run(Duration.ofMinutes(5));
        assertThat(text(run.body())).isEqualTo("trace 3");
        var before = snapshot().keys().get("state");
        assertThat(declare(queue, HOURS, "trace 4", 0).outcome()).isEqualTo(ScheduleOutcome.IGNORED);
        assertThat(snapshot().keys().get("state")).isEqualTo(before);
        assertThat(end(run, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.DONE);
        assertThat(text(run(HOUR).body())).isEqualTo("trace 4");
    }

    @Test
    void should_leave_the_lease_of_a_run_when_rule_and_body_are_replaced() {
        declare(QUARTERS);
        ClaimedDelivery run = run(HOUR);
        declare(queue, HOURS, "other", 0);
        assertThat(info().state()).isEqualTo(MessageState.LEASED);
        assertThat(claim(5)).isEmpty();
        assertThat(end(run, new Settlement.Retry(Duration.ofSeconds(1), bytes("f"))))
                .isEqualTo(SettleResult.DONE);
        ClaimedDelivery second = run(Duration.ofSeconds(2));
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(text(second.lastFailure())).isEqualTo("f");
        assertThat(second.firstDueMicros()).isEqualTo(run.firstDueMicros() - 2_000_000);
        assertThat(second.rule()).isEqualTo(HOURS.encode());
        assertThat(end(second, Settlement.RELEASE)).isEqualTo(SettleResult.DONE);
        assertThat(info().rule()).isEqualTo(HOURS.encode());
    }

    @Test
    void should_pull_back_what_a_wrong_clock_has_put_far_away() {
        declare(QUARTERS);
        get(queue.reschedule("s", DueTime.after(Duration.ofDays(365))));
        ScheduleResult again = declare(QUARTERS);
        assertThat(again.dueMicros() - again.scheduledMicros()).isBetween(1L, QUARTER + 1_000_000);
        assertThat(info().dueMicros()).isEqualTo(again.dueMicros());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void should_come_once_when_it_is_delivered_after_the_first_time_of_a_new_rule(boolean tried) {
        Schedule seconds = Schedule.every(Duration.ofSeconds(1));
        declare(YEARLY);
        ClaimedDelivery before = run(Duration.ofDays(400));
        if (tried) {
            end(before, new Settlement.Retry(Duration.ofMillis(1_500), bytes("failure")));
        }
        long first = declare(seconds).dueMicros();
        if (!tried) {
            end(before, Settlement.RELEASE);
            get(queue.reschedule("s", DueTime.after(Duration.ofMillis(1_500))));
        }
        long due = info().dueMicros();
        assertThat(due).isGreaterThan(first);
        assertThat(info().nextRunMicros(due)).isGreaterThan(due);
        ClaimedDelivery run =
                await().until(() -> claim(5), claimed -> !claimed.isEmpty()).get(0);
        assertThat(run.nextRunMicros()).isGreaterThan(run.claimedMicros());
        end(run, Settlement.ACKNOWLEDGE);
        assertThat(info().dueMicros()).isGreaterThan(run.claimedMicros());
    }

    @Test
    void should_keep_a_run_that_is_overdue_or_was_tried_when_the_rule_changes() {
        declare(HOURS);
        pass(HOUR.plusSeconds(1));
        long due = info().dueMicros();
        assertThat(declare(QUARTERS).outcome()).isEqualTo(ScheduleOutcome.REPLACED);
        assertThat(info().dueMicros()).isEqualTo(due);
        ClaimedDelivery run = run(Duration.ZERO);
        end(run, new Settlement.Retry(Duration.ofMinutes(1), new byte[0]));
        assertThat(declare(YEARLY).outcome()).isEqualTo(ScheduleOutcome.REPLACED);
        run = run(Duration.ofMinutes(2));
        assertThat(run.attempt()).isEqualTo(2);
        assertThat(run.rule()).isEqualTo(YEARLY.encode());
        end(run, Settlement.ACKNOWLEDGE);
        assertThat(info().dueMicros() - run.claimedMicros()).isGreaterThan(HOUR.toNanos() / 1_000);
    }

    @Test
    void should_give_a_run_up_rather_than_retry_it_after_the_next_time() {
        declare(QUARTERS);
        ClaimedDelivery run = run(Duration.ofMinutes(15).plusSeconds(1));
        end(run, new Settlement.Retry(Duration.ofMinutes(5), bytes("first")));
        assertThat(run.deadLetterId()).isNull();
        ClaimedDelivery second = run(Duration.ofMinutes(5));
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(end(second, new Settlement.Retry(Duration.ofMinutes(14), bytes("second"))))
                .isEqualTo(SettleResult.DONE);
        assertThat(letters())
                .extracting(MessageInfo::id)
                .containsExactly(second.deadLetterId().toString());
        assertThat(info().dueMicros()).isEqualTo(second.firstDueMicros() + QUARTER);
        assertThat(info().attempts()).isZero();
        assertThat(info().lastFailure()).isEmpty();
    }

    @Test
    void should_keep_one_dead_letter_with_a_count_and_run_it_once_under_its_own_id() {
        String before = bury("s", 0); // one of a message before
        declare(QUARTERS);
        for (int i = 1; i <= 3; i++) {
            ClaimedDelivery run = run(Duration.ofMinutes(16));
            end(run, new Settlement.DeadLetter(bytes("failure " + i)));
            String newest = run.deadLetterId().toString();
            assertThat(letters()).extracting(MessageInfo::id).containsExactly(before, newest);
            MessageInfo letter = letters().get(1);
            assertThat(letter.runsGivenUp()).isEqualTo(i);
            assertThat(letter.rule()).isEqualTo(QUARTERS.encode());
            assertThat(text(letter.lastFailure())).isEqualTo("failure " + i);
            assertThat(info().dueMicros()).isGreaterThan(run.claimedMicros());
        }
        MessageInfo letter = letters().get(1);
        assertThat(get(queue.admin().deadLettersOf("s"))).hasSize(2);
        assertThat(get(queue.redrive(letter.id(), null))).isEqualTo(RedriveOutcome.REDRIVEN);
        ClaimedDelivery once = claim(5).get(0);
        assertThat(once.id()).isEqualTo(letter.id());
        assertThat(once.rule()).isNull();
        end(once, Settlement.ACKNOWLEDGE);
        assertThat(held("messages")).containsExactly("s");
    }

    @Test
    void should_leave_the_dead_letter_that_a_consumer_holds() {
        declare(QUARTERS);
        end(run(HOUR), new Settlement.DeadLetter(bytes("first")));
        ClaimedDelivery held = claimDead(1).get(0);
        ClaimedDelivery second = run(Duration.ofMinutes(16));
        end(second, new Settlement.DeadLetter(bytes("second")));
        assertThat(letters())
                .extracting(MessageInfo::id)
                .containsExactly(second.deadLetterId().toString());
        assertThat(end(held, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.DONE);
    }

    /** A report is for a night, and needs to know for which one also when an operator sends it again. */
    @Test
    void should_keep_for_which_time_a_run_was_given_up_and_redriven() {
        declare(QUARTERS);
        assertThat(info().lastRunMicros()).isZero();
        ClaimedDelivery run = run(HOUR);
        long nominal = run.firstDueMicros();
        assertThat(run.runMicros()).isEqualTo(nominal);
        end(run, new Settlement.DeadLetter(bytes("failure")));
        assertThat(info().lastRunMicros()).isEqualTo(nominal);
        String letter = letters().get(0).id();
        assertThat(letters().get(0).lastRunMicros()).isEqualTo(nominal);
        ClaimedDelivery dead = claimDead(1).get(0);
        assertThat(dead.runMicros()).isEqualTo(nominal);
        end(dead, new Settlement.Retry(Duration.ZERO, dead.lastFailure()));
        for (int i = 0; i < 2; i++) {
            assertThat(get(queue.redrive(letters().get(0).id(), null))).isEqualTo(RedriveOutcome.REDRIVEN);
            ClaimedDelivery once = claim(5).get(0);
            assertThat(once.id()).isEqualTo(letter);
            assertThat(once.rule()).isNull();
            assertThat(once.runMicros()).isEqualTo(nominal);
            assertThat(once.nextRunMicros()).isEqualTo(Long.MAX_VALUE);
            assertThat(once.firstDueMicros()).as("its time to live begins anew").isGreaterThan(nominal);
            end(once, new Settlement.Retry(Duration.ZERO, bytes("again")));
            once = claim(5).get(0);
            assertThat(once.attempt()).isEqualTo(2);
            assertThat(once.runMicros()).isEqualTo(nominal);
            end(once, new Settlement.DeadLetter(bytes("given up again")));
            assertThat(letters()).hasSize(1);
            assertThat(letters().get(0).lastRunMicros()).isEqualTo(nominal);
        }
        ClaimedDelivery next = run(Duration.ofMinutes(16));
        end(next, Settlement.ACKNOWLEDGE);
        assertThat(info().lastRunMicros()).isEqualTo(next.runMicros());
        assertThat(info().runsGivenUp()).isEqualTo(1);
    }

    @Test
    void should_refuse_an_id_that_leaves_no_room_for_that_of_a_redriven_run() {
        String longest = "x".repeat(239);
        DueTime first = DueTime.after(HOUR);
        ScheduleRequest fits = ScheduleRequest.of(longest, bytes("body"), first);
        get(queue.schedule(fits.recurring(HOURS, 0)));
        pass(HOUR.plusSeconds(1));
        end(claim(1).get(0), new Settlement.DeadLetter(bytes("failure")));
        String letter = letters().get(0).id();
        assertThat(get(queue.redrive(letter, null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(get(queue.get(letter))).isPresent();
        end(claim(1).get(0), new Settlement.DeadLetter(bytes("again")));
        assertThat(get(queue.redrive(letters().get(0).id(), null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(get(queue.cancel(letter)).previousState()).isEqualTo(MessageState.DELAYED);
        ScheduleRequest longer = ScheduleRequest.of(longest + "x", bytes("body"), first);
        assertThatThrownBy(() -> longer.recurring(HOURS, 0))
                .hasMessageContaining("has 240 bytes: it must have 1 to 239 bytes");
    }

    @Test
    void should_take_another_priority_over_and_change_no_time() {
        ScheduleRequest low = ScheduleRequest.of("s", bytes("body"), DueTime.after(HOUR));
        ScheduleRequest high = low.withPriority(7);
        get(queue.schedule(low.recurring(HOURS, 0)));
        long due = info().dueMicros();
        pass(Duration.ofMinutes(10));
        assertThat(get(queue.schedule(high.recurring(HOURS, 0))).dueMicros()).isEqualTo(due - 600_000_000);
        assertThat(info().priority()).isEqualTo(7);
        assertThat(held("delayed")).isEmpty();
        ClaimedDelivery run = run(HOUR);
        assertThat(run.priority()).isEqualTo(7);
        assertThat(get(queue.schedule(low.recurring(HOURS, 0))).outcome()).isEqualTo(ScheduleOutcome.IGNORED);
        end(run, new Settlement.Retry(Duration.ofMinutes(1), bytes("failure")));
        ClaimedDelivery second = run(Duration.ofMinutes(2));
        assertThat(second.attempt()).isEqualTo(2);
        end(second, Settlement.ACKNOWLEDGE);
        assertThat(info().priority()).isZero();
        assertThat(held("delayed")).containsExactly("s");
        assertThat((info().dueMicros() - second.firstDueMicros()) % (4 * QUARTER))
                .isZero();
    }

    /** The run goes on by the old grid, and the new one begins where the declaration has said. */
    @Test
    void should_begin_a_new_grid_where_it_was_declared_also_while_a_run_goes_on() {
        declare(HOURS);
        pass(HOUR.plusMinutes(50));
        ScheduleRequest daily = ScheduleRequest.of("s", bytes("body"), DueTime.after(Duration.ofHours(3)));
        long first = get(queue.schedule(daily.recurring(Schedule.every(Duration.ofDays(1)), 0)))
                .dueMicros();
        ClaimedDelivery run = run(Duration.ZERO);
        assertThat(run.rule()).isEqualTo("every 24h");
        assertThat(run.nextRunMicros()).isEqualTo(first);
        assertThat(info().nextRunMicros(run.nowMicros())).isEqualTo(first);
        end(run, new Settlement.Retry(Duration.ofMinutes(1), bytes("failure")));
        ClaimedDelivery second = run(Duration.ofMinutes(2));
        end(second, Settlement.ACKNOWLEDGE);
        assertThat(info().dueMicros()).isEqualTo(first);
        get(queue.promote("s"));
        ClaimedDelivery third = run(Duration.ZERO);
        declare(QUARTERS);
        first = get(queue.schedule(daily.recurring(Schedule.every(Duration.ofDays(1)), 0)))
                .dueMicros();
        end(third, Settlement.ACKNOWLEDGE);
        assertThat(info().dueMicros())
                .as("a rule that came back is another one")
                .isEqualTo(first);
    }

    @Test
    void should_let_consumers_of_dead_letters_end_that_of_a_run() {
        declare(QUARTERS);
        end(run(HOUR), new Settlement.DeadLetter(bytes("failure")));
        ClaimedDelivery letter = claimDead(1).get(0);
        assertThat(letter.rule()).isEqualTo(QUARTERS.encode());
        end(letter, new Settlement.Retry(Duration.ZERO, bytes("again")));
        letter = claimDead(1).get(0);
        assertThat(text(letter.lastFailure())).isEqualTo("again");
        assertThat(letter.rule()).isEqualTo(QUARTERS.encode());
        assertThat(end(letter, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.DONE);
        assertThat(held("dead:messages")).isEmpty();
    }

    @Test
    void should_skip_a_run_without_a_dead_letter() {
        declare(QUARTERS);
        end(run(HOUR), new Settlement.Drop(Duration.ofDays(1)));
        assertThat(letters()).isEmpty();
        assertThat(info().dueMicros()).isPositive();
        assertThat(held("seen")).isEmpty();
    }

    @Test
    void should_end_with_a_cancel_also_while_it_runs() {
        declare(QUARTERS);
        ClaimedDelivery run = run(HOUR);
        assertThat(get(queue.cancel("s")).previousState()).isEqualTo(MessageState.LEASED);
        assertThat(end(run, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.STALE_GONE);
        assertThat(held("messages")).isEmpty();
        assertThat(held("state")).isEmpty();
    }

    @Test
    void should_tell_what_the_queue_needs_for_as_long_as_a_schedule_waits() {
        RBucket<Object> config = redis.client().getBucket(keys().key("config"));
        get(queue.admin().pause());
        get(queue.admin().resume());
        declare(YEARLY);
        assertThat(config.remainTimeToLive()).as("it does not expire").isEqualTo(-1);
        get(queue.admin().pause());
        get(queue.admin().resume());
        assertThat(config.remainTimeToLive()).as("also after a pause").isEqualTo(-1);
    }

    @Test
    void should_tell_older_clients_what_the_queue_needs_until_it_is_empty() {
        declare(QUARTERS);
        assertThat(snapshot().keys().get("config")).containsEntry("needs", "schedules=0.1");
        get(queue.cancel("s"));
        assertThat(held("config")).isEmpty();
        redis.client().getMap(keys().key("config"), StringCodec.INSTANCE).put("needs", "schedules=0.1 groups=0.2");
        assertThatThrownBy(() -> declare(QUARTERS)).hasMessageContaining("'groups' (since version 0.2)");
    }

    @Test
    void should_spare_schedules_when_all_messages_are_cancelled() {
        declare(QUARTERS);
        schedule("m", IN_AN_HOUR);
        assertThat(get(queue.admin().cancelAll(any -> true, 10))).isEqualTo(1);
        assertThat(held("messages")).containsExactly("s");
        assertThat(get(queue.admin().cancelAll(any -> true, 10, true))).isEqualTo(1);
        assertThat(held("messages")).isEmpty();
    }

    @Test
    void should_let_the_later_declaration_win_while_two_versions_repeat_theirs() {
        long old = declare(QUARTERS).scheduledMicros();
        long recent = declare(HOURS).scheduledMicros();
        assertThat(declare(queue, QUARTERS, "old", old).outcome()).isEqualTo(ScheduleOutcome.IGNORED);
        assertThat(declare(queue, HOURS, "body", recent).outcome()).isEqualTo(ScheduleOutcome.IGNORED);
        assertThat(info().rule()).isEqualTo(HOURS.encode());
        redis.client().getKeys().delete(io.github.redisdelay.queue.model.QueueSnapshot.allKeys(keys()));
        assertThat(declare(queue, QUARTERS, "old", old).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(declare(queue, HOURS, "body", recent).outcome()).isEqualTo(ScheduleOutcome.REPLACED);
        assertThat(declare(queue, QUARTERS, "old", old).outcome()).isEqualTo(ScheduleOutcome.IGNORED);
    }

    /** After a {@code FLUSHALL}: another JVM of the newer version is the first, but this one started after the older version. */
    @Test
    void should_let_the_latest_declaration_of_an_equal_rule_hold() {
        declare(queue, HOURS, "body", 1);
        declare(queue, HOURS, "body", 3);
        assertThat(declare(queue, QUARTERS, "body", 2).outcome()).isEqualTo(ScheduleOutcome.IGNORED);
        assertThat(info().rule()).isEqualTo(HOURS.encode());
    }

    @Test
    void should_come_again_after_a_lost_lease_and_a_repair() {
        declare(QUARTERS);
        ClaimedDelivery lost = run(HOUR);
        ClaimedDelivery again = run(Duration.ofHours(2));
        assertThat(again.attempt()).isEqualTo(2);
        assertThat(end(lost, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.STALE_HELD);
        redis.client()
                .getScoredSortedSet(keys().key("leased"), ByteArrayCodec.INSTANCE)
                .clear();
        assertThat(get(queue.admin().check()).restored()).isEqualTo(1);
        ClaimedDelivery third = run(Duration.ZERO);
        assertThat(third.rule()).isEqualTo(QUARTERS.encode());
        assertThat(end(third, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.DONE);
        assertThat(info().dueMicros()).isGreaterThan(third.claimedMicros());
    }

    @Test
    void should_replace_messages_and_be_replaced_by_them() {
        schedule("s", LONG_AGO, 3);
        ClaimedDelivery before = claim(1).get(0);
        assertThat(declare(QUARTERS).outcome()).isEqualTo(ScheduleOutcome.SUPERSEDED);
        assertThat(end(before, Settlement.ACKNOWLEDGE)).isEqualTo(SettleResult.STALE_HELD);
        assertThat(get(queue.schedule(message("s", DuplicatePolicy.IGNORE))).outcome())
                .isEqualTo(ScheduleOutcome.IGNORED);
        get(queue.schedule(message("s", DuplicatePolicy.REPLACE)));
        assertThat(info().rule()).isNull();
    }

    /** As where its call was held up by a standstill of Redis or of the client. */
    @Test
    void should_catch_up_once_when_the_end_of_a_run_arrives_after_all_times_that_it_names() {
        Schedule seconds = Schedule.cron("* * * * * *", BERLIN);
        String clock = keys().key("clock");
        try (DelayQueueClient stepped = ClientAccess.create(
                new SteppedCaller(redis.client(), clock),
                ClientOptions.DEFAULTS,
                ClientAccess.timers(client),
                new SecureRandom(),
                System::currentTimeMillis,
                redis.client())) {
            DelayQueue there = stepped.queue(queue.name());
            declare(there, seconds, "x", 0);
            var consumer = ClientAccess.consumers(stepped)
                    .newClaims(((RedisDelayQueue) there).partitions().get(0).address(), error -> {});
            RBucket<String> ahead = redis.client().getBucket(clock, StringCodec.INSTANCE);
            ahead.set("5");
            ClaimedDelivery run = claim(there, consumer, 5, 5).get(0);
            ahead.set("600");
            end(run, Settlement.ACKNOWLEDGE);
            ClaimedDelivery missed = claim(there, consumer, 5, 5).get(0);
            assertThat(missed.firstDueMicros() - run.claimedMicros()).isBetween(10_000_000L, 12_000_000L);
            end(missed, Settlement.ACKNOWLEDGE);
            // A second later, or the machine stood still in between.
            assertThat(info().dueMicros() - missed.claimedMicros()).isBetween(1L, 11_000_000L);
            consumer.close();
        }
        redis.client().getKeys().delete(clock);
    }
}
