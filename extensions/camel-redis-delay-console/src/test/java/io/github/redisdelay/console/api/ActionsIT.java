// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each action: what it says, and what has become of the message. */
class ActionsIT extends ApiIT {

    private DelayQueue queue;

    @BeforeEach
    void openQueue() {
        queue = client.queue("orders");
    }

    private Instant due(String id) {
        return Times.of(get(queue.get(id)).orElseThrow().info().dueMicros());
    }

    private List<String> dead() {
        return api.messages("orders", "dead", null, false, null, null).messages().stream()
                .map(MessageViews.Message::id)
                .toList();
    }

    private Jobs.View ended(Jobs.View begun) {
        await().until(() -> !api.job(ANYBODY, begun.id()).running());
        return api.job(ANYBODY, begun.id());
    }

    @Test
    void should_cancel_a_message_that_waits() {
        schedule(queue, "o-1", IN_AN_HOUR);
        ActionResult result = api.cancel("orders", "o-1", null, "delayed", due("o-1"));
        assertThat(result.outcome()).isEqualTo("done");
        assertThat(result.text()).isEqualTo("o-1 was cancelled. It waited, and will not be delivered.");
        assertThat(get(queue.get("o-1"))).isEmpty();
    }

    @Test
    void should_cancel_a_message_that_is_being_delivered_and_say_by_whom() {
        schedule(queue, "o-1", LONG_AGO);
        Queue<Delivery> held = hold(queue, "app-1", 1);
        await().until(() -> held.size() == 1);
        ActionResult result = api.cancel("orders", "o-1", null, "leased", Times.of(1));
        assertThat(result.outcome()).isEqualTo("done");
        assertThat(result.text()).startsWith("o-1 was cancelled while app-1 delivers it: that work goes on");
        assertThat(get(held.remove().settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.STALE_GONE);
    }

    @Test
    void should_change_nothing_if_the_message_is_not_as_the_user_saw_it() {
        schedule(queue, "o-1", IN_AN_HOUR);
        Instant seen = due("o-1");
        get(queue.reschedule("o-1", DueTime.after(Duration.ofHours(2))));
        ApiException moved =
                catchThrowableOfType(ApiException.class, () -> api.cancel("orders", "o-1", null, "delayed", seen));
        assertThat(moved.kind()).isEqualTo(Kind.CHANGED);
        assertThat(moved).hasMessageContaining("it is delayed, and due at ");
        assertThat(((MessageViews.Message) moved.message()).due()).isEqualTo(due("o-1"));
        ApiException state = catchThrowableOfType(
                ApiException.class, () -> api.promote("orders", "o-1", null, "leased", due("o-1")));
        assertThat(state.kind()).isEqualTo(Kind.CHANGED);
        ApiException gone =
                catchThrowableOfType(ApiException.class, () -> api.cancel("orders", "o-2", null, "delayed", seen));
        assertThat(gone.kind()).isEqualTo(Kind.CHANGED);
        assertThat(gone.message()).isNull();
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(1);
    }

    @Test
    void should_end_a_schedule_unless_a_route_here_declares_it() {
        recur(queue, "poll", Map.of());
        ConsoleApi beside = consoleBeside("poll");
        assertThatThrownBy(() -> beside.cancel("orders", "poll", null, "delayed", due("poll")))
                .isInstanceOf(ApiException.class)
                .hasMessage("Schedule poll is declared by a route: pause the queue, or remove cron and every from the"
                        + " route. Nothing was changed.");
        assertThat(beside.messages("orders", "delayed", null, false, null, null).messages())
                .extracting(message -> message.schedule().declaredBy())
                .containsExactly("route");
        beside.close();
        assertThat(api.cancel("orders", "poll", null, "delayed", due("poll")).text())
                .isEqualTo("poll was ended: no run follows.");
        recur(queue, "poll", Map.of(ScheduleDeclaration.DECLARED, true));
        assertThat(api.cancel("orders", "poll", null, "delayed", due("poll")).text())
                .isEqualTo("poll was ended. Where the route that declared it still runs, it is back within a minute.");
        assertThat(get(queue.get("poll"))).isEmpty();
    }

    @Test
    void should_end_a_schedule_that_runs() {
        recur(queue, "poll", Map.of());
        assertThat(api.promote("orders", "poll", null, "delayed", due("poll")).text())
                .startsWith("poll runs now, and its rule goes on from now");
        Queue<Delivery> held = hold(queue, "app-1", 1);
        await().until(() -> held.size() == 1);
        assertThat(api.cancel("orders", "poll", null, "leased", due("poll")).text())
                .isEqualTo("poll was ended: no run follows. The run that app-1 has begun goes on.");
        assertThat(get(queue.get("poll"))).isEmpty();
    }

    @Test
    void should_cancel_schedules_with_all_only_if_asked_and_never_those_of_a_route_here() {
        recur(queue, "poll", Map.of());
        recur(queue, "nightly", Map.of());
        schedule(queue, "o-1", IN_AN_HOUR);
        assertThat(ended(api.cancelAll("orders", "orders", false)).done()).isEqualTo(1);
        try (ConsoleApi beside = consoleBeside("nightly")) {
            Jobs.View begun = beside.cancelAll("orders", "orders", true);
            await().until(() -> !beside.job(ANYBODY, begun.id()).running());
            assertThat(beside.job(ANYBODY, begun.id()).result())
                    .isEqualTo("1 message was cancelled; leased messages were left alone.");
        }
        assertThat(get(queue.get("nightly"))).isPresent();
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(1);
    }

    @Test
    void should_promote_and_say_whether_somebody_will_take_it() {
        schedule(queue, "o-1", IN_AN_HOUR);
        assertThat(api.promote("orders", "o-1", null, "delayed", due("o-1")).text())
                .isEqualTo("o-1 is due now; no consumer is there, so it is not delivered.");
        assertThat(get(queue.admin().stats()).overdue()).isEqualTo(1);
        get(queue.admin().pause());
        ActionResult again = api.promote("orders", "o-1", null, "delayed", due("o-1"));
        assertThat(again.outcome()).isEqualTo("nothing");
    }

    @Test
    void should_move_a_message_to_a_time_or_a_delay() {
        schedule(queue, "o-1", IN_AN_HOUR);
        Instant to = Instant.parse("2099-01-31T10:15:00.123456Z");
        assertThat(api.reschedule("orders", "o-1", null, "delayed", due("o-1"), to, null)
                        .text())
                .isEqualTo("o-1 is due at 2099-01-31T10:15:00Z now.");
        assertThat(due("o-1")).isEqualTo(to);
        long now = get(queue.admin().stats()).timeMicros();
        api.reschedule("orders", "o-1", null, "delayed", due("o-1"), null, 600_000_000L);
        assertThat(due("o-1")).isBetween(Times.of(now + 600_000_000L), Times.of(now + 620_000_000L));
        assertThatThrownBy(() -> api.reschedule("orders", "o-1", null, "delayed", due("o-1"), null, -1L))
                .hasMessageContaining("'inMicros' is '-1'");
        assertThatThrownBy(() -> api.reschedule(
                        "orders", "o-1", null, "delayed", due("o-1"), Instant.parse("3000-01-01T00:00:00Z"), null))
                .hasMessageContaining("'to' is '3000-01-01T00:00:00Z': it has to be from 1970-01-01 to 2255-06-05");
    }

    @Test
    void should_redrive_and_purge_dead_letters() {
        Map<String, FailureRecord> failures = new LinkedHashMap<>();
        List.of("o-1", "o-2", "o-3").forEach(id -> failures.put(id, failure("x.Y", "r", "failed")));
        bury(queue, failures);
        List<String> dead = dead();
        assertThat(api.redrive("orders", dead.get(0), null).outcome()).isEqualTo("done");
        assertThat(get(queue.get("o-1"))).isPresent();
        assertThat(api.redrive("orders", dead.get(0), null).outcome()).isEqualTo("nothing");
        schedule(queue, "o-2", IN_AN_HOUR);
        assertThat(api.redrive("orders", dead.get(1), null).outcome()).isEqualTo("duplicate");
        assertThat(api.purge("orders", dead.get(2), null).outcome()).isEqualTo("done");
        assertThat(api.purge("orders", dead.get(2), null).outcome()).isEqualTo("nothing");
        assertThat(dead()).containsExactly(dead.get(1));
    }

    @Test
    void should_pause_and_resume() {
        schedule(queue, "o-1", LONG_AGO);
        awaitKnown(1);
        assertThat(api.pause("orders").outcome()).isEqualTo("done");
        assertThat(api.pause("orders").outcome()).isEqualTo("nothing");
        assertThat(api.queues(ANYBODY).queues().get(0).state()).isEqualTo("paused");
        assertThat(api.resume("orders").text())
                .isEqualTo("The pause has ended: 1 message that is due can be delivered now.");
        assertThat(api.resume("orders").outcome()).isEqualTo("nothing");
        assertThat(get(queue.admin().stats()).paused()).isFalse();
    }

    @Test
    void should_pause_and_resume_a_group_of_a_queue_with_partitions() {
        DelayQueue wide = client.queue("wide", 4);
        get(wide.schedule(message("g1", IN_AN_HOUR, "x", Map.of()).withGroup("acme")));
        Instant soon = Instant.now().plus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);
        assertThat(api.pauseGroup("wide", "acme", soon, null))
                .isEqualTo(new ActionResult(
                        "done",
                        "Group acme is paused until " + soon
                                + " for all consumers everywhere. Its leased messages go on."));
        assertThat(api.messages("wide", "acme", null, null).group())
                .isEqualTo(new MessageViews.GroupRow("acme", 1, 1, soon));
        assertThat(api.message("wide", "g1", "acme").group().pausedUntil()).isEqualTo(soon);
        assertThat(api.pauseGroup("wide", "acme", null, 60_000_000L))
                .isEqualTo(new ActionResult(
                        "nothing",
                        "Group acme was paused until " + soon
                                + " already. A pause never shortens another one: resume the group first."));
        ActionResult longer = api.pauseGroup("wide", "acme", null, null);
        assertThat(longer.outcome()).isEqualTo("done");
        assertThat(longer.text()).startsWith("Group acme is paused until it is resumed for all");
        assertThat(api.resumeGroup("wide", "acme"))
                .isEqualTo(new ActionResult("done", "The pause of group acme has ended."));
        assertThat(api.resumeGroup("wide", "acme"))
                .isEqualTo(new ActionResult("nothing", "Group acme was not paused."));
        assertThat(api.messages("wide", "acme", null, null).group().pausedUntil())
                .isNull();
        assertThat(api.pauseGroup("wide", "acme", Instant.EPOCH, null))
                .isEqualTo(new ActionResult("nothing", "Group acme is not paused: that time is over."));
        assertThatThrownBy(() -> api.pauseGroup("wide", "", null, null))
                .hasMessageContaining("'group': group '' has 0 bytes");
        assertThatThrownBy(() -> api.pauseGroup("wide", "acme", soon, 1L)).hasMessageContaining("'to' and 'inMicros'");
    }

    @Test
    void should_show_and_change_one_group_of_a_queue_with_partitions() {
        DelayQueue wide = client.queue("wide", 4);
        for (int i = 0; i < 5; i++) {
            get(wide.schedule(message("g" + i, LONG_AGO, "x", Map.of()).withGroup("acme")));
        }
        assertThat(api.messages("wide", "acme", null, 3L).messages())
                .extracting(MessageViews.Message::id)
                .containsExactly("g0", "g1", "g2");
        MessageViews.Found third = api.message("wide", "g2", "acme");
        assertThat(third.group().first().id()).isEqualTo("g0");
        assertThat(third.group())
                .usingRecursiveComparison()
                .ignoringFields("first")
                .isEqualTo(new MessageViews.GroupView("acme", 5, 4, 1, 2, null, null));
        assertThat(api.body("wide", "g2", "acme")).isNotEmpty();
        long found = Stream.of("g0", "g1", "g2", "g3", "g4")
                .filter(id -> wide.get(id).join().isPresent())
                .count();
        assertThat(found).as("by their ids alone").isLessThan(5);
        assertThat(api.cancel("wide", "g1", "acme", "delayed", Times.of(1)).outcome())
                .isEqualTo("done");
        assertThat(ended(api.rescheduleGroup("wide", "acme", null, 3_600_000_000L))
                        .result())
                .isEqualTo("4 messages were moved.");
        assertThat(ended(api.promoteGroup("wide", "acme")).done()).isEqualTo(4);
        assertThatThrownBy(() -> api.cancelGroup("wide", "acme", "wide", false))
                .hasMessageContaining("'confirm' has to be the group's name");
        assertThatThrownBy(() -> api.promoteGroup("wide", "")).hasMessageContaining("'group': group '' has 0 bytes");
        assertThat(ended(api.cancelGroup("wide", "acme", "acme", false)).done()).isEqualTo(4);
        assertThat(api.messages("wide", "acme", null, null).messages()).isEmpty();
    }

    @Test
    void should_purge_the_dead_letters_of_one_group() {
        DelayQueue wide = client.queue("wide", 4);
        for (String id : List.of("a1", "a2", "b1", "b2")) {
            get(wide.schedule(message(id, LONG_AGO, "x", Map.of()).withGroup(id.startsWith("a") ? "acme" : "other")));
        }
        DelayQueueConsumer consumer =
                consume(wide, "undertaker", 1, delivery -> delivery.settle(new Settlement.DeadLetter(new byte[0]))
                        .result()
                        .join());
        await().until(() -> get(wide.admin().stats()).dead() == 4);
        stop(consumer);
        get(wide.schedule(message("a3", LONG_AGO, "x", Map.of()).withGroup("acme")));
        assertThatThrownBy(() -> api.purgeGroup("wide", "acme", "wide"))
                .hasMessageContaining("'confirm' has to be the group's name");
        assertThat(ended(api.purgeGroup("wide", "acme", "acme")).result())
                .isEqualTo("2 messages were purged: the dead letters of group 'acme'.");
        assertThat(api.messages("wide", "dead", null, false, null, null).messages())
                .extracting(MessageViews.Message::group)
                .containsExactly("other", "other");
        assertThat(get(wide.group("acme").info()).messages()).isEqualTo(1);
    }

    @Test
    void should_redrive_exactly_a_group_and_no_more_than_was_seen() {
        Map<String, FailureRecord> failures = new LinkedHashMap<>();
        for (int i = 0; i < 10; i++) {
            failures.put("a" + i, failure("x.A", "r", "failed"));
            failures.put("b" + i, failure("x.B", "r", "failed"));
        }
        bury(queue, failures);
        DeadLetters.Cause cause = api.failures("orders", null).causes().stream()
                .filter(each -> each.exception().equals("x.A"))
                .findFirst()
                .orElseThrow();
        assertThat(cause.count()).isEqualTo(10);
        Jobs.View some = ended(api.redriveAll("orders", cause.cause(), null, null, 4L));
        assertThat(some.result()).isEqualTo("4 messages were moved back into the queue, due now.");
        assertThat(get(queue.admin().list(MessageState.DELAYED, PageStart.first(), 10))
                        .messages())
                .extracting(MessageInfo::id)
                .containsExactlyInAnyOrder("a0", "a1", "a2", "a3");
        Jobs.View rest = ended(api.redriveAll("orders", cause.cause(), null, null, 10L));
        assertThat(rest.done()).isEqualTo(6);
        assertThat(rest.result()).contains("6 messages were moved back").contains("4 fewer than you saw");
        assertThat(dead()).hasSize(10).allMatch(id -> id.startsWith("b"));
        Jobs.View purged = ended(api.purgeAll("orders", null, null, null, 10L, "orders"));
        assertThat(purged.result()).isEqualTo("10 messages were purged.");
        assertThat(dead()).isEmpty();
        assertThat(api.jobs(ANYBODY).jobs()).hasSize(3);
    }

    @Test
    void should_purge_only_the_dead_letters_that_were_seen() {
        Map<String, FailureRecord> failures = new LinkedHashMap<>();
        List.of("a0", "a1", "a2").forEach(id -> failures.put(id, failure("x.A", "r", "failed")));
        bury(queue, failures);
        DeadLetters.Cause seen = api.failures("orders", null).causes().get(0);
        api.purge("orders", dead().get(0), null);
        bury(queue, Map.of("a3", failure("x.A", "r", "failed")));
        api.forget("orders");
        assertThat(api.failures("orders", null).causes().get(0).cause()).isEqualTo(seen.cause());
        Jobs.View purged = ended(api.purgeAll("orders", seen.cause(), seen.first(), seen.last(), 3L, "orders"));
        assertThat(purged.result()).startsWith("2 messages were purged. 1 fewer than you saw");
        assertThat(dead()).singleElement().asString().startsWith("a3");
    }

    @Test
    void should_say_that_a_change_was_made_also_if_nothing_else_can_be_told() {
        bury(queue, Map.of("o-1", failure("x.Y", "r", "failed")));
        String letter = dead().get(0);
        String consumers = redis.keyPrefix() + ":{orders}:consumers";
        redis.client().getKeys().delete(consumers);
        redis.client().getBucket(consumers).set("which figures need, and the change does not");
        assertThatThrownBy(() -> get(queue.admin().stats())).hasMessageContaining("WRONGTYPE");
        ActionResult result = api.redrive("orders", letter, null);
        assertThat(result.outcome()).isEqualTo("done");
        assertThat(result.text()).endsWith("its attempts begin anew.");
    }

    @Test
    void should_cancel_all_only_for_whoever_types_the_name() {
        scheduleMany(queue, "m", 1000, IN_AN_HOUR);
        assertThatThrownBy(() -> api.cancelAll("orders", "order", false))
                .hasMessageContaining("'confirm' has to be the queue's name");
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(1000);
        LogLines lines = new LogLines(Jobs.class);
        Jobs.View cancelled = ended(api.cancelAll("orders", "orders", false));
        await().untilAsserted(() -> assertThat(lines.of(Level.INFO))
                .containsExactly("console: cancelAll in queue 'orders' has ended: " + cancelled.result()));
        lines.close();
        assertThat(cancelled.done()).isEqualTo(1000);
        assertThat(cancelled.result())
                .isEqualTo("1000 messages were cancelled; leased messages and recurring schedules were left alone.");
        assertThat(get(queue.admin().stats()).delayed()).isZero();
    }

    @Test
    void should_check_a_queue_and_say_what_was_mended() {
        scheduleMany(queue, "m", 10, IN_AN_HOUR);
        assertThat(ended(api.check("orders")).result())
                .isEqualTo("10 messages and 0 dead letters were checked: all is well.");
        redis.client()
                .getScoredSortedSet(redis.keyPrefix() + ":{orders}:delayed")
                .delete();
        await().untilAsserted(() -> assertThat(
                        ((QueueViews.Row) api.queue(ANYBODY, "orders").first()).diagnosis())
                .extracting(Diagnosis.Finding::text)
                .anyMatch(text -> text.startsWith("10 stored messages are neither delayed nor leased")));
        assertThat(ended(api.check("orders")).result()).contains(": 10 were neither delayed nor leased");
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(10);
    }
}
